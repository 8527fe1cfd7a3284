#include "codegen/emit/pipeline/copy_ring.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/all_iterations.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/memory/tile_box.h"
#include "codegen/emit/pipeline/async_products.h"
#include "codegen/emit/pipeline/mbarrier.h"
#include "codegen/emit/pipeline/staged_operand.h"
#include "codegen/layout/algebra.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/staging/pointer_copy.h"
#include "codegen/plan/staging/prefetch_slot.h"
#include "codegen/plan/staging/shared_account.h"
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

// 16 bytes' worth of what is loaded, in the type of what the product reads (StagedTile::rounded).
Registers Converted(Emitter& e, const StagedTile& tile, const Registers& values) {
  if (TakesPairs(e, *tile.rounded)) return EmitPairs(e, *tile.rounded, values);
  Registers out = values;
  for (llvm::Value*& v : out) v = EmitFToF(e, *tile.rounded, {&v, 1});
  return out;
}

}  // namespace

CopyRing::CopyRing(Emitter& e, const ir::Op& loop, const ir::Op& copy, llvm::Value* runs)
    : e_(e),
      loop_(loop),
      copy_(copy),
      stage_(StageOf(copy)),
      stages_(e.plan().stages),
      keeps_(KeepsStage(copy)),
      all_end_(AllIterationsEnd(loop)) {
  auto& b = e.b();
  memory_ = e.shared().ReserveCopies(static_cast<uint64_t>(stage_.ring_bytes(stages_)));
  // The ring of an earlier loop, or this one, may still be read; what other threads wrote before the loop may be loaded.
  bool waits = e.shared().account().ClaimCopies() || OutermostOf(&loop) != &loop;
  for (const ir::Op* op : *copy.region(0)) waits = waits || (op->info()->is_access() && e.order().NeedsBarrier(*op));
  ir::Walk(copy.region(0),
           [&](const ir::Op* op) { computes_in_workspace_ = computes_in_workspace_ || op->info()->has(ir::kWrites); });
  if (waits) e.Barrier();
  only_computes_ = OnlyComputes();
  for (const ir::Op* op : *loop.region(0)) {
    if (DecisionOf<Decision::kAsync>(*op)) async_.push_back(op);
  }
  StageInvariants();
  const auto variable = [&](llvm::Value* start) {
    llvm::AllocaInst* v = e.Variable(start->getType(), nullptr);
    b.CreateStore(start, v);
    return v;
  };
  current_ = variable(e.I32(0));
  read_ = variable(e.I32(0));
  write_ = variable(e.I32(0));
  ahead_ = variable(e.scalar(loop.operand(0)));
  more_ = variable(runs);
  BeginCopies();
}

// Of the first iterations.
void CopyRing::BeginCopies() {
  auto& b = e_.b();
  if (in_pieces()) {
    for (int i = 0; i + 1 < stages_; ++i) FetchPiece(i);
    return;
  }
  llvm::BasicBlock *before = b.GetInsertBlock(), *body = e_.NewBlock("begin"), *after = e_.NewBlock("begun");
  b.CreateBr(body);
  b.SetInsertPoint(body);
  llvm::PHINode* i = b.CreatePHI(b.getInt32Ty(), 2);
  i->addIncoming(e_.I32(0), before);
  Fetch(false);
  for (int load = 0; load < CopyingLoads(loop_); ++load) EndCopies(e_);  // as many as in an iteration
  llvm::Value* next = b.CreateAdd(i, e_.I32(1));
  i->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(next, e_.I32(stages_ - (keeps_ ? 2 : 1))), body, after);
  b.SetInsertPoint(after);
}

// Invariant operands of products that read shared memory. The barrier of the first iteration follows.
void CopyRing::StageInvariants() {
  for (int i = 0; i < copy_.num_results(); ++i) {
    for (const ir::Use* use = copy_.result(i)->uses(); use != nullptr; use = use->next) {
      const ir::Op& mma = *use->owner;
      if (!KindOf(mma).reads_stages()) continue;
      reads_stages_ = true;
      if (DecisionOf<Decision::kStagesLhs>(mma))
        staged_lhs_[&mma] = StageOnce(e_, mma.operand(0), StagedLhs(mma), loop_.block());
    }
  }
  if (!staged_lhs_.empty()) FenceProxyAsync(e_);
}

llvm::Value* CopyRing::Now(llvm::AllocaInst* variable) const {
  return e_.b().CreateLoad(variable->getAllocatedType(), variable);
}

void CopyRing::Step(llvm::AllocaInst* position) {
  auto& b = e_.b();
  const int64_t step = stage_.unit_bytes();
  llvm::Value* next = b.CreateAdd(Now(position), e_.I32(step));
  llvm::Value* wraps = b.CreateICmpEQ(next, e_.I32(step * stages_));
  b.CreateStore(b.CreateSelect(wraps, e_.I32(0), next), position);
}

void CopyRing::AdvancePiece() {
  e_.b().CreateStore(Now(read_), current_);
  Step(read_);
  AwaitCopies(e_, stages_ - 2);
  if (reads_stages_ && stored_) FenceProxyAsync(e_);
  e_.Barrier();
  ++piece_;
  fetches_later_ = true;
  if (!reads_stages_) FetchMeanwhile();
}

void CopyRing::ReleasePiece() { FetchMeanwhile(); }

void CopyRing::FetchPiece(int piece) {
  auto& b = e_.b();
  const int all = stage_.pieces();
  piece %= all;
  size_t tile = 0;
  int part = piece;
  while (part >= stage_.pieces(tile)) part -= stage_.pieces(tile++);
  llvm::Value *iv = b.CreateLoad(e_.scalar(loop_.operand(1))->getType(), ahead_), *at = Now(write_);
  e_.When(b.CreateLoad(b.getInt1Ty(), more_), [&] {
    const StagedTile& from = stage_.tiles[tile];
    Compute(iv);
    llvm::Value* first = b.CreateSub(at, e_.I32(part * stage_.piece_bytes));
    FillSlot(*from.load, from, b.CreateGEP(b.getInt8Ty(), memory_, first), part, stage_.pieces(tile));
    Step(write_);
    if (piece + 1 == all) NextToFetch(iv);
  });
  EndCopies(e_);
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
  piece_ = 0;
  if (in_pieces()) return;
  e_.b().CreateStore(Now(read_), current_);
  Step(read_);
  Arrive();
  // Copies of several widths take many registers: where products of the iteration before still run, they begin before this one's.
  fetches_later_ = reads_stages_ && all_end_ && (!keeps_ || only_computes_);
  begun_ = 0;
  if (!fetches_later_) Fetch(false);
}

bool CopyRing::IsAsync(const ir::Op& mma) const {
  return std::find(async_.begin(), async_.end(), &mma) != async_.end();
}

void CopyRing::Drain(std::vector<Registers>* carried) { DrainProducts(e_, async_, carried); }

// Copies of all threads to the stage that is read next have come.
void CopyRing::Arrive() {
  AwaitCopies(e_, (stages_ - (keeps_ ? 3 : 2)) * (1 + CopyingLoads(loop_)));
  for (size_t i = 0; i < stage_.tiles.size(); ++i) {
    if (stage_.tiles[i].rounded != nullptr && ConvertsInPlace(static_cast<int>(i))) {
      ConvertSlot(stage_.tiles[i], Slot(static_cast<int>(i)));
      stored_ = true;
    }
  }
  if (reads_stages_ && stored_) FenceProxyAsync(e_);
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

llvm::Value* CopyRing::Slot(int i) const {
  auto& b = e_.b();
  const int64_t offset = in_pieces() ? 0 : stage_.offsets[static_cast<size_t>(i)];
  return b.CreateGEP(b.getInt8Ty(), memory_, b.CreateAdd(Now(current_), e_.I32(offset)));
}

void CopyRing::Fetch(bool frees_stage) {
  auto& b = e_.b();
  llvm::Value *iv = b.CreateLoad(e_.scalar(loop_.operand(1))->getType(), ahead_), *at = Now(write_), *more = Now(more_);
  // Addresses are there when the stage becomes free.
  if (only_computes_) Compute(iv);
  if (frees_stage) FreeStage();
  if (only_computes_) if_ = more;
  e_.When(only_computes_ ? nullptr : more, [&] {
    if (!only_computes_) Compute(iv);
    Bring(at);
    Step(write_);
    NextToFetch(iv);
  });
  EndCopies(e_);
}

bool CopyRing::OnlyComputes() const {
  for (const ir::Op* op : *copy_.region(0)) {
    if (op->info()->is_load()) {
      if (!ir::LoadPtrOp::Is(op)) return false;
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

void CopyRing::Bring(llvm::Value* at) {
  auto& b = e_.b();
  for (const ir::Op* op : *copy_.region(0)) {
    for (size_t i = 0; i < stage_.tiles.size(); ++i) {
      if (stage_.tiles[i].load != op || stage_.shares_slot(i)) continue;
      llvm::Value* slot = b.CreateGEP(b.getInt8Ty(), memory_, b.CreateAdd(at, e_.I32(stage_.offsets[i])));
      ir::LoadPtrOp::Is(op) ? FillThroughPointers(*op, stage_.tiles[i], slot) : FillSlot(*op, stage_.tiles[i], slot);
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
