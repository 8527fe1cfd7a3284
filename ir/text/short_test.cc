// What a program may leave out: each short form reads as the long one beside it.
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/compare.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace tile::ir {
namespace {

constexpr char kParams[] =
    "%p: tile<ptr<f32>>, %n: tile<i32>, %l: tile<i64>, %x: tile<f32>, %c: tile<i1>, %pp: tile<8xptr<f32>>, "
    "%a: tile<8xi32>, %f: tile<8xf32>, %m: tile<8xi1>, %g: tile<4x8xf32>, %row: tile<1x8xf32>, %col: tile<4x1xf32>, "
    "%v: partition_view<tile=(4x8), tensor_view<?x8xf32, strides=[8,1]>>, %t: tensor_view<?x8xf32, strides=[8,1]>";

std::unique_ptr<Module> Kernel(absl::string_view ops) {
  Diagnostics diags;
  auto m = Parse(absl::StrCat("global @g <f32: 1.0> : tile<8xf32>\nentry @k(", kParams, ") {\n", ops, "\nreturn\n}\n"),
                 "k", &diags);
  EXPECT_NE(m, nullptr) << diags.ToString() << ops;
  return m != nullptr ? std::move(m) : std::make_unique<Module>();
}

struct Pair {
  const char* name;
  const char* brief;
  const char* full;
};

const Pair kPairs[] = {
    // --- results that follow
    {"Comparison", "%r = cmpi less_than %a, %a, signed",
     "%r = cmpi less_than %a, %a, signed : tile<8xi32> -> tile<8xi1>"},
    {"FloatComparison", "%r = cmpf equal ordered %x, %x", "%r = cmpf equal ordered %x, %x : tile<f32> -> tile<i1>"},
    {"LoadPointer", "%r, %k = load_ptr_tko weak %pp, %m, %f",
     "%r, %k = load_ptr_tko weak %pp, %m, %f : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token"},
    {"LoadWithoutToken", "%r = load_ptr_tko weak %p",
     "%r, %k = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token"},
    {"LoadTileOnly", "%r, %k = load_ptr_tko weak %p -> tile<f32>",
     "%r, %k = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token"},
    {"LoadView", "%r = load_view_tko weak %v[%n, %n]",
     "%r, %k = load_view_tko weak %v[%n, %n] : partition_view<tile=(4x8), tensor_view<?x8xf32, strides=[8,1]>>, "
     "tile<i32> "
     "-> tile<4x8xf32>, token"},
    {"IndexSpace", "%r, %s = get_index_space_shape %v",
     "%r, %s = get_index_space_shape %v : partition_view<tile=(4x8), tensor_view<?x8xf32, strides=[8,1]>> -> "
     "tile<i32>"},
    {"SizesInTheirType",
     "%u = make_tensor_view %p, shape = [%l], strides = [1]\n%w = make_partition_view %u : partition_view<tile=(8)>\n"
     "%r = get_index_space_shape %w\n%s = get_tensor_shape %u",
     "%u = make_tensor_view %p, shape = [%l], strides = [1] : tile<i64> -> tensor_view<?xf32, strides=[1]>\n"
     "%w = make_partition_view %u : partition_view<tile=(8), tensor_view<?xf32, strides=[1]>>\n"
     "%r = get_index_space_shape %w : partition_view<tile=(8), tensor_view<?xf32, strides=[1]>> -> tile<i64>\n"
     "%s = get_tensor_shape %u : tensor_view<?xf32, strides=[1]> -> tile<i64>"},
    {"TensorView", "%r = make_tensor_view %p, shape = [%n, 8], strides = [8, 1]",
     "%r = make_tensor_view %p, shape = [%n, 8], strides = [8, 1] : tile<i32> -> tensor_view<?x8xf32, strides=[8,1]>"},
    {"ViewWithoutTensor", "%r = make_partition_view %t : partition_view<tile=(4x8), padding_value = zero>",
     "%r = make_partition_view %t : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x8xf32, "
     "strides=[8,1]>>"},
    {"StridedViewWithoutTensor", "%r = make_strided_view %t -> strided_view<tile=(4x8), traversal_strides=[2,8]>",
     "%r = make_strided_view %t : strided_view<tile=(4x8), traversal_strides=[2,8], tensor_view<?x8xf32, "
     "strides=[8,1]>>"},
    {"Constant", "%r = constant <f32: 1>", "%r = constant <f32: 1> : tile<f32>"},
    {"ConstantList", "%r = constant <i8: [[1, 2], [3, 4]]>", "%r = constant <i8: [[1, 2], [3, 4]]> : tile<2x2xi8>"},
    {"Global", "%r = get_global @g", "%r = get_global @g : tile<ptr<f32>>"},
    {"Cat", "%r = cat %g, %g dim = 1", "%r = cat %g, %g dim = 1 : tile<4x8xf32>, tile<4x8xf32> -> tile<4x16xf32>"},
    {"Permute", "%r = permute %g [1, 0]", "%r = permute %g [1, 0] : tile<4x8xf32> -> tile<8x4xf32>"},
    {"Pack", "%r = pack %f", "%r = pack %f : tile<8xf32> -> tile<32xi8>"},
    {"PackBits", "%r = pack %m", "%r = pack %m : tile<8xi1> -> tile<1xi8>"},
    {"PointerToInteger", "%r = ptr_to_int %pp", "%r = ptr_to_int %pp : tile<8xptr<f32>> -> tile<8xi64>"},
    {"ResultBehindColon", "%r = reshape %x : tile<1x1xf32>", "%r = reshape %x : tile<f32> -> tile<1x1xf32>"},
    {"ConversionBehindColon", "%r = exti %a signed : tile<8xi64>", "%r = exti %a signed : tile<8xi32> -> tile<8xi64>"},
    // --- regions
    {"For", "for %i in (%l to %l, step %l) {\n%q = addi %i, %l\n}",
     "for %i in (%l to %l, step %l) : tile<i64> {\n%q = addi %i, %l : tile<i64>\n}"},
    {"If", "%r, %s = if %c {\nyield %x, %n\n} else {\nyield %x, %n\n}",
     "%r, %s = if %c -> (tile<f32>, tile<i32>) {\nyield %x, %n : tile<f32>, tile<i32>\n} else {\nyield %x, %n : "
     "tile<f32>, "
     "tile<i32>\n}"},
    {"IfThatContinues", "loop {\n%r = if %c {\nbreak\n} else {\nyield %x\n}\n%q = negf %r\ncontinue\n}",
     "loop {\n%r = if %c -> (tile<f32>) {\nbreak\n} else {\nyield %x : tile<f32>\n}\n%q = negf %r : tile<f32>\n}"},
    {"Loop", "%r = loop iter_values(%i = %n) {\nloop {\nbreak\n}\nif %c {\nbreak %x\n}\ncontinue %i\n}\n%q = negf %r",
     "%r = loop iter_values(%i = %n) : tile<i32> -> tile<f32> {\nloop {\nbreak\n}\nif %c {\nbreak %x : tile<f32>\n}\n"
     "continue %i : tile<i32>\n}\n%q = negf %r : tile<f32>"},
    {"Reduce", "%r = reduce %g dim=1 identities=[-inf] (%e, %a2) {\n%s = maxf %e, %a2\nyield %s\n}",
     "%r = reduce %g dim=1 identities=[-inf : f32] : tile<4x8xf32> -> tile<4xf32>\n(%e: tile<f32>, %a2: tile<f32>) "
     "{\n%s = maxf %e, %a2 : tile<f32>\nyield %s : tile<f32>\n}"},
    {"ReduceTwo", "%r, %s = reduce %f, %a dim=0 identities=[0, 7] (%e, %u, %i, %j) {\nyield %e, %i\n}",
     "%r, %s = reduce %f, %a dim=0 identities=[0 : f32, 7 : i32] : tile<8xf32>, tile<8xi32> -> tile<f32>, tile<i32>\n"
     "(%e: tile<f32>, %u: tile<f32>, %i: tile<i32>, %j: tile<i32>) {\nyield %e, %i : tile<f32>, tile<i32>\n}"},
    {"Scan", "%r = scan %a dim=0 reverse=false identities=[0] (%e, %b) {\nyield %e\n}",
     "%r = scan %a dim=0 reverse=false identities=[0 : i32] : tile<8xi32> -> tile<8xi32>\n(%e: tile<i32>, %b: "
     "tile<i32>) "
     "{\nyield %e : tile<i32>\n}"},
    // --- numbers
    {"Number", "%r = addi %n, -1", "%1 = constant <i32: -1> : tile<i32>\n%r = addi %n, %1"},
    {"NumberInFront", "%r = subf 1, %f", "%1 = constant <f32: 1> : tile<8xf32>\n%r = subf %1, %f"},
    {"Numbers", "%r = fma %f, 2.0, inf",
     "%1 = constant <f32: 2> : tile<8xf32>\n%2 = constant <f32: inf> : tile<8xf32>\n%r = fma %f, %1, %2"},
    {"NumberTruth", "%r = andi %m, true", "%1 = constant <i1: true> : tile<8xi1>\n%r = andi %m, %1"},
    {"NumberOffset", "%r = offset %p, 4", "%1 = constant <i32: 4> : tile<i32>\n%r = offset %p, %1"},
    {"NumberIndex", "%r = load_view_tko weak %v[%l, 0]",
     "%1 = constant <i64: 0> : tile<i64>\n%r = load_view_tko weak %v[%l, %1]"},
    {"NumberIndices", "%r = load_view_tko weak %v[1, 0]",
     "%1 = constant <i32: 1> : tile<i32>\n%2 = constant <i32: 0> : tile<i32>\n%r = load_view_tko weak %v[%1, %2]"},
    {"NumberPadding", "%r = load_ptr_tko weak %pp, %m, 0.5",
     "%1 = constant <f32: 0.5> : tile<8xf32>\n%r = load_ptr_tko weak %pp, %m, %1"},
    {"NumberStored", "store_ptr_tko weak %pp, 0.5",
     "%1 = constant <f32: 0.5> : tile<8xf32>\nstore_ptr_tko weak %pp, %1"},
    {"NumberStoredToView", "store_view_tko weak 0, %v[%n, %n]",
     "%1 = constant <f32: 0> : tile<4x8xf32>\nstore_view_tko weak %1, %v[%n, %n]"},
    {"NumberAdded", "%r = atomic_rmw_tko relaxed device %pp, addf, 1",
     "%1 = constant <f32: 1> : tile<8xf32>\n%r = atomic_rmw_tko relaxed device %pp, addf, %1"},
    {"NumberBounds", "for %i in (0 to %l, step 1) {\n}",
     "%1 = constant <i64: 0> : tile<i64>\n%2 = constant <i64: 1> : tile<i64>\nfor %i in (%1 to %l, step %2) {\n}"},
    {"NumberBoundsAlone", "for %i in (0 to 8, step 2) {\n}",
     "%1 = constant <i32: 0>\n%2 = constant <i32: 8>\n%3 = constant <i32: 2>\nfor %i in (%1 to %2, step %3) {\n}"},
    {"NumberBoundsTyped", "for %i in (0 to 8, step 2) : tile<i64> {\n}",
     "%1 = constant <i64: 0>\n%2 = constant <i64: 8>\n%3 = constant <i64: 2>\nfor %i in (%1 to %2, step %3) {\n}"},
    {"NumberExtract", "%r = extract %f[2] -> tile<4xf32>",
     "%1 = constant <i32: 2>\n%r = extract %f[%1] : tile<8xf32> -> tile<4xf32>"},
    // --- what is smaller is repeated
    {"Scalar", "%r = mulf %f, %x",
     "%1 = reshape %x -> tile<1xf32>\n%2 = broadcast %1 -> tile<8xf32>\n%r = mulf %f, %2 : tile<8xf32>"},
    {"ScalarInFront", "%r = subf %x, %g",
     "%1 = reshape %x -> tile<1x1xf32>\n%2 = broadcast %1 -> tile<4x8xf32>\n%r = subf %2, %g : tile<4x8xf32>"},
    {"ScalarWithTypes", "%r = mulf %f, %x : tile<8xf32>",
     "%1 = reshape %x -> tile<1xf32>\n%2 = broadcast %1 -> tile<8xf32>\n%r = mulf %f, %2 : tile<8xf32>"},
    {"ScalarCondition", "%r = select %c, %f, %x",
     "%1 = reshape %c -> tile<1xi1>\n%2 = broadcast %1 -> tile<8xi1>\n%3 = reshape %x -> tile<1xf32>\n"
     "%4 = broadcast %3 -> tile<8xf32>\n%r = select %2, %f, %4"},
    {"ScalarPointer", "%r = offset %p, %a",
     "%1 = reshape %p -> tile<1xptr<f32>>\n%2 = broadcast %1 -> tile<8xptr<f32>>\n%r = offset %2, %a"},
    {"ScalarMask", "%r = load_ptr_tko weak %pp, %c, %x",
     "%1 = reshape %c -> tile<1xi1>\n%2 = broadcast %1 -> tile<8xi1>\n%3 = reshape %x -> tile<1xf32>\n"
     "%4 = broadcast %3 -> tile<8xf32>\n%r = load_ptr_tko weak %pp, %2, %4"},
    {"ScalarStored", "store_view_tko weak %x, %v[%n, %n]",
     "%1 = reshape %x -> tile<1x1xf32>\n%2 = broadcast %1 -> tile<4x8xf32>\nstore_view_tko weak %2, %v[%n, %n]"},
    {"SizesOfOne", "%r = mulf %row, %col",
     "%1 = broadcast %row -> tile<4x8xf32>\n%2 = broadcast %col -> tile<4x8xf32>\n%r = mulf %1, %2"},
    {"SizeOfOne", "%r = subf %g, %col", "%1 = broadcast %col -> tile<4x8xf32>\n%r = subf %g, %1"},
    {"SizeOfOneStored", "store_view_tko weak %row, %v[%n, %n]",
     "%1 = broadcast %row -> tile<4x8xf32>\nstore_view_tko weak %1, %v[%n, %n]"},
    // --- not repeated: one address takes one value; types that are written say what the operands are
    {"OneAddress", "store_ptr_tko weak %p, %f", "store_ptr_tko weak %p, %f : tile<ptr<f32>>, tile<8xf32>"},
    {"AsWritten", "%r = addf %f, %x : tile<8xf32>, tile<f32>", "%r = addf %f, %x : tile<8xf32>, tile<f32>"},
    {"AsWrittenForShapes", "%r = offset %p, %a : tile<ptr<f32>>, tile<8xi32> -> tile<ptr<f32>>",
     "%r = offset %p, %a : tile<ptr<f32>>, tile<8xi32> -> tile<ptr<f32>>"},
    {"OtherRank", "%r = addf %f, %g", "%r = addf %f, %g : tile<8xf32>, tile<4x8xf32>"},
};

class Short : public testing::TestWithParam<Pair> {};

TEST_P(Short, ReadsAsTheLongForm) {
  const auto brief = Kernel(GetParam().brief), full = Kernel(GetParam().full);
  EXPECT_EQ(Print(*brief), Print(*full));
  EXPECT_EQ(FirstDifference(*brief, *full), "");
  Diagnostics diags;
  const auto again = Parse(Print(*brief), "again", &diags);
  ASSERT_NE(again, nullptr) << diags.ToString();
  EXPECT_EQ(FirstDifference(*brief, *again), "");
}

INSTANTIATE_TEST_SUITE_P(Text, Short, testing::ValuesIn(kPairs),
                         [](const auto& info) { return std::string(info.param.name); });

// A trap or a warning in what was inserted points at the operand, and debug information goes along.
TEST(ShortText, InsertedOperationsHaveThePlaceOfTheOperand) {
  Diagnostics diags;
  const auto m = Parse(
      "entry @k(%f: tile<8xf32>, %x: tile<f32>) {\n  %r = fma %f, %x,\n    2.0 loc(#1)\n  return\n}\n"
      "#1 = loc(\"k.py\":1:1)\n",
      "k.tile", &diags);
  ASSERT_NE(m, nullptr) << diags.ToString();
  std::vector<std::string> places;
  for (const Op* op : *m->functions[0]->body()) {
    places.push_back(absl::StrCat(op->info()->mnemonic, " ", op->pos.line, ":", op->pos.column, " ", op->loc));
  }
  EXPECT_EQ(places, (std::vector<std::string>{"constant 3:5 1", "reshape 2:16 1", "broadcast 2:16 1", "fma 2:8 1",
                                              "return 4:3 0"}));
}

TEST(ShortText, AViewTypeStandsForItself) {
  // Only the operation that makes a view knows what it lies over.
  Diagnostics diags;
  EXPECT_EQ(Parse("entry @k(%v: partition_view<tile=(8)>) {\nreturn\n}", "k", &diags), nullptr);
  EXPECT_NE(diags.ToString().find("the view lacks the tensor_view it cuts"), std::string::npos);
}

}  // namespace
}  // namespace tile::ir
