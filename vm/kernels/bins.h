// Additions of many lanes to few bins, as a histogram makes them, into a table beside memory.
//
// Lanes that hit the same bin one after the other wait for each other. So neighbours add to different copies of the
// table, and the copies are added up at the end:
//
//   const BinKernels& k = FindBinKernels();
//   std::vector<uint32_t> tables(kCopies * BinStride(size));           // zeros
//   k.of_indices(bins, indices, /*index_bytes=*/4, n, size);           // which bin each lane hits
//   k.add(tables.data(), kCopies, bins, values, /*one_value=*/false, n, size, /*bytes=*/4);
//   k.sum(tables.data(), kCopies, size, 4);                            // tables[0 … size - 1] is the result
//
// Integers wrap around, so the order of additions does not matter. Thread-safe.
#ifndef TILE_VM_KERNELS_BINS_H_
#define TILE_VM_KERNELS_BINS_H_

#include <cstdint>

#include "vm/kernels/isa.h"

namespace tile::vm {

using Bin = uint16_t;
inline constexpr int64_t kMaxBins = 4096;
inline constexpr int kCopies = 4;
// From one copy of a table to the next, in elements: after the bins is one for lanes that add nowhere.
TILE_VM_INLINE constexpr int64_t BinStride(int64_t size) { return (size + 16) / 16 * 16; }

struct BinKernels {
  // The bins of signed indices of 1, 2, 4 or 8 bytes; one outside of [0, size) gets bin `size`. True if there was one.
  bool (*of_indices)(Bin* bins, const void* indices, int index_bytes, int64_t n, int64_t size);
  // The bins of addresses in a table of elements of 4 or 8 bytes at `base`; what the mask leaves out gets bin `size`.
  void (*of_addresses)(Bin* bins, const uint64_t* addresses, const uint8_t* mask, int64_t n, uint64_t base, int bytes,
                       int64_t size);
  // Adds values of 4 or 8 bytes, or one for all lanes. `copies`: 1 or kCopies.
  void (*add)(void* tables, int copies, const Bin* bins, const void* values, bool one_value, int64_t n, int64_t size,
              int bytes);
  // Adds all copies to the first, and clears the others. What lanes without a bin added is after the bins there.
  void (*sum)(void* tables, int copies, int64_t size, int bytes);
};
TILE_VM_DECLARE_PER_ISA(extern const BinKernels kBinKernels)

inline const BinKernels& FindBinKernels(Isa isa = BestIsa()) { return TILE_VM_SELECT(isa, kBinKernels); }

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_BINS_H_
