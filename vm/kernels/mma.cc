#include "vm/kernels/mma.h"

#include <algorithm>

namespace tile::vm {
namespace {
using ir::Elem;
using ir::Signedness;
}  // namespace

MmaFn FindMma(const MmaKey& key, Isa isa) {
  if (key.scale.has_value()) {
#define TILE_VM_ROW(AB, S)                                                        \
  if (key.ab == Elem::k##AB && *key.scale == Elem::k##S && key.c == Elem::kF32) { \
    return TILE_VM_SELECT(isa, MmaScaled##AB##S);                                 \
  }
    TILE_VM_MMA_SCALED(TILE_VM_ROW)
#undef TILE_VM_ROW
    return nullptr;
  }
#define TILE_VM_ROW(AB, C) \
  if (key.ab == Elem::k##AB && key.c == Elem::k##C) return TILE_VM_SELECT(isa, Mma##AB##C);
  TILE_VM_MMA_FLOAT(TILE_VM_ROW)
#undef TILE_VM_ROW
  if (key.ab != Elem::kI8 || key.c != Elem::kI32) return nullptr;
#define TILE_VM_ROW(A, B)                                                             \
  if (key.signedness_a == Signedness::k##A && key.signedness_b == Signedness::k##B) { \
    return TILE_VM_SELECT(isa, MmaI8##A##B);                                          \
  }
  TILE_VM_MMA_INT8(TILE_VM_ROW)
#undef TILE_VM_ROW
  return nullptr;
}

int64_t MmaScratchBytes(const MmaKey& key, int64_t m, int64_t /*n*/, int64_t k) {
  const int64_t lane = key.ab == Elem::kF64 ? 8 : 4;
  const int64_t rows = MmaBlockRows(m, k);
  // A panel of B, the block of A, a panel of C, and what aligning their start takes.
  return kMmaPanelBytes * k + rows * k * lane + kMmaPanelBytes * rows + 3 * 64;
}

}  // namespace tile::vm
