// Conversions between element types.
#include "vm/kernels/elementwise_loops.h"

namespace tile::vm::TILE_VM_ISA {
namespace {

using ir::Elem;
using ir::Opcode;

// --- by way of f32 --------------------------------------------------------------------------------------------------

using ToFloats = void (*)(const void*, float*, int64_t);
using FromFloats = void (*)(const float*, void*, int64_t);

TILE_VM_LOOP RunThroughF32(ToFloats to, int from_bytes, FromFloats from, int result_bytes, void* result,
                           const void* operand, int64_t n) {
  alignas(64) float buffer[kChunk];
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t m = n - i < kChunk ? n - i : kChunk;
    to(static_cast<const char*>(operand) + i * from_bytes, buffer, m);
    from(buffer, static_cast<char*>(result) + i * result_bytes, m);
  }
}
template <class From, class To, ToFloats kTo, FromFloats kFrom>
static void ThroughF32(void* result, const void* const* operands, int64_t n) {
  RunThroughF32(kTo, sizeof(From), kFrom, sizeof(To), result, operands[0], n);
}

template <class I, Sign kSign>
TILE_VM_LOOP WidenInt(const void* source, float* r, int64_t n) {
  const U<I>* a = static_cast<const U<I>*>(source);
  TILE_VM_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) r[i] = IToFloatOdd<I, kSign>(a[i]);
}
template <class I, Sign kSign>
TILE_VM_LOOP NarrowToInt(const float* a, void* result, int64_t n) {
  U<I>* r = static_cast<U<I>*>(result);
  TILE_VM_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) r[i] = FToI<float, I, kSign>(a[i]);
}

TILE_VM_LOOP NarrowToTruth(const float* a, void* result, int64_t n) {
  uint8_t* r = static_cast<uint8_t*>(result);
  TILE_VM_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) r[i] = IsNotZero(a[i]);
}

// --- kernels --------------------------------------------------------------------------------------------------------

template <class E>
constexpr bool kIsIeee = kSame<E, F16> || kSame<E, BF16> || kSame<E, TF32> || kSame<E, F32> || kSame<E, F64>;

TILE_VM_INLINE float Demote(double x) { return Canonical(static_cast<float>(x)); }
TILE_VM_INLINE double Promote(float x) { return Canonical(static_cast<double>(x)); }

template <class From, class To, FloatRounding kRounding>
consteval ElementwiseFn FToFKernel() {
  constexpr Overflow kOverflow = kIsIeee<To> ? kInfinity : kSaturate;
  if constexpr (kSame<From, F64> && kSame<To, F32>) {
    if constexpr (kRounding == kNearestEven) return Unary<float, double, Demote>;
    return Rounded<kRounding, Unary<float, double, Demote>>;
  } else if constexpr (kSame<From, F32> && kSame<To, F64>) {
    return Unary<double, float, Promote>;
  } else {
    return ThroughF32<typename From::Storage, typename To::Storage, Widen<From>, Narrow<To, kRounding, kOverflow>>;
  }
}

template <class From, class I, Sign kSign>
consteval ElementwiseFn FToIKernel() {
  if constexpr (kSame<From, F32> || kSame<From, F64>) {
    using T = typename From::Storage;
    return Unary<U<I>, T, FToI<T, I, kSign>>;
  } else {
    return ThroughF32<typename From::Storage, U<I>, Widen<From>, NarrowToInt<I, kSign>>;
  }
}

template <class From>
consteval ElementwiseFn TruthKernel() {
  if constexpr (kSame<From, F32> || kSame<From, F64>) {
    using T = typename From::Storage;
    return Unary<uint8_t, T, IsNotZero<T>>;
  } else {
    return ThroughF32<typename From::Storage, uint8_t, Widen<From>, NarrowToTruth>;
  }
}

template <class I, class To, Sign kSign>
consteval ElementwiseFn IToFKernel() {
  if constexpr (kSame<To, F32> || kSame<To, F64>) {
    using T = typename To::Storage;
    return Unary<T, U<I>, IToF<T, I, kSign>>;
  } else {
    return ThroughF32<U<I>, typename To::Storage, WidenInt<I, kSign>, Narrow<To, kNearestEven, kInfinity>>;
  }
}

template <int kBytes>
static void Copy(void* result, const void* const* operands, int64_t n) {
  if (n > 0) __builtin_memmove(result, operands[0], static_cast<uint64_t>(n) * kBytes);
}

// --- rows -----------------------------------------------------------------------------------------------------------

// clang-format off
#define TILE_C(op_name, From, To) .op = Opcode::op_name, .in = Elem::k##From, .out = Elem::k##To
#define TILE_SMALL_FLOATS(M, ...)                                                                                \
  M(F16, __VA_ARGS__) M(BF16, __VA_ARGS__) M(TF32, __VA_ARGS__) M(F8E4M3FN, __VA_ARGS__) M(F8E5M2, __VA_ARGS__)  \
  M(F8E5M3FNU, __VA_ARGS__) M(F4E2M1FN, __VA_ARGS__)
#define TILE_FLOATS(M, ...) \
  TILE_SMALL_FLOATS(M, __VA_ARGS__) M(F8E8M0FNU, __VA_ARGS__) M(F32, __VA_ARGS__) M(F64, __VA_ARGS__)

constexpr ElementwiseRow kRows[] = {
// Of each pair those roundings that ftof may have there, and of a type with itself the copy that nobody asks for.
#define TILE_FTOF(From, To, kHere, kThere) \
  TILE_ROW((FToFKernel<From, To, kHere>()), TILE_C(kFToF, From, To), .rounding = ir::Rounding::kThere)
    TILE_FLOATS(TILE_FTOF, F16, kNearestEven, kNearestEven) TILE_FLOATS(TILE_FTOF, F16, kTowardZero, kZero) TILE_FLOATS(
        TILE_FTOF, BF16, kNearestEven, kNearestEven) TILE_FLOATS(TILE_FTOF, BF16, kTowardZero,
                                                                 kZero) TILE_FLOATS(TILE_FTOF, TF32, kNearestEven,
                                                                                    kNearestEven)
        TILE_FLOATS(TILE_FTOF, TF32, kTowardZero, kZero) TILE_FTOF(F32, TF32, kNearestAway, kNearestAway) TILE_FLOATS(
            TILE_FTOF, F8E4M3FN, kNearestEven, kNearestEven) TILE_FLOATS(TILE_FTOF, F8E5M2, kNearestEven, kNearestEven)
            TILE_FLOATS(TILE_FTOF, F8E5M3FNU, kNearestEven, kNearestEven) TILE_FLOATS(
                TILE_FTOF, F4E2M1FN, kNearestEven, kNearestEven) TILE_FLOATS(TILE_FTOF, F8E8M0FNU, kTowardZero, kZero)
                TILE_FLOATS(TILE_FTOF, F8E8M0FNU, kPositiveInf, kPositiveInf)
                    TILE_FLOATS(TILE_FTOF, F32, kNearestEven, kNearestEven) TILE_FTOF(F64, F32, kTowardZero, kZero)
                        TILE_FTOF(F64, F32, kNegativeInf, kNegativeInf) TILE_FTOF(F64, F32, kPositiveInf, kPositiveInf)
                            TILE_FLOATS(TILE_FTOF, F64, kNearestEven, kNearestEven)

// To i1 only `saturating` truncates.
#define TILE_FTOI(From, I, kSign)                                                              \
  TILE_ROW((FToIKernel<From, I, kSign>()), TILE_C(kFToI, From, I), .saturating = kSame<I, I1>, \
           .signedness = ir::Signedness::kSign)
#define TILE_TRUTH(From, I) \
  TILE_ROW((TruthKernel<From>()), TILE_C(kFToI, From, I), .signedness = ir::Signedness::kUnsigned)
                                TILE_FLOATS(TILE_TRUTH, I1)
#define TILE_ITOF(To, I, kSign) \
  TILE_ROW((IToFKernel<I, To, kSign>()), TILE_C(kIToF, I, To), .signedness = ir::Signedness::kSign)
#define TILE_INT_FLOAT(I)                                                                                 \
  TILE_FLOATS(TILE_FTOI, I, kUnsigned) TILE_FLOATS(TILE_FTOI, I, kSigned)                                 \
  TILE_SMALL_FLOATS(TILE_ITOF, I, kUnsigned) TILE_SMALL_FLOATS(TILE_ITOF, I, kSigned)                     \
  TILE_ITOF(F32, I, kUnsigned) TILE_ITOF(F32, I, kSigned)                                                 \
  TILE_ITOF(F64, I, kUnsigned) TILE_ITOF(F64, I, kSigned)
                                    TILE_INT_FLOAT(I1) TILE_INT_FLOAT(I8) TILE_INT_FLOAT(I16) TILE_INT_FLOAT(I32)
                                        TILE_INT_FLOAT(I64)

#define TILE_EXTI(From, To, kSign)                                                  \
  TILE_ROW((Unary<U<To>, U<From>, Exti<From, To, kSign>>), TILE_C(kExti, From, To), \
           .signedness = ir::Signedness::kSign)
#define TILE_WIDTHS(From, To)                                         \
  TILE_EXTI(From, To, kUnsigned) TILE_EXTI(From, To, kSigned)         \
  TILE_ROW((Unary<U<From>, U<To>, Trunci<To, From>>), TILE_C(kTrunci, To, From))
                                            TILE_WIDTHS(I1, I4) TILE_WIDTHS(I1, I8) TILE_WIDTHS(I1, I16) TILE_WIDTHS(
                                                I1, I32) TILE_WIDTHS(I1, I64) TILE_WIDTHS(I4, I8) TILE_WIDTHS(I4, I16)
                                                TILE_WIDTHS(I4, I32) TILE_WIDTHS(I4, I64) TILE_WIDTHS(I8, I16)
                                                    TILE_WIDTHS(I8, I32) TILE_WIDTHS(I8, I64) TILE_WIDTHS(I16, I32)
                                                        TILE_WIDTHS(I16, I64) TILE_WIDTHS(I32, I64)

    // Stands for all that keeps the bits.
    TILE_ROW(Copy<1>, TILE_C(kBitcast, I8, I8)) TILE_ROW(Copy<2>, TILE_C(kBitcast, I16, I16))
        TILE_ROW(Copy<4>, TILE_C(kBitcast, I32, I32)) TILE_ROW(Copy<8>, TILE_C(kBitcast, I64, I64))};
// clang-format on

}  // namespace

TILE_TABLE(kConvertTable, kRows)

}  // namespace tile::vm::TILE_VM_ISA
