// The loops that turn a function on elements into a kernel. Included by kernel sources only.
//
//   Binary<float, float, float, Addf<float>, 0>            a[i] + b[i]
//   Narrowed<F16, 2, 0b10, its f32 kernel for that mask>   the same for f16, computed in f32, b one element
//   Rounded<kTowardZero, that kernel>                      with another rounding of the hardware
#ifndef TILE_VM_KERNELS_ELEMENTWISE_LOOPS_H_
#define TILE_VM_KERNELS_ELEMENTWISE_LOOPS_H_

#include <cfenv>
#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "vm/kernels/elementwise_table.h"
#include "vm/kernels/scalar_convert.h"

// Element i of the result depends on elements i only, so that in-place use carries nothing from one round to another.
#define TILE_VM_VECTOR_LOOP _Pragma("GCC ivdep")

namespace tile::vm::TILE_VM_ISA {

// A loop stays one function: kernels that are built from others call it, and add little code of their own.
#define TILE_VM_LOOP __attribute__((noinline)) static void

constexpr int kChunk = 512;  // elements computed at a time where a kernel needs a buffer

template <class R, class A, auto kOp>
TILE_VM_LOOP Unary(void* result, const void* const* operands, int64_t n) {
  R* r = static_cast<R*>(result);
  const A* a = static_cast<const A*>(operands[0]);
  TILE_VM_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) r[i] = kOp(a[i]);
}

template <class R, class A, class B, auto kOp, int kSplat>
TILE_VM_LOOP Binary(void* result, const void* const* operands, int64_t n) {
  if (n <= 0) return;
  R* r = static_cast<R*>(result);
  const A* a = static_cast<const A*>(operands[0]);
  const B* b = static_cast<const B*>(operands[1]);
  const A a0 = a[0];
  const B b0 = b[0];
  TILE_VM_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) r[i] = kOp(kSplat & 1 ? a0 : a[i], kSplat & 2 ? b0 : b[i]);
}

template <class R, class A, class B, class C, auto kOp, int kSplat>
TILE_VM_LOOP Ternary(void* result, const void* const* operands, int64_t n) {
  if (n <= 0) return;
  R* r = static_cast<R*>(result);
  const A* a = static_cast<const A*>(operands[0]);
  const B* b = static_cast<const B*>(operands[1]);
  const C* c = static_cast<const C*>(operands[2]);
  const A a0 = a[0];
  const B b0 = b[0];
  const C c0 = c[0];
  TILE_VM_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) {
    r[i] = kOp(kSplat & 1 ? a0 : a[i], kSplat & 2 ? b0 : b[i], kSplat & 4 ? c0 : c[i]);
  }
}

// kFn with its two operands exchanged.
template <ElementwiseFn kFn>
static void Swapped(void* result, const void* const* operands, int64_t n) {
  const void* swapped[] = {operands[1], operands[0]};
  kFn(result, swapped, n);
}

// The same for the first two of three.
template <ElementwiseFn kFn>
static void Swapped3(void* result, const void* const* operands, int64_t n) {
  const void* swapped[] = {operands[1], operands[0], operands[2]};
  kFn(result, swapped, n);
}

constexpr bool IsCommutative(ir::Opcode op) {
#define TILE_OP(number, Name, mnemonic, Format, Family, since, traits, constraints) \
  if (op == ir::Opcode::k##Name) {                                                  \
    using namespace ir;                                                             \
    return ((traits)&ir::kCommutative) != 0;                                        \
  }
#include "ir/ops.def"
  return false;
}

// The kernel of a function of two operands of type T for a splat mask. Half of the code of commutative ones is saved.
template <ir::Opcode kOpcode, class T, auto kOp, int kSplat, class R = T>
consteval ElementwiseFn Loop2() {
  if constexpr (kSplat == 1 && IsCommutative(kOpcode)) {
    return Swapped<Binary<R, T, T, kOp, 2>>;
  } else {
    return Binary<R, T, T, kOp, kSplat>;
  }
}

// --- through f32 ----------------------------------------------------------------------------------------------------

template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

template <class E>
TILE_VM_LOOP Widen(const void* source, float* r, int64_t n) {
  const typename E::Storage* a = static_cast<const typename E::Storage*>(source);
  int64_t start = 0;
#if defined(__F16C__)
  if constexpr (kSame<E, F16>) {
    for (; start + 8 <= n; start += 8) {
      const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + start)));
      const __m256 nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
      _mm256_storeu_ps(r + start, _mm256_blendv_ps(x, _mm256_set1_ps(Nan<float>()), nan));
    }
  }
#endif
  TILE_VM_VECTOR_LOOP
  for (int64_t i = start; i < n; ++i) r[i] = Decode<E>(a[i]);
}

template <class E, FloatRounding kRounding = kNearestEven, Overflow kOverflow = kInfinity>
TILE_VM_LOOP Narrow(const float* a, void* result, int64_t n) {
  typename E::Storage* r = static_cast<typename E::Storage*>(result);
  int64_t start = 0;
#if defined(__F16C__)
  if constexpr (kSame<E, F16> && kRounding == kNearestEven) {
    for (; start + 8 <= n; start += 8) {
      const __m256 x = _mm256_loadu_ps(a + start);
      const __m256 nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
      const __m256 canonical = _mm256_blendv_ps(x, _mm256_set1_ps(Nan<float>()), nan);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(r + start), _mm256_cvtps_ph(canonical, _MM_FROUND_TO_NEAREST_INT));
    }
  }
#endif
  TILE_VM_VECTOR_LOOP
  for (int64_t i = start; i < n; ++i) r[i] = Encode<E, kRounding, kOverflow>(a[i]);
}

struct NarrowedKernel {
  ElementwiseFn fn;
  int operands, splat, operand_bytes, result_bytes;
  void (*widen)(const void*, float*, int64_t);
  void (*narrow)(const float*, void*, int64_t);  // null: the result needs no conversion
};

[[maybe_unused]] TILE_VM_LOOP RunNarrowed(const NarrowedKernel& k, void* result, const void* const* operands,
                                          int64_t n) {
  constexpr int kMaxOperands = 3;
  alignas(64) float buffer[kMaxOperands + 1][kChunk];
  const void* buffers[kMaxOperands];
  for (int o = 0; o < k.operands; ++o) {
    buffers[o] = buffer[o];
    if (n > 0 && (k.splat >> o & 1)) k.widen(operands[o], buffer[o], 1);
  }
  float* out = buffer[kMaxOperands];
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t m = n - i < kChunk ? n - i : kChunk;
    for (int o = 0; o < k.operands; ++o) {
      if (!(k.splat >> o & 1)) k.widen(static_cast<const char*>(operands[o]) + i * k.operand_bytes, buffer[o], m);
    }
    char* r = static_cast<char*>(result) + i * k.result_bytes;
    k.fn(k.narrow ? static_cast<void*>(out) : r, buffers, m);
    if (k.narrow) k.narrow(out, r, m);
  }
}

// kFn on floats, for operands and a result of type E.
template <class E, int kOperands, int kSplat, ElementwiseFn kFn, FloatRounding kRounding = kNearestEven>
static void Narrowed(void* result, const void* const* operands, int64_t n) {
  constexpr int kBytes = sizeof(typename E::Storage);
  RunNarrowed({kFn, kOperands, kSplat, kBytes, kBytes, Widen<E>, Narrow<E, kRounding>}, result, operands, n);
}
// The same with a result of bytes.
template <class E, int kOperands, int kSplat, ElementwiseFn kFn>
static void NarrowedToBytes(void* result, const void* const* operands, int64_t n) {
  RunNarrowed({kFn, kOperands, kSplat, sizeof(typename E::Storage), 1, Widen<E>, nullptr}, result, operands, n);
}

// kFn with the hardware's rounding set. The calls hide memory from the compiler, so no operation leaves the pair.
template <FloatRounding kRounding, ElementwiseFn kFn>
static void Rounded(void* result, const void* const* operands, int64_t n) {
  constexpr int kMode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  const int before = fegetround();
  fesetround(kMode[kRounding]);
  kFn(result, operands, n);
  fesetround(before);
}

// kFn on floats with subnormal operands and results as zeros.
template <int kOperands, ElementwiseFn kFn>
static void Flushed(void* result, const void* const* operands, int64_t n) {
  float* r = static_cast<float*>(result);
  float buffer[kOperands][kChunk];
  const void* buffers[kOperands];
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t m = n - i < kChunk ? n - i : kChunk;
    for (int k = 0; k < kOperands; ++k) {
      const float* a = static_cast<const float*>(operands[k]) + i;
      for (int64_t j = 0; j < m; ++j) buffer[k][j] = Flush(a[j]);
      buffers[k] = buffer[k];
    }
    kFn(r + i, buffers, m);
    for (int64_t j = 0; j < m; ++j) r[i + j] = Flush(r[i + j]);
  }
}

}  // namespace tile::vm::TILE_VM_ISA

// --- rows -----------------------------------------------------------------------------------------------------------
// The key's fields follow the function as designated initialisers.

#define TILE_ROW(fn, ...) {PackElementwiseKey({__VA_ARGS__}), fn},
// Defines the table `name` from an array of rows.
#define TILE_TABLE(name, rows) \
  const ElementwiseTable name = {rows, static_cast<int>(sizeof(rows) / sizeof(ElementwiseRow))};

#endif  // TILE_VM_KERNELS_ELEMENTWISE_LOOPS_H_
