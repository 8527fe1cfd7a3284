#include "codegen/emit/mma/tcgen05.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/emit/mma/offset_in_stage.h"
#include "codegen/plan/mma/tcgen05_plan.h"

namespace tile::codegen {
namespace {

// The descriptor (i64) of an operand's first element. In a cluster, higher bits of an address say which block's memory.
llvm::Value* DescriptorOf(Emitter& e, const StagedAt& x) {
  auto& b = e.b();
  llvm::Value* start = b.CreateLShr(b.CreateAnd(x.at, e.I32(0x3FFFF)), 4);
  return b.CreateOr(b.CreateZExt(start, b.getInt64Ty()), e.I64(static_cast<int64_t>(Tcgen05OperandBits(x.tile))));
}

}  // namespace

// All of them are one piece of text, so that nothing comes between them.
void BeginInColumns(Emitter& e, const ir::Op& mma, const StagedMmaPlan& plan, const StagedAt& lhs, const StagedAt& rhs,
                    const ColumnsAt& sums) {
  auto& b = e.b();
  const Tcgen05Form form = Tcgen05FormOf(plan, mma, lhs.tile.k_major, rhs.tile.k_major);
  llvm::Value *first = DescriptorOf(e, lhs), *second = DescriptorOf(e, rhs);
  std::vector<llvm::Value*> in = {e.control().elected, sums.any, e.I32(form.descriptor)};
  std::vector<std::string> constraints = {"b", "b", "r"};
  const auto take = [&](llvm::Value* v, const char* kind) {
    in.push_back(v);
    constraints.emplace_back(kind);
    return absl::StrCat("$", in.size() - 1);
  };
  std::string text = "{ .reg .pred add; setp.eq.b32 add, 0, 0; ";
  for (int64_t k = 0; k < plan.k; k += plan.instruction_k) {
    for (int64_t m = 0; m < plan.m; m += plan.instruction_m) {
      for (int64_t n = 0; n < plan.n; n += plan.instruction_n) {
        const auto at = [&](llvm::Value* start, const StagedTile& tile, int64_t mn) {
          return take(b.CreateAdd(start, e.I64(OffsetInStage(tile, mn, k) >> 4)), "l");
        };
        const int64_t column = m / plan.instruction_m * plan.n + n;
        const std::string d = take(b.CreateAdd(sums.first, e.I32(column)), "r");
        const std::string left = at(first, lhs.tile, m), right = at(second, rhs.tile, n);
        absl::StrAppend(&text, "@$0 ", form.instruction, " [", d, "], ", left, ", ", right, ", $2, ",
                        k == 0 ? "$1" : "add", "; ");
      }
    }
  }
  llvm::Value* out = e.Ptx(b.getVoidTy(), text + "}", absl::StrJoin(constraints, ","), in, true);
  llvm::cast<llvm::CallInst>(out)->setConvergent();
}

}  // namespace tile::codegen
