// Mathematical functions: math.h on f32 and f64, f16 and bf16 by way of f32.
#include "vm/kernels/math.h"

namespace tile::vm::TILE_VM_ISA {
namespace {

using ir::Elem;
using ir::Opcode;

// a^n by pow in double, where every n is exact: 32 bits of it are.
template <class I>
TILE_VM_LOOP PowiF64(void* result, const void* const* operands, int64_t n) {
  double* r = static_cast<double*>(result);
  const double* a = static_cast<const double*>(operands[0]);
  const U<I>* exponents = static_cast<const U<I>*>(operands[1]);
  double b[kChunk];
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t m = n - i < kChunk ? n - i : kChunk;
    for (int64_t j = 0; j < m; ++j) b[j] = IToF<double, I, kSigned>(exponents[i + j]);
    const void* both[] = {a + i, b};
    FpowfF64(r + i, both, m);
  }
}
template <class E, class I>
TILE_VM_LOOP PowiNarrow(void* result, const void* const* operands, int64_t n) {
  using Storage = typename E::Storage;
  float f[kChunk];
  double a[kChunk];
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t m = n - i < kChunk ? n - i : kChunk;
    Widen<E>(static_cast<const Storage*>(operands[0]) + i, f, m);
    for (int64_t j = 0; j < m; ++j) a[j] = f[j];
    const void* both[] = {a, static_cast<const U<I>*>(operands[1]) + i};
    PowiF64<I>(a, both, m);
    // To odd on the way to 16 bits, so that those are rounded once.
    for (int64_t j = 0; j < m; ++j) f[j] = kSame<E, F32> ? static_cast<float>(a[j]) : ToFloatOdd(a[j]);
    Narrow<E>(f, static_cast<Storage*>(result) + i, m);
  }
}

// Bessel functions of the order that the second operand is.
template <class E, double (*kOf)(int32_t, double)>
TILE_VM_LOOP OfOrder(void* result, const void* const* operands, int64_t n) {
  using Storage = typename E::Storage;
  const U<I32>* orders = static_cast<const U<I32>*>(operands[1]);
  float f[kChunk];
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t m = n - i < kChunk ? n - i : kChunk;
    Widen<E>(static_cast<const Storage*>(operands[0]) + i, f, m);
    for (int64_t j = 0; j < m; ++j)
      f[j] = Canonical(static_cast<float>(kOf(static_cast<int32_t>(orders[i + j]), f[j])));
    Narrow<E>(f, static_cast<Storage*>(result) + i, m);
  }
}
template <double (*kOf)(int32_t, double)>
TILE_VM_LOOP OfOrderF64(void* result, const void* const* operands, int64_t n) {
  const U<I32>* orders = static_cast<const U<I32>*>(operands[1]);
  const double* a = static_cast<const double*>(operands[0]);
  for (int64_t i = 0; i < n; ++i) {
    static_cast<double*>(result)[i] = Canonical(kOf(static_cast<int32_t>(orders[i]), a[i]));
  }
}

// clang-format off
#define TILE_F(Name, E) .op = Opcode::k##Name, .in = Elem::k##E, .out = Elem::k##E

constexpr ElementwiseRow kRows[] = {
#define TILE_MATH(Name, operands)                                             \
  TILE_ROW(Name##F32, TILE_F(Name, F32))                                      \
  TILE_ROW(Name##F64, TILE_F(Name, F64))                                      \
  TILE_ROW((Narrowed<F16, operands, 0, Name##F32>), TILE_F(Name, F16))        \
  TILE_ROW((Narrowed<BF16, operands, 0, Name##F32>), TILE_F(Name, BF16))
#define TILE_MATH1(Name, ...) TILE_MATH(Name, 1)
#define TILE_MATH1_FTZ(Name, ...) \
  TILE_MATH(Name, 1) TILE_ROW((Flushed<1, Name##F32>), TILE_F(Name, F32), .flush_to_zero = true)
#define TILE_MATH2(Name, ...) TILE_MATH(Name, 2)
#include "vm/kernels/elementwise.def"

#define TILE_POWI(I, E, ...) TILE_ROW((__VA_ARGS__), .op = Opcode::kFpowi, .in = Elem::k##I, .out = Elem::k##E)
#define TILE_ALL_POWI(I)                                                        \
  TILE_POWI(I, F64, PowiF64<I>) TILE_POWI(I, F32, PowiNarrow<F32, I>)           \
  TILE_POWI(I, F16, PowiNarrow<F16, I>) TILE_POWI(I, BF16, PowiNarrow<BF16, I>)
    TILE_ALL_POWI(I1) TILE_ALL_POWI(I8) TILE_ALL_POWI(I16) TILE_ALL_POWI(I32)

#define TILE_ORDER(Name, E, ...) TILE_ROW((__VA_ARGS__), .op = Opcode::k##Name, .in = Elem::kI32, .out = Elem::k##E)
#define TILE_ALL_ORDER(Name)                                                    \
  TILE_ORDER(Name, F64, OfOrderF64<special::Name>)                              \
  TILE_ORDER(Name, F32, OfOrder<F32, special::Name>)                            \
  TILE_ORDER(Name, F16, OfOrder<F16, special::Name>) TILE_ORDER(Name, BF16, OfOrder<BF16, special::Name>)
    TILE_ALL_ORDER(Jn) TILE_ALL_ORDER(Yn)
};
// clang-format on

constexpr Opcode kWithKernels[] = {
    Opcode::kFpowi,
    Opcode::kJn,
    Opcode::kYn,
#define TILE_MATH1(Name, ...) Opcode::k##Name,
#define TILE_MATH1_FTZ TILE_MATH1
#define TILE_MATH2 TILE_MATH1
#include "vm/kernels/elementwise.def"
};
constexpr bool HasKernels(Opcode op) {
  for (Opcode with : kWithKernels) {
    if (with == op) return true;
  }
  return false;
}
#define TILE_OP(number, Name, mnemonic, Format, OpFamily, ...)                               \
  static_assert(ir::Family::k##OpFamily != ir::Family::kMath || HasKernels(Opcode::k##Name), \
                mnemonic " has no row in vm/kernels/elementwise.def");
#include "ir/ops.def"

}  // namespace

TILE_TABLE(kMathTable, kRows)

}  // namespace tile::vm::TILE_VM_ISA
