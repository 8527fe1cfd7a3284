// Questions about many numbers at once: does any of them have a large magnitude, or none at all? How many bytes are zero?
//
//   AnyFrom(data, 4, n, 0x7f800000, false);  // Is one of n f32 infinite or NaN?
//
// Numbers are bits here: the magnitude of an IEEE number, without its sign, grows with its bits. Thread-safe; no function fails.
#ifndef TILE_VM_KERNELS_FIND_H_
#define TILE_VM_KERNELS_FIND_H_

#include <cstdint>

#include "vm/kernels/isa.h"

namespace tile::vm {

// Whether one of n elements of 2, 4 or 8 bytes has a magnitude, its bits without the uppermost, of at least `limit` (not 0), or of 0 if
// `or_zero`. `data` needs the alignment of a byte.
bool AnyFrom(const void* data, int64_t elem_bytes, int64_t n, uint64_t limit, bool or_zero, Isa isa = BestIsa());

// How many of n bytes are 0.
int64_t CountZeros(const uint8_t* data, int64_t n, Isa isa = BestIsa());

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_FIND_H_
