// Between reduce.cc and the kernel files; users include reduce.h.
#ifndef TILE_VM_KERNELS_REDUCE_KERNELS_H_
#define TILE_VM_KERNELS_REDUCE_KERNELS_H_

#include <cstdint>

#include "vm/kernels/isa.h"

namespace tile::vm {

// `start`: bits of what the first partial result begins with.
using ReduceFn = void (*)(void* out, const void* in, int64_t outer, int64_t n, int64_t inner, uint64_t start);
using ScanFn = void (*)(void* out, const void* in, int64_t outer, int64_t n, int64_t inner, bool reverse,
                        uint64_t start);

struct ReduceKernels {
  ReduceFn reduce = nullptr;
  ScanFn scan = nullptr;
};

enum class Fold : uint8_t { kAdd, kMul, kAnd, kOr, kXor, kMax, kMin, kMaxUnsigned, kMinUnsigned };
enum class FloatKind : uint8_t { kF16, kBF16, kF32, kF64 };

// `bits` is 1, 8, 16, 32 or 64. Of i1 there are and, or and xor: the other operations equal one of them.
TILE_VM_DECLARE_PER_ISA(ReduceKernels FindIntKernels(Fold fold, int bits))
// Max and min; flush_to_zero is for f32.
TILE_VM_DECLARE_PER_ISA(ReduceKernels FindFloatOrderKernels(Fold fold, FloatKind kind, bool propagate_nan,
                                                            bool flush_to_zero))
// Sums and products; flush_to_zero is for f32.
TILE_VM_DECLARE_PER_ISA(ReduceKernels FindFloatKernels(Fold fold, FloatKind kind, bool flush_to_zero))

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_REDUCE_KERNELS_H_
