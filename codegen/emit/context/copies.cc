#include "codegen/emit/context/copies.h"

#include "absl/container/flat_hash_map.h"
#include "codegen/emit/context/ptx_access.h"
#include "codegen/plan/resources/shared_use.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {

Copies::Copies(const Layout& layout)
    : layout_(layout), lane_mask_(layout.FreeMask(In::kLane)), warp_mask_(layout.FreeMask(In::kWarp)) {
  absl::flat_hash_map<Mask, int> first;
  for (int r = 0; r < layout.registers(); ++r) {
    const auto [it, is_new] = first.try_emplace(layout.Apply(static_cast<uint32_t>(r), 0, 0), r);
    same_as_.push_back(it->second);
    if (is_new) firsts_.push_back(r);
  }
}

Registers Copies::Repeat(Registers r) const {
  for (size_t i = 0; i < r.size(); ++i) r[i] = r[same_as_[i]];
  return r;
}

namespace {

// The value of another lane, in words of 32 bits.
llvm::Value* Shuffle(Emitter& e, llvm::Value* v, llvm::Value* from) {
  auto& b = e.b();
  llvm::Type* type = v->getType();
  llvm::Value* bits = e.ToBits(v);
  auto one = [&](llvm::Value* x) {
    return b.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {}, {e.I32(-1), x, from, e.I32(31)});
  };
  llvm::Value* out;
  if (bits->getType()->getPrimitiveSizeInBits() == 64) {
    llvm::Value* low = b.CreateZExt(one(b.CreateTrunc(bits, b.getInt32Ty())), b.getInt64Ty());
    llvm::Value* high = b.CreateZExt(one(b.CreateTrunc(b.CreateLShr(bits, 32), b.getInt32Ty())), b.getInt64Ty());
    out = b.CreateOr(low, b.CreateShl(high, 32));
  } else {
    out = b.CreateTrunc(one(b.CreateZExt(bits, b.getInt32Ty())), bits->getType());
  }
  return e.FromBits(out, type);
}

}  // namespace

Registers Copies::Share(Emitter& e, Registers r) const {
  if (!across_threads()) return Repeat(std::move(r));
  auto& b = e.b();
  if (CopiesAreLanes(layout_)) {
    llvm::Value* from = b.CreateAnd(e.threads().lane(), e.I32(31 & ~static_cast<int64_t>(lane_mask_)));
    for (int i : firsts_) r[i] = Shuffle(e, r[i], from);
    return Repeat(std::move(r));
  }
  // Through memory: the first copies write a table, all read it.
  llvm::Type* type = r[firsts_[0]]->getType();
  const int bits = static_cast<int>(type->getPrimitiveSizeInBits());
  const int bytes = bits < 8 ? 1 : bits / 8;
  const ir::Elem elem = bytes == 1   ? ir::Elem::kI8
                        : bytes == 2 ? ir::Elem::kI16
                        : bytes == 4 ? ir::Elem::kI32
                                     : ir::Elem::kI64;
  llvm::Type* entry = b.getIntNTy(8 * bytes);
  llvm::Value* table = b.CreateTrunc(
      b.CreatePtrToInt(e.Scratch(static_cast<uint64_t>(layout_.elements() * bytes)), b.getInt64Ty()), b.getInt32Ty());
  const MemoryAccess weak{true, ir::MemoryOrdering::kWeak, ""};
  llvm::Value* first = e.threads().HoldsFirstCopy(layout_);
  auto at = [&](int i) {
    return Address{b.CreateAdd(table, b.CreateMul(e.threads().Element(layout_, i), e.I32(bytes))), 0};
  };
  for (int i : firsts_) {
    llvm::Value* v = b.CreateZExt(e.ToBits(r[i]), entry);
    Store(e, weak, at(i), elem, {v}, first);
  }
  e.Barrier();
  for (int i : firsts_) {
    llvm::Value* v = Load(e, weak, at(i), elem, 1, nullptr, {})[0];
    if (bits < 8) v = b.CreateTrunc(v, b.getIntNTy(bits));
    r[i] = e.FromBits(v, type);
  }
  return Repeat(std::move(r));
}

}  // namespace tile::codegen
