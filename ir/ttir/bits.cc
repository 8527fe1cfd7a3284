#include "ir/ttir/bits.h"

namespace tile::ir::ttir {
namespace {

constexpr Signedness kU = Signedness::kUnsigned;

int WidthOf(const Value* x) { return x->type().elem() == Elem::kI64 ? 64 : 32; }

// A word of this type whose every byte is `byte`.
Value* Bytes(Builder& b, const Value* like, uint8_t byte) {
  const uint64_t word = 0x0101010101010101u * byte;
  return ops::Integer(b, like->type(), WidthOf(like) == 64 ? static_cast<int64_t>(word) : static_cast<int32_t>(word));
}
Value* Number(Builder& b, const Value* like, int64_t n) { return ops::Integer(b, like->type(), n); }
Value* Right(Builder& b, Value* x, int n, Signedness s = kU) { return ops::Shri(b, x, Number(b, x, n), s); }
Value* Left(Builder& b, Value* x, int n) { return ops::Shli(b, x, Number(b, x, n)); }

// Neighbouring groups of n bits, n up to 4, change places.
Value* SwapWithin(Builder& b, Value* x, int n, uint8_t low) {
  Value* mask = Bytes(b, x, low);
  return ops::Ori(b, ops::Andi(b, Right(b, x, n), mask), Left(b, ops::Andi(b, x, mask), n));
}

// Neighbouring groups of n bits, n from 8 on, change places.
Value* SwapGroups(Builder& b, Value* x, int n) {
  const int width = WidthOf(x);
  if (2 * n == width) return ops::Ori(b, Right(b, x, n), Left(b, x, n));
  uint64_t mask = 0;
  for (int at = 0; at < width; at += 2 * n) mask |= ((uint64_t{1} << n) - 1) << at;
  Value* low = Number(b, x, width == 64 ? static_cast<int64_t>(mask) : static_cast<int32_t>(mask));
  return ops::Ori(b, ops::Andi(b, Right(b, x, n), low), Left(b, ops::Andi(b, x, low), n));
}

}  // namespace

Value* PopCount(Builder& b, Value* x) {
  Value* pairs = ops::Subi(b, x, ops::Andi(b, Right(b, x, 1), Bytes(b, x, 0x55)));
  Value* two = Bytes(b, x, 0x33);
  Value* fours = ops::Addi(b, ops::Andi(b, pairs, two), ops::Andi(b, Right(b, pairs, 2), two));
  Value* bytes = ops::Andi(b, ops::Addi(b, fours, Right(b, fours, 4)), Bytes(b, x, 0x0F));
  return Right(b, ops::Muli(b, bytes, Bytes(b, x, 1)), WidthOf(x) - 8);
}

// Of the bits below the highest one all are set; the others are counted.
Value* LeadingZeros(Builder& b, Value* x) {
  for (int n = 1; n < WidthOf(x); n *= 2) x = ops::Ori(b, x, Right(b, x, n));
  return PopCount(b, ops::Xori(b, x, Number(b, x, -1)));
}

Value* HighestBit(Builder& b, Value* x) { return ops::Subi(b, Number(b, x, WidthOf(x) - 1), LeadingZeros(b, x)); }

Value* ReverseBits(Builder& b, Value* x) {
  x = SwapWithin(b, x, 1, 0x55);
  x = SwapWithin(b, x, 2, 0x33);
  x = SwapWithin(b, x, 4, 0x0F);
  for (int n = 8; n < WidthOf(x); n *= 2) x = SwapGroups(b, x, n);
  return x;
}

// The lowest bit and what is below it: x ^ (x - 1); of 0 all bits.
Value* FindFirstSet(Builder& b, Value* x) {
  Value* zero = Number(b, x, 0);
  Value* count = PopCount(b, ops::Xori(b, x, ops::Subi(b, x, Number(b, x, 1))));
  return ops::Select(b, ops::CmpI(b, ComparisonPredicate::kEqual, x, zero, kU), zero, count);
}

// Of a negative factor the unsigned product counts the other one 2^n times too much.
Value* MultiplyHigh(Builder& b, Value* x, Value* y) {
  Value* zero = Number(b, x, 0);
  const auto if_negative = [&](Value* of, Value* value) {
    Value* negative = ops::CmpI(b, ComparisonPredicate::kLessThan, of, zero, Signedness::kSigned);
    return ops::Select(b, negative, value, zero);
  };
  Value* high = ops::Mulhii(b, x, y);
  return ops::Subi(b, ops::Subi(b, high, if_negative(x, y)), if_negative(y, x));
}

Value* Distance(Builder& b, Value* x, Value* y, Signedness s) {
  return ops::Subi(b, ops::Maxi(b, x, y, s), ops::Mini(b, x, y, s));
}

// Bits that both have count whole, others half.
Value* Average(Builder& b, Value* x, Value* y, Signedness s, bool up) {
  Value* half = Right(b, ops::Xori(b, x, y), 1, s);
  return up ? ops::Subi(b, ops::Ori(b, x, y), half) : ops::Addi(b, ops::Andi(b, x, y), half);
}

// By halves: where the lower one has no more than n set bits, it is skipped.
Value* NthSetBit(Builder& b, Value* x, Value* n) {
  const auto is_below = [&](Value* y) { return ops::CmpI(b, ComparisonPredicate::kLessThan, n, y, kU); };
  Value* exists = is_below(PopCount(b, x));
  Value *at = Number(b, x, 0), *rest = x;
  for (int half = 16; half > 0; half /= 2) {
    Value* count = PopCount(b, ops::Andi(b, rest, Number(b, x, (int64_t{1} << half) - 1)));
    Value* in_lower = is_below(count);
    n = ops::Select(b, in_lower, n, ops::Subi(b, n, count));
    at = ops::Select(b, in_lower, at, ops::Addi(b, at, Number(b, x, half)));
    rest = ops::Select(b, in_lower, rest, Right(b, rest, half));
  }
  return ops::Select(b, exists, at, Number(b, x, -1));
}

Value* Low24(Builder& b, Value* x, Signedness s) { return Right(b, Left(b, x, 8), 8, s); }

Value* PermuteBytes(Builder& b, Value* x, Value* y, Value* selector, bool with_sign) {
  Value* result = nullptr;
  for (int k = 0; k < 4; ++k) {
    Value* digit = Right(b, selector, 4 * k);
    Value* of_y =
        ops::CmpI(b, ComparisonPredicate::kNotEqual, ops::Andi(b, digit, Number(b, x, 4)), Number(b, x, 0), kU);
    Value* places = Left(b, ops::Andi(b, digit, Number(b, x, 3)), 3);
    Value* byte = ops::Andi(b, ops::Shri(b, ops::Select(b, of_y, y, x), places, kU), Number(b, x, 255));
    if (with_sign) {
      Value* as_sign =
          ops::CmpI(b, ComparisonPredicate::kNotEqual, ops::Andi(b, digit, Number(b, x, 8)), Number(b, x, 0), kU);
      Value* sign = ops::Andi(b, Right(b, Left(b, byte, 24), 31, Signedness::kSigned), Number(b, x, 255));
      byte = ops::Select(b, as_sign, sign, byte);
    }
    if (k != 0) byte = Left(b, byte, 8 * k);
    result = result == nullptr ? byte : ops::Ori(b, result, byte);
  }
  return result;
}

}  // namespace tile::ir::ttir
