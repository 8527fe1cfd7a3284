#include "codegen/emit/lower/prefetched_load.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/staging/prefetch_slot.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

// Groups of copies that an iteration ends: those of its copying loads, and those of a ring that all threads fill.
int GroupsOf(const ir::Op& loop) {
  int groups = CopyingLoads(loop);
  ir::Walk(loop.region(0), [&](const ir::Op* op) {
    const bool here = op->parent() == &loop || IsGpuOp(op->parent(), GpuOpcode::kPiece);
    groups += here && IsGpuOp(op, GpuOpcode::kCommitCopies) ? 1 : 0;
  });
  return groups;
}

class CopiedLoad {
 public:
  // `padding`: of elements outside; null: they may be anything.
  CopiedLoad(Emitter& e, ir::Elem elem, int vector, const Copies& copies, uint32_t memory, llvm::Value* padding)
      : e_(e), elem_(elem), vector_(vector), padding_(padding) {
    for (int r : copies.firsts()) {
      if (r % vector == 0) firsts_.push_back(r);
    }
    auto& b = e.b();
    llvm::Value* begin = b.CreatePtrToInt(e.shared().Address(e.I32(memory)), b.getInt32Ty());
    mine_ = b.CreateAdd(begin, b.CreateMul(e.threads().number(), e.I32(kPrefetchVector)));
  }

  // Copies what is inside of the tensor to the memory of one tile; the rest of that becomes zero, or stays as it is where that is no padding.
  void Copy(TileBox& box, llvm::Value* tile) {
    box.Forget();
    for (size_t i = 0; i < firsts_.size(); ++i) {
      llvm::Value* inside = box.Inside(firsts_[i]);
      CopyToShared(e_, Slot(tile, i), box.At(firsts_[i]), kPrefetchVector, PadsByCopy() ? nullptr : inside,
                   PadsByCopy() ? inside : nullptr);
    }
    box.Forget();
  }

  Registers Read(TileBox& box, llvm::Value* tile, int registers) {
    Registers out(static_cast<size_t>(registers), nullptr);
    for (size_t i = 0; i < firsts_.size(); ++i) {
      const Registers got = Load(e_, {.shared = true}, Slot(tile, i), elem_, vector_, nullptr, {});
      llvm::Value* inside = padding_ == nullptr || PadsByCopy() ? nullptr : box.Inside(firsts_[i]);
      for (size_t k = 0; k < got.size(); ++k) {
        out[static_cast<size_t>(firsts_[i]) + k] =
            inside == nullptr ? got[k] : e_.b().CreateSelect(inside, got[k], padding_);
      }
    }
    return out;
  }

 private:
  bool PadsByCopy() const {
    const auto* constant = llvm::dyn_cast_or_null<llvm::Constant>(padding_);
    return constant != nullptr && constant->isNullValue();
  }
  // `tile`: i32, where its memory begins behind the first one's.
  Address Slot(llvm::Value* tile, size_t i) const {
    return {e_.b().CreateAdd(mine_, tile), static_cast<int64_t>(i) * kPrefetchVector * 32 * e_.num_warps()};
  }

  Emitter& e_;
  const ir::Elem elem_;
  const int vector_;
  llvm::Value* padding_;
  std::vector<int> firsts_;  // registers with which vectors begin
  llvm::Value* mine_;        // i32: where this thread's first vector lies
};

// The loop has so many iterations more. The index is below the bound, so that no difference wraps that counts.
llvm::Value* GoesOn(Emitter& e, const ir::ForOp& loop, llvm::Value* index, llvm::Value* step, int iterations) {
  auto& b = e.b();
  llvm::Value *left = b.CreateSub(e.scalar(loop.upper_bound()), index), *all = nullptr;
  for (int i = 0; i < iterations; ++i) {
    all = And(e, all, b.CreateICmpUGT(left, step));
    left = b.CreateSub(left, step);
  }
  return all;
}

// The value where the loop's index is another one, computed once more; so is what it follows from, which gets back what it was.
class Later {
 public:
  Later(Emitter& e, const ir::Op& loop, llvm::Value* index) : e_(e), loop_(loop) {
    Keep(loop.region(0)->arg(0));
    e.SetScalar(loop.region(0)->arg(0), index);
  }
  ~Later() {
    for (const auto& [v, was] : kept_) e_.Set(v, was);
  }
  Later(const Later&) = delete;
  Later& operator=(const Later&) = delete;

  llvm::Value* Of(const ir::Value* v) {
    Compute(v);
    return e_.scalar(v);
  }

 private:
  void Keep(const ir::Value* v) { kept_.emplace(v, e_.regs(v)); }
  void Compute(const ir::Value* v) {
    const ir::Op* def = v->def();
    if (kept_.contains(v) || def == nullptr || def->block() != loop_.region(0)) return;
    for (int i = 0; i < def->num_operands(); ++i) Compute(def->operand(i));
    for (int i = 0; i < def->num_results(); ++i) Keep(def->result(i));
    e_.Lower(*def);
  }

  Emitter& e_;
  const ir::Op& loop_;
  absl::flat_hash_map<const ir::Value*, Registers> kept_;
};

}  // namespace

std::optional<Registers> LoadPrefetched(Emitter& e, const ir::Op& load, TileBox& box, const Layout& layout,
                                        const Copies& copies, llvm::Value* padding) {
  auto& b = e.b();
  const int ahead = CopiesAheadOf(load), groups = GroupsOf(*load.parent());
  const int64_t bytes = PrefetchSlotBytes(box.elem(), layout, e.num_warps());
  const uint32_t memory = e.shared().PlaceOf(load, static_cast<uint64_t>(ahead * bytes));
  const auto* aligned = llvm::dyn_cast_or_null<llvm::ConstantInt>(box.Aligned());
  const bool always = box.Aligned() == nullptr || (aligned != nullptr && aligned->isOne());
  if (!always || box.vector() * ir::MemoryBits(box.elem()) != 8 * kPrefetchVector) {
    if (groups > 1) EndCopies(e);
    return std::nullopt;
  }

  const ir::ForOp loop(load.parent());
  llvm::Value *index = e.scalar(load.parent()->region(0)->arg(0)), *step = e.scalar(loop.step());
  llvm::AllocaInst* at = e.Variable(b.getInt32Ty(), e.I32(0));  // the tile of this iteration
  CopiedLoad copied(e, box.elem(), box.vector(), copies, memory, padding);
  const auto copy_later = [&](int iterations, llvm::Value* tile) {
    e.When(GoesOn(e, loop, index, step, iterations), [&] {
      llvm::Value* by = b.CreateMul(step, llvm::ConstantInt::get(step->getType(), static_cast<uint64_t>(iterations)));
      const auto moves = static_cast<int>(*DecisionOf<Decision::kPrefetchSlot>(load));
      const ir::Value* now = ir::LoadViewOp(load).index()[static_cast<size_t>(moves)];
      llvm::Value* then = Later(e, loop.op(), b.CreateAdd(index, by)).Of(now);
      TileBox later = TileBox::OfView(e, load, layout, {moves, b.CreateSub(then, e.scalar(now))});
      later.LimitVector(box.vector());
      copied.Copy(later, tile);
    });
    EndCopies(e);
  };
  // The first tile comes alone: those behind it would delay it, and with it the first store.
  llvm::Value* first = b.CreateICmpEQ(index, e.scalar(loop.lower_bound()));
  e.When(first, [&] {
    b.CreateStore(e.I32(0), at);
    copied.Copy(box, e.I32(0));
    EndCopies(e);
    AwaitCopies(e, 0);
  });
  AwaitCopies(e, ahead * groups - 1);
  llvm::Value* tile = b.CreateLoad(b.getInt32Ty(), at);
  Registers out = copied.Read(box, tile, layout.registers());
  if (ahead > 1) {
    e.When(first, [&] {
      for (int i = 1; i < ahead; ++i) {
        copy_later(i, e.I32(static_cast<uint32_t>(i * bytes)));
        for (int other = 1; other < groups; ++other) EndCopies(e);  // as many as in an iteration
      }
    });
  }
  copy_later(ahead, tile);
  llvm::Value* behind = b.CreateAdd(tile, e.I32(static_cast<uint32_t>(bytes)));
  llvm::Value* last = b.CreateICmpEQ(behind, e.I32(static_cast<uint32_t>(ahead * bytes)));
  b.CreateStore(b.CreateSelect(last, e.I32(0), behind), at);
  box.Forget();
  e.order().Did(load);
  return out;
}

}  // namespace tile::codegen
