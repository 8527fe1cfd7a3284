// Conversions against ir/float.h (which has its own exhaustive test) and 128-bit integers.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "vm/kernels/elementwise_testing.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Opcode;
using ir::Rounding;
using ir::Signedness;

constexpr Elem kInts[] = {Elem::kI1, Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI64};
constexpr Elem kFloats[] = {Elem::kF16,      Elem::kBF16,   Elem::kTF32,      Elem::kF32,       Elem::kF64,
                            Elem::kF8E4M3FN, Elem::kF8E5M2, Elem::kF8E8M0FNU, Elem::kF8E5M3FNU, Elem::kF4E2M1FN};
constexpr Signedness kSigns[] = {Signedness::kUnsigned, Signedness::kSigned};

ElementwiseKey Key(Opcode op, Elem in, Elem out) {
  ElementwiseKey key;
  key.op = op;
  key.in = in;
  key.out = out;
  return key;
}

// Values of `from`, with those around the borders and middles of `to`, rounded each way.
Bits ValuesFor(Elem from, Elem to) {
  Bits values = EdgeValues(from, 300);
  if (ir::ElemInfoOf(from).bits <= 8) return values;
  const Bits targets = EdgeValues(to, 10);
  for (uint64_t t : targets) {
    const double v = ir::ToDouble(to, t);
    const double next = ir::ToDouble(to, t + (uint64_t{1} << ir::FloatFormatOf(to).unused));
    for (double x : {v, (v + next) / 2, v + (next - v) * 0.501, v + (next - v) * 0.499}) {
      for (Rounding r : {Rounding::kZero, Rounding::kNegativeInf, Rounding::kPositiveInf}) {
        values.push_back(ir::FromDouble(from, x, r));
      }
    }
  }
  return values;
}

// The roundings that the reference allows for a conversion that is not exact.
std::vector<Rounding> RoundingsOf(Elem from, Elem to) {
  switch (to) {
    case Elem::kF8E8M0FNU: return {Rounding::kZero, Rounding::kPositiveInf};
    case Elem::kF8E4M3FN:
    case Elem::kF8E5M2:
    case Elem::kF8E5M3FNU:
    case Elem::kF4E2M1FN: return {Rounding::kNearestEven};
    case Elem::kF32:
      if (from == Elem::kF64) {
        return {Rounding::kNearestEven, Rounding::kZero, Rounding::kNegativeInf, Rounding::kPositiveInf};
      }
      break;
    case Elem::kTF32:
      if (from == Elem::kF32) return {Rounding::kNearestEven, Rounding::kZero, Rounding::kNearestAway};
      break;
    default: break;
  }
  return {Rounding::kNearestEven, Rounding::kZero};
}

TEST(Convert, FToF) {
  for (Elem from : kFloats) {
    for (Elem to : kFloats) {
      if (from == to) {
        EXPECT_EQ(FindElementwise(Key(Opcode::kFToF, from, to)), nullptr);
        continue;
      }
      for (Rounding r : RoundingsOf(from, to)) {
        ElementwiseKey key = Key(Opcode::kFToF, from, to);
        key.rounding = r;
        Check(key, {ValuesFor(from, to)},
              [&](const uint64_t* x) { return ir::FromDouble(to, ir::ToDouble(from, x[0]), r); });
      }
    }
  }
}

TEST(Convert, ExactFToFTakesAnyRounding) {
  const std::pair<Elem, Elem> exact[] = {
      {Elem::kF16, Elem::kF32},      {Elem::kF16, Elem::kTF32},     {Elem::kBF16, Elem::kTF32},
      {Elem::kBF16, Elem::kF64},     {Elem::kF32, Elem::kF64},      {Elem::kTF32, Elem::kF32},
      {Elem::kF8E4M3FN, Elem::kF16}, {Elem::kF8E5M2, Elem::kBF16},  {Elem::kF8E8M0FNU, Elem::kBF16},
      {Elem::kF4E2M1FN, Elem::kF16}, {Elem::kF8E5M3FNU, Elem::kF32}};
  for (auto [from, to] : exact) {
    for (Rounding r : {Rounding::kNearestEven, Rounding::kZero, Rounding::kNegativeInf, Rounding::kPositiveInf,
                       Rounding::kNearestAway}) {
      ElementwiseKey key = Key(Opcode::kFToF, from, to);
      key.rounding = r;
      EXPECT_NE(FindElementwise(key), nullptr) << ir::ElemInfoOf(from).spelling << " " << ir::ElemInfoOf(to).spelling;
    }
  }
  // f8E8M0FNU reaches below f16, f8E5M3FNU above.
  ElementwiseKey key = Key(Opcode::kFToF, Elem::kF8E8M0FNU, Elem::kF16);
  key.rounding = Rounding::kNearestAway;
  EXPECT_EQ(FindElementwise(key), nullptr);
  key.in = Elem::kF8E5M3FNU;
  EXPECT_EQ(FindElementwise(key), nullptr);
}

TEST(Convert, FToI) {
  for (Elem from : kFloats) {
    for (Elem to : kInts) {
      for (Signedness s : kSigns) {
        const int bits = ir::ElemInfoOf(to).bits;
        const __int128 one = 1;
        const __int128 lowest = s == Signedness::kSigned ? -(one << (bits - 1)) : 0;
        const __int128 highest = (one << (s == Signedness::kSigned ? bits - 1 : bits)) - 1;
        Bits values = EdgeValues(from, 300);
        if (ir::ElemInfoOf(from).bits > 8) {
          for (double base : {static_cast<double>(lowest), static_cast<double>(highest), 0.0, -1.0, 1.0}) {
            for (double d : {-1.0, -0.5, 0.0, 0.5, 0.9, 1.0}) {
              for (Rounding r : {Rounding::kZero, Rounding::kPositiveInf, Rounding::kNegativeInf}) {
                values.push_back(ir::FromDouble(from, base + d, r));
              }
            }
          }
        }
        for (bool saturating : {false, true}) {
          ElementwiseKey key = Key(Opcode::kFToI, from, to);
          key.signedness = s;
          key.saturating = saturating;
          key.rounding = Rounding::kNearestIntToZero;
          Check(key, {values}, [&](const uint64_t* x) -> uint64_t {
            if (to == Elem::kI1 && !saturating) return ir::ToDouble(from, x[0]) != 0 ? 1 : 0;
            const double v = std::trunc(ir::ToDouble(from, x[0]));
            if (std::isnan(v)) return 0;
            const __int128 integer = static_cast<__int128>(std::max(-0x1p100, std::min(v, 0x1p100)));
            const __int128 clamped = integer < lowest ? lowest : integer > highest ? highest : integer;
            return static_cast<uint64_t>(clamped) & MaskOf(to);
          });
        }
      }
    }
  }
}

// Overflow of itof: infinity, else NaN, else the largest value. From the types' definitions.
uint64_t SmallFromInt(Elem to, double v) {
  const double magnitude = std::fabs(v);
  switch (to) {
    case Elem::kF8E4M3FN: return magnitude > 464 ? 0x7F : ir::FromDouble(to, v);
    case Elem::kF8E5M2: return magnitude >= 61440 ? (v < 0 ? 0xFC : 0x7C) : ir::FromDouble(to, v);
    case Elem::kF8E5M3FNU: return v < 0 || v > 118784 ? 0xFF : ir::FromDouble(to, v);
    default: return magnitude > 6 ? (v < 0 ? 0xF : 0x7) : ir::FromDouble(to, v);
  }
}

TEST(Convert, IToF) {
  for (Elem from : kInts) {
    for (Elem to : kFloats) {
      if (to == Elem::kF8E8M0FNU) {
        EXPECT_EQ(FindElementwise(Key(Opcode::kIToF, from, to)), nullptr);
        continue;
      }
      Bits values = EdgeValues(from, 3000);
      // Halfway between neighbours of each precision, and one off.
      for (int precision : {3, 4, 8, 11, 24, 53}) {
        for (int top = precision; top < 64; ++top) {
          for (uint64_t last : {0, 1}) {
            const uint64_t half = uint64_t{1} << (top - precision);
            const uint64_t middle = (uint64_t{1} << top) + 2 * half * last + half;
            for (uint64_t v : {middle - 1, middle, middle + 1}) {
              for (uint64_t w : {v, 0 - v}) values.push_back(w & MaskOf(from));
            }
          }
        }
      }
      for (Signedness s : kSigns) {
        ElementwiseKey key = Key(Opcode::kIToF, from, to);
        key.signedness = s;
        Real exact;
        Check(key, {values}, [&](const uint64_t* x) {
          const int64_t v = Signed(from, x[0]);
          if (ir::ElemInfoOf(to).bits <= 8) {
            return SmallFromInt(to, s == Signedness::kSigned ? static_cast<double>(v) : static_cast<double>(x[0]));
          }
          if (s == Signedness::kSigned) {
            mpfr_set_si(exact.get(), v, MPFR_RNDN);
          } else {
            mpfr_set_ui(exact.get(), x[0], MPFR_RNDN);
          }
          return RoundTo(to, exact.get(), Rounding::kNearestEven);
        });
      }
    }
  }
}

TEST(Convert, ExtiTrunci) {
  const Elem widths[] = {Elem::kI1, Elem::kI4, Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI64};
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      const Elem narrow = widths[i], wide = widths[j];
      if (i >= j) {
        EXPECT_EQ(FindElementwise(Key(Opcode::kExti, narrow, wide)), nullptr);
        EXPECT_EQ(FindElementwise(Key(Opcode::kTrunci, wide, narrow)), nullptr);
        continue;
      }
      for (Signedness s : kSigns) {
        ElementwiseKey key = Key(Opcode::kExti, narrow, wide);
        key.signedness = s;
        Check(key, {EdgeValues(narrow)}, [&](const uint64_t* x) {
          return s == Signedness::kSigned ? static_cast<uint64_t>(Signed(narrow, x[0])) & MaskOf(wide) : x[0];
        });
      }
      Check(Key(Opcode::kTrunci, wide, narrow), {EdgeValues(wide)},
            [&](const uint64_t* x) { return x[0] & MaskOf(narrow); });
    }
  }
}

TEST(Convert, BitsKept) {
  const auto same = [](const uint64_t* x) { return x[0]; };
  Check(Key(Opcode::kBitcast, Elem::kF32, Elem::kI32), {EdgeValues(Elem::kF32)}, same);
  Check(Key(Opcode::kBitcast, Elem::kI64, Elem::kF64), {EdgeValues(Elem::kF64)}, same);
  Check(Key(Opcode::kBitcast, Elem::kBF16, Elem::kF16), {EdgeValues(Elem::kF16)}, same);
  Check(Key(Opcode::kBitcast, Elem::kF8E5M2, Elem::kI8), {EdgeValues(Elem::kI8)}, same);
  Check(Key(Opcode::kIntToPtr, Elem::kI64, Elem::kPtr), {EdgeValues(Elem::kI64)}, same);
  Check(Key(Opcode::kPtrToInt, Elem::kPtr, Elem::kI64), {EdgeValues(Elem::kI64)}, same);
  Check(Key(Opcode::kPtrToPtr, Elem::kPtr, Elem::kPtr), {EdgeValues(Elem::kI64)}, same);
  EXPECT_EQ(FindElementwise(Key(Opcode::kBitcast, Elem::kF32, Elem::kI64)), nullptr);
  EXPECT_EQ(FindElementwise(Key(Opcode::kBitcast, Elem::kI1, Elem::kI8)), nullptr);
  EXPECT_EQ(FindElementwise(Key(Opcode::kBitcast, Elem::kPtr, Elem::kI64)), nullptr);
  EXPECT_EQ(FindElementwise(Key(Opcode::kIntToPtr, Elem::kF64, Elem::kPtr)), nullptr);
}

}  // namespace
}  // namespace tile::vm
