// How a matrix product is cut into vectors; included by the kernel files only.
//
//         k            n: panels of kPanel columns
//     ┌───────┐      ┌────┬────┐
//   m │ rows  │  ×  k│ B  │    │     B's panel is copied to scratch (k x panel, converted to lanes), then strips of
//     ├───────┤      │    │    │     kRows rows of A pass over it; a strip's kRows x panel results stay in registers
//     └───────┘      └────┴────┘     for all of k, and each step is a broadcast from A against a row of the panel.
//
// A *source* says how elements become lanes:
//   Acc                      type of a lane
//   kDirect                  A and B in memory are lanes already
//   Steps(k)                 steps of the inner loop
//   MulAdd(a, b, acc)        one step
//   Finish(acc)              the result
//   PackA(p, row, rows, dst)             rows x Steps lanes
//   PackB(p, column, columns, panel, dst)   Steps x panel lanes, columns <= panel
#ifndef TILE_VM_KERNELS_MMA_DRIVER_H_
#define TILE_VM_KERNELS_MMA_DRIVER_H_

#include "vm/kernels/mma_kernels.h"
#include "vm/kernels/mma_simd.h"

namespace tile::vm::TILE_VM_ISA::simd {

// Rows of a strip: as many accumulators as the registers hold beside a row of the panel and a broadcast.
#if defined(__AVX512BW__)
inline constexpr int kRows = 8;
#elif defined(__AVX2__)
inline constexpr int kRows = 6;
#else
inline constexpr int kRows = 4;
#endif

// out[rows, width vectors] = c + a·b; strides in lanes.
template <class Source, int rows, int width, class T = typename Source::Acc>
TILE_VM_INLINE void Strip(int64_t steps, const T* a, int64_t lda, const T* b, int64_t ldb, const T* c, int64_t ldc,
                          T* out, int64_t ldout) {
  constexpr int W = kLanes<T>;
  Vec<T> acc[rows][width];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < width; ++v) acc[i][v] = Load<T>(c + i * ldc + v * W);
  }
  for (int64_t s = 0; s < steps; ++s) {
    Vec<T> bv[width];
#pragma GCC unroll 2
    for (int v = 0; v < width; ++v) bv[v] = Load<T>(b + s * ldb + v * W);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const Vec<T> av = Splat<T>(a[i * lda + s]);
#pragma GCC unroll 2
      for (int v = 0; v < width; ++v) acc[i][v] = Source::MulAdd(av, bv[v], acc[i][v]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < width; ++v) StoreAs<T>(out + i * ldout + v * W, Source::Finish(acc[i][v]));
  }
}

// All rows of one panel. Rows that don't fill a strip of kRows go by 4 (or 8 = 4 + 4), 2 and 1.
template <class Source, int width, class T = typename Source::Acc>
[[gnu::noinline]] void Panel(int64_t m, int64_t steps, const T* a, int64_t lda, const T* b, int64_t ldb, const T* c,
                             int64_t ldc, T* out, int64_t ldout) {
  int64_t i = 0;
  const int64_t full = m - m % kRows - (m >= kRows && kRows == 6 && m % 6 == 2 ? 6 : 0);
  for (; i < full; i += kRows) {
    Strip<Source, kRows, width>(steps, a + i * lda, lda, b, ldb, c + i * ldc, ldc, out + i * ldout, ldout);
  }
  if constexpr (kRows != 4) {
    for (; i + 4 <= m; i += 4) {
      Strip<Source, 4, width>(steps, a + i * lda, lda, b, ldb, c + i * ldc, ldc, out + i * ldout, ldout);
    }
  }
  for (; i + 2 <= m; i += 2) {
    Strip<Source, 2, width>(steps, a + i * lda, lda, b, ldb, c + i * ldc, ldc, out + i * ldout, ldout);
  }
  if (i < m) Strip<Source, 1, width>(steps, a + i * lda, lda, b, ldb, c + i * ldc, ldc, out + i * ldout, ldout);
}

// rows x columns stored elements to rows x panel lanes.
template <class E, class T = typename E::Acc>
TILE_VM_INLINE void ToLanes(const typename E::Stored* from, int64_t ld, int64_t rows, int64_t columns, T* to,
                            int64_t panel) {
  constexpr int W = kLanes<T>;
  for (int64_t i = 0; i < rows; ++i, from += ld, to += panel) {
    int64_t j = 0;
    for (; j + W <= columns; j += W) StoreAs<T>(to + j, E::LoadVec(from + j));
    for (; j < columns; ++j) to[j] = LoadPart<E>(from + j, 1)[0];
    for (; j < panel; ++j) to[j] = T{};
  }
}
template <class E, class T = typename E::Acc>
TILE_VM_INLINE void FromLanes(const T* from, int64_t panel, int64_t rows, int64_t columns, typename E::Stored* to,
                              int64_t ld) {
  constexpr int W = kLanes<T>;
  for (int64_t i = 0; i < rows; ++i, from += panel, to += ld) {
    int64_t j = 0;
    for (; j + W <= columns; j += W) E::StoreVec(to + j, Load<T>(from + j));
    for (; j < columns; ++j) StorePart<E>(to + j, Splat<T>(from[j]), 1);
  }
}

template <class T>
TILE_VM_INLINE T* AlignUp(T* p) {
  return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(p) + 63) & ~uintptr_t{63});
}

template <class Source, class C>
TILE_VM_INLINE void Multiply(const MmaParams& p) {
  using T = typename Source::Acc;
  constexpr int64_t W = kLanes<T>;
  // Fewer rows than this are not worth a copy of B.
  constexpr int64_t kMinRowsToPack = 8;
  const int64_t steps = Source::Steps(p.k);
  const int64_t block = MmaBlockRows(p.m, p.k);
  T* const panel_b = AlignUp(static_cast<T*>(p.scratch));
  T* const block_a = AlignUp(panel_b + steps * 2 * W);
  T* const panel_c = AlignUp(block_a + steps * block);

  for (int64_t i0 = 0; i0 < p.m; i0 += block) {
    const int64_t rows = p.m - i0 < block ? p.m - i0 : block;
    const T* a = block_a;
    int64_t lda = steps;
    if constexpr (Source::kDirect) {
      a = static_cast<const T*>(p.a) + i0 * p.lda, lda = p.lda;
    } else {
      Source::PackA(p, i0, rows, block_a);
    }
    for (int64_t j0 = 0; j0 < p.n;) {
      const int64_t width = p.n - j0 <= W ? 1 : 2, panel = width * W;
      const int64_t columns = p.n - j0 < panel ? p.n - j0 : panel;
      const T* b = panel_b;
      int64_t ldb = panel;
      bool pack = true;
      if constexpr (Source::kDirect) {
        pack = p.m >= kMinRowsToPack || columns < panel;
        if (!pack) b = static_cast<const T*>(p.b) + j0, ldb = p.ldb;
      }
      if (pack) Source::PackB(p, j0, columns, panel, panel_b);

      auto* const out = static_cast<typename C::Stored*>(p.out) + i0 * p.ldout + j0;
      const auto* const c = static_cast<const typename C::Stored*>(p.c) + i0 * p.ldc + j0;
      const auto run = [&](const T* from, int64_t ldfrom, T* to, int64_t ldto) __attribute__((always_inline)) {
        using Kernel = typename Source::Kernel;
        (width == 1 ? Panel<Kernel, 1> : Panel<Kernel, 2>)(rows, steps, a, lda, b, ldb, from, ldfrom, to, ldto);
      };
      bool direct = false;
      if constexpr (C::kDirect) {
        direct = columns == panel;
        if (direct) run(c, p.ldc, out, p.ldout);
      }
      if (!direct) {
        ToLanes<C>(c, p.ldc, rows, columns, panel_c, panel);
        run(panel_c, panel, panel_c, panel);
        FromLanes<C>(panel_c, panel, rows, columns, out, p.ldout);
      }
      j0 += columns;
    }
  }
}

}  // namespace tile::vm::TILE_VM_ISA::simd

#endif  // TILE_VM_KERNELS_MMA_DRIVER_H_
