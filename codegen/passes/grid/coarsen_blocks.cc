#include "codegen/passes/grid/coarsen_blocks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/grid/coarsen_by_rows.h"
#include "codegen/passes/grid/coarsened_tiles.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/resources/cost.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/staging/loaded_operand.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"

namespace tile::codegen {
namespace {

using ir::Op;

// Of the product that blocks are joined for: its instruction has 64 rows of each of two warpgroups, and up to 256 columns.
constexpr int64_t kRows = 128, kColumns = 256;

Op* OnlyProduct(const ir::Function& function) {
  Op* only = nullptr;
  int products = 0;
  ir::Walk(function.body(), [&](Op* op) {
    if (op->info()->family != ir::Family::kMma) return;
    ++products;
    if (IsProduct(*op)) only = op;
  });
  return products == 1 ? only : nullptr;
}

// How often the product's result should be repeated along its rows and columns.
std::array<int64_t, 2> Wanted(const Op& mma) {
  const std::optional<LoadedOperand> a = LoadedOperandOf(mma, 0), b = LoadedOperandOf(mma, 1);
  if (!a || !b || a->element_bits > 32) return {1, 1};
  const MmaShape s = ShapeOfMma(mma);
  // The right operand is the first of the instruction if it is not contiguous along K, and the instruction reads operands along K only.
  const bool swapped = a->element_bits != 16 && a->k_major && !b->k_major;
  const std::array<int64_t, 2> most = swapped ? std::array{kColumns, kRows} : std::array{kRows, kColumns};
  std::array<int64_t, 2> times = {std::max<int64_t>(1, most[0] / s.m), std::max<int64_t>(1, most[1] / s.n)};
  for (int d : {0, 1}) {
    while (times[0] * s.m * times[1] * s.n > kRows * kColumns && times[static_cast<size_t>(d)] > 1)
      times[static_cast<size_t>(d)] /= 2;
  }
  return times;
}

// Two blocks of a chain of products, as attention is one, each of as many rows as a warpgroup multiplies: all products get twice the rows, and
// what they load ahead serves both.
bool JoinRows(ir::Module* module, ir::Function* function, int blocks_alone) {
  // Three warpgroups of different blocks are better than two of one.
  if (blocks_alone > 2) return false;
  std::vector<const Op*> products;
  bool others = false, chain = false;
  ir::Walk(function->body(), [&](Op* op) {
    if (op->info()->family == ir::Family::kMma) (IsProduct(*op) ? products.push_back(op) : void(others = true));
  });
  for (const Op* mma : products) {
    const bool rows = mma->result(0)->type().rank() == 2 && 2 * ShapeOfMma(*mma).m == kRows;
    if (!rows || ir::MemoryBits(mma->operand(0)->type().elem()) != 16) return false;
    chain = chain || WorksOnRows(*mma);
  }
  for (int d = 0; d < 2 && chain && !others; ++d) {
    CoarsenedTiles growth(module, function, d, CoarsenedTiles::Place::kAny);
    if (!growth.CanGrow() || !HalvesPay(growth)) continue;
    if (!std::all_of(products.begin(), products.end(), [&](const Op* mma) { return growth.Of(*mma) == 0; })) continue;
    GrowToHalves(module, &growth);
    Decide<Decision::kJoinedBlocks>(module, KernelOp(module, function), {d == 0 ? 2 : 1, d == 1 ? 2 : 1});
    Decide<Decision::kJoinedCycles>(
        module, KernelOp(module, function),
        {100, 2 * (blocks_alone == 1 ? tuning::kPercentOfRowsAlone : tuning::kPercentOfRows)});
    // More loops, and no block beside it while one begins or ends.
    if (blocks_alone != 1 && !growth.loops().empty())
      Decide<Decision::kJoinedLeast>(module, KernelOp(module, function), tuning::kLeastOfUnequalRows);
    return true;
  }
  return false;
}

}  // namespace

bool CoarsenBlocks(const Target& target, ir::Module* module, ir::Function* function, int blocks_alone) {
  const Op* mma = OnlyProduct(*function);
  if (mma == nullptr) return JoinRows(module, function, blocks_alone);
  const std::array<int64_t, 2> times = Wanted(*mma);
  const CostModel cost(target);
  const int64_t cycles = cost.CyclesOfBlock(*mma);
  std::array<int64_t, 2> joined = {1, 1};
  for (int d = 0; d < 2; ++d) {
    CoarsenedTiles growth(module, function, d, CoarsenedTiles::Place::kIndices);
    if (!growth.CanGrow()) continue;
    const int along = growth.Of(*mma);
    if (along < 0 || times[static_cast<size_t>(along)] == 1) continue;
    joined[static_cast<size_t>(d)] = times[static_cast<size_t>(along)];
    growth.Grow(joined[static_cast<size_t>(d)]);
  }
  if (joined[0] * joined[1] == 1) return false;
  Decide<Decision::kJoinedBlocks>(module, KernelOp(module, function), {joined[0], joined[1]});
  Decide<Decision::kJoinedCycles>(module, KernelOp(module, function), {cycles, cost.CyclesOfBlock(*mma)});
  return true;
}

absl::Status CoarsenBlocks(Program& p) {
  if (!p.permissions.may(May::kCoarsen)) return absl::OkStatus();
  p.applies = p.FetchesProducts() && CoarsenBlocks(p.target, p.module.get(), p.function, p.blocks_alone);
  if (!p.applies) return absl::OkStatus();
  const std::array<int64_t, 2> joined = JoinedBlocks(*p.function);
  p.Remark("coarsen-blocks",
           absl::StrCat(joined[0], " x ", joined[1], " neighbouring blocks of a large grid become one"));
  return absl::OkStatus();
}

}  // namespace tile::codegen
