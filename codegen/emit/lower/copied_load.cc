#include "codegen/emit/lower/copied_load.h"

#include "absl/functional/function_ref.h"
#include "codegen/plan/next_copy.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

class CopiedLoad {
 public:
  CopiedLoad(Emitter& e, ir::Elem elem, int vector, const Copies& copies, uint32_t memory)
      : e_(e), elem_(elem), vector_(vector) {
    for (int r : copies.firsts()) {
      if (r % vector == 0) firsts_.push_back(r);
    }
    auto& b = e.b();
    llvm::Value* begin = b.CreatePtrToInt(e.shared().Address(e.I32(memory)), b.getInt32Ty());
    mine_ = b.CreateAdd(begin, b.CreateMul(e.threads().number(), e.I32(kNextCopyVector)));
  }

  // Copies what is inside of the tensor; the rest of the memory stays as it is.
  void Copy(TileBox& box) {
    box.Forget();
    for (size_t i = 0; i < firsts_.size(); ++i) {
      CopyToShared(e_, Slot(i), box.At(firsts_[i]), kNextCopyVector, box.Inside(firsts_[i]), nullptr);
    }
    box.Forget();
  }

  Registers Read(TileBox& box, int registers, llvm::Value* padding) {
    Registers out(static_cast<size_t>(registers), nullptr);
    for (size_t i = 0; i < firsts_.size(); ++i) {
      const Registers got = Load(e_, {.shared = true}, Slot(i), elem_, vector_, nullptr, {});
      llvm::Value* inside = padding == nullptr ? nullptr : box.Inside(firsts_[i]);
      for (size_t k = 0; k < got.size(); ++k) {
        out[static_cast<size_t>(firsts_[i]) + k] =
            inside == nullptr ? got[k] : e_.b().CreateSelect(inside, got[k], padding);
      }
    }
    return out;
  }

  void Await() { e_.Ptx(e_.b().getVoidTy(), "cp.async.wait_all;", "", {}, true); }

  // What `fn` emits is done if the condition, the same in all threads, holds.
  void If(llvm::Value* condition, absl::FunctionRef<void()> fn) {
    auto& b = e_.b();
    llvm::BasicBlock *then = e_.NewBlock("copy"), *after = e_.NewBlock("copied");
    b.CreateCondBr(condition, then, after);
    b.SetInsertPoint(then);
    fn();
    b.CreateBr(after);
    b.SetInsertPoint(after);
  }

 private:
  Address Slot(size_t i) const { return {mine_, static_cast<int64_t>(i) * kNextCopyVector * 32 * e_.num_warps()}; }

  Emitter& e_;
  const ir::Elem elem_;
  const int vector_;
  std::vector<int> firsts_;  // registers with which vectors begin
  llvm::Value* mine_;        // i32: where this thread's first vector lies
};

}  // namespace

std::optional<Registers> LoadCopied(Emitter& e, const ir::Op& load, TileBox& box, const Layout& layout,
                                    const Copies& copies, llvm::Value* padding) {
  auto& b = e.b();
  const uint32_t memory =
      e.shared().Reserve(static_cast<uint64_t>(NextCopyBytes(box.elem(), layout, e.num_warps())), kNextCopyVector);
  const auto* aligned = llvm::dyn_cast_or_null<llvm::ConstantInt>(box.Aligned());
  const bool always = box.Aligned() == nullptr || (aligned != nullptr && aligned->isOne());
  if (!always || box.vector() * ir::MemoryBits(box.elem()) != 8 * kNextCopyVector) return std::nullopt;

  const ir::ForOp loop(load.parent());
  llvm::Value *index = e.scalar(load.parent()->region(0)->arg(0)), *step = e.scalar(loop.step());
  CopiedLoad copied(e, box.elem(), box.vector(), copies, memory);
  copied.If(b.CreateICmpEQ(index, e.scalar(loop.lower_bound())), [&] { copied.Copy(box); });
  copied.Await();
  Registers out = copied.Read(box, layout.registers(), padding);
  // The index is below the bound, so the difference does not wrap.
  llvm::Value* goes_on = b.CreateICmpUGT(b.CreateSub(e.scalar(loop.upper_bound()), index), step);
  copied.If(goes_on, [&] {
    TileBox next = TileBox::OfView(e, load, layout, {static_cast<int>(*DecisionOf<Decision::kCopiesNext>(load)), step});
    next.LimitVector(box.vector());
    copied.Copy(next);
  });
  box.Forget();
  e.order().Did(load);
  return out;
}

}  // namespace tile::codegen
