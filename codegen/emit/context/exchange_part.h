// Elements that threads exchange through shared memory, all at once or, where they take more than Emitter::most_exchange(), in equal
// parts by the high bits of their places, one part after the other:
//
//   ForEachPart(e, total_bytes, [&](const ExchangePart& part) {         // behind a barrier
//     e.When(part.Has(at), [&] { StoreVector(e, values, part.Place(at)); });
//     e.Barrier();
//     llvm::Value* here = part.Has(at);
//     part.Keep(here, LoadVector(e, type, 1, part.Place(at))[0], &out[r]);
//   });
//
// A place (i32) counts bytes of the whole, a power of two; what lies there does not cross a part. The code of all parts stands one
// behind the other. Internal to codegen/emit.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_EXCHANGE_PART_H_
#define TILE_CODEGEN_EMIT_CONTEXT_EXCHANGE_PART_H_

#include <cstdint>

#include "codegen/emit/context/emitter.h"
#include "codegen/plan/resources/shared_use.h"

namespace tile::codegen {

class ExchangePart {
 public:
  // Of `total` bytes those from `first` on that `base` has room for.
  ExchangePart(Emitter& e, llvm::Value* base, uint64_t total, uint64_t bytes, uint64_t first)
      : e_(e), base_(base), bytes_(bytes), first_(first), high_((total - 1) & ~(bytes - 1)) {}

  // i1: the place lies in this part; null: every place does.
  llvm::Value* Has(llvm::Value* at) const {
    if (high_ == 0) return nullptr;
    return e_.b().CreateICmpEQ(e_.b().CreateAnd(at, e_.I32(static_cast<int64_t>(high_))),
                               e_.I32(static_cast<int64_t>(first_)));
  }
  // Where this part has it; some address of the part if it does not.
  llvm::Value* Place(llvm::Value* at) const { return e_.b().CreateGEP(e_.b().getInt8Ty(), base_, Offset(at)); }
  llvm::Value* Offset(llvm::Value* at) const {
    return high_ == 0 ? at : e_.b().CreateAnd(at, e_.I32(static_cast<int64_t>(bytes_ - 1)));
  }
  llvm::Value* base() const { return base_; }
  // What was read there takes the place of what earlier parts gave (null in the first), if this part has it.
  void Keep(llvm::Value* here, llvm::Value* read, llvm::Value** kept) const {
    *kept = *kept == nullptr ? read : e_.b().CreateSelect(here, read, *kept);
  }

 private:
  Emitter& e_;
  llvm::Value* base_;
  uint64_t bytes_, first_, high_;
};

// `most`: of a part, where the exchange has a bound of its own.
template <class Fn>
void ForEachPart(Emitter& e, uint64_t total, Fn&& fn, uint64_t most = UINT64_MAX) {
  const uint64_t bytes = PartBytes(total, std::min(most, e.most_exchange()));
  for (uint64_t first = 0; first < total; first += bytes) fn(ExchangePart(e, e.Scratch(bytes), total, bytes, first));
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_EXCHANGE_PART_H_
