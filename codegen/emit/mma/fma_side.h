// One operand of a product that is multiplied out with fma, as a thread reads it from shared memory. Internal to
// codegen/emit.
//
//   side.Begin(k);        // i32, a multiple of the loop's step
//   side.At(1, r)         // what register r of the result needs of k + 1
//
// Not thread-safe.
#ifndef TILE_CODEGEN_EMIT_MMA_FMA_SIDE_H_
#define TILE_CODEGEN_EMIT_MMA_FMA_SIDE_H_

#include <memory>

#include "codegen/emit/context/emitter.h"
#include "codegen/plan/staging/staging.h"

namespace tile::codegen {

class FmaSide {
 public:
  virtual ~FmaSide() = default;
  virtual void Begin(llvm::Value* k) = 0;
  virtual llvm::Value* At(int64_t j, int r) = 0;
};

// An operand that lies in a slot (a pointer) of a ring, of f32 or f64, for a result of rank 2 in this layout; `step`:
// of k, a power of two.
std::unique_ptr<FmaSide> StagedFmaSide(Emitter& e, ir::Elem elem, const StagedTile& tile, llvm::Value* slot,
                                       const Layout& result, int64_t step);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MMA_FMA_SIDE_H_
