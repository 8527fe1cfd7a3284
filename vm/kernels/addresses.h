// Tiles of addresses: whether they follow each other, how far they reach, and the elements that are there.
//
//   const AddressKernels& k = FindAddressKernels();
//   const AddressRange r = k.range(addresses, /*mask=*/nullptr, 4096);
//   if (r.low_bits % 4 == 0) …                                         // all are aligned to 4
//
// `mask` has a byte of 0 or 1 per lane, or is null: all lanes. Thread-safe.
#ifndef TILE_VM_KERNELS_ADDRESSES_H_
#define TILE_VM_KERNELS_ADDRESSES_H_

#include <cstdint>

#include "vm/kernels/isa.h"

namespace tile::vm {

struct AddressRange {
  int64_t lowest, highest;  // as signed numbers; of no lanes lowest > highest
  uint64_t low_bits;        // all of them or-ed: what they are aligned to
};

struct AddressKernels {
  // The range of the active lanes' addresses.
  AddressRange (*range)(const uint64_t* addresses, const uint8_t* mask, int64_t n);
  // How many lanes from the first on are active and are `step` bytes after the lane before them. The first is compared
  // with addresses[-1].
  int64_t (*following)(const uint64_t* addresses, const uint8_t* mask, int64_t n, uint64_t step);
  // Copies elements of 1, 2, 4 or 8 bytes between the addresses of the active lanes and a tile, in the order of the lanes. What
  // belongs to other lanes stays as it is.
  void (*gather)(void* tile, const uint64_t* addresses, const uint8_t* mask, int64_t n, int bytes);
  void (*scatter)(const void* tile, const uint64_t* addresses, const uint8_t* mask, int64_t n, int bytes);
};
TILE_VM_DECLARE_PER_ISA(extern const AddressKernels kAddressKernels)

inline const AddressKernels& FindAddressKernels(Isa isa = BestIsa()) { return TILE_VM_SELECT(isa, kAddressKernels); }

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_ADDRESSES_H_
