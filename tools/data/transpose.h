// Reordering of array bytes on the way in: other byte order, other element order.
#ifndef TILE_TOOLS_DATA_TRANSPOSE_H_
#define TILE_TOOLS_DATA_TRANSPOSE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace tile::tools {

// Reverses the bytes of each of n elements of 2, 4 or 8 bytes.
void SwapBytes(uint8_t* data, int64_t n, int element_bytes);

// `out`, row-major, gets the elements of `in`, whose first dimension runs fastest. Elements of 1, 2, 4 or 8 bytes; the
// two may not overlap.
void FortranToRowMajor(const uint8_t* in, absl::Span<const int64_t> shape, int element_bytes, uint8_t* out);

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_TRANSPOSE_H_
