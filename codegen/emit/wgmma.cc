// Products by wgmma: a warpgroup reads both operands from a stage of shared memory through descriptors and keeps the sums in
// its registers, which belong to the hardware until they are waited for.
//
// A descriptor says where the operand begins, how rows are swizzled, and how far groups of eight rows (stride) and chunks
// of the swizzle's width (leading) lie apart, all in units of 16 bytes.
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/emit/ring.h"
#include "codegen/wgmma_plan.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

struct SharedOperand {
  const StagedTile& tile;
  llvm::Value* start = nullptr;  // i64: the descriptor of its first element

  // Bytes from the start to element (mn, k).
  int64_t Offset(int64_t mn, int64_t k) const {
    const int64_t along = tile.k_major ? k : mn, row = tile.k_major ? mn : k;
    return along / tile.chunk_elements() * tile.chunk_bytes() + row * tile.swizzle +
           along % tile.chunk_elements() * tile.element_bits / 8;
  }

  uint64_t Fixed() const {
    const uint64_t mode = tile.swizzle == 128 ? 1 : tile.swizzle == 64 ? 2 : 3;
    const uint64_t stride = static_cast<uint64_t>(8 * tile.swizzle) >> 4;
    const uint64_t leading = tile.k_major ? 1 : static_cast<uint64_t>(tile.chunk_bytes()) >> 4;
    return leading << 16 | stride << 32 | mode << 62;
  }
};

}  // namespace

Registers WaitForProducts(Emitter& e, int pending, Registers acc) {
  auto& b = e.b();
  std::string constraints;
  for (size_t i = 0; i < acc.size(); ++i) absl::StrAppend(&constraints, i == 0 ? "=" : ",=", acc[i]->getType()->isFloatTy() ? "f" : "r");
  for (size_t i = 0; i < acc.size(); ++i) absl::StrAppend(&constraints, ",", i);
  std::vector<llvm::Type*> types;
  for (llvm::Value* v : acc) types.push_back(v->getType());
  llvm::Type* result = acc.empty() ? b.getVoidTy() : static_cast<llvm::Type*>(llvm::StructType::get(e.context(), types));
  llvm::Value* out = e.Ptx(result, absl::StrCat("wgmma.wait_group.sync.aligned ", pending, ";"), constraints, acc, true);
  llvm::cast<llvm::CallInst>(out)->setConvergent();
  for (size_t i = 0; i < acc.size(); ++i) acc[i] = b.CreateExtractValue(out, static_cast<unsigned>(i));
  return acc;
}

Registers MultiplyStaged(Emitter& e, const Ring& ring, const ir::Op& mma, llvm::Value* a_at, llvm::Value* b_at, Registers acc) {
  auto& b = e.b();
  const WgmmaPlan plan = *PlanWgmma(e.target(), e.num_warps(), mma);
  const WgmmaTile& t = plan.tile;
  const auto slot = [&](int i) -> const StagedTile& { return ring.stage().tiles[static_cast<size_t>(mma.operand(i)->index())]; };
  SharedOperand lhs{slot(0)}, rhs{slot(1)};
  const int64_t piece_m = t.m / t.groups_m, piece_n = t.n / t.groups_n;
  llvm::Value* group = e.Warpgroup();
  llvm::Value* group_m = b.CreateAnd(group, e.I32(t.groups_m - 1));
  llvm::Value* group_n = b.CreateLShr(group, e.I32(__builtin_ctz(static_cast<unsigned>(t.groups_m))));
  const auto start = [&](const SharedOperand& x, llvm::Value* at, llvm::Value* part, int64_t piece) {
    at = b.CreateAdd(at, b.CreateMul(part, e.I32(x.Offset(piece, 0))));
    at = b.CreateAnd(at, e.I32(0x3FFFF));  // in a cluster, higher bits say which block's memory
    return b.CreateOr(b.CreateZExt(b.CreateLShr(at, 4), b.getInt64Ty()), e.I64(static_cast<int64_t>(x.Fixed())));
  };
  lhs.start = start(lhs, a_at, group_m, piece_m);
  rhs.start = start(rhs, b_at, group_n, piece_n);

  const int columns = static_cast<int>(piece_n / t.instruction_n), rows = static_cast<int>(piece_m / 64);
  const int n = t.instruction_n / 2;  // registers of an instruction
  const char kind = acc[0]->getType()->isFloatTy() ? 'f' : 'r';
  std::string text = absl::StrCat("{ .reg .pred add; setp.eq.b32 add, 0, 0; ", plan.instruction, " {");
  std::string constraints;
  for (int i = 0; i < n; ++i) {
    absl::StrAppend(&text, i == 0 ? "$" : ", $", i);
    absl::StrAppend(&constraints, i == 0 ? "=" : ",=", std::string(1, kind));
  }
  for (int i = 0; i < n; ++i) absl::StrAppend(&constraints, ",", i);
  absl::StrAppend(&constraints, ",l,l");
  absl::StrAppend(&text, "}, $", 2 * n, ", $", 2 * n + 1, ", add");
  if (plan.scales) text += ", 1, 1";
  if (plan.transposes) absl::StrAppend(&text, ", ", lhs.tile.k_major ? 0 : 1, ", ", rhs.tile.k_major ? 0 : 1);
  text += "; }";
  llvm::Type* result = llvm::StructType::get(e.context(), std::vector<llvm::Type*>(static_cast<size_t>(n), acc[0]->getType()));

  const auto execute = [&](const char* what) {
    llvm::cast<llvm::CallInst>(e.Ptx(b.getVoidTy(), what, "", {}, true))->setConvergent();
  };
  execute("wgmma.fence.sync.aligned;");
  for (int64_t k = 0; k < t.k; k += plan.k) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        const auto first = acc.begin() + (static_cast<int64_t>(i) * columns + j) * n;
        Registers in(first, first + n);
        in.push_back(b.CreateAdd(lhs.start, e.I64(lhs.Offset(64 * i, k) >> 4)));
        in.push_back(b.CreateAdd(rhs.start, e.I64(rhs.Offset(static_cast<int64_t>(j) * t.instruction_n, k) >> 4)));
        llvm::Value* out = e.Ptx(result, text, constraints, in, true);
        llvm::cast<llvm::CallInst>(out)->setConvergent();
        for (int r = 0; r < n; ++r) first[r] = b.CreateExtractValue(out, static_cast<unsigned>(r));
      }
    }
  }
  execute("wgmma.commit_group.sync.aligned;");
  return ring.IsAsync(mma) ? acc : WaitForProducts(e, 0, std::move(acc));
}

}  // namespace tile::codegen
