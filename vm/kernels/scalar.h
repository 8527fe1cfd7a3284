// What every elementwise operation does to one element. This is the definition: the vectorised kernels are loops over
// these functions, and interpreters of single elements (atomics, reductions) call them too. A function is named as its
// operation in ir/ops.def and reads like its row in the reference of operations; conversions are in
// scalar_convert.h.
//
// Integers: a function takes the type as Int<bits> (I1, I4, I8, …) and works on its unsigned bits U<I>; bits above the
// type's are zero. Where the program says nothing (division by zero, overflow) the VM's result is given here.
//
//   Addi<I8>(200, 100);             // 44
//   Divi<I32, Signed, kToZero>(…)
//
// Floats: T is float or double. f16 and bf16 are computed as float and rounded again, which for one of these operations
// gives what rounding once would (fma has FmaOdd for it). A result that is NaN is the positive quiet NaN without
// payload, so that results are equal on all machines; only absf and negf keep a NaN's bits.
//
// Everything lives in the namespace of the instruction set (kernels/isa.h), is inlined, and has no branch where a
// vectoriser would mind one. Pure, thread-safe; rounds to nearest even, or as fesetround() says.
#ifndef TILE_VM_KERNELS_SCALAR_H_
#define TILE_VM_KERNELS_SCALAR_H_

#include <cstdint>

#include "vm/kernels/isa.h"

namespace tile::vm::TILE_VM_ISA {

// --- integers -------------------------------------------------------------------------------------------------------

template <int kBits>
struct IntStorage;
template <>
struct IntStorage<8> {
  using U = uint8_t;
  using S = int8_t;
  using Wide = uint32_t;  // Arithmetic type, free of C's promotion to int.
};
template <>
struct IntStorage<16> {
  using U = uint16_t;
  using S = int16_t;
  using Wide = uint32_t;
};
template <>
struct IntStorage<32> {
  using U = uint32_t;
  using S = int32_t;
  using Wide = uint32_t;
};
template <>
struct IntStorage<64> {
  using U = uint64_t;
  using S = int64_t;
  using Wide = uint64_t;
};
template <int kBitsOfType>
struct Int : IntStorage<(kBitsOfType < 8 ? 8 : kBitsOfType)> {
  static constexpr int kBits = kBitsOfType;
};
using I1 = Int<1>;
using I4 = Int<4>;
using I8 = Int<8>;
using I16 = Int<16>;
using I32 = Int<32>;
using I64 = Int<64>;

template <class I>
using U = typename I::U;
template <class I>
using S = typename I::S;
template <class I>
using Wide = typename I::Wide;

enum Sign { kUnsigned, kSigned };
enum DivRounding { kToZero, kDown, kUp };
enum Predicate { kEq, kNe, kLt, kLe, kGt, kGe };  // numbered as ir::ComparisonPredicate

// The low bits.
template <class I>
TILE_VM_INLINE U<I> Wrap(Wide<I> x) {
  if constexpr (I::kBits < 8) x &= (Wide<I>{1} << I::kBits) - 1;
  return static_cast<U<I>>(x);
}

template <class I>
TILE_VM_INLINE S<I> AsSigned(U<I> a) {
  if constexpr (I::kBits < 8) {
    constexpr int kUnused = 8 - I::kBits;
    return static_cast<S<I>>(static_cast<S<I>>(static_cast<U<I>>(a << kUnused)) >> kUnused);
  }
  return static_cast<S<I>>(a);
}

template <class I>
constexpr S<I> kMin = static_cast<S<I>>(~uint64_t{0} << (I::kBits - 1));

template <class I>
TILE_VM_INLINE U<I> Absi(U<I> a) {
  return Wrap<I>(AsSigned<I>(a) < 0 ? 0 - Wide<I>{a} : Wide<I>{a});
}
template <class I>
TILE_VM_INLINE U<I> Negi(U<I> a) {
  return Wrap<I>(0 - Wide<I>{a});
}
template <class I>
TILE_VM_INLINE U<I> Addi(U<I> a, U<I> b) {
  return Wrap<I>(Wide<I>{a} + Wide<I>{b});
}
template <class I>
TILE_VM_INLINE U<I> Subi(U<I> a, U<I> b) {
  return Wrap<I>(Wide<I>{a} - Wide<I>{b});
}
template <class I>
TILE_VM_INLINE U<I> Muli(U<I> a, U<I> b) {
  return Wrap<I>(Wide<I>{a} * Wide<I>{b});
}
// High bits of the unsigned product.
template <class I>
TILE_VM_INLINE U<I> Mulhii(U<I> a, U<I> b) {
  if constexpr (I::kBits == 64) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
  } else {
    return static_cast<U<I>>(uint64_t{a} * b >> I::kBits);
  }
}
template <class I>
TILE_VM_INLINE U<I> Andi(U<I> a, U<I> b) {
  return a & b;
}
template <class I>
TILE_VM_INLINE U<I> Ori(U<I> a, U<I> b) {
  return a | b;
}
template <class I>
TILE_VM_INLINE U<I> Xori(U<I> a, U<I> b) {
  return a ^ b;
}
template <class I>
TILE_VM_INLINE U<I> Shli(U<I> a, U<I> s) {
  return s < I::kBits ? Wrap<I>(Wide<I>{a} << (s & (I::kBits - 1))) : U<I>{0};
}
template <class I, Sign kSign>
TILE_VM_INLINE U<I> Shri(U<I> a, U<I> s) {
  if constexpr (kSign == kSigned) {
    return Wrap<I>(static_cast<Wide<I>>(AsSigned<I>(a) >> (s < I::kBits ? s : I::kBits - 1)));
  }
  return s < I::kBits ? static_cast<U<I>>(a >> (s & (I::kBits - 1))) : U<I>{0};
}
template <class I, Sign kSign>
TILE_VM_INLINE U<I> Maxi(U<I> a, U<I> b) {
  if constexpr (kSign == kSigned) return AsSigned<I>(a) > AsSigned<I>(b) ? a : b;
  return a > b ? a : b;
}
template <class I, Sign kSign>
TILE_VM_INLINE U<I> Mini(U<I> a, U<I> b) {
  if constexpr (kSign == kSigned) return AsSigned<I>(a) < AsSigned<I>(b) ? a : b;
  return a < b ? a : b;
}
// x / 0 is 0, minimum / -1 is the minimum.
template <class I, Sign kSign, DivRounding kRounding>
TILE_VM_INLINE U<I> Divi(U<I> a, U<I> b) {
  if constexpr (kSign == kSigned) {
    const S<I> x = AsSigned<I>(a), y = AsSigned<I>(b);
    const S<I> divisor = y == 0 || (x == kMin<I> && y == -1) ? S<I>{1} : y;
    S<I> q = static_cast<S<I>>(x / divisor);
    const S<I> r = static_cast<S<I>>(x % divisor);
    if (kRounding == kDown) q = static_cast<S<I>>(q - (r != 0 && (r < 0) != (divisor < 0)));
    if (kRounding == kUp) q = static_cast<S<I>>(q + (r != 0 && (r < 0) == (divisor < 0)));
    return y == 0 ? U<I>{0} : Wrap<I>(static_cast<Wide<I>>(q));
  }
  const U<I> divisor = b == 0 ? U<I>{1} : b;
  const U<I> q = static_cast<U<I>>(a / divisor + (kRounding == kUp && a % divisor != 0));
  return b == 0 ? U<I>{0} : q;
}
// x % 0 and minimum % -1 are 0.
template <class I, Sign kSign>
TILE_VM_INLINE U<I> Remi(U<I> a, U<I> b) {
  if constexpr (kSign == kSigned) {
    const S<I> x = AsSigned<I>(a), y = AsSigned<I>(b);
    return Wrap<I>(static_cast<Wide<I>>(x % (y == 0 || y == -1 ? S<I>{1} : y)));
  }
  return static_cast<U<I>>(a % (b == 0 ? U<I>{1} : b));
}
template <class T, Predicate kPredicate>
TILE_VM_INLINE bool Compare(T a, T b) {
  if constexpr (kPredicate == kEq) return a == b;
  if constexpr (kPredicate == kNe) return a != b;
  if constexpr (kPredicate == kLt) return a < b;
  if constexpr (kPredicate == kLe) return a <= b;
  if constexpr (kPredicate == kGt) return a > b;
  return a >= b;
}
template <class I, Sign kSign, Predicate kPredicate>
TILE_VM_INLINE U<I1> Cmpi(U<I> a, U<I> b) {
  if constexpr (kSign == kSigned) return Compare<S<I>, kPredicate>(AsSigned<I>(a), AsSigned<I>(b));
  return Compare<U<I>, kPredicate>(a, b);
}
template <class From, class To, Sign kSign>
TILE_VM_INLINE U<To> Exti(U<From> a) {
  if constexpr (kSign == kSigned) return Wrap<To>(static_cast<Wide<To>>(AsSigned<From>(a)));
  return a;
}
template <class From, class To>
TILE_VM_INLINE U<To> Trunci(U<From> a) {
  return Wrap<To>(static_cast<Wide<To>>(a));
}
// Pointer plus a signed number of pointees.
template <class I, int kPointeeBytes>
TILE_VM_INLINE uint64_t Offset(uint64_t pointer, U<I> count) {
  return pointer + static_cast<uint64_t>(int64_t{AsSigned<I>(count)}) * kPointeeBytes;
}
template <class T>
TILE_VM_INLINE T Select(uint8_t condition, T a, T b) {
  return condition != 0 ? a : b;
}

// --- floats ---------------------------------------------------------------------------------------------------------

template <class T>
struct FloatBits;
template <>
struct FloatBits<float> {
  using U = uint32_t;
  static constexpr U kSign = U{1} << 31;
  static constexpr U kNan = 0x7FC00000;
};
template <>
struct FloatBits<double> {
  using U = uint64_t;
  static constexpr U kSign = U{1} << 63;
  static constexpr U kNan = uint64_t{0x7FF8} << 48;
};
template <class T>
using BitsOf = typename FloatBits<T>::U;

template <class T>
TILE_VM_INLINE BitsOf<T> ToBits(T x) {
  return __builtin_bit_cast(BitsOf<T>, x);
}
template <class T>
TILE_VM_INLINE T FromBits(BitsOf<T> bits) {
  return __builtin_bit_cast(T, bits);
}
template <class T>
TILE_VM_INLINE T Nan() {
  return FromBits<T>(FloatBits<T>::kNan);
}
template <class T>
TILE_VM_INLINE T Canonical(T x) {
  return x == x ? x : Nan<T>();
}
// Subnormals as zeros of the same sign.
TILE_VM_INLINE float Flush(float x) {
  return __builtin_fabsf(x) < 0x1p-126f ? FromBits<float>(ToBits(x) & FloatBits<float>::kSign) : x;
}

template <class T>
TILE_VM_INLINE T Absf(T a) {
  return FromBits<T>(ToBits(a) & ~FloatBits<T>::kSign);
}
template <class T>
TILE_VM_INLINE T Negf(T a) {
  return FromBits<T>(ToBits(a) ^ FloatBits<T>::kSign);
}
// The same on 16-bit floats.
TILE_VM_INLINE uint16_t Absf16(uint16_t a) { return a & 0x7FFF; }
TILE_VM_INLINE uint16_t Negf16(uint16_t a) { return a ^ 0x8000; }

template <class T>
TILE_VM_INLINE T Addf(T a, T b) {
  return Canonical(a + b);
}
template <class T>
TILE_VM_INLINE T Subf(T a, T b) {
  return Canonical(a - b);
}
template <class T>
TILE_VM_INLINE T Mulf(T a, T b) {
  return Canonical(a * b);
}
template <class T>
TILE_VM_INLINE T Divf(T a, T b) {
  return Canonical(a / b);
}
// The hardware's a * (1 / b), whose reciprocal vanishes for large b; elsewhere as good as it gets.
template <class T>
TILE_VM_INLINE T DivfApprox(T a, T b) {
  return Canonical(__builtin_fabsf(b) > 0x1p126f ? a * __builtin_copysignf(0.0f, b) : a / b);
}

// a + b in double with the sum's last bit set if it is not exact ("round to odd"): rounding it once more to at most 51
// bits gives what rounding the exact sum would. a and b finite or not, |sum| far from overflow.
TILE_VM_INLINE double AddOdd(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);  // exact
  const uint64_t bits = ToBits(sum);
  // If the error points toward zero, the truncated sum is one below.
  const uint64_t truncated = bits - ((ToBits(error) ^ bits) >> 63);
  return error != 0 && error == error ? FromBits<double>(truncated | 1) : sum;
}
// x as float, rounded to odd; an overflow gives the largest finite one.
TILE_VM_INLINE float ToFloatOdd(double x) {
  const float f = static_cast<float>(x);
  const double back = f;
  const uint32_t bits = ToBits(f);
  const uint32_t truncated = bits - (__builtin_fabs(back) > __builtin_fabs(x) ? 1 : 0);
  return back == x || x != x ? f : FromBits<float>(truncated | 1);
}
// a * b + c for f16 and bf16 elements, to be rounded to these: exact product, sum rounded to odd.
TILE_VM_INLINE float FmaOdd(float a, float b, float c) { return ToFloatOdd(AddOdd(static_cast<double>(a) * b, c)); }
// One rounding.
template <class T>
TILE_VM_INLINE T Fma(T a, T b, T c) {
  if constexpr (sizeof(T) == 8) return Canonical<T>(__builtin_fma(a, b, c));
#if defined(__FMA__) || !defined(__x86_64__)
  return Canonical<T>(__builtin_fmaf(a, b, c));
#else  // Faster than the library's. Rounds to nearest only.
  return Canonical<T>(static_cast<T>(AddOdd(static_cast<double>(a) * b, c)));
#endif
}
// One rounding, to nearest or as fesetround() says.
template <class T>
TILE_VM_INLINE T FmaAnyRounding(T a, T b, T c) {
  if constexpr (sizeof(T) == 8) return Canonical<T>(__builtin_fma(a, b, c));
  return Canonical<T>(__builtin_fmaf(a, b, c));
}
// Exact, sign of a.
template <class T>
TILE_VM_INLINE T Remf(T a, T b) {
  if constexpr (sizeof(T) == 8) return Canonical<T>(__builtin_fmod(a, b));
  return Canonical<T>(__builtin_fmodf(a, b));
}
template <class T>
TILE_VM_INLINE T Sqrt(T a) {
  if constexpr (sizeof(T) == 8) return Canonical<T>(__builtin_sqrt(a));
  return Canonical<T>(__builtin_sqrtf(a));
}
template <class T>
TILE_VM_INLINE T Ceil(T a) {
  if constexpr (sizeof(T) == 8) return Canonical<T>(__builtin_ceil(a));
  return Canonical<T>(__builtin_ceilf(a));
}
template <class T>
TILE_VM_INLINE T Floor(T a) {
  if constexpr (sizeof(T) == 8) return Canonical<T>(__builtin_floor(a));
  return Canonical<T>(__builtin_floorf(a));
}

// +0 is larger than -0. A NaN loses, or wins if kPropagateNan.
template <class T, bool kPropagateNan>
TILE_VM_INLINE T Maxf(T a, T b) {
  T result = a > b ? a : b;  // b if one is NaN
  result = a == b ? FromBits<T>(ToBits(a) & ToBits(b)) : result;
  if constexpr (kPropagateNan) return a == a && b == b ? result : Nan<T>();
  return Canonical(b == b ? result : a);
}
template <class T, bool kPropagateNan>
TILE_VM_INLINE T Minf(T a, T b) {
  T result = a < b ? a : b;
  result = a == b ? FromBits<T>(ToBits(a) | ToBits(b)) : result;
  if constexpr (kPropagateNan) return a == a && b == b ? result : Nan<T>();
  return Canonical(b == b ? result : a);
}
// With a NaN: kOrdered false, else true.
template <class T, bool kOrdered, Predicate kPredicate>
TILE_VM_INLINE U<I1> Cmpf(T a, T b) {
  const bool ordered = a == a && b == b;
  return kOrdered ? Compare<T, kPredicate>(a, b) & ordered : Compare<T, kPredicate>(a, b) | !ordered;
}

}  // namespace tile::vm::TILE_VM_ISA

#endif  // TILE_VM_KERNELS_SCALAR_H_
