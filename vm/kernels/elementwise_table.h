// How the kernel sources hand over their kernels: constant tables of rows, one per operation, types and attributes.
#ifndef TILE_VM_KERNELS_ELEMENTWISE_TABLE_H_
#define TILE_VM_KERNELS_ELEMENTWISE_TABLE_H_

#include "vm/kernels/elementwise.h"

namespace tile::vm {

struct ElementwiseRow {
  uint64_t key;
  ElementwiseFn fn;
};
struct ElementwiseTable {
  const ElementwiseRow* rows;
  int count;
};

constexpr uint64_t PackElementwiseKey(const ElementwiseKey& k) {
  uint64_t packed = static_cast<uint64_t>(k.op);
  const auto add = [&packed](uint64_t value, int bits) { packed = packed << bits | value; };
  add(static_cast<uint64_t>(k.in), 5);
  add(static_cast<uint64_t>(k.out), 5);
  add(static_cast<uint64_t>(k.rounding), 4);
  add(k.flush_to_zero, 1);
  add(k.propagate_nan, 1);
  add(k.saturating, 1);
  add(static_cast<uint64_t>(k.signedness), 1);
  add(static_cast<uint64_t>(k.predicate), 3);
  add(static_cast<uint64_t>(k.ordering), 1);
  add(static_cast<uint64_t>(k.pointee_bytes), 8);
  add(static_cast<uint64_t>(k.splat_mask), 8);
  return packed;
}
static_assert(ir::kNumElems <= 32);

TILE_VM_DECLARE_PER_ISA(extern const ElementwiseTable kIntegerTable, kCompareTable, kFloatTable, kMathTable,
                        kConvertTable)

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_ELEMENTWISE_TABLE_H_
