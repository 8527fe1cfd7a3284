// The matrix kernels that exist, for mma.cc and the kernel files; users include mma.h.
#ifndef TILE_VM_KERNELS_MMA_KERNELS_H_
#define TILE_VM_KERNELS_MMA_KERNELS_H_

#include <cstdint>

#include "vm/kernels/isa.h"

namespace tile::vm {

struct MmaParams {
  void* out = nullptr;  // may be c, with ldout equal to ldc; must not overlap a or b
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  int64_t m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldc = 0, ldout = 0;  // elements from one row to the next
  void* scratch = nullptr;                       // MmaScratchBytes, any alignment

  // mmaf_scaled only: A[i,k] is multiplied by scale_a[i, k / scale_block], B[k,j] by scale_b[k / scale_block, j].
  const void* scale_a = nullptr;
  const void* scale_b = nullptr;
  int64_t ld_scale_a = 0, ld_scale_b = 0;
  int64_t scale_block = 0;

  // Rows without gaps.
  static constexpr MmaParams Dense(int64_t m, int64_t n, int64_t k) {
    MmaParams p;
    p.m = m, p.n = n, p.k = k, p.lda = k, p.ldb = n, p.ldc = n, p.ldout = n;
    return p;
  }
};

using MmaFn = void (*)(const MmaParams&);

// Floating point: element of A and B, element of C. The kernel's name is Mma<ab><c>.
#define TILE_VM_MMA_FLOAT(X) \
  X(F32, F32)                \
  X(F64, F64)                \
  X(TF32, F32)               \
  X(F16, F32)                \
  X(F16, F16)                \
  X(BF16, F32)               \
  X(F8E4M3FN, F32)           \
  X(F8E4M3FN, F16)           \
  X(F8E5M2, F32)             \
  X(F8E5M2, F16)

// i8: signedness of A and of B. MmaI8<a><b>
#define TILE_VM_MMA_INT8(X) \
  X(Signed, Signed)         \
  X(Signed, Unsigned)       \
  X(Unsigned, Signed)       \
  X(Unsigned, Unsigned)

// Scaled: element of the data, element of the scales; C is f32. MmaScaled<ab><scale>
#define TILE_VM_MMA_SCALED(X) \
  X(F8E4M3FN, F8E8M0FNU)      \
  X(F8E5M2, F8E8M0FNU)        \
  X(F4E2M1FN, F8E8M0FNU)      \
  X(F4E2M1FN, F8E4M3FN)       \
  X(F4E2M1FN, F8E5M3FNU)

#define TILE_VM_DECLARE_FLOAT(AB, C) TILE_VM_DECLARE_PER_ISA(void Mma##AB##C(const MmaParams&))
#define TILE_VM_DECLARE_INT8(A, B) TILE_VM_DECLARE_PER_ISA(void MmaI8##A##B(const MmaParams&))
#define TILE_VM_DECLARE_SCALED(AB, S) TILE_VM_DECLARE_PER_ISA(void MmaScaled##AB##S(const MmaParams&))
TILE_VM_MMA_FLOAT(TILE_VM_DECLARE_FLOAT)
TILE_VM_MMA_INT8(TILE_VM_DECLARE_INT8)
TILE_VM_MMA_SCALED(TILE_VM_DECLARE_SCALED)
#undef TILE_VM_DECLARE_FLOAT
#undef TILE_VM_DECLARE_INT8
#undef TILE_VM_DECLARE_SCALED

// The widest panel of B in bytes (two vectors of AVX-512), and the rows of A that are converted at a time.
inline constexpr int64_t kMmaPanelBytes = 128;
constexpr int64_t MmaBlockRows(int64_t m, int64_t k) {
  int64_t rows = 1024;
  while (rows > 8 && rows * k > 65536) rows /= 2;
  return m < rows ? m : rows;
}

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_MMA_KERNELS_H_
