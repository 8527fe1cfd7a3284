#include "codegen/passes/expand/copy_role.h"

#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/op_views.h"
#include "codegen/plan/mma/cross_iteration_mma.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/plan/tma/tensor_maps.h"
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

void Yield(Builder& b, const Values& values) { b.Create(ir::Opcode::kYield, {values}, {}); }

CopyStages StagesOf(const Schedule& schedule, const Op& copy) {
  CopyStages stages;
  if (!CopiesByTma(copy)) stages.by_threads = ThreadCopiesOf(copy);
  const StageLayout layout = StageOf(copy);
  stages.pieces = layout.piece_bytes > 0;
  stages.late = HasCrossIterationMma(copy);
  stages.apart = ComesApart(copy, schedule.stages);
  stages.keeps = KeepsStage(copy);
  stages.wide_beside = layout.conversion_buffers > 0;
  for (int i = 0; i < copy.num_results(); ++i) {
    if (!layout.widens_apart(static_cast<size_t>(i))) continue;
    for (const ir::Use* use = copy.result(i)->uses(); use != nullptr; use = use->next) {
      const bool late = DecisionOf<Decision::kCrossIteration>(*use->owner);
      stages.wide_beside = stages.wide_beside && late;
      stages.wide_for_late = stages.wide_for_late || late;
    }
  }
  return stages;
}

}  // namespace

void AllocateCopies(Builder& b, const Schedule& schedule, const std::vector<const Op*>& copies,
                    std::vector<FetchRing>* rings, std::vector<CopyStages>* all) {
  for (const Op* copy : copies) {
    CopyStages stages = StagesOf(schedule, *copy);
    rings->push_back(stages.by_threads ? AllocateCopied(b, schedule, *copy) : AllocateRing(b, schedule, *copy));
    if (stages.apart) {
      stages.late_full = Named("late_full", AllocateBarriers(b, schedule.stages, 1, false));
      stages.late_free = Named("late_free", AllocateBarriers(b, schedule.stages, schedule.num_warps, false));
    }
    const bool widens = rings->back().stage.conversion_buffers > 0;
    const bool into_columns = ColumnsThrough(*copy) > 0;
    if (widens) stages.wide = static_cast<int>(rings->size());
    if (into_columns) stages.ends = static_cast<int>(rings->size()) + (widens ? 1 : 0);
    all->push_back(stages);
    if (widens) rings->push_back(AllocateWidened(b, schedule, rings->back()));
    if (into_columns) rings->push_back(AllocateEnds(b, *copy));
    all->resize(rings->size());
  }
}

// --- copies --------------------------------------------------------------------------------------------------------------

// Threads may have written to the memory that TMA fills.
void CopyRole::ClaimStages(Builder& b) {
  if (!of_frame().maps.empty()) {
    Op* when = b.Create(ir::Opcode::kIf, {{IsWarp(b, 0)}}, {});
    Builder::Scope scope(b, b.AddRegion(when, 0, {}));
    MakeTensorMaps(b, frame_->ring);
    Yield(b, {});
  }
  Op* claim = b.Create(GetGpuOp(GpuOpcode::kClaimStages), {{of_frame().memory}}, {});
  Decide<Decision::kProxyFence>(b.module(), claim, true);
}

Value* CopyRole::IsWarp(Builder& b, int warp) {
  Value* number = b.Create(GetGpuOp(GpuOpcode::kWarpNumber), {}, {I32(b)})->result(0);
  return op::CmpI(b, ir::ComparisonPredicate::kEqual, number, I32(b, warp), ir::Signedness::kSigned);
}

RingPosition CopyRole::Step(Builder& b, const FetchRing& ring, const RingPosition& at) {
  Value* after = op::Addi(b, at.stage, ring.one);
  Value* wraps = op::CmpI(b, ir::ComparisonPredicate::kEqual, after, ring.last, ir::Signedness::kSigned);
  Value* turns = op::Exti(b, I32(b), wraps, ir::Signedness::kUnsigned);
  return {Named("next", op::Select(b, wraps, ring.zero, after)), Named("next_phase", op::Xori(b, at.phase, turns))};
}

// One thread announces the bytes to the barrier, and starts the copies of some of the iteration's tiles.
void CopyRole::StartCopies(Builder& b, Value* index, Value* stage, Value* full,
                           const std::function<bool(size_t)>& brings) {
  const FetchRing& of = of_frame();
  const auto is_brought = [&](size_t i) { return !of.stage.shares_slot(i) && brings(i); };
  int64_t bytes = 0;
  for (size_t i = 0; i < of.stage.tiles.size(); ++i) bytes += is_brought(i) ? of.stage.InStage(i).bytes() : 0;
  Op* elect = b.Create(GetGpuOp(GpuOpcode::kElect), {}, {});
  Builder::Scope scope(b, b.AddRegion(elect, 0, {}));
  b.Create(GetGpuOp(GpuOpcode::kBarrierExpect), {{full}, {stage}}, {}, {{"bytes", Attr::Int(AttrKind::kInt, bytes)}});
  CopyLoads(b, *of.fetch, index, [&](const Op& load) {
    for (size_t i = 0; i < of.stage.tiles.size(); ++i) {
      if (of.stage.tiles[i].load == &load && is_brought(i)) LoadTile(b, frame_->ring, i, stage, full);
    }
  });
  Yield(b, {});
}

// Another iteration follows the one of this index. A distance is compared, because the sum may overflow.
Value* CopyRole::HasMore(Builder& b, Value* index) {
  const ir::ForOp loop(frame_->loop);
  return op::CmpI(b, ir::ComparisonPredicate::kLessThan, Of(loop.step()), op::Subi(b, Of(loop.upper_bound()), index),
                  ir::Signedness::kUnsigned);
}

Values CopyRole::Flat(const Filling& at) {
  if (at.phase == nullptr) return {at.stage, at.index, at.more};
  return {at.stage, at.phase, at.index, at.more};
}

CopyRole::Filling CopyRole::Filled(const Op& when) {
  if (when.num_results() == 3)
    return {Named("to", when.result(0)), nullptr, Named("ahead", when.result(1)), Named("more", when.result(2))};
  return {Named("to", when.result(0)), Named("to_phase", when.result(1)), Named("ahead", when.result(2)),
          Named("more", when.result(3))};
}

// Starts the copies of the next iteration to copy, if there is one.
CopyRole::Filling CopyRole::Fill(Builder& b, const Filling& at) {
  Op* when = b.Create(ir::Opcode::kIf, {{at.more}}, {I32(b), I32(b), at.index->type(), I1(b)});
  {
    Builder::Scope scope(b, b.AddRegion(when, 0, {}));
    Await(b, of_frame().free, at.stage, at.phase);
    StartCopies(b, at.index, at.stage, of_frame().full,
                [&](size_t i) { return !stages().apart || !IsForLate(*of_frame().fetch, static_cast<int>(i)); });
    const RingPosition next = Step(b, of_frame(), {at.stage, at.phase});
    Value* more = HasMore(b, at.index);
    Yield(b, {next.stage, next.phase, op::Addi(b, at.index, Of(ir::ForOp(frame_->loop).step())), more});
  }
  {
    Builder::Scope scope(b, b.AddRegion(when, 1, {}));
    Yield(b, {at.stage, at.phase, at.index, at.more});
  }
  return Filled(*when);
}

// The same for a piece, by its number. After the last piece of an iteration comes the next iteration. `mine` says
// whether this warp starts the copy. If it is null, `at.more` says that, too.
CopyRole::Filling CopyRole::FillPiece(Builder& b, const Filling& at, int piece, Value* mine) {
  const auto tile = static_cast<size_t>(piece) % of_frame().stage.tiles.size();
  const bool last = tile + 1 == of_frame().stage.tiles.size();
  const auto start = [&] {
    Await(b, of_frame().free, at.stage, at.phase);
    StartCopies(b, at.index, at.stage, of_frame().full, [&](size_t i) { return i == tile; });
  };
  Op* when = b.Create(ir::Opcode::kIf, {{at.more}}, {I32(b), I32(b), at.index->type(), I1(b)});
  {
    Builder::Scope scope(b, b.AddRegion(when, 0, {}));
    if (mine == nullptr) {
      start();
    } else {
      Op* by_warp = b.Create(ir::Opcode::kIf, {{mine}}, {});
      Builder::Scope of_warp(b, b.AddRegion(by_warp, 0, {}));
      start();
      Yield(b, {});
    }
    const RingPosition next = Step(b, of_frame(), {at.stage, at.phase});
    Value* more = last ? HasMore(b, at.index) : at.more;
    Value* index = last ? op::Addi(b, at.index, Of(ir::ForOp(frame_->loop).step())) : at.index;
    Yield(b, {next.stage, next.phase, index, more});
  }
  {
    Builder::Scope scope(b, b.AddRegion(when, 1, {}));
    Yield(b, {at.stage, at.phase, at.index, at.more});
  }
  return Filled(*when);
}

void CopyRole::FillMeanwhile(Builder& b) {
  if (stages().by_threads) return FillBeside(b);
  if (stages().pieces) {
    // The pieces before those that were read are being copied.
    frame_->filling = FillPiece(b, frame_->filling, frame_->piece + of_frame().stages - 2, nullptr);
    return;
  }
  if (frame_->filled) return;
  frame_->filled = true;
  frame_->filling = Fill(b, frame_->filling);
  if (stages().apart) FillLate(b);
}

void CopyRole::FillBesideParts(Builder& b) {
  std::vector<ir::Type> types;
  for (const Value* v : Flat(frame_->filling)) types.push_back(v->type());
  Op* meanwhile = b.Create(GetGpuOp(GpuOpcode::kMeanwhile), {Values()}, types);
  {
    Builder::Scope scope(b, b.AddRegion(meanwhile, 0, {}));
    FillMeanwhile(b);
    Yield(b, Flat(frame_->filling));
  }
  frame_->filling = Filled(*meanwhile);
}

// Copies the tiles that deferred products read, within their iteration. They replace those of two iterations before.
void CopyRole::FillLate(Builder& b) {
  Op* when = b.Create(ir::Opcode::kIf, {{IsWarp(b, 0)}}, {});
  Builder::Scope scope(b, b.AddRegion(when, 0, {}));
  Await(b, stages().late_free, frame_->at.stage, op::Xori(b, frame_->at.phase, of_frame().one));
  StartCopies(b, Of(frame_->loop->region(0)->arg(0)), frame_->at.stage, stages().late_full,
              [&](size_t i) { return IsForLate(*of_frame().fetch, static_cast<int>(i)); });
  Yield(b, {});
}

// Starts the copies of the first iterations: one fewer than there are stages, or two fewer if a stage is kept. The
// first warp alone does anything in this loop.
void CopyRole::BeginCopies(Builder& b, Value* runs) {
  if (stages().pieces) return BeginPieces(b, runs);
  Filling& at = frame_->filling;
  at.more = op::Andi(b, runs, IsWarp(b, 0));
  const bool keeps = (stages().late && !stages().apart) || stages().keeps;
  const std::vector<ir::Type> types = {I32(b), I32(b), at.index->type(), I1(b)};
  Op* begin = b.Create(ir::Opcode::kFor,
                       {{I32(b, 0)},
                        {I32(b, of_frame().stages - (keeps ? 2 : 1))},
                        {I32(b, 1)},
                        {at.stage, at.phase, at.index, at.more}},
                       types, {{"unsigned_cmp", Attr::Flag(false)}});
  std::vector<ir::Type> args = {I32(b)};
  args.insert(args.end(), types.begin(), types.end());
  const ir::Block* body = b.AddRegion(begin, 0, args);
  {
    Builder::Scope scope(b, begin->region(0));
    const Filling next = Fill(b, {body->arg(1), body->arg(2), body->arg(3), body->arg(4)});
    b.Create(ir::Opcode::kContinue, {{next.stage, next.phase, next.index, next.more}}, {});
  }
  at = {begin->result(0), begin->result(1), begin->result(2), begin->result(3)};
}

// Different warps start them where the loop runs once. One warp would need as much time for all as the loop's invariant
// operands need to come from memory. It would then store its own part of them later.
void CopyRole::BeginPieces(Builder& b, Value* runs) {
  const bool shares = frame_->loop->parent() == nullptr;
  Value* follows = op::Andi(b, runs, IsWarp(b, 0));
  Filling& at = frame_->filling;
  at.more = shares ? runs : follows;
  for (int i = 0; i + 1 < of_frame().stages; ++i)
    at = FillPiece(b, at, i, shares ? IsWarp(b, i % schedule_.num_warps) : nullptr);
  if (shares) at.more = op::Andi(b, at.more, follows);
}

void CopyRole::AdvancePiece(Builder& b) {
  frame_->at = frame_->next;
  Await(b, of_frame().full, frame_->at.stage, frame_->at.phase);
  frame_->next = Step(b, of_frame(), frame_->at);
  ++frame_->piece;
}

// Other lanes of the warp may have read it with separate loads.
void CopyRole::Release(Builder& b, Value* barriers, Value* stage, Value* if_true) {
  b.Create(GetGpuOp(GpuOpcode::kSyncWarp), {}, {});
  b.Create(GetGpuOp(GpuOpcode::kBarrierArrive), {{barriers}, {stage}, {if_true}}, {},
           {{"of_cluster", Attr::Flag(false)}});
}

// --- tiles that threads widen ----------------------------------------------------------------------------------------------

// Loads the first vectors to registers, after their destination is free.
void CopyRole::LoadToWiden(Builder& b) {
  Await(b, wide().free, frame_->wide_at.stage, op::Xori(b, frame_->wide_at.phase, wide().one));
  Values words;
  const StageLayout& stage = of_frame().stage;
  for (size_t i = 0; i < stage.tiles.size(); ++i) {
    if (stage.widens_apart(i)) words.push_back(WidenLoad(b, i));
  }
  frame_->widens = std::move(words);
}

// Stores all vectors as wide elements.
void CopyRole::StoreWidened(Builder& b) {
  const StageLayout& stage = of_frame().stage;
  size_t n = 0;
  for (size_t i = 0; i < stage.tiles.size(); ++i) {
    if (!stage.widens_apart(i)) continue;
    Value* to = InStage(b, of_frame().fetch->result(static_cast<int>(i)), nullptr, frame_->wide_at);
    b.Create(GetGpuOp(GpuOpcode::kWidenStore), {{frame_->widens[n++], AsLoaded(b, i), to}}, {});
  }
}

// Stores and wgmma reach memory by different proxies. So each thread fences its stores before its warp arrives. ptxas
// makes a MEMBAR of the fence, which waits for the stores. A later fence waits for less time.
void CopyRole::FillWide(Builder& b) {
  b.Create(GetGpuOp(GpuOpcode::kFenceProxyAsync), {}, {});
  Release(b, wide().full, frame_->wide_at.stage, frame_->yes);
  frame_->fills_wide = false;
}

// --- the loop ----------------------------------------------------------------------------------------------------------------

void CopyRole::TakeOtherPositions() {
  if (stages().wide >= 0) frame_->wide_next = frame_->wide_before = positions()[static_cast<size_t>(stages().wide)];
  if (stages().ends >= 0) frame_->end_phase = positions()[static_cast<size_t>(stages().ends)].phase;
}

void CopyRole::GiveOtherPositions() {
  if (stages().wide >= 0) positions()[static_cast<size_t>(stages().wide)] = frame_->wide_next;
  if (stages().ends >= 0) positions()[static_cast<size_t>(stages().ends)].phase = frame_->end_phase;
}

void CopyRole::CopyFetchLoop(Builder& b, const ir::ForOp& loop, size_t r) {
  Frame frame{&loop.op(), r};
  frame_ = &frame;
  for (const Op* op : *loop.op().region(0)) {
    if (!IsProduct(*op)) continue;
    if (DecisionOf<Decision::kOverlaps>(*op)) frame.overlapping.push_back(op);
    if (!DecisionOf<Decision::kCrossIteration>(*op)) continue;
    const int carried = CarriedSums(*op);
    frame.deferred.push_back({op, FirstUserOfSums(*op), ir::CarryingLoop(loop.op()).arg(carried), carried});
  }
  if (!frame.deferred.empty()) frame.leaders = LeadersOf(loop.op());
  frame.yes = I1(b, true);
  if (stages().by_threads) {
    CopyThreadLoop(b, loop);
    frame_ = nullptr;
    return;
  }
  ClaimStages(b);
  frame.next = positions()[r];
  TakeOtherPositions();
  Value* runs = op::CmpI(b, ir::ComparisonPredicate::kLessThan, Of(loop.lower_bound()), Of(loop.upper_bound()),
                         loop.unsigned_cmp() ? ir::Signedness::kUnsigned : ir::Signedness::kSigned);
  frame.filling = {frame.next.stage, op::Xori(b, frame.next.phase, ring(r).one), Of(loop.lower_bound()), nullptr};
  BeginCopies(b, runs);
  StageInvariants(b);
  if (stages().drains()) {
    CopyGuarded(b, runs);
  } else {
    Values results;
    CopyLoop(b, &results);
    for (size_t i = 0; i < results.size(); ++i) Set(loop.op().result(static_cast<int>(i)), results[i]);
    positions()[r] = frame.next;
    GiveOtherPositions();
  }
  frame_ = nullptr;
}

// The values that the loop carries in addition to those of the program.
std::vector<CopyRole::Carried> CopyRole::CarriedValues() {
  Frame& f = *frame_;
  std::vector<Carried> values = {{"stage", &f.next.stage, f.next.stage}};
  const bool phases = !stages().by_threads;
  if (phases) values.push_back({"phase", &f.next.phase, f.next.phase});
  values.push_back({"to", &f.filling.stage, f.filling.stage});
  if (phases) values.push_back({"to_phase", &f.filling.phase, f.filling.phase});
  values.push_back({"ahead", &f.filling.index, f.filling.index});
  values.push_back({"more", &f.filling.more, f.filling.more});
  if (stages().ends >= 0) values.push_back({"end_phase", &f.end_phase, f.end_phase});
  if (stages().wide >= 0) {
    values.push_back({"wide", &f.wide_next.stage, f.wide_next.stage});
    values.push_back({"wide_phase", &f.wide_next.phase, f.wide_next.phase});
    values.push_back({"wide_before", &f.wide_before.stage, f.wide_at.stage});
    values.push_back({"phase_before", &f.wide_before.phase, f.wide_at.phase});
  }
  if (stages().drains()) {
    values.push_back({"before", &f.before, f.at.stage});
    values.push_back({"any", &f.any, f.yes});
  }
  for (Deferred& d : f.deferred) values.push_back({"held", &d.held, d.kept});
  return values;
}

// Gives the results of the program's loop. The other carried values are in the frame afterwards. A loop with deferred
// products does two iterations in a row. The second one has a product before it, and values need not change registers
// between the two. For heads of 64, 128 x 64: 594 us singly, 581 in pairs, 639 in fours.
void CopyRole::CopyLoop(Builder& b, Values* results) {
  const Op& old = *frame_->loop;
  if (stages().drains()) {
    frame_->before = of_frame().zero;
    frame_->any = I1(b, false);
  }
  SetHeld(b);
  const std::vector<Carried> carried = CarriedValues();
  Values inits;
  for (const Carried& c : carried) inits.push_back(*c.now);
  Op* copy = nullptr;
  const Values args = BeginFor(b, ir::ForOp(old), inits, &copy);
  for (size_t i = 0; i < args.size(); ++i) *carried[i].now = Named(carried[i].name, args[i]);
  {
    Builder::Scope body(b, copy->region(0));
    if (!frame_->deferred.empty() || PiecesTurnTogether()) b.Create(GetGpuOp(GpuOpcode::kTwoIterations), {}, {});
    CopyBlock(b, *old.region(0));
  }
  const int all = old.num_results();
  for (int i = 0; i < all; ++i) results->push_back(copy->result(i));
  for (size_t i = 0; i < carried.size(); ++i) *carried[i].now = copy->result(all + static_cast<int>(i));
}

// Two iterations go around a ring of pieces once, so the place of each piece in them is a constant. A product that does
// its steps one by one waits for values computed from that place (heads of 64, 64 x 128, H100: 532 us, in pairs 523).
bool CopyRole::PiecesTurnTogether() const {
  bool in_steps = false;
  for (const Op* op : *frame_->loop->region(0)) in_steps = in_steps || DecisionOf<Decision::kInSteps>(*op);
  return stages().pieces && in_steps && 2 * of_frame().stage.pieces() == of_frame().stages;
}

// Products of the last iteration still run, or have not begun, after the loop. Their sums must not be moved to before
// the wait for them.
void CopyRole::CopyGuarded(Builder& b, Value* runs) {
  const Op& old = *frame_->loop;
  const bool widens = stages().wide >= 0;
  Values without = Of(ir::ForOp(old).init_values().list());
  without.insert(without.end(), {frame_->next.stage, frame_->next.phase});
  if (widens) without.insert(without.end(), {frame_->wide_next.stage, frame_->wide_next.phase});
  std::vector<ir::Type> types = ir::ResultTypesOf(old);
  types.insert(types.end(), widens ? 4 : 2, I32(b));
  Op* guard = b.Create(ir::Opcode::kIf, {{runs}}, types);
  {
    Builder::Scope scope(b, b.AddRegion(guard, 0, {}));
    if (stages().late) Await(b, of_frame().full, frame_->next.stage, frame_->next.phase);
    if (turns()) Turn(b, GpuOpcode::kTurnPass, 1);
    Values results;
    CopyLoop(b, &results);
    Drain(b, &results);
    results.insert(results.end(), {frame_->next.stage, frame_->next.phase});
    if (widens) results.insert(results.end(), {frame_->wide_next.stage, frame_->wide_next.phase});
    Yield(b, results);
  }
  {
    Builder::Scope scope(b, b.AddRegion(guard, 1, {}));
    Yield(b, without);
  }
  int i = 0;
  for (; i < old.num_results(); ++i) Set(old.result(i), guard->result(i));
  positions()[frame_->ring] = {guard->result(i), guard->result(i + 1)};
  if (widens) positions()[static_cast<size_t>(stages().wide)] = {guard->result(i + 2), guard->result(i + 3)};
}

void CopyRole::CopyFetch(Builder& b, const Op&, size_t) {
  if (stages().by_threads) return AdvanceByThreads(b);
  if (stages().pieces) return;
  frame_->at = frame_->next;
  // In two iterations in a row LLVM would know both stages. It would keep all addresses in them for the whole loop.
  if (stages().apart)
    frame_->at.stage = b.Create(GetGpuOp(GpuOpcode::kHideNumber), {{frame_->next.stage}}, {I32(b)})->result(0);
  if (!stages().late) Await(b, of_frame().full, frame_->at.stage, frame_->at.phase);
  frame_->next = Step(b, of_frame(), frame_->next);
  if (stages().wide < 0) return;
  frame_->wide_at = frame_->wide_next;
  frame_->wide_next = Step(b, wide(), frame_->wide_at);
  if (stages().wide_beside) return;
  LoadToWiden(b);
  StoreWidened(b);
  FillWide(b);
}

void CopyRole::CopyOther(Builder& b, const Op& op) {
  if (IsScaledInColumns(op)) return MultiplyScaled(b, op);
  if (frame_ != nullptr && op.parent() == frame_->loop && ReadsCopy(op)) {
    Value* tile = InStage(b, op.operand(0), frame_->at.stage, frame_->wide_at);
    Set(op.result(0), b.Create(GetGpuOp(GpuOpcode::kConvertLayout), {{tile}}, {op.result(0)->type()})->result(0));
    return;
  }
  const bool reads = frame_ != nullptr && op.parent() == frame_->loop && IsProduct(op) &&
                     (CopyOf(op, 0) != nullptr || CopyOf(op, 1) != nullptr);
  if (!reads) return RoleCopy::CopyOther(b, op);
  if (KindOf(op).through_columns()) return MultiplyThroughColumns(b, op);
  stages().by_threads ? MultiplyByThreads(b, op) : Multiply(b, op);
}

Values CopyRole::EndIteration(Builder& b, const Op&, size_t) {
  if (!frame_->deferred.empty() && !frame_->waited) AwaitDeferred(b, nullptr);
  if (!frame_->overlapping.empty() && !frame_->waited)
    WaitOverlapping(b, static_cast<int64_t>(frame_->begun.size()), {});
  if (stages().wide >= 0 && !stages().wide_for_late) Release(b, wide().free, frame_->wide_at.stage, frame_->yes);
  if (!stages().drains() && !stages().pieces && !stages().by_threads)
    Release(b, of_frame().free, frame_->at.stage, frame_->yes);
  Values next;
  for (const Carried& c : CarriedValues()) next.push_back(c.next);
  return next;
}

}  // namespace tile::codegen
