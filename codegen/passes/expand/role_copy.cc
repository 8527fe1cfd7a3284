#include "codegen/passes/expand/role_copy.h"

#include <algorithm>
#include <iterator>

#include "codegen/gpu/ops.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"

namespace tile::codegen {

using ir::Block;
using ir::Builder;
using ir::Op;
using ir::Value;
using ir::ops::Values;

namespace {

// The attributes that are written out as operations.
constexpr Decision kWrittenOut[] = {Decision::kStagesLhs,      Decision::kOffsets,  Decision::kLhsInRegisters,
                                    Decision::kCrossIteration, Decision::kOverlaps, Decision::kTakesTurns,
                                    Decision::kAsync};

bool IsControl(const Op& op) { return ir::ForOp::Is(&op) || ir::LoopOp::Is(&op) || ir::IfOp::Is(&op); }

// The groups of operands before the last field, which takes all others.
std::vector<uint32_t> EndsOf(const Op& op, size_t operands) {
  std::vector<uint32_t> ends;
  const size_t fields = op.info()->format->operands.size();
  for (size_t f = 0; f + 1 < fields; ++f) ends.push_back(static_cast<uint32_t>(op.group_end(static_cast<int>(f))));
  ends.push_back(static_cast<uint32_t>(operands));
  return ends;
}

}  // namespace

RoleCopy::RoleCopy(const std::vector<FetchRing>& rings, const ir::Function& function, LayoutTable* layouts)
    : rings_(rings), layouts_(layouts) {
  ir::Walk(function.body(), [&](const Op* op) {
    for (size_t i = 0; i < rings_.size(); ++i) {
      if (rings_[i].fetch != op) continue;
      // Threads may widen a ring to another, which follows it.
      if (!rings_[i].of_product) {
        ring_of_fetch_.try_emplace(op, i);
        ring_of_fetch_.try_emplace(op->parent(), i);
      }
      // Where threads copy, each execution of the loop begins with the first stage.
      for (const Op* around = op->parent(); around != nullptr && !rings_[i].in_bytes; around = around->parent())
        rings_in_[around].push_back(i);
    }
  });
}

void RoleCopy::Begin(Builder& b, int64_t phase) {
  for (const FetchRing& ring : rings_)
    positions_.push_back(ring.in_bytes ? RingPosition() : RingPosition{I32(b, 0), I32(b, phase)});
}

Values RoleCopy::FlatPositions() const {
  Values flat;
  for (const RingPosition& at : positions_) flat.insert(flat.end(), {at.stage, at.phase});
  return flat;
}

void RoleCopy::SetPositions(absl::Span<Value* const> flat) {
  for (size_t i = 0; i < positions_.size(); ++i) positions_[i] = {flat[2 * i], flat[2 * i + 1]};
}

Value* RoleCopy::Of(Value* v) const {
  const auto it = values_.find(v);
  return it == values_.end() ? v : it->second;
}

Values RoleCopy::Of(absl::Span<Value* const> values) const {
  Values copies;
  for (Value* v : values) copies.push_back(Of(v));
  return copies;
}

void RoleCopy::Set(const Value* old, Value* copy) {
  copy->name = old->name;
  values_[old] = copy;
}

const RoleCopy::Rings& RoleCopy::RingsIn(const Op& op) const {
  static const auto* none = new Rings;
  const auto it = rings_in_.find(&op);
  return it == rings_in_.end() ? *none : it->second;
}

void RoleCopy::AddPositions(const Rings& of, Values* values) const {
  for (const size_t i : of) values->insert(values->end(), {positions_[i].stage, positions_[i].phase});
}

void RoleCopy::CopyBlock(Builder& b, const Block& from) {
  for (const Op* op : from) {
    b.set_loc(op->loc);
    Before(b, *op);
    if (op->info()->has(ir::kTerminator)) {
      CopyBranch(b, *op);
      continue;
    }
    if (!Runs(*op)) continue;
    if (op->info()->has(ir::kLoop)) StoreBefore(b, *op);
    if (const auto ring = ring_of_fetch_.find(op); ring != ring_of_fetch_.end()) {
      IsFetch(op) ? CopyFetch(b, *op, ring->second) : CopyFetchLoop(b, ir::ForOp(op), ring->second);
    } else if (IsControl(*op)) {
      CopyControl(b, *op);
    } else {
      CopyOther(b, *op);
    }
  }
}

Op* RoleCopy::CopyProduct(Builder& b, const Op& mma, const Values& operands, bool async) {
  Op* copy = ir::CreateLike(b.module(), mma, operands, ir::ResultTypesOf(mma));
  copy->DropAnnotations();
  for (const ir::Annotation* a = mma.annotations(); a != nullptr; a = a->next) {
    const auto is = [&](Decision d) { return &InfoOf(d) == a->info; };
    if (std::none_of(std::begin(kWrittenOut), std::end(kWrittenOut), is))
      b.module()->Annotate(copy, *a->info, a->value);
  }
  if (async) Decide<Decision::kAsync>(b.module(), copy, true);
  b.module()->Append(b.block(), copy);
  return copy;
}

void RoleCopy::CopyOther(Builder& b, const Op& op) {
  if (HasOperandsStored(op)) return MultiplyStored(b, op);
  b.module()->Append(b.block(), ir::CopyOp(b.module(), op, &values_));
}

Values RoleCopy::BeginFor(Builder& b, const ir::ForOp& loop, const Values& more, Op** copy) {
  const ir::CarryingLoop carrying(loop.op());
  Values operands = {Of(loop.lower_bound()), Of(loop.upper_bound()), Of(loop.step())};
  std::vector<ir::Type> results, args = {carrying.index()->type()};
  for (int i = 0; i < carrying.num_carried(); ++i) {
    if (!Has(carrying.arg(i))) continue;
    operands.push_back(Of(carrying.init(i)));
    results.push_back(loop.op().result(i)->type());
    args.push_back(carrying.arg(i)->type());
  }
  for (Value* v : more) {
    operands.push_back(v);
    results.push_back(v->type());
    args.push_back(v->type());
  }
  *copy = ir::CreateLike(b.module(), loop.op(), operands, results, EndsOf(loop.op(), operands.size()));
  b.module()->Append(b.block(), *copy);
  const Block* body = b.AddRegion(*copy, 0, args);
  Set(carrying.index(), body->arg(0));
  int next = 1;
  for (int i = 0; i < carrying.num_carried(); ++i) {
    if (Has(carrying.arg(i))) Set(carrying.arg(i), body->arg(next++));
  }
  return {body->args().begin() + next, body->args().end()};
}

void RoleCopy::CopyControl(Builder& b, const Op& op) {
  const Rings& inside = RingsIn(op);
  Values positions;
  AddPositions(inside, &positions);
  Op* copy = nullptr;
  const std::vector<RingPosition> before = positions_;
  if (const auto loop = ir::As<ir::ForOp>(&op)) {
    const Values args = BeginFor(b, *loop, positions, &copy);
    for (size_t i = 0; i < inside.size(); ++i) positions_[inside[i]] = {args[2 * i], args[2 * i + 1]};
    Builder::Scope scope(b, copy->region(0));
    CopyBlock(b, *op.region(0));
  } else {
    Values operands;
    for (int i = 0; i < op.num_operands(); ++i) {
      if (!ir::LoopOp::Is(&op) || Has(op.region(0)->arg(i))) operands.push_back(Of(op.operand(i)));
    }
    if (ir::LoopOp::Is(&op)) operands.insert(operands.end(), positions.begin(), positions.end());
    std::vector<ir::Type> results;
    for (int i = 0; i < op.num_results(); ++i) {
      if (Has(op.result(i))) results.push_back(op.result(i)->type());
    }
    for (const Value* v : positions) results.push_back(v->type());
    copy = ir::CreateLike(b.module(), op, operands, results, EndsOf(op, operands.size()));
    b.module()->Append(b.block(), copy);
    CopyRegions(b, op, copy, inside);
  }
  positions_ = before;
  int next = 0;
  for (int i = 0; i < op.num_results(); ++i) {
    const Value* kept = ir::ForOp::Is(&op) ? ir::CarryingLoop(op).arg(i) : op.result(i);
    if (Has(kept)) Set(op.result(i), copy->result(next++));
  }
  for (const size_t i : inside) {
    positions_[i] = {copy->result(next), copy->result(next + 1)};
    next += 2;
  }
}

// Copies the regions of an if or a loop.
void RoleCopy::CopyRegions(Builder& b, const Op& op, Op* copy, const Rings& inside) {
  const std::vector<RingPosition> before = positions_;
  for (int r = 0; r < op.num_regions(); ++r) {
    positions_ = before;
    const Block* region = op.region(r);
    if (region == nullptr && copy->num_results() == 0) continue;
    std::vector<ir::Type> types;
    std::vector<Value*> args;
    for (int i = 0; region != nullptr && i < region->num_args(); ++i) {
      if (!Has(region->arg(i))) continue;
      args.push_back(region->arg(i));
      types.push_back(region->arg(i)->type());
    }
    if (ir::LoopOp::Is(&op)) types.insert(types.end(), 2 * inside.size(), I32(b));
    const Block* body = b.AddRegion(copy, r, types);
    for (size_t i = 0; i < args.size(); ++i) Set(args[i], body->arg(static_cast<int>(i)));
    for (size_t i = 0; ir::LoopOp::Is(&op) && i < inside.size(); ++i) {
      const int at = static_cast<int>(args.size() + 2 * i);
      positions_[inside[i]] = {body->arg(at), body->arg(at + 1)};
    }
    Builder::Scope scope(b, copy->region(r));
    if (region != nullptr) {
      CopyBlock(b, *region);
      continue;
    }
    // The other branch of this if is empty: the positions stay.
    Values yielded;
    AddPositions(inside, &yielded);
    b.Create(ir::Opcode::kYield, {yielded}, {});
  }
}

void RoleCopy::CopyBranch(Builder& b, const Op& branch) {
  const Op* to = ir::TargetOf(branch);
  if (to == nullptr) {
    // The end of the kernel's body is the end of the role.
    if (branch.parent() != nullptr) b.module()->Append(b.block(), ir::CopyOp(b.module(), branch, &values_));
    return;
  }
  Values operands;
  for (int i = 0; i < branch.num_operands(); ++i) {
    if (Has(ir::ReceiverOf(branch, i))) operands.push_back(Of(branch.operand(i)));
  }
  if (const auto ring = ring_of_fetch_.find(to); ring != ring_of_fetch_.end()) {
    const Values more = EndIteration(b, *to, ring->second);
    operands.insert(operands.end(), more.begin(), more.end());
  } else {
    AddPositions(RingsIn(*to), &operands);
  }
  b.Create(branch.opcode(), {operands}, {});
}

}  // namespace tile::codegen
