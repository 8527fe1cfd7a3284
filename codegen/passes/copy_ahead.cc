#include "codegen/passes/copy_ahead.h"

#include <algorithm>
#include <string>
#include <vector>

#include "codegen/analysis/product_chain.h"
#include "codegen/passes/move_loads.h"
#include "codegen/passes/split_rounds.h"
#include "codegen/plan/mma_layout.h"
#include "codegen/plan/staging.h"
#include "codegen/target/tuning.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr int64_t kScratchBytes = 1024;  // of shared memory that other operations of the block take at least

// Why operand i can't be fetched ahead; "" if it can.
std::string WhyNot(const Target& target, const LoopLoads& loads, const Op& mma, int i) {
  const std::optional<StagedTile> tile = StageOperand(mma, i);
  if (!tile) {
    return "it is not a tile of rank 2 that one weak load brings, through a partition view of a tensor in global "
           "memory, with rows "
           "of stride 1 and at least 16 bytes, and zero as padding";
  }
  const ir::Elem elem = mma.operand(i)->type().elem();
  if (!HasMma(target, mma) && elem != ir::Elem::kF32 && elem != ir::Elem::kF64) {
    return "no matrix instruction takes these tiles, and for others the elements are widened on their way";
  }
  return loads.WhyNot(mma, i, *tile->load, [](const Value*) { return true; });
}

// Splits the iterations of a product along K while three stages of its operands, for two blocks, exceed shared memory.
void Split(const Target& target, ir::Module* module, Op* mma) {
  const int64_t room = target.shared_bytes_of(2) / tuning::kStagesForTwoBlocks;
  const int64_t bytes = StageOperand(*mma, 0)->slot_bytes() + StageOperand(*mma, 1)->slot_bytes();
  int parts = 1;
  while (bytes / parts > room && CanSplitRounds(*mma, 2 * parts)) parts *= 2;
  if (parts > 1) SplitRounds(module, mma, parts);
}

}  // namespace

bool CopyAhead(const Target& target, ir::Module* module, ir::Function* function, Trace* trace) {
  if (!target.has(kCpAsync)) return false;
  std::vector<Op*> loops;
  std::vector<std::vector<ProductOperand>> moves;
  ir::Walk(function->body(), [&](Op* op) {
    if (op->opcode() != Opcode::kFor || op->region(0) == nullptr) return;
    for (const Op* other : loops) {
      if (StandsInOrHolds(op, other)) return;  // one ring at a time
    }
    std::vector<ProductOperand> operands;
    const LoopLoads loads(module, op);
    for (Op* mma : *op->region(0)) {
      if (!IsProduct(*mma)) continue;
      for (int i = 0; i < 2; ++i) {
        if (TakesFetch(*module, *mma, "copy-ahead", i == 0 ? "lhs is" : "rhs is", WhyNot(target, loads, *mma, i),
                       trace)) {
          operands.push_back({mma, i});
        }
      }
    }
    if (operands.empty()) return;
    if (operands.size() == 2 && operands[0].mma == operands[1].mma) Split(target, module, operands[0].mma);
    loops.push_back(op);
    moves.push_back(std::move(operands));
  });
  for (size_t i = 0; i < loops.size(); ++i) LoopLoads(module, loops[i]).Move(GpuOpcode::kCopyAhead, moves[i]);
  return !loops.empty();
}

void FitRounds(const Target& target, ir::Module* module, ir::Function* function) {
  std::vector<Op*> products;
  ir::Walk(function->body(), [&](Op* op) {
    if (IsProduct(*op) && IsProductLoop(*op)) products.push_back(op);
  });
  for (Op* mma : products) {
    const MmaShape s = ShapeOfMma(*mma);
    // For fma elements are widened.
    const int64_t element = ir::MemoryBits(mma->operand(0)->type().elem()) / 8;
    const int64_t bytes = (s.m + s.n) * s.k * (HasMma(target, *mma) ? element : std::max<int64_t>(4, element));
    int parts = 1;
    while (bytes / parts > target.shared_bytes - kScratchBytes && CanSplitRounds(*mma, 2 * parts)) parts *= 2;
    if (parts > 1) SplitRounds(module, mma, parts);
  }
}

}  // namespace tile::codegen
