// Conversions of one element: between float types, and between floats and integers (semantics 4). The same values
// as ir/float.h, in a form that vectorises.
//
// All floats but f64 are exact in float, so that is the hub: Decode<E>(storage) gives a float, Encode<E, …>(float)
// rounds to nearest even or as told. A value that does not fit a float is converted with rounding to odd (ToFloatOdd), so that
// the result is rounded once. E is one of the tags below; E::Storage its bits in a tile.
//
//   Encode<F16, kNearestEven, kInfinity>(Decode<F8E5M2>(0x3C));   // 0x3C00
#ifndef TILE_VM_KERNELS_SCALAR_CONVERT_H_
#define TILE_VM_KERNELS_SCALAR_CONVERT_H_

#include <cstdint>

#include "vm/kernels/scalar.h"

namespace tile::vm::TILE_VM_ISA {

enum FloatRounding { kNearestEven, kTowardZero, kNegativeInf, kPositiveInf, kNearestAway };
// What a finite value out of range becomes: with kInfinity, NaN if there is no infinity, the largest value if neither.
enum Overflow { kSaturate, kInfinity };

template <class StorageType, int kExponent, int kMantissa, int kBiasOfType, bool kSign, bool kInf, bool kNan,
          int kLow = 0>
struct Small {
  using Storage = StorageType;
  static constexpr int kMantissaBits = kMantissa;
  static constexpr int kBias = kBiasOfType;
  static constexpr bool kHasSign = kSign;
  static constexpr bool kHasInfinity = kInf;
  static constexpr bool kHasNan = kNan;
  static constexpr int kUnused = kLow;  // zero bits below the mantissa
  static constexpr int kSignShift = kExponent + kMantissa;
  static constexpr uint32_t kMask = (uint32_t{1} << kSignShift) - 1;
  static constexpr uint32_t kInfinityCode = kMask >> kMantissa << kMantissa;
  static constexpr uint32_t kLargest = kInf ? kInfinityCode - 1 : kMask - (kNan ? 1 : 0);
  static constexpr uint32_t kNanCode = kInf ? kInfinityCode | 1u << (kMantissa - 1) : kMask;
};
using F16 = Small<uint16_t, 5, 10, 15, true, true, true>;
using BF16 = Small<uint16_t, 8, 7, 127, true, true, true>;
using TF32 = Small<uint32_t, 8, 10, 127, true, true, true, 13>;
using F8E4M3FN = Small<uint8_t, 4, 3, 7, true, false, true>;
using F8E5M2 = Small<uint8_t, 5, 2, 15, true, true, true>;
using F8E5M3FNU = Small<uint8_t, 5, 3, 15, false, false, true>;
using F4E2M1FN = Small<uint8_t, 2, 1, 1, true, false, false>;
struct F8E8M0FNU {
  using Storage = uint8_t;
};
struct F32 {
  using Storage = float;
};
struct F64 {
  using Storage = double;
};

// --- to float -------------------------------------------------------------------------------------------------------

template <class E>
TILE_VM_INLINE float DecodeSmall(uint32_t bits) {
  bits >>= E::kUnused;
  const uint32_t magnitude = bits & E::kMask;
  const uint32_t sign = E::kHasSign ? bits >> E::kSignShift << 31 : 0;
  // The mantissa in place and the exponent corrected by an exact product, which also normalises subnormals.
  constexpr float kScale = __builtin_bit_cast(float, uint32_t(127 + 127 - E::kBias) << 23);
  float value = FromBits<float>(magnitude << (23 - E::kMantissaBits));
  if constexpr (E::kBias != 127) value *= kScale;
  if constexpr (E::kHasInfinity) value = magnitude == E::kInfinityCode ? __builtin_inff() : value;
  value = FromBits<float>(ToBits(value) | sign);
  constexpr uint32_t kLastNumber = E::kHasInfinity ? E::kInfinityCode : E::kLargest;
  return E::kHasNan && magnitude > kLastNumber ? Nan<float>() : value;
}

template <class E>
TILE_VM_INLINE float Decode(typename E::Storage bits) {
  return DecodeSmall<E>(bits);
}
template <>
TILE_VM_INLINE float Decode<BF16>(uint16_t bits) {  // the upper half of a float
  return Canonical(FromBits<float>(uint32_t{bits} << 16));
}
template <>
TILE_VM_INLINE float Decode<F4E2M1FN>(uint8_t bits) {
  return DecodeSmall<F4E2M1FN>(bits & 0xF);
}
template <>
TILE_VM_INLINE float Decode<F8E8M0FNU>(uint8_t bits) {
  const float value = FromBits<float>(bits == 0 ? uint32_t{1} << 22 : uint32_t{bits} << 23);
  return bits == 0xFF ? Nan<float>() : value;
}
template <>
TILE_VM_INLINE float Decode<F32>(float value) {
  return value;
}
template <>
TILE_VM_INLINE float Decode<F64>(double value) {
  return ToFloatOdd(value);
}

// --- from float -----------------------------------------------------------------------------------------------------

// 1 if code (with `rest` of 2 * `half` below it) is to be raised.
template <FloatRounding kRounding>
TILE_VM_INLINE uint32_t RoundsUp(uint32_t code, uint32_t rest, uint32_t half, bool negative) {
  if constexpr (kRounding == kNearestEven) return rest + (code & 1) > half ? 1 : 0;
  if constexpr (kRounding == kNearestAway) return rest >= half ? 1 : 0;
  if constexpr (kRounding == kNegativeInf) return negative & (rest != 0) ? 1 : 0;
  if constexpr (kRounding == kPositiveInf) return !negative & (rest != 0) ? 1 : 0;
  return 0;
}

template <class E, FloatRounding kRounding, Overflow kOverflow>
TILE_VM_INLINE typename E::Storage EncodeSmall(float x) {
  const uint32_t bits = ToBits(x);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  const bool negative = bits >> 31;
  // Exponents as float stores them; below kSmallestNormal the type's mantissa loses a bit per step.
  constexpr int kSmallestNormal = 128 - E::kBias;
  const int field = static_cast<int>(magnitude >> 23);
  const int exponent = field > 0 ? field : 1;
  const uint32_t significand = (magnitude & 0x7FFFFF) | (field > 0 ? 0x800000 : 0);
  const int lost = kSmallestNormal - exponent;
  int drop = 23 - E::kMantissaBits + (lost > 0 ? lost : 0);
  drop = drop < 26 ? drop : 26;  // 25 bits and more leave nothing, not even a half
  const uint32_t kept = significand >> drop;
  const uint32_t rest = significand & ((uint32_t{1} << drop) - 1);
  const int above = exponent - kSmallestNormal;
  uint32_t code = (static_cast<uint32_t>(above > 0 ? above : 0) << E::kMantissaBits) + kept;
  code += RoundsUp<kRounding>(code, rest, uint32_t{1} << (drop - 1), negative);

  uint32_t overflow = E::kLargest;
  if constexpr (kOverflow == kInfinity) {
    if constexpr (E::kHasInfinity) {
      if constexpr (kRounding == kNearestEven || kRounding == kNearestAway) overflow = E::kInfinityCode;
      if constexpr (kRounding == kNegativeInf) overflow = negative ? E::kInfinityCode : E::kLargest;
      if constexpr (kRounding == kPositiveInf) overflow = negative ? E::kLargest : E::kInfinityCode;
    } else if constexpr (E::kHasNan) {
      overflow = E::kNanCode;
    }
  }
  code = code > E::kLargest ? overflow : code;
  constexpr uint32_t kFromInfinity = E::kHasInfinity ? E::kInfinityCode : E::kHasNan ? E::kNanCode : E::kLargest;
  code = magnitude == 0x7F800000 ? kFromInfinity : code;
  // NaN has no sign; nor has what an infinity becomes where it is NaN.
  bool nan = magnitude > 0x7F800000;
  if constexpr (E::kHasNan && !E::kHasInfinity) nan = nan | (code == E::kNanCode);
  if constexpr (!E::kHasSign) nan = nan | (negative & (magnitude != 0));
  if constexpr (E::kHasSign) code |= static_cast<uint32_t>(negative) << E::kSignShift;
  return static_cast<typename E::Storage>((nan ? E::kNanCode : code) << E::kUnused);
}

template <class E, FloatRounding kRounding, Overflow kOverflow>
struct Encoder {
  TILE_VM_INLINE static typename E::Storage Do(float x) { return EncodeSmall<E, kRounding, kOverflow>(x); }
};
// The usual bf16 in few steps: adding half of the last place, less one if even, carries where it should.
template <Overflow kOverflow>
struct Encoder<BF16, kNearestEven, kOverflow> {
  TILE_VM_INLINE static uint16_t Do(float x) {
    const uint32_t bits = ToBits(x);
    return x == x ? static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) : uint16_t{BF16::kNanCode};
  }
};
template <FloatRounding kRounding, Overflow kOverflow>
struct Encoder<F8E8M0FNU, kRounding, kOverflow> {
  static_assert(kRounding == kTowardZero || kRounding == kPositiveInf);
  TILE_VM_INLINE static uint8_t Do(float x) {
    const uint32_t bits = ToBits(x);
    uint32_t code = bits >> 23;
    // 2^-127 is subnormal as a float, and also what everything below becomes.
    const uint32_t exact = code == 0 ? uint32_t{1} << 22 : bits & 0xFF800000;
    code += kRounding == kPositiveInf && bits > exact ? 1 : 0;
    code = code > 0xFE ? 0xFE : code;
    const bool negative = x < 0;
    return static_cast<uint8_t>(negative | ((bits & 0x7F800000) == 0x7F800000) ? 0xFF : x == 0 ? 0 : code);
  }
};
template <FloatRounding kRounding, Overflow kOverflow>
struct Encoder<F32, kRounding, kOverflow> {
  TILE_VM_INLINE static float Do(float x) { return Canonical(x); }
};
template <FloatRounding kRounding, Overflow kOverflow>
struct Encoder<F64, kRounding, kOverflow> {
  TILE_VM_INLINE static double Do(float x) { return Canonical(static_cast<double>(x)); }
};
template <class E, FloatRounding kRounding, Overflow kOverflow>
TILE_VM_INLINE typename E::Storage Encode(float x) {
  return Encoder<E, kRounding, kOverflow>::Do(x);
}

// --- integers -------------------------------------------------------------------------------------------------------

// Truncates; out of range gives the nearest bound, NaN 0.
template <class T, class I, Sign kSign>
TILE_VM_INLINE U<I> FToI(T x) {
  // kAbove is the power of two above the largest value, exact in T.
  constexpr int kValueBits = I::kBits - (kSign == kSigned ? 1 : 0);
  constexpr U<I> kLargest = static_cast<U<I>>(kValueBits == 64 ? ~uint64_t{0} : (uint64_t{1} << kValueBits % 64) - 1);
  constexpr T kAbove = static_cast<T>(kLargest / 2 + 1) * (kLargest == 0 ? 1 : 2);
  if constexpr (kSign == kSigned) {
    constexpr U<I> kSmallest = static_cast<U<I>>(uint64_t{1} << (I::kBits - 1));
    const bool inside = x > -kAbove && x < kAbove;
    const U<I> bound = x > 0 ? kLargest : x < 0 ? kSmallest : U<I>{0};
    using Via = __typeof__(I::kBits == 64 ? int64_t{} : int32_t{});
    return inside ? Wrap<I>(static_cast<Wide<I>>(static_cast<Via>(inside ? x : T{0}))) : bound;
  }
  const bool inside = x > 0 && x < kAbove;
  const U<I> bound = x > 0 ? kLargest : U<I>{0};
  return inside ? Wrap<I>(static_cast<Wide<I>>(inside ? x : T{0})) : bound;
}

// To i1: anything but zero, NaN too.
template <class T>
TILE_VM_INLINE uint8_t IsNotZero(T x) {
  return x != 0 ? 1 : 0;
}

// The nearest float or double.
template <class T, class I, Sign kSign>
TILE_VM_INLINE T IToF(U<I> a) {
  if constexpr (kSign == kSigned) return static_cast<T>(AsSigned<I>(a));
  return static_cast<T>(a);
}
// The integer as a float rounded to odd, on the way to a smaller type.
template <class I, Sign kSign>
TILE_VM_INLINE float IToFloatOdd(U<I> a) {
  if constexpr (I::kBits <= 16) return IToF<float, I, kSign>(a);
  if constexpr (I::kBits == 32) return ToFloatOdd(IToF<double, I, kSign>(a));
  const bool negative = kSign == kSigned && static_cast<int64_t>(a) < 0;
  const uint64_t magnitude = negative ? 0 - uint64_t{a} : uint64_t{a};
  // At most 53 bits, exact in double; those that don't fit are or-ed into the last.
  const uint64_t sticky = (magnitude & ~uint64_t{0x7FF}) | (((magnitude & 0x7FF) + 0x7FF) & 0x800);
  const float f = ToFloatOdd(static_cast<double>(magnitude >> 53 == 0 ? magnitude : sticky));
  return negative ? -f : f;
}

}  // namespace tile::vm::TILE_VM_ISA

#endif  // TILE_VM_KERNELS_SCALAR_CONVERT_H_
