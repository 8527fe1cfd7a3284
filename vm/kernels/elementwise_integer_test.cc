// Integer operations and comparisons, select and offset against arithmetic in 128 bits.
#include <algorithm>

#include "gtest/gtest.h"
#include "vm/kernels/elementwise_testing.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Opcode;
using ir::Signedness;
using Wide = __int128;

constexpr Elem kInts[] = {Elem::kI1, Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI64};
constexpr Signedness kSigns[] = {Signedness::kUnsigned, Signedness::kSigned};

ElementwiseKey Key(Opcode op, Elem e) {
  ElementwiseKey key;
  key.op = op;
  key.in = key.out = e;
  return key;
}

Wide Value(Elem e, uint64_t bits, Signedness s) {
  return s == Signedness::kSigned ? Wide{Signed(e, bits)} : Wide{bits};
}
// Modulo 2^n.
uint64_t Wrapped(Elem e, Wide v) { return static_cast<uint64_t>(v) & MaskOf(e); }

Wide FloorDiv(Wide a, Wide b) {
  Wide q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

void CheckUnary(Opcode op, Wide (*f)(Wide)) {
  for (Elem e : kInts) {
    Check(Key(op, e), {EdgeValues(e)}, [&](const uint64_t* x) { return Wrapped(e, f(Signed(e, x[0]))); });
  }
}

// f on the values read as signed, which does not matter where only the low bits do.
void CheckBinary(Opcode op, Wide (*f)(Wide, Wide)) {
  for (Elem e : kInts) {
    Check(Key(op, e), Pairs(EdgeValues(e), EdgeValues(e)),
          [&](const uint64_t* x) { return Wrapped(e, f(Signed(e, x[0]), Signed(e, x[1]))); });
  }
}

void CheckSigned(Opcode op, Wide (*f)(Wide, Wide)) {
  for (Elem e : kInts) {
    for (Signedness s : kSigns) {
      ElementwiseKey key = Key(op, e);
      key.signedness = s;
      Check(key, Pairs(EdgeValues(e), EdgeValues(e)),
            [&](const uint64_t* x) { return Wrapped(e, f(Value(e, x[0], s), Value(e, x[1], s))); });
    }
  }
}

TEST(Integer, Absi) {
  CheckUnary(Opcode::kAbsi, [](Wide a) { return a < 0 ? -a : a; });
}
TEST(Integer, Negi) {
  CheckUnary(Opcode::kNegi, [](Wide a) { return -a; });
}
TEST(Integer, Addi) {
  CheckBinary(Opcode::kAddi, [](Wide a, Wide b) { return a + b; });
}
TEST(Integer, Subi) {
  CheckBinary(Opcode::kSubi, [](Wide a, Wide b) { return a - b; });
}
TEST(Integer, Muli) {
  CheckBinary(Opcode::kMuli, [](Wide a, Wide b) { return a * b; });
}
TEST(Integer, Andi) {
  CheckBinary(Opcode::kAndi, [](Wide a, Wide b) { return a & b; });
}
TEST(Integer, Ori) {
  CheckBinary(Opcode::kOri, [](Wide a, Wide b) { return a | b; });
}
TEST(Integer, Xori) {
  CheckBinary(Opcode::kXori, [](Wide a, Wide b) { return a ^ b; });
}
TEST(Integer, Maxi) {
  CheckSigned(Opcode::kMaxi, [](Wide a, Wide b) { return std::max(a, b); });
}
TEST(Integer, Mini) {
  CheckSigned(Opcode::kMini, [](Wide a, Wide b) { return std::min(a, b); });
}
TEST(Integer, Remi) {
  CheckSigned(Opcode::kRemi, [](Wide a, Wide b) { return b == 0 ? Wide{0} : a % b; });
}

TEST(Integer, Mulhii) {
  for (Elem e : kInts) {
    const int n = ir::ElemInfoOf(e).bits;
    Check(Key(Opcode::kMulhii, e), Pairs(EdgeValues(e), EdgeValues(e)), [&](const uint64_t* x) {
      const unsigned __int128 product = static_cast<unsigned __int128>(x[0]) * x[1];
      return static_cast<uint64_t>(product >> n);
    });
  }
  // From the reference: 2^31 * 2 in i32.
  EXPECT_EQ(RunEverywhere(Key(Opcode::kMulhii, Elem::kI32), {{0x80000000u}, {2}}), Bits{1});
}

TEST(Integer, Shli) {
  for (Elem e : kInts) {
    const uint64_t n = ir::ElemInfoOf(e).bits;
    Check(Key(Opcode::kShli, e), Pairs(EdgeValues(e), EdgeValues(e)),
          [&](const uint64_t* x) { return x[1] >= n ? 0 : (x[0] << x[1]) & MaskOf(e); });
  }
}

TEST(Integer, Shri) {
  for (Elem e : kInts) {
    for (Signedness s : kSigns) {
      ElementwiseKey key = Key(Opcode::kShri, e);
      key.signedness = s;
      Check(key, Pairs(EdgeValues(e), EdgeValues(e)),
            [&](const uint64_t* x) { return Wrapped(e, Value(e, x[0], s) >> std::min<uint64_t>(x[1], 100)); });
    }
  }
}

TEST(Integer, Divi) {
  using ir::Rounding;
  for (Elem e : kInts) {
    for (Signedness s : kSigns) {
      for (Rounding r : {Rounding::kZero, Rounding::kNegativeInf, Rounding::kPositiveInf}) {
        if (s == Signedness::kUnsigned && r == Rounding::kNegativeInf) continue;  // The verifier rejects it.
        ElementwiseKey key = Key(Opcode::kDivi, e);
        key.signedness = s;
        key.rounding = r;
        Check(key, Pairs(EdgeValues(e), EdgeValues(e)), [&](const uint64_t* x) {
          const Wide a = Value(e, x[0], s), b = Value(e, x[1], s);
          if (b == 0) return uint64_t{0};
          const Wide q = r == Rounding::kZero ? a / b : r == Rounding::kNegativeInf ? FloorDiv(a, b) : -FloorDiv(-a, b);
          return Wrapped(e, q);  // minimum / -1 wraps to the minimum
        });
      }
    }
  }
}

TEST(Compare, Cmpi) {
  for (Elem e : kInts) {
    for (Signedness s : kSigns) {
      for (int p = 0; p < 6; ++p) {
        ElementwiseKey key = Key(Opcode::kCmpI, e);
        key.out = Elem::kI1;
        key.signedness = s;
        key.predicate = static_cast<ir::ComparisonPredicate>(p);
        Check(key, Pairs(EdgeValues(e), EdgeValues(e)), [&](const uint64_t* x) -> uint64_t {
          const Wide a = Value(e, x[0], s), b = Value(e, x[1], s);
          const bool results[] = {a == b, a != b, (a < b), a <= b, (a > b), a >= b};
          return results[p];
        });
      }
    }
  }
}

TEST(Compare, SelectOnEveryElement) {
  for (int i = 0; i < ir::kNumElems; ++i) {
    const Elem e = static_cast<Elem>(i);
    Bits values = e == Elem::kPtr ? EdgeValues(Elem::kI64) : EdgeValues(e);
    values.resize(std::min<size_t>(values.size(), 60));
    Check(Key(Opcode::kSelect, e), Triples({0, 1}, values, values),
          [](const uint64_t* x) { return x[0] ? x[1] : x[2]; });
  }
}

TEST(Memory, Offset) {
  for (Elem e : kInts) {
    for (int bytes : {1, 2, 4, 8}) {
      ElementwiseKey key = Key(Opcode::kOffset, e);
      key.out = Elem::kPtr;
      key.pointee_bytes = bytes;
      Check(key, Pairs(EdgeValues(Elem::kI64), EdgeValues(e)),
            [&](const uint64_t* x) { return static_cast<uint64_t>(Wide{x[0]} + Wide{Signed(e, x[1])} * bytes); });
    }
  }
}

TEST(Find, NothingForWhatIsNotElementwise) {
  EXPECT_EQ(FindElementwise(Key(Opcode::kReduce, Elem::kI32)), nullptr);
  EXPECT_EQ(FindElementwise(Key(Opcode::kAddi, Elem::kF32)), nullptr);
  EXPECT_EQ(FindElementwise(Key(Opcode::kAddi, Elem::kI4)), nullptr);
  ElementwiseKey all_splat = Key(Opcode::kAddi, Elem::kI32);
  all_splat.splat_mask = 3;
  EXPECT_EQ(FindElementwise(all_splat), nullptr);
  ElementwiseKey rounding = Key(Opcode::kAddf, Elem::kF32);
  rounding.rounding = ir::Rounding::kNearestAway;
  EXPECT_EQ(FindElementwise(rounding), nullptr);
}

// Each operation that the table calls elementwise is found for some types.
TEST(Find, EveryElementwiseOperation) {
  for (const ir::OpInfo& op : ir::AllOps()) {
    if (!op.has(ir::kElementwise)) continue;
    int found = 0;
    for (int in = 0; in < ir::kNumElems; ++in) {
      for (int out = 0; out < ir::kNumElems; ++out) {
        for (ir::Rounding r : {ir::Rounding::kNearestEven, ir::Rounding::kZero}) {
          ElementwiseKey key;
          key.op = op.opcode;
          key.in = static_cast<Elem>(in);
          key.out = static_cast<Elem>(out);
          key.rounding = r;
          key.pointee_bytes = 4;
          found += FindElementwise(key) != nullptr;
        }
      }
    }
    EXPECT_GT(found, 0) << op.mnemonic;
  }
}

}  // namespace
}  // namespace tile::vm
