// A loop whose tiles all threads copy (cp.async): where copies begin and are awaited, and where stages become free.
// Before and after:
//
//   %s = for %i in (%a to %b, step %c) iter_values(%acc = %zero) {
//     %x, %y = copy_ahead … { … }
//     %n = mmaf %x, %y, %acc
//     continue %n
//   }
//
//   claim_stages %memory
//   %f:3 = for … to 2 …  { <the copies of an iteration, as below> }
//   %s = for %i in (%a to %b, step %c) iter_values(%acc = %zero, %stage = 0, %to = %f#0, %ahead = %f#1, %more = %f#2) {
//     wait_copies pending = 1                             // this thread's copies of the iteration have come
//     worker_barrier                                      // those of all threads; the previous stage is no longer read
//     %next_to, … = if %more {                            // and that stage is filled next
//       copy_async %yes { <load>; yield %tile, <stage_tile> } …
//       yield <the next stage>, <the next %ahead>, <whether there is one>
//     } else { yield … }
//     commit_copies
//     %n = mmaf <stage_tile>, <stage_tile>, %acc
//     continue %n, <the next stage>, %next_to, …
//   }
//
// Stages are named by their first bytes. A product that is not awaited within its iteration runs until the next one has
// begun. It still reads the previous iteration's stage after that barrier. So the stage is filled after the product,
// after a second barrier. Where several products run on (plan/mma/overlapped_products.h), the stage is kept for another
// iteration instead, and one stage fewer is being copied. The copies of an iteration are one group, which is empty
// after the last iteration. So the number of groups to wait for is constant. Each thread converts its own copies in
// place, before the barrier, if a product needs them converted. mma.sync converts elements of 32 bits as it reads them.
//
// In a ring of pieces (plan/mma/copy_pieces.h) products advance piece by piece, as iterations do in another ring.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/all_iterations.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/passes/expand/copy_role.h"
#include "codegen/passes/expand/stored_operands.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/plan/staging/pointer_copy.h"
#include "codegen/plan/staging/prefetch_slot.h"
#include "codegen/target/decisions.h"
#include "ir/create_like.h"
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

// The loads of its results, and how products read them: permutations, reshapes and conversions.
absl::flat_hash_set<const Op*> LoadedIn(const Op& copy) {
  absl::flat_hash_set<const Op*> loaded;
  const Op& yield = *copy.region(0)->back();
  for (int i = 0; i < yield.num_operands(); ++i) {
    const Op* op = yield.operand(i)->def();
    for (; !op->info()->is_load(); op = op->operand(0)->def()) loaded.insert(op);
    loaded.insert(op);
  }
  return loaded;
}

// The operations for an iteration's copies may also run for an iteration that does not exist. Then copies under a
// predicate replace a branch, and the assembler moves the computation of addresses to where threads would wait.
bool OnlyComputes(const Op& copy) {
  const absl::flat_hash_set<const Op*> loaded = LoadedIn(copy);
  for (const Op* op : *copy.region(0)) {
    if (op->info()->is_load() && loaded.contains(op)) {
      if (!ir::LoadPtrOp::Is(op)) return false;
    } else if (op->num_results() > 0 && (!op->info()->has(ir::kPure) || op->opcode() == ir::Opcode::kDivi ||
                                         op->opcode() == ir::Opcode::kRemi)) {
      return false;
    }
  }
  return true;
}

bool ReadsStages(const Op& copy) {
  bool reads = false;
  for (int i = 0; i < copy.num_results(); ++i) {
    for (const ir::Use* use = copy.result(i)->uses(); use != nullptr; use = use->next)
      reads = reads || (IsProduct(*use->owner) && KindOf(*use->owner).reads_stages());
  }
  return reads;
}

// Result i has the type that its product reads in shared memory.
bool ConvertsInPlace(const Op& copy, const StagedTile& tile, int i) {
  return tile.element_bits != 32 || KindOf(*copy.result(i)->uses()->owner).operands() != OperandsBy::kFragments;
}

}  // namespace

ThreadCopies ThreadCopiesOf(const Op& copy) {
  ThreadCopies copies;
  copies.only_computes = OnlyComputes(copy);
  copies.reads_stages = ReadsStages(copy);
  ir::Walk(copy.region(0), [&](const Op* op) { copies.writes = copies.writes || op->info()->has(ir::kWrites); });
  for (const Op* op : *copy.block()) copies.running += DecisionOf<Decision::kAsync>(*op) ? 1 : 0;
  // Copies of several widths take many registers. They begin before this iteration's products if others still run.
  copies.beside =
      copies.reads_stages && AllIterationsEnd(*copy.parent()) && (!KeepsStage(copy) || copies.only_computes);
  return copies;
}

// --- copies ----------------------------------------------------------------------------------------------------------------

// Other threads may have written what the first copies load.
void CopyRole::ClaimForThreads(Builder& b) {
  Values operands = {of_frame().memory};
  const Op& copy = *of_frame().fetch;
  for (const Op* op : *copy.region(0)) {
    for (int i = 0; op->info()->is_access() && i < op->num_operands(); ++i) {
      Value* v = op->operand(i);
      const bool inside = v->block() == copy.region(0) || (v->def() != nullptr && v->def()->block() == copy.region(0));
      if (v->type().is_token() && !inside) operands.push_back(Of(v));
    }
  }
  b.Create(GetGpuOp(GpuOpcode::kClaimStages), {operands}, {});
}

void CopyRole::WaitForCopies(Builder& b, int64_t groups) {
  b.Create(GetGpuOp(GpuOpcode::kWaitCopies), {Values()}, {}, {{"pending", Attr::Int(AttrKind::kInt, groups)}});
}

Value* CopyRole::StepBytes(Builder& b, Value* at) {
  const FetchRing& of = of_frame();
  Value* after = op::Addi(b, at, of.bytes);
  Value* wraps = op::CmpI(b, ir::ComparisonPredicate::kEqual, after, of.last, ir::Signedness::kSigned);
  return Named("next", op::Select(b, wraps, of.zero, after));
}

// Copies the iteration's operations, with this index, except the loads and their conversions for products.
void CopyRole::ComputeAddresses(Builder& b, Value* index) {
  const Op& copy = *of_frame().fetch;
  const absl::flat_hash_set<const Op*> loaded = LoadedIn(copy);
  // A tile too large for registers passes through the block's workspace. Earlier copies may still read that.
  const bool writes = stages().by_threads->writes;
  if (writes) {
    WaitForCopies(b, 0);
    Plain(b, GpuOpcode::kWorkerBarrier);
  }
  values()[copy.region(0)->arg(0)] = index;
  for (const Op* op : *copy.region(0)) {
    if (op->num_results() > 0 && !loaded.contains(op))
      b.module()->Append(b.block(), ir::CopyOp(b.module(), *op, &values()));
  }
  if (writes) Plain(b, GpuOpcode::kWorkerBarrier);  // copies read what other threads wrote
}

// Copies the load that `v` is made of, and the operations from there to `v`.
Value* CopyRole::LoadedTile(Builder& b, const Value* v) {
  const Op& def = *v->def();
  if (!def.info()->is_load()) LoadedTile(b, def.operand(0));
  b.module()->Append(b.block(), ir::CopyOp(b.module(), def, &values()));
  return Of(const_cast<Value*>(v));
}

// The place of result i, or of a piece of it, in a stage, as products read it before their own conversions.
Value* CopyRole::PlaceOf(Builder& b, size_t i, Value* at) {
  const Op& copy = *of_frame().fetch;
  const StagedTile& tile = of_frame().stage.tiles[i];
  const int dim = tile.k_major == tile.lhs ? 1 : 0;
  ir::Type type = copy.result(static_cast<int>(i))->type();
  const int pieces = stages().pieces ? of_frame().stage.pieces(i) : 1;
  if (pieces > 1) {
    std::vector<int64_t> shape(type.shape().begin(), type.shape().end());
    shape[static_cast<size_t>(dim)] /= pieces;
    type = TypeIn(b, layouts(), type.elem(), shape,
                  CopyLayout(shape, dim, 1 - dim, tile.element_bits, schedule_.num_warps));
  }
  if (tile.rounded != nullptr && !ConvertsInPlace(copy, tile, static_cast<int>(i)))
    type = ir::WithElement(b.module(), type, tile.load->result(0)->type().element());
  return StageTileAt(b, AddressOf(b, of_frame(), at, i), type, tile);
}

// The same for its product.
Value* CopyRole::StoredForProduct(Builder& b, size_t i, Value* at) {
  Value* place = PlaceOf(b, i, at);
  const ir::Type type = of_frame().fetch->result(static_cast<int>(i))->type();
  if (place->type().element() == type.element()) return place;
  Op* converted = ir::CreateLike(b.module(), *of_frame().stage.tiles[i].rounded, {place}, {type});
  b.module()->Append(b.block(), converted);
  return converted->result(0);
}

// Copies a piece of result i where the condition holds.
void CopyRole::CopyTile(Builder& b, size_t i, int piece, Value* at, Value* when) {
  const StagedTile& tile = of_frame().stage.tiles[i];
  Value* place = PlaceOf(b, i, at);
  Op* copy = b.Create(GetGpuOp(GpuOpcode::kCopyAsync), {{when}}, {});
  if (stages().by_threads->reads_stages) Decide<Decision::kProxyFence>(b.module(), copy, true);
  if (piece > 0) Decide<Decision::kOffsets>(b.module(), copy, {piece * tile.inner() / of_frame().stage.pieces(i)});
  Builder::Scope scope(b, b.AddRegion(copy, 0, {}));
  Value* loaded = LoadedTile(b, of_frame().fetch->region(0)->back()->operand(static_cast<int>(i)));
  b.Create(ir::Opcode::kYield, {{loaded, place}}, {});
}

void CopyRole::CopyTiles(Builder& b, Value* at, Value* when) {
  const StageLayout& stage = of_frame().stage;
  for (const Op* op : *of_frame().fetch->region(0)) {
    for (size_t i = 0; i < stage.tiles.size(); ++i) {
      if (stage.tiles[i].load == op && !stage.shares_slot(i)) CopyTile(b, i, 0, at, when);
    }
  }
}

CopyRole::Filling CopyRole::AfterFilling(Builder& b, const Filling& at, Value* more) {
  return {StepBytes(b, at.stage), nullptr, op::Addi(b, at.index, Of(ir::ForOp(frame_->loop).step())), more};
}

// The result of `fill`, or the old state if no iteration is left to copy.
CopyRole::Filling CopyRole::IfMore(Builder& b, const Filling& at, const std::function<Filling()>& fill) {
  Op* when = b.Create(ir::Opcode::kIf, {{at.more}}, {I32(b), at.index->type(), I1(b)});
  for (const bool more : {true, false}) {
    Builder::Scope scope(b, b.AddRegion(when, more ? 0 : 1, {}));
    const Filling next = more ? fill() : at;
    b.Create(ir::Opcode::kYield, {Flat(next)}, {});
  }
  return Filled(*when);
}

// Starts the copies of the next iteration to copy, if there is one; makes a group in any case. `awaits`: products of
// the previous iteration read the stage until they have ended in all threads.
CopyRole::Filling CopyRole::FillByThreads(Builder& b, const Filling& at, bool awaits) {
  const ThreadCopies& by = *stages().by_threads;
  const bool straight = by.only_computes;
  // Addresses are computed before the stage becomes free.
  if (straight) ComputeAddresses(b, at.index);
  if (awaits) {
    AwaitProducts(b, by.running, {});
    Plain(b, GpuOpcode::kWorkerBarrier);
  }
  Filling next = at;
  if (straight) {
    CopyTiles(b, at.stage, at.more);
    next = AfterFilling(b, at, op::Andi(b, at.more, HasMore(b, at.index)));
  } else {
    next = IfMore(b, at, [&] {
      ComputeAddresses(b, at.index);
      CopyTiles(b, at.stage, frame_->yes);
      return AfterFilling(b, at, HasMore(b, at.index));
    });
  }
  Plain(b, GpuOpcode::kCommitCopies);
  return next;
}

// The same for a piece, by its number in the iteration. After the last piece comes the next iteration.
CopyRole::Filling CopyRole::FillPieceByThreads(Builder& b, const Filling& at, int piece) {
  const StageLayout& stage = of_frame().stage;
  const int all = stage.pieces();
  const bool last = piece % all + 1 == all;
  size_t tile = 0;
  int part = piece % all;
  while (part >= stage.pieces(tile)) part -= stage.pieces(tile++);
  const Filling next = IfMore(b, at, [&] {
    ComputeAddresses(b, at.index);
    CopyTile(b, tile, part, at.stage, frame_->yes);
    Filling filled = {StepBytes(b, at.stage), nullptr, at.index, at.more};
    if (!last) return filled;
    Value* more = HasMore(b, at.index);
    if (stages().by_threads->only_computes) more = op::Andi(b, at.more, more);
    filled.index = op::Addi(b, at.index, Of(ir::ForOp(frame_->loop).step()));
    filled.more = more;
    return filled;
  });
  Plain(b, GpuOpcode::kCommitCopies);
  return next;
}

// Starts the copies of the first iterations.
void CopyRole::BeginByThreads(Builder& b) {
  Filling& at = frame_->filling;
  if (stages().pieces) {
    for (int i = 0; i + 1 < of_frame().stages; ++i) at = FillPieceByThreads(b, at, i);
    return;
  }
  const Values inits = Flat(at);
  std::vector<ir::Type> types, args = {I32(b)};
  for (const Value* v : inits) types.push_back(v->type());
  args.insert(args.end(), types.begin(), types.end());
  const int64_t stages_ahead = of_frame().stages - (stages().keeps ? 2 : 1);
  Op* begin = b.Create(ir::Opcode::kFor, {{I32(b, 0)}, {I32(b, stages_ahead)}, {I32(b, 1)}, inits}, types,
                       {{"unsigned_cmp", Attr::Flag(false)}});
  const ir::Block* body = b.AddRegion(begin, 0, args);
  {
    Builder::Scope scope(b, begin->region(0));
    const Filling next = FillByThreads(b, {body->arg(1), nullptr, body->arg(2), body->arg(3)}, false);
    // The number of groups is that of an iteration.
    for (int load = 0; load < CopyingLoads(*frame_->loop); ++load) Plain(b, GpuOpcode::kCommitCopies);
    b.Create(ir::Opcode::kContinue, {Flat(next)}, {});
  }
  at = Filled(*begin);
}

// Converts the elements that this thread copied.
void CopyRole::ConvertTile(Builder& b, size_t i) {
  const StagedTile& tile = of_frame().stage.tiles[i];
  const ir::Type type = of_frame().fetch->result(static_cast<int>(i))->type();
  Value* address = AddressOf(b, of_frame(), frame_->at.stage, i);
  Value* from =
      StageTileAt(b, address, ir::WithElement(b.module(), type, tile.load->result(0)->type().element()), tile);
  Op* converted = ir::CreateLike(b.module(), *tile.rounded, {from}, {type});
  b.module()->Append(b.block(), converted);
  b.Create(GetGpuOp(GpuOpcode::kConvertCopied), {{converted->result(0), StageTileAt(b, address, type, tile)}}, {});
}

// Waits until all threads' copies to this stage have ended. tcgen05 sees a thread's copies after its fence.
void CopyRole::ArriveByThreads(Builder& b) {
  const StageLayout& stage = of_frame().stage;
  WaitForCopies(b, (of_frame().stages - (stages().keeps ? 3 : 2)) * (1 + CopyingLoads(*frame_->loop)));
  bool converts = false;
  for (size_t i = 0; i < stage.tiles.size(); ++i) {
    if (stage.tiles[i].rounded == nullptr || !ConvertsInPlace(*of_frame().fetch, stage.tiles[i], static_cast<int>(i)))
      continue;
    ConvertTile(b, i);
    converts = true;
  }
  if ((converts && stages().by_threads->reads_stages) || stages().ends >= 0) Plain(b, GpuOpcode::kFenceProxyAsync);
  Plain(b, GpuOpcode::kWorkerBarrier);
}

// --- the loop ----------------------------------------------------------------------------------------------------------------

void CopyRole::CopyThreadLoop(Builder& b, const ir::ForOp& loop) {
  Frame& frame = *frame_;
  ClaimForThreads(b);
  Value* runs = op::CmpI(b, ir::ComparisonPredicate::kLessThan, Of(loop.lower_bound()), Of(loop.upper_bound()),
                         loop.unsigned_cmp() ? ir::Signedness::kUnsigned : ir::Signedness::kSigned);
  StageInvariants(b);
  frame.next = {of_frame().zero, nullptr};
  TakeOtherPositions();
  frame.filling = {of_frame().zero, nullptr, Of(loop.lower_bound()), runs};
  BeginByThreads(b);
  const bool drains = stages().by_threads->running > 0;
  const std::vector<ir::Type> types = ir::ResultTypesOf(loop.op());
  // Products of the last iteration still run after the loop. Their sums must not be moved to before the wait for them.
  Op* guard = drains ? b.Create(ir::Opcode::kIf, {{runs}}, types) : nullptr;
  Values results;
  if (!drains) {
    CopyLoop(b, &results);
  } else {
    {
      Builder::Scope scope(b, b.AddRegion(guard, 0, {}));
      CopyLoop(b, &results);
      AwaitCarried(b, &results);
      b.Create(ir::Opcode::kYield, {results}, {});
    }
    {
      Builder::Scope scope(b, b.AddRegion(guard, 1, {}));
      b.Create(ir::Opcode::kYield, {Of(loop.init_values().list())}, {});
    }
    for (size_t i = 0; i < results.size(); ++i) results[i] = guard->result(static_cast<int>(i));
  }
  for (size_t i = 0; i < results.size(); ++i) Set(loop.op().result(static_cast<int>(i)), results[i]);
  GiveOtherPositions();
}

// After the last iteration, waits for products that are still running. The loop's results include their sums.
void CopyRole::AwaitCarried(Builder& b, Values* results) {
  std::vector<size_t> carried;
  Values sums;
  for (const Op* mma : *frame_->loop->region(0)) {
    if (!DecisionOf<Decision::kAsync>(*mma)) continue;
    carried.push_back(static_cast<size_t>(ir::CarryingLoop(*frame_->loop).carried_by(ir::ProductOp(*mma).acc())));
    sums.push_back((*results)[carried.back()]);
  }
  const Values ended = AwaitProducts(b, 0, sums);
  for (size_t i = 0; i < ended.size(); ++i) (*results)[carried[i]] = ended[i];
}

void CopyRole::AdvanceByThreads(Builder& b) {
  if (stages().pieces) return;
  frame_->at = frame_->next;
  frame_->next = {StepBytes(b, frame_->at.stage), nullptr};
  ArriveByThreads(b);
  if (!stages().by_threads->beside) FillBeside(b);
}

// Starts copies while products run, because that takes many instructions.
void CopyRole::FillBeside(Builder& b) {
  if (frame_->filled) return;
  if (stages().pieces) {
    // The pieces before those that were read are being copied.
    frame_->filling = FillPieceByThreads(b, frame_->filling, frame_->piece + of_frame().stages - 2);
  } else {
    const ThreadCopies& by = *stages().by_threads;
    const bool awaits = by.beside && !stages().keeps && by.running > 0;
    if (awaits && ++frame_->running_begun < by.running) return;
    frame_->filling = FillByThreads(b, frame_->filling, awaits);
  }
  frame_->filled = true;
}

void CopyRole::AdvancePieceByThreads(Builder& b) {
  frame_->at = frame_->next;
  frame_->next = {StepBytes(b, frame_->at.stage), nullptr};
  WaitForCopies(b, of_frame().stages - 2);
  if (stages().ends >= 0) Plain(b, GpuOpcode::kFenceProxyAsync);
  Plain(b, GpuOpcode::kWorkerBarrier);
  ++frame_->piece;
  frame_->filled = false;
}

// An operand that a product reads from fragments, piece by piece.
Value* CopyRole::TakePieces(Builder& b, const Value* operand) {
  const auto i = static_cast<size_t>(operand->index());
  const int pieces = of_frame().stage.pieces(i);
  const std::vector<ir::Type> carried = {I32(b), I32(b), frame_->filling.index->type(), I1(b)};
  Value* tile = nullptr;
  for (int n = 0; n < pieces; ++n) {
    std::vector<ir::Type> types = {operand->type()};
    types.insert(types.end(), carried.begin(), carried.end());
    Op* piece = b.Create(GetGpuOp(GpuOpcode::kPiece), {Values()}, types);
    {
      Builder::Scope scope(b, b.AddRegion(piece, 0, {}));
      AdvancePieceByThreads(b);
      FillBeside(b);
      const Filling& at = frame_->filling;
      b.Create(ir::Opcode::kYield, {{PlaceOf(b, i, frame_->at.stage), frame_->next.stage, at.stage, at.index, at.more}},
               {});
    }
    tile = piece->result(0);
    frame_->next.stage = piece->result(1);
    frame_->filling = {piece->result(2), nullptr, piece->result(3), piece->result(4)};
  }
  return tile;
}

void CopyRole::MultiplyByThreads(Builder& b, const Op& mma) {
  const bool staged = KindOf(mma).reads_stages();
  const int copied = CopyOf(mma, 0) != nullptr ? 0 : 1;  // a product in pieces has one such operand
  if (stages().pieces && staged) AdvancePieceByThreads(b);
  Values operands = {nullptr, nullptr};
  for (int i = 0; i < 2; ++i) {
    if (!stages().pieces || staged || i != copied) operands[static_cast<size_t>(i)] = Operand(b, mma, i);
  }
  for (int i = 2; i < mma.num_operands(); ++i) operands.push_back(Of(mma.operand(i)));
  if (operands[static_cast<size_t>(copied)] == nullptr)
    operands[static_cast<size_t>(copied)] = TakePieces(b, mma.operand(copied));
  const bool overlaps = DecisionOf<Decision::kOverlaps>(mma), runs_on = DecisionOf<Decision::kAsync>(mma);
  // The product waits part by part where its sums are added to others, or where registers receive its first operand.
  const bool in_parts = DecisionOf<Decision::kPromotes>(mma) || DecisionOf<Decision::kHeld>(mma);
  const bool fills = staged && !overlaps && !frame_->filled;
  const bool async = overlaps || runs_on || (fills && !in_parts);
  if (fills && in_parts) FillBesideParts(b);
  Value* sums = CopyProduct(b, mma, operands, async)->result(0);
  if (overlaps) {
    frame_->begun.push_back(&mma);
    frame_->running.push_back(&mma);
  } else if (async) {
    FillBeside(b);
    if (!runs_on) sums = Ended(b, mma, AwaitProducts(b, 0, {sums})[0]);
  }
  Set(mma.result(0), sums);
}

}  // namespace tile::codegen
