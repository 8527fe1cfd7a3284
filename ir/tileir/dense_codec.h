// Elements of constants between NVIDIA's container and ir::Dense.
//
//   container           Dense
//   i1: bits, low first; a splat is 0xFF or 0x00       a byte, 0 or 1; equal elements are a splat
//   tf32: 3 bytes, 19 bits right-aligned               4 bytes, left-aligned (low 13 bits zero)
//   the others: storage bytes, little-endian           the same; f4 in the low bits of a byte
#ifndef TILE_IR_TILEIR_DENSE_CODEC_H_
#define TILE_IR_TILEIR_DENSE_CODEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "ir/attr.h"

namespace tile::ir::tileir {

// Bits of an element as attributes and constants of the container hold them, from and to the form of Dense and Scalar.
uint64_t FromContainerBits(Elem elem, uint64_t bits);
uint64_t ToContainerBits(Elem elem, uint64_t bits);

// False if the size fits neither `count` elements nor one. Writes no more than eight bytes per byte of `packed`.
bool UnpackDense(Elem elem, int64_t count, absl::Span<const uint8_t> packed, std::vector<uint8_t>* bytes, bool* splat);
std::string PackDense(const Dense& dense);

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_DENSE_CODEC_H_
