// Between find.cc and its kernels; users include find.h.
#ifndef TILE_VM_KERNELS_FIND_KERNELS_H_
#define TILE_VM_KERNELS_FIND_KERNELS_H_

#include <cstdint>

#include "vm/kernels/isa.h"

namespace tile::vm {

struct FindKernels {
  // Whether the magnitude of one of n elements less `zeros`, as an unsigned number, is at least `limit`; with zeros = 1 that holds for 0, too.
  bool (*any_from_16)(const void* data, int64_t n, uint16_t limit, uint16_t zeros);
  bool (*any_from_32)(const void* data, int64_t n, uint32_t limit, uint32_t zeros);
  bool (*any_from_64)(const void* data, int64_t n, uint64_t limit, uint64_t zeros);
  int64_t (*count_zeros)(const uint8_t* data, int64_t n);
};
TILE_VM_DECLARE_PER_ISA(extern const FindKernels kFindKernels)

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_FIND_KERNELS_H_
