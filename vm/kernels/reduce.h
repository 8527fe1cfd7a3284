// Reductions and inclusive scans with one operation as their body, along the middle dimension of [outer, n, inner]:
// addf mulf maxf minf on f16 bf16 f32 f64, and addi muli maxi mini andi ori xori on i1 … i64.
//
//   const ReduceKey key = {.op = ir::Opcode::kAddf, .elem = ir::Elem::kF32};
//   ReduceFn sum = FindReduce(key);            // null: not one of these
//   sum(out, in, 128, 64, 1, NeutralBits(key));  // out[128] from in[128, 64]
//   ScanFn prefix = FindScan(key);
//   prefix(out, in, 1, 1024, 1, /*reverse=*/false, NeutralBits(key));
//
// They begin with what changes nothing, so that nothing but the elements takes part: a row of NaN gives NaN for minf.
//
// Order of the additions and multiplications of floats, the same on every machine. Each step rounds to the element
// type.
// * f32, f64, inner > 1, and every scan of them: from index 0 upward (reverse scan: from n - 1 downward).
// * f32, f64, a reduction with inner = 1: element i goes to partial result i mod 16, upward. Then p[i] = p[i] op p[i +
// 8]
//   for i < 8, p[i] = p[i] op p[i + 4] for i < 4, and so on to p[0].
// * f16, bf16: balanced trees, since a running sum of bf16 ones would stop at 256. A reduction combines neighbours,
// then
//   neighbouring pairs, and so on; with inner = 1 in each of the 16 partial results, which end as above. A scan takes
//   blocks of 2, 4, 8 … elements: each element of the upper half takes the total of the lower half.
// Of integers, maxf and minf the order does not matter. Operations mean what vm/kernels/scalar.h says; NaN is canonical.
//
// in and out may be equal for scans and must not overlap otherwise. n >= 1. i1 elements are bytes of 0 or 1.
// Thread-safe.
#ifndef TILE_VM_KERNELS_REDUCE_H_
#define TILE_VM_KERNELS_REDUCE_H_

#include "ir/element.h"
#include "ir/op_info.h"
#include "vm/kernels/isa.h"
#include "vm/kernels/reduce_kernels.h"

namespace tile::vm {

struct ReduceKey {
  ir::Opcode op;
  ir::Elem elem;
  bool propagate_nan = false;                           // of maxf, minf
  bool flush_to_zero = false;                           // of f32
  ir::Signedness signedness = ir::Signedness::kSigned;  // of maxi, mini
};

// Bits of what changes nothing: -0 of a sum, NaN of a maximum that lets numbers win.
uint64_t NeutralBits(const ReduceKey& key);

// Null where there is no kernel: another operation, an element it does not have, flush_to_zero of other than f32.
ReduceFn FindReduce(const ReduceKey& key, Isa isa = BestIsa());
ScanFn FindScan(const ReduceKey& key, Isa isa = BestIsa());

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_REDUCE_H_
