#include "ir/passes/hoist.h"

#include <algorithm>
#include <vector>

#include "ir/loops.h"
#include "ir/passes/ranges.h"
#include "ir/passes/rewrite.h"

namespace tile::ir {
namespace {

bool AllSplats(const OperandRange& values) {
  return std::all_of(values.begin(), values.end(), [](const Value* v) { return SplatOf(v).has_value(); });
}

bool NoneNegative(const OperandRange& values) {
  return std::all_of(values.begin(), values.end(), [](const Value* v) { return RangeOf(v).lower >= 0; });
}

bool DividesSafely(const Op& op) {
  const std::optional<uint64_t> divisor = SplatOf(op.operand(1));
  return divisor && *divisor != 0 && AsSigned(*divisor, WidthOf(op.operand(1))) != -1;
}

bool Moves(const Op& op, const Op* loop, Share share) {
  if (op.num_regions() > 0 || !MayRunAnywhere(op)) return false;
  for (int i = 0; i < op.num_results(); ++i) {
    if (share == Share::kScalars && !IsScalarLike(*op.result(i))) return false;
  }
  for (int i = 0; i < op.num_operands(); ++i) {
    if (IsInside(op.operand(i), loop)) return false;
  }
  return true;
}

// Of nested loops, what leaves the inner one may leave the outer one, too.
bool Visit(Module* module, Block* block, std::vector<Op*>* loops, Share share) {
  if (block == nullptr) return false;
  bool changed = false;
  for (Op* op = block->front(); op != nullptr;) {
    Op* next = op->next();
    Op* out = nullptr;
    for (auto loop = loops->rbegin(); loop != loops->rend() && Moves(*op, *loop, share); ++loop) out = *loop;
    if (out != nullptr) {
      MoveBefore(module, op, out);
      changed = true;
    } else if (!op->info()->has(kElementBody)) {
      if (IsLoop(op)) loops->push_back(op);
      for (int r = 0; r < op->num_regions(); ++r) changed = Visit(module, op->region(r), loops, share) || changed;
      if (IsLoop(op)) loops->pop_back();
    }
    op = next;
  }
  return changed;
}

}  // namespace

bool MayRunAnywhere(const Op& op) {
  const uint16_t stays = kReads | kWrites | kEffect | kTerminator | kRegions;
  if (!op.info()->has(kPure) || (op.info()->traits & stays) != 0 || AssumeOp::Is(&op)) return false;
  if (DiviOp::Is(&op) || RemiOp::Is(&op)) return DividesSafely(op);
  if (const auto extract = As<ExtractOp>(&op)) return AllSplats(extract->indices());
  if (const auto insert = As<InsertOp>(&op)) return AllSplats(insert->indices());
  if (const auto view = As<MakeTensorViewOp>(&op)) {
    return NoneNegative(view->dynamic_shape()) && NoneNegative(view->dynamic_strides());
  }
  return true;
}

bool HoistInvariants(Module* module, Function* function, Share share) {
  std::vector<Op*> loops;
  return Visit(module, function->body(), &loops, share);
}

}  // namespace tile::ir
