#include "vm/kernels/find.h"

#include "vm/kernels/find_kernels.h"

namespace tile::vm {

bool AnyFrom(const void* data, int64_t elem_bytes, int64_t n, uint64_t limit, bool or_zero, Isa isa) {
  const FindKernels& kernels = TILE_VM_SELECT(isa, kFindKernels);
  const uint64_t zeros = or_zero ? 1 : 0;
  limit -= zeros;
  switch (elem_bytes) {
    case 2: return kernels.any_from_16(data, n, static_cast<uint16_t>(limit), static_cast<uint16_t>(zeros));
    case 4: return kernels.any_from_32(data, n, static_cast<uint32_t>(limit), static_cast<uint32_t>(zeros));
    default: return kernels.any_from_64(data, n, limit, zeros);
  }
}

int64_t CountZeros(const uint8_t* data, int64_t n, Isa isa) {
  const FindKernels& kernels = TILE_VM_SELECT(isa, kFindKernels);
  return kernels.count_zeros(data, n);
}

}  // namespace tile::vm
