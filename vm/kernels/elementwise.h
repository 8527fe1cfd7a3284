// Vectorised kernels of the elementwise operations: chosen once when a program is prepared, then called per tile.
//
//   ElementwiseKey key;
//   key.op = ir::Opcode::kMulf;
//   key.in = key.out = ir::Elem::kF32;
//   key.splat_mask = 0b10;                         // the second operand is one element
//   ElementwiseFn mul = FindElementwise(key);
//   const void* operands[] = {tile, &scale};
//   mul(result, operands, 4096);
//
// What a kernel computes is in vm/kernels/scalar.h, scalar_convert.h and, for the mathematical functions, math.h with
// their error bounds. Results are equal bit for bit on every instruction set. Thread-safe.
#ifndef TILE_VM_KERNELS_ELEMENTWISE_H_
#define TILE_VM_KERNELS_ELEMENTWISE_H_

#include <cstdint>

#include "ir/element.h"
#include "ir/op_info.h"
#include "vm/kernels/isa.h"

namespace tile::vm {

// An operation on certain types. Attributes that the operation does not have keep the value given here. Those that
// don't change the VM's result (saturating of ftoi, the rounding of an exact conversion) may have any value.
struct ElementwiseKey {
  ir::Opcode op = ir::Opcode::kAddi;
  // `out` is the element of the result. `in` is that of the operand of another type, if there is one (the index of
  // offset, the exponent of fpowi; both operands of a comparison), else the same. For select both are the type of the
  // values.
  ir::Elem in = ir::Elem::kI1;
  ir::Elem out = ir::Elem::kI1;
  ir::Rounding rounding = ir::Rounding::kNearestEven;
  bool flush_to_zero = false;
  bool propagate_nan = false;
  bool saturating = false;
  ir::Signedness signedness = ir::Signedness::kUnsigned;
  ir::ComparisonPredicate predicate = ir::ComparisonPredicate::kEqual;
  ir::ComparisonOrdering ordering = ir::ComparisonOrdering::kUnordered;
  int pointee_bytes = 0;  // of offset: 1, 2, 4 or 8; any elsewhere
  int splat_mask = 0;     // bit i: operand i is one element, taken n times
};

// r[i] = op(operands[0][i], …) for i < n, all contiguous and in tile form (one byte for i1, i4, f4). r may be the same
// memory as an operand whose elements have the size of the result's; otherwise they must not overlap.
using ElementwiseFn = void (*)(void* r, const void* const* operands, int64_t n);

// Null if the operation is not elementwise or not defined on these types and attributes, or there is no kernel for this
// splat mask. Without splats every legal operation has one. With them: arithmetic on two or three operands,
// comparisons, select and offset have one for each mask that leaves at least one full operand; others have none.
ElementwiseFn FindElementwise(const ElementwiseKey& key);

// The same for a given instruction set, which IsaSupported. For tests.
ElementwiseFn FindElementwise(const ElementwiseKey& key, Isa isa);

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_ELEMENTWISE_H_
