// Control flow of an agent: loops, conditions, regions.
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/gpu/op_views.h"
#include "codegen/gpu/schedule/agent.h"
#include "ir/loops.h"
#include "ir/op_views.h"
#include "ir/passes/fold.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen::schedule {

void Agent::Enter(const ir::Block& body, absl::Span<const Known> args) {
  for (size_t i = 0; i < args.size(); ++i) Of(body.arg(static_cast<int>(i))) = args[i];
  frames_.push_back({body.front()});
}

void Agent::Leave(absl::Span<const Known> results) {
  frames_.pop_back();
  SetResults(next(), results);
  Advance();
}

Step Agent::For(const ir::Op& op) {
  const ir::ForOp loop(op);
  const auto sign = loop.unsigned_cmp() ? ir::Signedness::kUnsigned : ir::Signedness::kSigned;
  const uint64_t lower = Of(loop.lower_bound()).bits, upper = Of(loop.upper_bound()).bits;
  std::vector<Known> carried = OperandsOf(op, loop.init_values().first());
  if (!ir::Compare(ir::ComparisonPredicate::kLessThan, sign, lower, upper, ir::WidthOf(loop.lower_bound()))) {
    SetResults(op, carried);
    Advance();
    return {};
  }
  carried.insert(carried.begin(), Of(loop.lower_bound()));
  Enter(*op.region(0), carried);
  return {};
}

Step Agent::Loop(const ir::Op& op) {
  Enter(*op.region(0), OperandsOf(op));
  return {};
}

Step Agent::If(const ir::Op& op) {
  const ir::Block* side = op.region(Of(op.operand(0)).bits != 0 ? 0 : 1);
  if (side == nullptr) {
    Advance();
    return {};
  }
  Enter(*side, {});
  return {};
}

Step Agent::Yield(const ir::Op& op) {
  const ir::Op& around = *op.parent();
  std::vector<Known> values = OperandsOf(op);
  if (gpu::CopyAsyncOp::Is(&around)) return BeginOwnCopy(around, values[0], values[1]);
  if (gpu::PieceOp::Is(&around)) {
    if (Fault fault = ReadPiece(around, values.data()); fault.found()) return {false, fault};
  }
  if (gpu::ProducerOp::Is(&around)) return Return(op);
  if (gpu::EachBlockOp::Is(&around) && ++tile_block_.turn < terms_.turns()) {
    frames_.pop_back();
    Enter(*around.region(0), values);
    return {};
  }
  Leave(values);
  return {};
}

Step Agent::Continue(const ir::Op& op) {
  const ir::Op& around = *ir::TargetOf(op);
  std::vector<Known> carried = OperandsOf(op);
  while (&next() != &around) frames_.pop_back();
  if (!ir::ForOp::Is(&around)) {
    Enter(*around.region(0), carried);
    return {};
  }
  const ir::ForOp loop(around);
  const int width = ir::WidthOf(loop.lower_bound());
  Known iv = Of(around.region(0)->arg(0));
  const uint64_t step = Of(loop.step()).bits, left = ir::LowBits(Of(loop.upper_bound()).bits - iv.bits, width);
  if (step == 0 || step >= left) {
    SetResults(around, carried);
    Advance();
    return {};
  }
  iv.bits = ir::LowBits(iv.bits + step, width);
  carried.insert(carried.begin(), iv);
  Enter(*around.region(0), carried);
  return {};
}

Step Agent::Break(const ir::Op& op) {
  const ir::Op& around = *ir::TargetOf(op);
  const std::vector<Known> results = OperandsOf(op);
  while (&next() != &around) frames_.pop_back();
  SetResults(around, results);
  Advance();
  return {};
}

Step Agent::Return(const ir::Op&) {
  if (!place_.producer && block().effects_known && effects_ < block().effects.size()) {
    return {.waits = false,
            .fault = {FaultKind::kOtherTile, absl::StrCat("comes where ", NameOf(*block().effects[effects_].op),
                                                          " of the program before has not been done")}};
  }
  frames_.clear();
  return {};
}

// Before it is expanded it loads what it brings.
Step Agent::Fetch(const ir::Op& op) {
  Enter(*op.region(0), OperandsOf(op));
  return {};
}

Step Agent::Region(const ir::Op& op) {
  Enter(*op.region(0), {});
  return {};
}

Step Agent::Producer(const ir::Op& op) { return place_.producer ? Region(op) : Nothing(op); }

Step Agent::Workers(const ir::Op& op) { return place_.producer ? Nothing(op) : Region(op); }

Step Agent::Warp(const ir::Op& op) {
  const int first = place_.producer ? machine_.shape().workers : 0;
  return place_.warp == first ? Region(op) : Nothing(op);
}

Step Agent::EachBlock(const ir::Op& op) {
  tile_block_.turn = 0;
  Enter(*op.region(0), OperandsOf(op));
  return {};
}

}  // namespace tile::codegen::schedule
