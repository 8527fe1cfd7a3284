#include "codegen/emit/pipeline/copy_ring.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/all_iterations.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/memory/tile_box.h"
#include "codegen/emit/pipeline/async_products.h"
#include "codegen/emit/pipeline/device_tensor_maps.h"
#include "codegen/emit/pipeline/staged_operand.h"
#include "codegen/emit/pipeline/tma.h"
#include "codegen/layout/algebra.h"
#include "codegen/plan/mma/cross_iteration_mma.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/staging/pointer_copy.h"
#include "codegen/plan/staging/prefetch_slot.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int kVectorBytes = 16;
constexpr size_t kConverted = 4;  // vectors that a thread converts at a time
constexpr size_t kBatch = 8;      // loads before the first of them is waited for, where copies go through registers

// Which thread copies what, and where it comes to lie.
class SlotCopies {
 public:
  // Of so many pieces one after another, as registers are numbered.
  SlotCopies(Emitter& e, const StagedTile& tile, llvm::Value* slot, int pieces = 1)
      : e_(e),
        layout_(LayoutOf(tile, pieces, e.num_warps())),
        in_slot_(Compose(
            tile.Map(layout_.dim_shift(tile.contiguous),
                     tile.other >= 0 ? layout_.dim_shift(tile.other) : layout_.offset_bits(), layout_.offset_bits()),
            layout_)),
        slot_(slot),
        bytes_(tile.element_bits / 8),
        loaded_bytes_(tile.loaded_bits / 8),
        mine_(e.threads().HoldsFirstCopy(layout_)) {}

  const Layout& layout() const { return layout_; }
  // Null: this thread's copies are the first of all threads'.
  llvm::Value* mine() const { return mine_; }
  // Registers of a piece that repeat no earlier one, where vectors of so many elements begin.
  std::vector<int> Firsts(int vector, int piece = 0, int pieces = 1) const {
    const Copies copies(layout_);
    const int each = layout_.registers() / pieces;
    std::vector<int> firsts;
    for (int r : copies.firsts()) {
      if (r % vector == 0 && r / each == piece) firsts.push_back(r);
    }
    return firsts;
  }
  // Where vector r comes to lie, as an address: vectors of a thread differ by constants, as far as no lane or warp has their bits. What is
  // widened there comes to the first half of the 16 elements' place, of which no other thread has any.
  Address At(int r) const {
    const int in_vector = WithinVector(r);
    Address first = AddressOf(r - in_vector);
    first.offset += in_vector * loaded_bytes_;
    return first;
  }
  llvm::Value* Place(int r) const {
    const int in_vector = WithinVector(r);
    llvm::Value* first = PlaceOf(r - in_vector);
    return in_vector == 0 ? first : e_.b().CreateGEP(e_.b().getInt8Ty(), first, e_.I32(in_vector * loaded_bytes_));
  }
  // Where an element lies once it was widened.
  llvm::Value* PlaceOf(int r) const {
    return SharedPlace(e_, slot_, in_slot_.bases(In::kLane), in_slot_.bases(In::kWarp), RegisterPart(in_slot_, r),
                       bytes_);
  }

 private:
  int WithinVector(int r) const { return loaded_bytes_ == bytes_ ? 0 : r % (kVectorBytes / loaded_bytes_); }
  Address AddressOf(int r) const {
    Mask thread = 0;
    for (In in : {In::kLane, In::kWarp}) {
      for (Mask base : in_slot_.bases(in)) thread |= base;
    }
    const Mask at = RegisterPart(in_slot_, r);
    llvm::Value* first =
        SharedPlace(e_, slot_, in_slot_.bases(In::kLane), in_slot_.bases(In::kWarp), at & thread, bytes_);
    return {e_.b().CreatePtrToInt(first, e_.b().getInt32Ty()), static_cast<int64_t>(at & ~thread) * bytes_};
  }
  static Layout LayoutOf(const StagedTile& tile, int pieces, int num_warps) {
    const auto all = tile.load->result(0)->type().shape();
    std::vector<int64_t> shape(all.begin(), all.end());
    shape[static_cast<size_t>(tile.contiguous)] /= pieces;
    const Layout piece = CopyLayout(shape, tile.contiguous, tile.other, tile.loaded_bits, num_warps);
    return pieces == 1 ? piece : piece.Grow(tile.contiguous, pieces);
  }

  Emitter& e_;
  const Layout layout_, in_slot_;
  llvm::Value* slot_;
  const int bytes_, loaded_bytes_;  // of an element
  llvm::Value* mine_;
};

}  // namespace

CopyRing::CopyRing(Emitter& e, const ir::Op& loop, const ir::Op& copy, llvm::Value* runs)
    : e_(e),
      loop_(loop),
      copy_(copy),
      stage_(StageOf(copy)),
      stages_(e.plan().stages),
      late_(HasCrossIterationMma(copy)),
      apart_(ComesApart(copy, stages_)),
      keeps_(KeepsStage(copy)),
      all_end_(AllIterationsEnd(loop)) {
  auto& b = e.b();
  bool used = false;
  memory_ = e.shared().ReserveCopies(static_cast<uint64_t>(stage_.ring_bytes(stages_)), &used);
  DeviceTensorMaps maps(e, copy);
  if (CopiesByTma(copy)) tma_.emplace(e, stages_);
  if (apart_) late_tma_.emplace(e, stages_);
  PlaceWidened();
  // The ring of an earlier loop, or this one, may still be read; what other threads wrote before the loop may be loaded.
  bool waits = used || loop.parent() != nullptr;
  for (const ir::Op* op : *copy.region(0)) {
    waits = waits || DecisionOf<Decision::kDeviceTensorMap>(*op) ||
            (op->info()->is_access() && e.order().NeedsBarrier(*op));
  }
  ir::Walk(copy.region(0),
           [&](const ir::Op* op) { computes_in_workspace_ = computes_in_workspace_ || op->info()->has(ir::kWrites); });
  // TMA writes where threads may have written. Where none has, its first copies need not wait for what threads load meanwhile, as they would
  // behind this fence.
  if (tma_ && waits) FenceForAsync();
  maps.MakeInFirstWarp();
  if (waits) e.Barrier();
  only_computes_ = OnlyComputes();
  for (const ir::Op* op : *loop.region(0)) {
    if (DecisionOf<Decision::kAsync>(*op)) async_.push_back(op);
  }
  if (!tma_) StageInvariants();
  // Positions of a ring that TMA fills persist, as its barriers do.
  const auto variable = [&](llvm::Value* start, bool persists) {
    llvm::AllocaInst* v = e.Variable(start->getType(), persists ? start : nullptr);
    if (!persists) b.CreateStore(start, v);
    return v;
  };
  const bool persists = tma_.has_value();
  before_ = variable(e.I32(0), persists);
  current_ = variable(e.I32(0), persists);
  read_ = variable(e.I32(0), persists);
  write_ = variable(e.I32(0), persists);
  release_ = variable(e.I32(0), persists);
  read_phase_ = variable(e.I32(TmaStages::kFirstRead), persists);
  write_phase_ = variable(e.I32(TmaStages::kFirstFill), persists);
  ahead_ = variable(e.scalar(loop.operand(0)), false);
  // Warp 0 alone follows what TMA copies begin; where the loop runs once, the others do up to there.
  const bool shares = in_pieces() && loop.parent() == nullptr;
  llvm::Value* follows = b.CreateAnd(runs, b.CreateICmpEQ(e.threads().warp(), e.I32(0)));
  more_ = variable(tma_ && !shares ? follows : runs, false);
  if (keeps_ && tma_) any_ = variable(b.getFalse(), false);
  if (apart_) late_phase_ = variable(e.I32(TmaStages::kFirstRead), persists);
  BeginCopies(shares);
  if (tma_ && shares) b.CreateStore(b.CreateAnd(Now(more_), follows), more_);
  // What threads bring themselves does not wait behind copies by TMA.
  if (tma_) StageInvariants();
}

// Of the first iterations.
void CopyRing::BeginCopies(bool shares) {
  auto& b = e_.b();
  if (in_pieces()) {
    // By different warps, if they may: one would take as long for all as queries take to come from memory, and store its own later.
    for (int i = 0; i + 1 < stages_; ++i) FetchPiece(i, shares ? i % e_.num_warps() : -1);
    return;
  }
  llvm::BasicBlock *before = b.GetInsertBlock(), *body = e_.NewBlock("begin"), *after = e_.NewBlock("begun");
  b.CreateBr(body);
  b.SetInsertPoint(body);
  llvm::PHINode* i = b.CreatePHI(b.getInt32Ty(), 2);
  i->addIncoming(e_.I32(0), before);
  Fetch(false);
  for (int load = 0; !tma_ && load < CopyingLoads(loop_); ++load) EndCopies(e_);  // as many as in an iteration
  llvm::Value* next = b.CreateAdd(i, e_.I32(1));
  i->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(next, e_.I32(stages_ - ((late_ && !apart_) || keeps_ ? 2 : 1))), body, after);
  b.SetInsertPoint(after);
}

void CopyRing::PlaceWidened() {
  if (stage_.conversion_buffers == 0) return;
  auto& b = e_.b();
  wide_.emplace(e_, stage_, b.CreateGEP(b.getInt8Ty(), memory_, e_.I32(stage_.unit_bytes() * stages_)));
  for (int i = 0; i < copy_.num_results(); ++i) {
    if (!stage_.widens_apart(static_cast<size_t>(i))) continue;
    for (const ir::Use* use = copy_.result(i)->uses(); use != nullptr; use = use->next) {
      const bool late = DecisionOf<Decision::kCrossIteration>(*use->owner);
      widens_beside_ = widens_beside_ && late;
      read_late_ = read_late_ || late;
    }
  }
}

// Invariant operands of products that read shared memory.
void CopyRing::StageInvariants() {
  for (int i = 0; i < copy_.num_results(); ++i) {
    for (const ir::Use* use = copy_.result(i)->uses(); use != nullptr; use = use->next) {
      const ir::Op& mma = *use->owner;
      if (!KindOf(mma).reads_stages()) continue;
      reads_stages_ = true;
      if (DecisionOf<Decision::kStagesLhs>(mma))
        staged_lhs_[&mma] = StageOnce(e_, mma.operand(0), StagedLhs(mma), loop_);
    }
  }
  if (staged_lhs_.empty()) return;
  FenceForAsync();
  if (tma_) e_.Barrier();  // else that of the first iteration follows
}

llvm::Value* CopyRing::Now(llvm::AllocaInst* variable) const {
  return e_.b().CreateLoad(variable->getAllocatedType(), variable);
}

void CopyRing::Step(llvm::AllocaInst* position, llvm::AllocaInst* phase) {
  auto& b = e_.b();
  const int64_t step = tma_ ? 1 : stage_.unit_bytes();
  llvm::Value* next = b.CreateAdd(Now(position), e_.I32(step));
  llvm::Value* wraps = b.CreateICmpEQ(next, e_.I32(step * stages_));
  b.CreateStore(b.CreateSelect(wraps, e_.I32(0), next), position);
  if (tma_ && phase != nullptr) b.CreateStore(b.CreateXor(Now(phase), b.CreateZExt(wraps, b.getInt32Ty())), phase);
}

llvm::Value* CopyRing::FirstByte(llvm::Value* position) const {
  return tma_ ? e_.b().CreateMul(position, e_.I32(stage_.unit_bytes())) : position;
}

void CopyRing::FenceForAsync() { e_.Ptx(e_.b().getVoidTy(), "fence.proxy.async.shared::cta;", "", {}, true); }

void CopyRing::AdvancePiece() {
  auto& b = e_.b();
  b.CreateStore(Now(read_), current_);
  if (tma_) AwaitNext();
  Step(read_, read_phase_);
  if (!tma_) {
    AwaitCopies(e_, stages_ - 2);
    if (reads_stages_ && stored_) FenceForAsync();
    e_.Barrier();
  }
  ++piece_;
  fetches_later_ = true;
  if (!reads_stages_) FetchMeanwhile();
}

void CopyRing::ReleasePiece() {
  FetchMeanwhile();
  if (!tma_) return;
  tma_->Release(Now(release_), e_.b().getTrue());
  Step(release_);
}

void CopyRing::FetchPiece(int piece, int warp) {
  auto& b = e_.b();
  const int all = stage_.pieces();
  piece %= all;
  size_t tile = 0;
  int part = piece;
  while (part >= stage_.pieces(tile)) part -= stage_.pieces(tile++);
  llvm::Value *iv = b.CreateLoad(e_.scalar(loop_.operand(1))->getType(), ahead_), *at = FirstByte(Now(write_));
  e_.When(b.CreateLoad(b.getInt1Ty(), more_), [&] {
    const StagedTile& from = stage_.tiles[tile];
    if (tma_) {
      e_.When(warp < 0 ? b.getTrue() : b.CreateICmpEQ(e_.threads().warp(), e_.I32(warp)), [&] {
        ByOneWarp([&] {
          Compute(iv);
          full_ = tma_->Begin(Now(write_), Now(write_phase_), mine_, from.bytes());
          llvm::Value* slot = b.CreateGEP(b.getInt8Ty(), memory_, at);
          LoadByTma(e_, *from.load, from, b.CreatePtrToInt(slot, b.getInt32Ty()), full_, mine_);
        });
      });
    } else {
      Compute(iv);
      llvm::Value* first = b.CreateSub(at, e_.I32(part * stage_.piece_bytes));
      FillSlot(*from.load, from, b.CreateGEP(b.getInt8Ty(), memory_, first), part, stage_.pieces(tile));
    }
    Step(write_, write_phase_);
    if (piece + 1 == all) NextToFetch(iv);
  });
  if (!tma_) EndCopies(e_);
}

// Compared as a distance, since the sum may overflow.
void CopyRing::NextToFetch(llvm::Value* iv) {
  auto& b = e_.b();
  llvm::Value *upper = e_.scalar(loop_.operand(1)), *step = e_.scalar(loop_.operand(2));
  llvm::Value* others = b.CreateICmpULT(step, b.CreateSub(upper, iv));
  llvm::Value* more = b.CreateLoad(b.getInt1Ty(), more_);
  b.CreateStore(only_computes_ ? b.CreateAnd(more, others) : others, more_);
  b.CreateStore(b.CreateAdd(iv, step), ahead_);
}

void CopyRing::Advance() {
  auto& b = e_.b();
  piece_ = 0;
  if (stage_.piece_bytes > 0) return;
  b.CreateStore(Now(current_), before_);
  llvm::Value* stage = Now(read_);
  // Of two iterations in a row LLVM would know both stages, and keep all addresses in them for the whole loop.
  if (apart_) stage = Through(e_, "", {stage})[0];
  b.CreateStore(stage, current_);
  if (tma_ && !late_) AwaitNext();
  Step(read_, read_phase_);
  if (!tma_) Arrive();
  if (wide_) wide_->Turn();
  if (wide_ && !widens_beside_) {
    LoadToWiden();
    wide_->Store();
    FillWide();
  }
  // Copies of several widths take many registers: where products of the iteration before still run, they begin before this one's.
  fetches_later_ = reads_stages_ && all_end_ && (!keeps_ || tma_ || only_computes_);
  begun_ = 0;
  if (!fetches_later_) Fetch(false);
}

void CopyRing::LoadToWiden() {
  wide_->Load([&](int i) { return InStage(i, false); });
}

void CopyRing::WidenBeside() {
  wide_->Store();
  wide_->EndBlock();
}

void CopyRing::FillWide() { wide_->Fill(); }

void CopyRing::AwaitWidened(int i, bool before) {
  if (stage_.widens_apart(static_cast<size_t>(i))) wide_->Await(before);
}

void CopyRing::EndIteration() {
  if (wide_ && !read_late_) wide_->Release(e_.b().getTrue(), false);
  if (tma_ && !late_ && !keeps_ && stage_.piece_bytes == 0) tma_->Release(Now(current_), e_.b().getTrue());
  if (any_ != nullptr) e_.b().CreateStore(e_.b().getTrue(), any_);
}

void CopyRing::ReleaseKept() {
  if (any_ != nullptr) tma_->Release(Now(before_), Now(any_));
}

bool CopyRing::IsAsync(const ir::Op& mma) const {
  return std::find(async_.begin(), async_.end(), &mma) != async_.end();
}

void CopyRing::Drain(std::vector<Registers>* carried) {
  DrainProducts(e_, async_, carried);
  if (any_ != nullptr) tma_->Release(Now(current_), e_.b().getTrue());
}

void CopyRing::ReleaseLate(llvm::Value* if_true, bool before) {
  (apart_ ? late_tma_ : tma_)->Release(Now(before ? before_ : current_), if_true);
  if (wide_ && read_late_) wide_->Release(if_true, before);
}

void CopyRing::ReleaseOthers() {
  if (apart_) tma_->Release(Now(current_), e_.b().getTrue());
}

void CopyRing::AwaitLate() {
  if (!apart_) return;
  auto& b = e_.b();
  late_tma_->Await(Now(current_), Now(late_phase_));
  llvm::Value* wraps = b.CreateICmpEQ(Now(current_), e_.I32(stages_ - 1));
  b.CreateStore(b.CreateXor(Now(late_phase_), b.CreateZExt(wraps, b.getInt32Ty())), late_phase_);
}

void CopyRing::AwaitNext() { tma_->Await(Now(read_), Now(read_phase_)); }

// Copies of all threads to the stage that is read next have come.
void CopyRing::Arrive() {
  AwaitCopies(e_, (stages_ - (keeps_ ? 3 : 2)) * (1 + CopyingLoads(loop_)));
  for (size_t i = 0; i < stage_.tiles.size(); ++i) {
    if (stage_.tiles[i].rounded != nullptr && ConvertsInPlace(static_cast<int>(i))) {
      ConvertSlot(stage_.tiles[i], Slot(static_cast<int>(i)));
      stored_ = true;
    }
  }
  if (reads_stages_ && stored_) FenceForAsync();
  e_.Barrier();
}

void CopyRing::FetchMeanwhile() {
  if (stage_.piece_bytes > 0) {
    if (fetches_later_) FetchPiece(piece_ + stages_ - 2);
    fetches_later_ = false;
    return;
  }
  if (!fetches_later_ || (!keeps_ && ++begun_ < async_.size())) return;
  Fetch(!keeps_ && !async_.empty());
  if (apart_) FetchLate();
  fetches_later_ = false;
}

// The products of the iteration before are done in all threads, and with them the stage that is filled next.
void CopyRing::FreeStage() {
  WaitForProducts(e_, static_cast<int>(async_.size()), {});
  e_.Barrier();
}

bool CopyRing::ConvertsInPlace(int i) const {
  if (tile(i).element_bits != 32) return true;
  const ir::Op& mma = *copy_.result(i)->uses()->owner;
  return KindOf(mma).operands() != OperandsBy::kFragments;
}

llvm::Value* CopyRing::StagedLhsOf(const ir::Op& mma) const {
  const auto it = staged_lhs_.find(&mma);
  return it == staged_lhs_.end() ? nullptr : it->second;
}

CopyRing::Words CopyRing::LhsInRegistersOf(const ir::Op& mma) const {
  const auto it = kept_lhs_.find(&mma);
  return it == kept_lhs_.end() ? Words() : it->second;
}

llvm::Value* CopyRing::Slot(int i, bool before) const {
  return stage_.widens_apart(static_cast<size_t>(i)) ? wide_->Slot(i, before) : InStage(i, before);
}

llvm::Value* CopyRing::InStage(int i, bool before) const {
  auto& b = e_.b();
  llvm::Value* stage = FirstByte(Now(before ? before_ : current_));
  const int64_t offset = stage_.piece_bytes > 0 ? 0 : stage_.offsets[static_cast<size_t>(i)];
  llvm::Value* at = b.CreateAdd(stage, e_.I32(offset));
  return b.CreateGEP(b.getInt8Ty(), memory_, at);
}

void CopyRing::Fetch(bool frees_stage) {
  auto& b = e_.b();
  llvm::Value *iv = b.CreateLoad(e_.scalar(loop_.operand(1))->getType(), ahead_), *at = FirstByte(Now(write_)),
              *more = Now(more_);
  // Addresses are there when the stage becomes free.
  if (only_computes_) Compute(iv);
  if (frees_stage) FreeStage();
  if (only_computes_) if_ = more;
  e_.When(only_computes_ ? nullptr : more, [&] {
    if (tma_) {
      FillByTma(iv, at);
    } else {
      if (!only_computes_) Compute(iv);
      Bring(at);
    }
    Step(write_, write_phase_);
    NextToFetch(iv);
  });
  if (!tma_) EndCopies(e_);
}

// A thread of the warp does, mine_.
void CopyRing::ByOneWarp(const std::function<void()>& start_copies) {
  mine_ = e_.threads().IsElected();
  start_copies();
}

bool CopyRing::Brings(size_t i, bool for_late) const {
  return !stage_.shares_slot(i) && (!apart_ || IsForLate(copy_, static_cast<int>(i)) == for_late);
}

int64_t CopyRing::BytesByTma(bool for_late) const {
  int64_t bytes = 0;
  for (size_t i = 0; i < stage_.tiles.size(); ++i) bytes += Brings(i, for_late) ? stage_.InStage(i).bytes() : 0;
  return bytes;
}

void CopyRing::FillByTma(llvm::Value* iv, llvm::Value* at) {
  ByOneWarp([&] {
    full_ = tma_->Begin(Now(write_), Now(write_phase_), mine_, BytesByTma(false));
    Compute(iv);
    Bring(at);
  });
}

// Each iteration's come, in that iteration.
void CopyRing::FetchLate() {
  auto& b = e_.b();
  e_.When(b.CreateICmpEQ(e_.threads().warp(), e_.I32(0)), [&] {
    ByOneWarp([&] {
      llvm::Value* phase = b.CreateXor(Now(late_phase_), e_.I32(TmaStages::kFirstFill ^ TmaStages::kFirstRead));
      full_ = late_tma_->Begin(Now(current_), phase, mine_, BytesByTma(true));
      Compute(e_.scalar(loop_.region(0)->arg(0)));
      Bring(FirstByte(Now(current_)), /*for_late=*/true);
    });
  });
}

bool CopyRing::OnlyComputes() const {
  for (const ir::Op* op : *copy_.region(0)) {
    if (op->info()->is_load()) {
      if (!ir::LoadPtrOp::Is(op) || tma_) return false;
    } else if (op->num_results() > 0 && (!op->info()->has(ir::kPure) || op->opcode() == ir::Opcode::kDivi ||
                                         op->opcode() == ir::Opcode::kRemi)) {
      return false;
    }
  }
  return true;
}

// All but the loads and how the products read what they bring: permutations, reshapes and conversions.
void CopyRing::Compute(llvm::Value* iv) {
  const ir::Block& region = *copy_.region(0);
  // What is too large for registers comes by way of the block's workspace, from where copies of the stage before may still read.
  if (computes_in_workspace_) {
    AwaitCopies(e_, 0);
    e_.Barrier();
  }
  e_.SetScalar(region.arg(0), iv);
  absl::flat_hash_set<const ir::Value*> loaded;
  for (const ir::Op* op : region) {
    if (op->info()->is_load() || (op->num_results() > 0 && op->num_operands() > 0 && loaded.contains(op->operand(0)))) {
      loaded.insert(op->result(0));
    } else if (op->num_results() > 0) {
      e_.Lower(*op);
    }
  }
  if (computes_in_workspace_) e_.Barrier();  // copies read what other threads wrote
}

void CopyRing::Bring(llvm::Value* at, bool for_late) {
  auto& b = e_.b();
  for (const ir::Op* op : *copy_.region(0)) {
    for (size_t i = 0; i < stage_.tiles.size(); ++i) {
      if (stage_.tiles[i].load != op || !Brings(i, for_late)) continue;
      llvm::Value* slot = b.CreateGEP(b.getInt8Ty(), memory_, b.CreateAdd(at, e_.I32(stage_.offsets[i])));
      if (tma_) {
        LoadByTma(e_, *op, stage_.InStage(i), b.CreatePtrToInt(slot, b.getInt32Ty()), full_, mine_);
      } else if (ir::LoadPtrOp::Is(op)) {
        FillThroughPointers(*op, stage_.tiles[i], slot);
      } else {
        FillSlot(*op, stage_.tiles[i], slot);
      }
    }
  }
}

void CopyRing::FillThroughPointers(const ir::Op& op, const StagedTile& tile, llvm::Value* slot) {
  const ir::LoadPtrOp load(op);
  const SlotCopies copies(e_, tile, slot);
  TILE_CHECK(e_.layout(load.source()) == copies.layout(), "pointers do not lie as threads copy");
  const int bytes = PointerCopyOf(op).value().bytes, vector = bytes * 8 / tile.loaded_bits;
  if (e_.wants_remarks() && told_.insert(&op).second)
    e_.Remark(op, "vector", absl::StrCat(vector, " elements (", bytes, " bytes) at a time"));
  for (int r : copies.Firsts(vector)) {
    const auto u = static_cast<size_t>(r);
    llvm::Value* inside = load.mask() == nullptr ? nullptr : e_.regs(load.mask())[u];
    CopyToShared(e_, copies.At(r), {e_.regs(load.source())[u], 0}, bytes, And(e_, if_, copies.mine()), inside);
  }
}

void CopyRing::FillSlot(const ir::Op& load, const StagedTile& tile, llvm::Value* slot, int piece, int pieces) {
  const SlotCopies copies(e_, tile, slot, pieces);
  const int bytes = tile.loaded_bits / 8;
  TileBox box = TileBox::OfView(e_, load, copies.layout());
  box.LimitVector(kVectorBytes / bytes);
  if (e_.wants_remarks() && told_.insert(&load).second) e_.Remark(load, "vector", box.Width(kVectorBytes / bytes));
  MemoryAccess how = AccessOf(e_, load, false);
  how.op = nullptr;  // the ring waits for what it copies
  InEitherWidth(e_, box.vector(), box.Aligned(), [&](int vector) {
    box.Forget();
    const std::vector<int> firsts = copies.Firsts(vector, piece, pieces);
    if (vector * bytes >= 4) {
      for (int r : firsts) {
        CopyToShared(e_, copies.At(r), box.At(r), vector * bytes, copies.mine(), box.Inside(r));
      }
      return Registers();
    }
    // Too small for cp.async. The owners alone write, as they convert in place what they wrote without a barrier in between.
    stored_ = true;
    e_.When(copies.mine(), [&] {
      const Registers zeros(static_cast<size_t>(vector), e_.Constant(ir::Element::Number(box.elem()), 0));
      std::vector<Registers> got(firsts.size());
      for (size_t i = 0; i < firsts.size() + kBatch; ++i) {
        if (i < firsts.size())
          got[i] = Load(e_, how, box.At(firsts[i]), box.elem(), vector, box.Inside(firsts[i]), zeros);
        if (i >= kBatch) StoreVector(e_, got[i - kBatch], copies.Place(firsts[i - kBatch]));
      }
    });
    return Registers();
  });
}

void CopyRing::ConvertSlot(const StagedTile& tile, llvm::Value* slot) {
  const SlotCopies copies(e_, tile, slot);
  e_.When(copies.mine(), [&] {
    const int vector = kVectorBytes * 8 / tile.loaded_bits, stored = kVectorBytes * 8 / tile.element_bits;
    llvm::Type* type = e_.RegisterType(tile.rounded->operand(0)->type().elem());
    const std::vector<int> firsts = copies.Firsts(vector);
    for (size_t begin = 0; begin < firsts.size(); begin += kConverted) {
      const size_t end = std::min(firsts.size(), begin + kConverted);
      std::vector<Registers> values;
      for (size_t i = begin; i < end; ++i) values.push_back(LoadVector(e_, type, vector, copies.Place(firsts[i])));
      for (size_t i = begin; i < end; ++i) {
        const Registers now = Converted(e_, tile, values[i - begin]);
        for (int r = 0; r < vector; r += stored) {
          StoreVector(e_, Operands(now).subspan(static_cast<size_t>(r), static_cast<size_t>(stored)),
                      copies.PlaceOf(firsts[i] + r));
        }
      }
    }
  });
}

void LowerCopyAhead(Emitter& e, const ir::Op&) { e.control().copy_rings.back()->Advance(); }

}  // namespace tile::codegen
