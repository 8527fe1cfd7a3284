// Tensor memory: who has which columns, what products have left there, and the end of products.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/analysis/origin.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/gpu/elected.h"
#include "codegen/emit/pipeline/async_products.h"
#include "codegen/emit/pipeline/mbarrier.h"
#include "codegen/gpu/op_views.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/target/decisions.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

constexpr int kLaneShift = 16;  // of a lane's number in an address

int64_t CountOf(const ir::Value* constant) { return static_cast<int64_t>(*ir::SplatOf(constant)); }

// Loads `registers` registers, the first from `column` (i32).
Registers Load(Emitter& e, absl::string_view shape, int64_t registers, llvm::Type* type, llvm::Value* column) {
  auto& b = e.b();
  const std::string kind = type->isFloatTy() ? "=f" : "=r";
  std::vector<std::string> constraints(static_cast<size_t>(registers), kind), places;
  for (int64_t r = 0; r < registers; ++r) places.push_back(absl::StrCat("$", r));
  constraints.emplace_back("r");
  llvm::Type* result = llvm::StructType::get(e.context(), std::vector<llvm::Type*>(constraints.size() - 1, type));
  llvm::Value* out = e.Ptx(
      result,
      absl::StrCat("tcgen05.ld.sync.aligned.", shape, ".b32 {", absl::StrJoin(places, ", "), "}, [$", registers, "];"),
      absl::StrJoin(constraints, ","), {column}, true);
  llvm::cast<llvm::CallInst>(out)->setConvergent();
  Registers loaded;
  for (unsigned r = 0; r < registers; ++r) loaded.push_back(b.CreateExtractValue(out, r));
  return loaded;
}

// How a warp takes the sums of an instruction: of 128 rows its lanes are rows, of 64 it has 16 of them, as fragments of eight columns.
struct Taking {
  const char* shape;
  int64_t columns, registers;  // of the smallest load
  int64_t most;                // such loads in one, 32 registers
};
Taking TakingOf(int64_t rows) {
  return rows < kTensorLanes ? Taking{"16x256b.x", 8, 4, 8} : Taking{"32x32b.x", 1, 1, 32};
}

}  // namespace

void LowerColumnsAt(Emitter& e, const ir::Op& op) {
  e.SetScalar(op.result(0),
              e.Ptx(e.b().getInt32Ty(), "ld.shared.b32 $0, [$1];", "=r,r", {e.scalar(op.operand(0))}, true));
}

void LowerFreeColumns(Emitter& e, const ir::Op& op) {
  ExecuteTogether(e, absl::StrCat("tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, ", CountOf(op.operand(1)), ";"),
                  "r", {e.scalar(op.operand(0))});
}

// The product adds to them (emit/lower/lower_mma.cc).
void LowerColumnSums(Emitter&, const ir::Op&) {}

namespace {

// This thread's sums, in the order of its registers, by loads that `take` gets one after the other.
void LoadSums(Emitter& e, const ir::Op& op, const std::function<void(Registers)>& take) {
  auto& b = e.b();
  const auto shape = op.result(0)->type().shape();
  const auto groups = DecisionOf<Decision::kWarpgroups>(op).value();
  const int64_t group_rows = shape[0] / groups[0], group_columns = shape[1] / groups[1];
  const int64_t blocks = std::max<int64_t>(1, group_rows / kTensorLanes);
  llvm::Value* group = e.threads().Warpgroup();
  llvm::Value* group_m = b.CreateAnd(group, e.I32(groups[0] - 1));
  llvm::Value* group_n = b.CreateLShr(group, e.I32(__builtin_ctzll(static_cast<uint64_t>(groups[0]))));
  llvm::Value* lanes = b.CreateShl(b.CreateAnd(e.threads().warp(), e.I32(3)), kLaneShift + 5);
  llvm::Value* first = b.CreateAdd(e.scalar(op.operand(0)), lanes);
  first = b.CreateAdd(first, b.CreateMul(group_m, e.I32(blocks * shape[1])));
  first = b.CreateAdd(first, b.CreateMul(group_n, e.I32(group_columns)));
  const Taking taking = TakingOf(shape[0]);
  const int64_t loads = std::min(taking.most, group_columns / taking.columns);
  llvm::Type* type = e.RegisterType(op.result(0)->type().element());
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t column = 0; column < group_columns; column += loads * taking.columns) {
      take(Load(e, absl::StrCat(taking.shape, loads), loads * taking.registers, type,
                b.CreateAdd(first, e.I32(block * shape[1] + column))));
    }
  }
}

Registers Loaded(Emitter& e, Registers sums) { return Through(e, "tcgen05.wait::ld.sync.aligned;", std::move(sums)); }

Registers AllSums(Emitter& e, const ir::Op& op) {
  Registers all;
  LoadSums(e, op, [&](Registers loaded) { all.insert(all.end(), loaded.begin(), loaded.end()); });
  return Loaded(e, std::move(all));
}

}  // namespace

// What is added goes load by load: then it needs no registers any more.
void LowerLoadColumns(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::Value* addend = op.operand(1);
  if (IsZero(addend)) return e.Set(op.result(0), AllSums(e, op));
  Registers sums = e.regs(addend);
  size_t at = 0;
  LoadSums(e, op, [&](Registers loaded) {
    for (llvm::Value* product : Loaded(e, std::move(loaded))) {
      llvm::Value*& sum = sums[at++];
      sum = product->getType()->isFloatTy() ? b.CreateFAdd(sum, product) : b.CreateAdd(sum, product);
    }
  });
  e.Set(op.result(0), std::move(sums));
}

void LowerMmaCommit(Emitter& e, const ir::Op& op) {
  const gpu::MmaCommitOp commit(op);
  ExecuteTogether(
      e, "@$1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];", "r,b",
      {BarrierAt(e, commit.barriers(), commit.number()), e.b().CreateAnd(Elected(e), e.scalar(commit.condition()))});
}

void LowerFenceColumnsBefore(Emitter& e, const ir::Op&) {
  ExecuteTogether(e, "tcgen05.fence::before_thread_sync;", "", {});
}

void LowerFenceColumnsAfter(Emitter& e, const ir::Op&) {
  ExecuteTogether(e, "tcgen05.fence::after_thread_sync;", "", {});
}

}  // namespace tile::codegen
