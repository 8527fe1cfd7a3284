// Products of a loop that copies ahead by TMA: the places of their operands, and when they begin and are awaited.
// Products into tensor memory are in column_products.cc.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/passes/expand/copy_role.h"
#include "codegen/passes/expand/stored_operands.h"
#include "codegen/plan/mma/cross_iteration_mma.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/staging/conversion_buffers.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"

namespace tile::codegen {

using ir::Attr;
using ir::AttrKind;
using ir::Builder;
using ir::Op;
using ir::Value;
using ir::ops::Values;
namespace op = ir::ops;

namespace {

constexpr int kGroupsInTurns = 2;

constexpr int64_t kWordBytes = 4, kMostWidenedWords = 16;  // four vectors of 16 bytes

// The operation of the loop's body that is this one or contains it.
const Op* InBody(const Op* op, const Op& loop) {
  while (op->parent() != &loop) op = op->parent();
  return op;
}

}  // namespace

// --- operands ----------------------------------------------------------------------------------------------------------

// Each thread stores its part.
ir::Type CopyRole::WordsType(Builder& b, int64_t words) const {
  const int64_t all = words * schedule_.threads();
  return TypeIn(b, layouts(), ir::Elem::kI32, {all}, Layout::Blocked({all}, {words}, {32}, {schedule_.num_warps}, {0}));
}

// Stores the left operands that the loop does not change.
void CopyRole::StageInvariants(Builder& b) {
  absl::flat_hash_map<const Value*, Value*> addresses;
  const Op& copy = *of_frame().fetch;
  for (int i = 0; i < copy.num_results(); ++i) {
    for (const ir::Use* use = copy.result(i)->uses(); use != nullptr; use = use->next) {
      const Op& mma = *use->owner;
      if (!DecisionOf<Decision::kStagesLhs>(mma) || !IsInvariant(mma, 0)) continue;
      Value*& address = addresses[mma.operand(0)];
      if (address == nullptr)
        address =
            Named("lhs", b.Create(GetGpuOp(GpuOpcode::kStageOperand), {{Of(mma.operand(0))}}, {I32(b)})->result(0));
      frame_->invariants[&mma] = {address, nullptr};
    }
  }
  if (addresses.empty()) return;
  b.Create(GetGpuOp(GpuOpcode::kFenceProxyAsync), {}, {});
  if (stages().by_threads) return;  // the barrier of the first iteration follows
  b.Create(GetGpuOp(GpuOpcode::kWorkerBarrier), {}, {});
  for (const Op* mma : *frame_->loop->region(0)) {
    const auto steps = DecisionOf<Decision::kLhsInRegisters>(*mma).value_or(0);
    if (steps == 0) continue;
    Invariant& lhs = frame_->invariants.at(mma);
    Value* stored = StageTileAt(b, lhs.address, mma->operand(0)->type(), StagedLhs(mma->operand(0)->type()).swizzle, 1);
    Op* words = b.Create(GetGpuOp(GpuOpcode::kFragmentWords), {{stored}}, {WordsType(b, WordsOfLhs(*mma))});
    DecideFragments(b.module(), words, *mma);
    Decide<Decision::kLhsInRegisters>(b.module(), words, steps);
    lhs.words = Named("words", words->result(0));
  }
}

// A result of the copy_ahead, in this stage or in the place to which threads widened it.
Value* CopyRole::InStage(Builder& b, const Value* operand, Value* stage, const RingPosition& widened) {
  const auto i = static_cast<size_t>(operand->index());
  const StagedTile& tile = of_frame().stage.tiles[i];
  if (stages().by_threads) return StoredForProduct(b, i, stage);
  Value* address =
      of_frame().stage.widens_apart(i) ? AddressOf(b, wide(), widened.stage, i) : AddressOf(b, of_frame(), stage, i);
  return StageTileAt(b, address, operand->type(), tile);
}

// The same result as loaded, in the stage of this iteration. Threads widen it in this layout.
Value* CopyRole::AsLoaded(Builder& b, size_t i) {
  const StagedTile& tile = of_frame().stage.tiles[i];
  const ir::Type type = of_frame().fetch->result(static_cast<int>(i))->type();
  StagedTile of_operand = tile;
  of_operand.contiguous = ContiguousDim(tile);
  of_operand.other = 1 - of_operand.contiguous;
  const Layout layout = WideningLayout(of_operand, type.shape(), schedule_.num_warps);
  return StageTileAt(b, AddressOf(b, of_frame(), frame_->at.stage, i),
                     TypeIn(b, layouts(), tile.load->result(0)->type().elem(), type.shape(), layout),
                     tile.AsLoaded().swizzle, of_operand.contiguous);
}

Value* CopyRole::WidenLoad(Builder& b, size_t i) {
  Value* from = AsLoaded(b, i);
  const int64_t words = std::min<int64_t>(LayoutOf(from->type())->registers() / kWordBytes, kMostWidenedWords);
  return b.Create(GetGpuOp(GpuOpcode::kWidenLoad), {{from}}, {WordsType(b, words)})->result(0);
}

bool CopyRole::ReadsWide(const Op& mma) const {
  bool reads = false;
  for (int i = 0; i < 2; ++i)
    reads = reads ||
            (CopyOf(mma, i) != nullptr && of_frame().stage.widens_apart(static_cast<size_t>(mma.operand(i)->index())));
  return reads;
}

Value* CopyRole::Operand(Builder& b, const Op& mma, int i) {
  if (CopyOf(mma, i) != nullptr) return InStage(b, mma.operand(i), frame_->at.stage, frame_->wide_at);
  if (i == 1 && KindOf(mma).reads_stages() && StoresRhs(mma)) return StoreRhs(b, mma);
  const auto it = i == 0 ? frame_->invariants.find(&mma) : frame_->invariants.end();
  if (it == frame_->invariants.end()) return Of(mma.operand(i));
  const ir::Type type = mma.operand(i)->type();
  Value* stored = StageTileAt(b, it->second.address, type, StagedLhs(type).swizzle, 1);
  if (it->second.words == nullptr) return stored;
  return b.Create(GetGpuOp(GpuOpcode::kHeldWords), {{stored}, {it->second.words}}, {type})->result(0);
}

Values CopyRole::AwaitProducts(Builder& b, int64_t pending, const Values& sums, const Values& words) {
  std::vector<ir::Type> types;
  for (const Value* v : sums) types.push_back(v->type());
  Values operands = sums;
  operands.insert(operands.end(), words.begin(), words.end());
  const Op* wait =
      b.Create(GetGpuOp(GpuOpcode::kMmaWait), {operands}, types, {{"pending", Attr::Int(AttrKind::kInt, pending)}});
  Values ended;
  for (int i = 0; i < wait->num_results(); ++i) ended.push_back(wait->result(i));
  return ended;
}

Value* CopyRole::Ended(Builder& b, const Op& mma, Value* sums) {
  if (!HandsOnElsewhere(mma)) return sums;
  return b.Create(GetGpuOp(GpuOpcode::kOwnRegisters), {{sums}}, {sums->type()})->result(0);
}

// --- the order ---------------------------------------------------------------------------------------------------------

bool CopyRole::turns() const {
  return !frame_->leaders.empty() && DecisionOf<Decision::kTakesTurns>(*frame_->leaders.back());
}

void CopyRole::Turn(Builder& b, GpuOpcode code, int group) { b.Create(GetGpuOp(code), {{I32(b, group)}}, {}); }

void CopyRole::Turn(Builder& b, GpuOpcode code) {
  for (int group = 0; group < kGroupsInTurns; ++group) Turn(b, code, group);
}

void CopyRole::Multiply(Builder& b, const Op& mma) {
  if (DecisionOf<Decision::kCrossIteration>(mma)) return KeepWords(b, mma);
  const bool leads = std::find(frame_->leaders.begin(), frame_->leaders.end(), &mma) != frame_->leaders.end();
  if (leads && &mma == frame_->leaders.front()) {
    if (stages().wide_beside) LoadToWiden(b);
    if (turns()) Turn(b, GpuOpcode::kTurnWait);
  }
  if (stages().pieces) AdvancePiece(b);
  if (ReadsWide(mma)) Await(b, wide().full, frame_->wide_at.stage, frame_->wide_at.phase);
  const bool overlaps = DecisionOf<Decision::kOverlaps>(mma);
  // The product waits part by part where its sums are added to others, or where registers receive its first operand.
  const bool in_parts = DecisionOf<Decision::kPromotes>(mma) || DecisionOf<Decision::kHeld>(mma);
  const bool fills = !leads && !overlaps && (stages().pieces || !frame_->filled);
  const bool async = leads || overlaps || (fills && !in_parts);
  Values operands = {Operand(b, mma, 0), Operand(b, mma, 1)};
  for (int i = 2; i < mma.num_operands(); ++i) operands.push_back(Of(mma.operand(i)));
  if (fills && in_parts) FillBesideParts(b);
  Value* sums = CopyProduct(b, mma, operands, async)->result(0);
  if (overlaps) {
    frame_->begun.push_back(&mma);
    frame_->running.push_back(&mma);
  } else if (leads) {
    if (&mma == frame_->leaders.back()) sums = Ended(b, mma, BeginBeside(b, sums));
  } else if (fills) {
    if (async) FillMeanwhile(b);
    if (async) sums = AwaitProducts(b, 0, {sums})[0];
    if (stages().pieces) Release(b, of_frame().free, frame_->at.stage, frame_->yes);
    if (async) sums = Ended(b, mma, sums);
  }
  Set(mma.result(0), sums);
}

void CopyRole::Before(Builder& b, const Op& op) {
  if (columns_.first != nullptr && ir::ReturnOp::Is(&op) && op.parent() != nullptr) FreeColumns(b, columns_);
  if (frame_ == nullptr || op.parent() != frame_->loop) return;
  // This is early enough for a warpgroup that is half an iteration ahead.
  if (frame_->fills_wide && op.prev() != nullptr && op.prev()->info()->has(ir::kElementBody)) FillWide(b);
  const auto& deferred = frame_->deferred;
  const bool uses = std::any_of(deferred.begin(), deferred.end(), [&](const Deferred& d) { return d.user == &op; });
  if (uses && !frame_->waited) AwaitDeferred(b, &op);
  if (stages().apart && &op == frame_->loop->region(0)->back()) {
    if (frame_->keeps_others) Release(b, of_frame().free, frame_->at.stage, frame_->yes);
    Await(b, stages().late_full, frame_->at.stage, frame_->at.phase);
  }
  AwaitOverlapping(b, op);
}

// --- products that are deferred ------------------------------------------------------------------------------------------

void CopyRole::SetHeld(Builder& b) {
  for (Deferred& d : frame_->deferred)
    d.held = b.Create(GetGpuOp(GpuOpcode::kUnset), {}, {WordsType(b, WordsOfLhs(*d.mma))})->result(0);
}

void CopyRole::KeepWords(Builder& b, const Op& mma) {
  for (Deferred& d : frame_->deferred) {
    if (d.mma != &mma) continue;
    Op* words = b.Create(GetGpuOp(GpuOpcode::kFragmentWords), {{Of(mma.operand(0))}}, {WordsType(b, WordsOfLhs(mma))});
    DecideFragments(b.module(), words, mma);
    d.kept = Named("kept", words->result(0));
  }
  Set(mma.result(0), Of(ir::ProductOp(mma).acc()));
}

// Begins it with the operands of the previous iteration, and these sums.
Value* CopyRole::BeginDeferred(Builder& b, const Deferred& d, Value* sums) {
  if (ReadsWide(*d.mma)) Await(b, wide().full, frame_->wide_before.stage, frame_->wide_before.phase);
  Value* lhs = b.Create(GetGpuOp(GpuOpcode::kWordsTile), {{d.held}}, {d.mma->operand(0)->type()})->result(0);
  Value* rhs = InStage(b, d.mma->operand(1), frame_->before, frame_->wide_before);
  return CopyProduct(b, *d.mma, {lhs, rhs, sums}, true)->result(0);
}

// `sums` are those of the leader, which has begun. The products of the previous iteration begin after it, then the
// leader ends.
Value* CopyRole::BeginBeside(Builder& b, Value* sums) {
  std::vector<ir::Type> types = {sums->type()};
  Values carried;
  for (const Deferred& d : frame_->deferred) {
    carried.push_back(Of(const_cast<Value*>(d.sums)));
    types.push_back(carried.back()->type());
  }
  // These run beside the products and the leader.
  const auto meanwhile = [&] {
    if (turns()) Turn(b, GpuOpcode::kTurnPass);
    if (!stages().wide_beside) return;
    StoreWidened(b);
    // This wait returns at once. It ends a basic block: within one, ptxas would move waits for products to the front.
    Await(b, wide().free, frame_->wide_at.stage, op::Xori(b, frame_->wide_at.phase, wide().one));
  };
  Op* any = b.Create(ir::Opcode::kIf, {{frame_->any}}, types);
  {
    Builder::Scope scope(b, b.AddRegion(any, 0, {}));
    Values begun = {sums};
    for (size_t i = 0; i < carried.size(); ++i) begun.push_back(BeginDeferred(b, frame_->deferred[i], carried[i]));
    meanwhile();
    b.Create(ir::Opcode::kYield, {begun}, {});
  }
  {
    Builder::Scope scope(b, b.AddRegion(any, 1, {}));
    meanwhile();
    Values without = AwaitProducts(b, 0, {sums});
    without.insert(without.end(), carried.begin(), carried.end());
    b.Create(ir::Opcode::kYield, {without}, {});
  }
  for (size_t i = 0; i < carried.size(); ++i) Set(frame_->deferred[i].sums, any->result(static_cast<int>(i) + 1));
  // One warp starts copies. That takes less time than its wait for the leader here.
  FillMeanwhile(b);
  frame_->fills_wide = stages().wide_beside;
  return AwaitProducts(b, static_cast<int64_t>(carried.size()), {any->result(0)})[0];
}

// Tiles that the body has computed before this operation, for it or for later ones.
Values CopyRole::MadeBefore(const Op* user) const {
  absl::flat_hash_set<const Op*> behind;
  for (const Op* op = user; op != nullptr; op = op->next()) behind.insert(op);
  const auto needed = [&](const Value* v) {
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      if (behind.contains(InBody(use->owner, *frame_->loop))) return true;
    }
    return false;
  };
  Values made;
  for (const Op* op = frame_->leaders.back()->next(); op != user; op = op->next()) {
    for (int i = 0; i < op->num_results(); ++i) {
      const Value* v = op->result(i);
      if (v->type().is_tile() && !v->type().is_scalar() && !IsFetch(op) && needed(v))
        made.push_back(Of(const_cast<Value*>(v)));
    }
  }
  return made;
}

// `user` is the next operation, or null at the end of the iteration. The stage of the previous iteration is free
// afterwards.
void CopyRole::AwaitDeferred(Builder& b, const Op* user) {
  if (frame_->fills_wide) FillWide(b);
  if (const Values made = MadeBefore(user); !made.empty()) b.Create(GetGpuOp(GpuOpcode::kMadeHere), {made}, {});
  // The wait for the next stage comes first. It ends a basic block: within one, ptxas would move the wait for products
  // to the front.
  Op* when = b.Create(ir::Opcode::kIf, {{HasMore(b, Of(frame_->loop->region(0)->arg(0)))}}, {});
  {
    Builder::Scope scope(b, b.AddRegion(when, 0, {}));
    Await(b, of_frame().full, frame_->next.stage, frame_->next.phase);
    b.Create(ir::Opcode::kYield, {{}}, {});
  }
  Values sums, words;
  for (const Deferred& d : frame_->deferred) {
    sums.push_back(Of(const_cast<Value*>(d.sums)));
    words.push_back(d.held);
  }
  const Values ended = AwaitProducts(b, 0, sums, words);
  for (size_t i = 0; i < ended.size(); ++i) Set(frame_->deferred[i].sums, ended[i]);
  ReleaseLate(b, frame_->any);
  frame_->keeps_others = ReadsBehind(user);
  if (stages().apart && !frame_->keeps_others) Release(b, of_frame().free, frame_->at.stage, frame_->yes);
  frame_->waited = true;
}

// Releases the stage that deferred products read in the previous iteration.
void CopyRole::ReleaseLate(Builder& b, Value* if_true) {
  Release(b, stages().apart ? stages().late_free : of_frame().free, frame_->before, if_true);
  if (stages().wide_for_late) Release(b, wide().free, frame_->wide_before.stage, if_true);
}

// This operation or a later one reads a tile of the iteration's stage that no deferred product reads.
bool CopyRole::ReadsBehind(const Op* user) const {
  for (const Op* op = user; op != nullptr; op = op->next()) {
    const bool copied = IsProduct(*op) && (CopyOf(*op, 0) != nullptr || CopyOf(*op, 1) != nullptr);
    if (copied && !DecisionOf<Decision::kCrossIteration>(*op)) return true;
  }
  return false;
}

// --- products that overlap -------------------------------------------------------------------------------------------------

// The operation, or one inside it, reads a result of the product.
bool CopyRole::Reads(const Op& op, const Op& mma) const {
  const Value* sums = mma.result(0);
  if (AddsInOrder(op, sums)) return false;
  if (&op == frame_->loop->region(0)->back() && DecisionOf<Decision::kAsync>(mma)) return false;
  for (const ir::Use* use = sums->uses(); use != nullptr; use = use->next) {
    if (InBody(use->owner, *frame_->loop) == &op) return true;
  }
  return false;
}

void CopyRole::AwaitOverlapping(Builder& b, const Op& op) {
  auto& running = frame_->running;
  for (size_t i = 0; i < running.size();) {
    const Op* mma = running[i];
    if (!Reads(op, *mma)) {
      ++i;
      continue;
    }
    const auto at = std::find(frame_->begun.begin(), frame_->begun.end(), mma);
    const Values ended = WaitOverlapping(b, frame_->begun.end() - at - 1, {Of(mma->result(0))});
    Set(mma->result(0), Ended(b, *mma, ended[0]));
    running.erase(running.begin() + static_cast<int64_t>(i));
  }
}

// Copies begin while products run. The products of the previous iteration have ended, so their stage is free.
Values CopyRole::WaitOverlapping(Builder& b, int64_t pending, const Values& sums) {
  FillMeanwhile(b);
  Values ended = AwaitProducts(b, pending, sums);
  if (!frame_->waited && stages().drains()) Release(b, of_frame().free, frame_->before, frame_->any);
  frame_->waited = true;
  return ended;
}

// --- after the loop ----------------------------------------------------------------------------------------------------------

// Ends the loop: the previous iteration is the last one.
void CopyRole::Drain(Builder& b, Values* results) {
  std::vector<size_t> carried;
  Values sums;
  for (const Deferred& d : frame_->deferred) {
    carried.push_back(static_cast<size_t>(d.carried));
    sums.push_back(BeginDeferred(b, d, (*results)[carried.back()]));
  }
  for (const Op* mma : frame_->overlapping) {
    if (!DecisionOf<Decision::kAsync>(*mma)) continue;
    carried.push_back(static_cast<size_t>(ir::CarryingLoop(*frame_->loop).carried_by(ir::ProductOp(*mma).acc())));
    sums.push_back((*results)[carried.back()]);
  }
  const Values ended = AwaitProducts(b, 0, sums);
  for (size_t i = 0; i < ended.size(); ++i) (*results)[carried[i]] = ended[i];
  ReleaseLate(b, frame_->yes);
  // The first warpgroup takes its next turn, which the loop did not use.
  if (turns()) Turn(b, GpuOpcode::kTurnWait, 0);
}

}  // namespace tile::codegen
