// Moving elements: boxes of strided memory, fills, broadcasts, packed 4-bit elements.
//
//   // A 64x64 tile of f32 at (i, j) of a matrix of 8192 columns, transposed on the way:
//   const int64_t extents[] = {64, 64}, tile[] = {64, 1}, matrix[] = {1, 8192};
//   CopyBox(out, tile, m + i * 8192 + j, matrix, extents, 2, 4);
//
// Strides are in elements, may be negative or zero, and need not be multiples of anything; pointers need the alignment
// of a byte. Source and destination must not overlap. Where elements of the destination coincide (a stride of 0, say),
// the last one in row-major order wins. No function fails. Thread-safe; nothing is atomic.
#ifndef TILE_VM_KERNELS_COPY_H_
#define TILE_VM_KERNELS_COPY_H_

#include <cstdint>

#include "vm/kernels/isa.h"

namespace tile::vm {

// How the destination is written: kStreaming goes around the caches where rows are contiguous, which pays for results
// of many megabytes that nobody reads soon.
enum class CopyHint : uint8_t { kNone, kStreaming };

// For each index i of `extents`: dst[i · dst_strides] = src[i · src_strides]. elem_bytes is 1, 2, 4 or 8; any rank.
void CopyBox(void* dst, const int64_t* dst_strides, const void* src, const int64_t* src_strides, const int64_t* extents,
             int rank, int elem_bytes, CopyHint hint = CopyHint::kNone, Isa isa = BestIsa());

// Contiguous bytes. After streaming copies, StreamingDone makes what they wrote visible in order with later writes; CopyBox
// does that itself.
void CopyBytes(void* dst, const void* src, int64_t bytes, CopyHint hint = CopyHint::kNone, Isa isa = BestIsa());
void StreamingDone(Isa isa = BestIsa());

// n times the element at `pattern`.
void Fill(void* dst, const void* pattern, int elem_bytes, int64_t n, Isa isa = BestIsa());

// dst[i] = src[(i / run) % count] for i < n, a multiple of run * count.
void Expand(void* dst, const void* src, int elem_bytes, int64_t n, int64_t run, int64_t count, Isa isa = BestIsa());

// A dense tile of dst_extents from one of src_extents; dimensions of size 1 are repeated.
void Broadcast(void* dst, const int64_t* dst_extents, const void* src, const int64_t* src_extents, int rank,
               int elem_bytes, Isa isa = BestIsa());

// n elements of 4 bits, one a byte in dst, from element `first` >= 0 of packed memory (low half of a byte first).
void LoadNibbles(uint8_t* dst, const uint8_t* packed, int64_t first, int64_t n, Isa isa = BestIsa());
// The way back; the high halves of src are ignored, neighbours in partly written bytes stay.
void StoreNibbles(uint8_t* packed, int64_t first, const uint8_t* src, int64_t n, Isa isa = BestIsa());

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_COPY_H_
