// Matrix multiply-accumulate on whole tiles: out = C + A·B, row-major, A MxK, B KxN, C and out MxN.
//
// M, N and K are any positive numbers (of tiles: powers of two; K of scaled data a multiple of scale_block). Rows may
// are apart, so that A and B can be read where they are in memory. A batch is a loop of the caller.
//
// Every element of the result is computed as acc = C; for k ascending: acc = fma(A[i,k], B[k,j], acc). Each step rounds
// once, so results have equal bits on every machine. A NaN is the canonical one of vm/kernels/scalar.h. f16, bf16, tf32
// and f8 operands are converted to f32, which is exact; the low 13 bits of a tf32 word are ignored. acc is an f32 (f64
// for f64); a result in f16 is rounded once, at the end. Scaled data are multiplied by their scales in f32 before.
// Integers wrap.
//
//   MmaKey key{Elem::kF16, Elem::kF32};
//   MmaFn mma = FindMma(key);                                   // once, when the program is prepared
//   std::vector<char> scratch(MmaScratchBytes(key, m, n, k));   // likewise
//   MmaParams p = MmaParams::Dense(m, n, k);
//   p.a = a, p.b = b, p.c = p.out = acc, p.scratch = scratch.data();
//   mma(p);
//
// Thread-safe as long as scratch and out are not shared.
#ifndef TILE_VM_KERNELS_MMA_H_
#define TILE_VM_KERNELS_MMA_H_

#include <cstdint>
#include <optional>

#include "ir/element.h"
#include "vm/kernels/isa.h"
#include "vm/kernels/mma_kernels.h"

namespace tile::vm {

struct MmaKey {
  ir::Elem ab, c;
  ir::Signedness signedness_a = ir::Signedness::kSigned, signedness_b = ir::Signedness::kSigned;  // of i8
  std::optional<ir::Elem> scale = std::nullopt;  // element of the scales of mmaf_scaled
};

// The kernel for these elements, or null if semantics 5.5 has no such product. 4-bit data take one byte an element.
MmaFn FindMma(const MmaKey& key, Isa isa = BestIsa());

// Bytes of scratch that the kernel needs, for any row strides.
int64_t MmaScratchBytes(const MmaKey& key, int64_t m, int64_t n, int64_t k);

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_MMA_H_
