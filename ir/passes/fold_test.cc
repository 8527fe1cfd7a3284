#include "ir/passes/fold.h"

#include <vector>

#include "gtest/gtest.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::ir {
namespace {

namespace op = ops;

class Fold : public testing::Test {
 protected:
  // What `make` builds of two operands of this type gives for a and b; -1000: nothing.
  template <class Make>
  int64_t Of(Elem e, int64_t a, int64_t b, Make&& make) {
    Module m;
    Function* f = m.AddFunction("f", {m.types().Scalar(e), m.types().Scalar(e)});
    Builder builder(&m, f->body());
    Value* result = make(builder, f->param(0), f->param(1));
    const int width = WidthOf(f->param(0));
    std::vector<uint64_t> in = {LowBits(static_cast<uint64_t>(a), width), LowBits(static_cast<uint64_t>(b), width)};
    in.resize(static_cast<size_t>(result->def()->num_operands()));
    const std::optional<uint64_t> bits = FoldInteger(*result->def(), in);
    if (!bits) return -1000;
    EXPECT_EQ(*bits, LowBits(*bits, WidthOf(result)));
    return AsSigned(*bits, WidthOf(result));
  }
  int64_t Divide(int64_t a, int64_t b, Signedness s, Rounding r) {
    return Of(Elem::kI8, a, b, [&](Builder& builder, Value* x, Value* y) { return op::Divi(builder, x, y, s, r); });
  }
};

TEST_F(Fold, Wraps) {
  const auto add = [](Builder& b, Value* x, Value* y) { return op::Addi(b, x, y); };
  EXPECT_EQ(Of(Elem::kI8, 127, 1, add), -128);
  EXPECT_EQ(Of(Elem::kI1, 1, 1, add), 0);
  EXPECT_EQ(Of(Elem::kI64, INT64_MAX, 1, add), INT64_MIN);
  EXPECT_EQ(Of(Elem::kI32, INT32_MIN, 0, [](Builder& b, Value* x, Value*) { return op::Absi(b, x); }), INT32_MIN);
  EXPECT_EQ(Of(Elem::kI32, INT32_MIN, 2, [](Builder& b, Value* x, Value* y) { return op::Mulhii(b, x, y); }), 1);
  EXPECT_EQ(Of(Elem::kI64, -1, -1, [](Builder& b, Value* x, Value* y) { return op::Mulhii(b, x, y); }), -2);
}

TEST_F(Fold, Divides) {
  const Signedness s = Signedness::kSigned, u = Signedness::kUnsigned;
  EXPECT_EQ(Divide(-7, 3, s, Rounding::kZero), -2);
  EXPECT_EQ(Divide(-7, 3, s, Rounding::kNegativeInf), -3);
  EXPECT_EQ(Divide(-7, 3, s, Rounding::kPositiveInf), -2);
  EXPECT_EQ(Divide(7, 3, s, Rounding::kPositiveInf), 3);
  EXPECT_EQ(Divide(-7, -3, s, Rounding::kPositiveInf), 3);
  EXPECT_EQ(Divide(-1, 16, u, Rounding::kZero), 15);
  EXPECT_EQ(Divide(-1, 16, u, Rounding::kPositiveInf), 16);
  EXPECT_EQ(Divide(1, 0, s, Rounding::kZero), -1000) << "without meaning";
  EXPECT_EQ(Divide(-128, -1, s, Rounding::kZero), -1000) << "without meaning";
  const auto rest = [](Builder& b, Value* x, Value* y) { return op::Remi(b, x, y, Signedness::kSigned); };
  EXPECT_EQ(Of(Elem::kI8, -7, 3, rest), -1);
  EXPECT_EQ(Of(Elem::kI8, 7, -3, rest), 1);
  EXPECT_EQ(Of(Elem::kI8, -128, -1, rest), 0);
  EXPECT_EQ(Of(Elem::kI8, 7, 0, rest), -1000);
}

TEST_F(Fold, Shifts) {
  const auto left = [](Builder& b, Value* x, Value* y) { return op::Shli(b, x, y); };
  const auto right = [](Builder& b, Value* x, Value* y) { return op::Shri(b, x, y, Signedness::kSigned); };
  const auto zeros = [](Builder& b, Value* x, Value* y) { return op::Shri(b, x, y, Signedness::kUnsigned); };
  EXPECT_EQ(Of(Elem::kI8, 3, 7, left), -128);
  EXPECT_EQ(Of(Elem::kI8, 3, 8, left), 0);
  EXPECT_EQ(Of(Elem::kI64, 1, 63, left), INT64_MIN);
  EXPECT_EQ(Of(Elem::kI64, 1, 64, left), 0);
  EXPECT_EQ(Of(Elem::kI8, -3, 1, right), -2);
  EXPECT_EQ(Of(Elem::kI8, -3, 200, right), -1) << "the count is unsigned";
  EXPECT_EQ(Of(Elem::kI8, -3, 1, zeros), 126);
  EXPECT_EQ(Of(Elem::kI8, -3, 8, zeros), 0);
}

TEST_F(Fold, ComparesAndWidens) {
  const auto less = [](Signedness s) {
    return [s](Builder& b, Value* x, Value* y) { return op::CmpI(b, ComparisonPredicate::kLessThan, x, y, s); };
  };
  EXPECT_EQ(Of(Elem::kI8, -1, 1, less(Signedness::kSigned)), -1) << "true, as a signed i1";
  EXPECT_EQ(Of(Elem::kI8, -1, 1, less(Signedness::kUnsigned)), 0);
  const auto wide = [](Signedness s) {
    return [s](Builder& b, Value* x, Value*) { return op::Exti(b, b.types().Scalar(Elem::kI32), x, s); };
  };
  EXPECT_EQ(Of(Elem::kI1, 1, 0, wide(Signedness::kSigned)), -1);
  EXPECT_EQ(Of(Elem::kI1, 1, 0, wide(Signedness::kUnsigned)), 1);
  EXPECT_EQ(Of(Elem::kI8, -2, 0, wide(Signedness::kUnsigned)), 254);
  const auto narrow = [](Builder& b, Value* x, Value*) { return op::Trunci(b, b.types().Scalar(Elem::kI8), x); };
  EXPECT_EQ(Of(Elem::kI32, 0x1FF, 0, narrow), -1);
}

// What a conversion of one constant gives; -1: nothing.
int64_t Converted(Elem from, Elem to, uint64_t bits, Rounding rounding = Rounding::kNearestEven) {
  Module m;
  Function* f = m.AddFunction("f", {m.types().Scalar(from)});
  Builder b(&m, f->body());
  const Value* result = IsFloat(from) ? op::FToF(b, m.types().Scalar(to), f->param(0), rounding)
                                      : op::IToF(b, m.types().Scalar(to), f->param(0), Signedness::kSigned);
  const std::optional<uint64_t> folded = FoldFloat(*result->def(), {bits});
  return folded ? static_cast<int64_t>(*folded) : -1;
}

TEST(FoldFloat, ConvertsAsTheVmDoes) {
  EXPECT_EQ(Converted(Elem::kF32, Elem::kF16, 0), 0);
  EXPECT_EQ(Converted(Elem::kF32, Elem::kF16, 0x80000000), 0x8000) << "-0 keeps its sign";
  EXPECT_EQ(Converted(Elem::kF32, Elem::kF16, 0xFF800000), 0xFC00) << "-infinity";
  EXPECT_EQ(Converted(Elem::kF32, Elem::kBF16, 0x3F80C000), 0x3F81) << "rounds to the nearer";
  EXPECT_EQ(Converted(Elem::kF32, Elem::kBF16, 0x3F80C000, Rounding::kZero), 0x3F80);
  EXPECT_EQ(Converted(Elem::kF32, Elem::kF8E4M3FN, 0x49742400), 0x7E) << "1e6 saturates";
  EXPECT_EQ(Converted(Elem::kF32, Elem::kF64, 0x7FC00000), -1) << "engines choose the bits of NaN";
  EXPECT_EQ(Converted(Elem::kI32, Elem::kF32, 0xFFFFFFFF), 0xBF800000);
  EXPECT_EQ(Converted(Elem::kI64, Elem::kF32, (uint64_t{1} << 53) + 1), -1) << "would round twice";
}

TEST_F(Fold, ChangesSigns) {
  const auto folded = [](const Value* v, uint64_t bits) { return FoldFloat(*v->def(), {bits}); };
  Module m;
  Function* f = m.AddFunction("f", {m.types().Scalar(Elem::kF32)});
  Builder b(&m, f->body());
  EXPECT_EQ(folded(op::Negf(b, f->param(0)), 0), 0x80000000u);
  EXPECT_EQ(folded(op::Absf(b, f->param(0)), 0xFF800000u), 0x7F800000u);
}

}  // namespace
}  // namespace tile::ir
