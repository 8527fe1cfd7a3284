// Pointers know their array: an access is held to what its pointer came from, through offsets, selections, branches, loops,
// integers and memory, though other arrays lie all around. Messages name that array, the index in it and an integer that wrapped.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile::vm {
namespace {

constexpr int64_t kElements = 64;

// Three arrays of 64 elements, one after the other without a gap, and a table of addresses.
class Provenance : public testing::Test {
 protected:
  // Runs `entry @k(%x, %y, %z: tile<ptr<f32>>, %table: tile<ptr<i64>>, %i, %j: tile<i32>)`.
  Outcome Run(const std::string& body, int64_t i = 0, int64_t j = 0) {
    const std::string text =
        absl::StrCat("entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %z: tile<ptr<f32>>, %table: tile<ptr<i64>>,\n",
                     "         %i: tile<i32>, %j: tile<i32>) {\n", body, "\n  return\n}\n");
    return RunText(text, i, j);
  }

  Outcome RunText(const std::string& text, int64_t i, int64_t j) {
    Outcome failed;
    ir::Diagnostics diagnostics;
    const auto module = ir::Parse(text, "k.tile", &diagnostics);
    if (module != nullptr) ir::Verify(*module, &diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.ToString() << text;
    if (!diagnostics.ok()) return failed;
    auto program = Program::Prepare(*module, "k");
    EXPECT_TRUE(program.ok()) << program.status();
    if (!program.ok()) return failed;
    for (size_t k = 0; k < memory_.size(); ++k) memory_[k] = static_cast<float>(k);
    Launch launch = launch_;
    launch.threads = 1;
    for (int k = 0; k < 3; ++k) {
      float* data = memory_.data() + k * kElements;
      launch.buffers.push_back({std::string(1, static_cast<char>('x' + k)),
                                data,
                                kElements * sizeof(float),
                                ir::Element::Number(ir::Elem::kF32),
                                {kElements},
                                true});
      launch.params.push_back(null_ == k ? 0 : reinterpret_cast<uint64_t>(data + offset_[static_cast<size_t>(k)]));
    }
    for (size_t k = 0; k < 3; ++k)
      table_[k] = reinterpret_cast<int64_t>(memory_.data() + static_cast<int64_t>(k) * kElements);
    launch.buffers.push_back({"table", table_.data(), sizeof table_, ir::Element::Number(ir::Elem::kI64), {8}, true});
    launch.params.push_back(reinterpret_cast<uint64_t>(table_.data()));
    launch.params.push_back(static_cast<uint64_t>(i));
    launch.params.push_back(static_cast<uint64_t>(j));
    Outcome outcome = (*program)->Run(launch);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    return outcome;
  }

  // x is a part of its memory: it has this shape and these strides, and begins `offset` elements after it.
  void Describe(std::vector<int64_t> shape, std::vector<int64_t> strides, int64_t offset) {
    launch_.pointers = {{0, "x", ir::Element::Number(ir::Elem::kF32), std::move(shape), std::move(strides)}};
    offset_[0] = offset;
  }

  static std::string Message(const Outcome& outcome) {
    if (outcome.reports.empty()) return "no report";
    return absl::StrCat(outcome.reports[0].code, ": ", outcome.reports[0].message, " fix: ", outcome.reports[0].fix);
  }

  std::array<float, 3 * kElements> memory_{};
  std::array<int64_t, 8> table_{};
  std::array<int64_t, 3> offset_{};
  Launch launch_;
  int null_ = -1;  // this parameter is a null pointer
};

#define EXPECT_SAYS(outcome, ...)                                                                                  \
  do {                                                                                                             \
    const std::string said = Message(outcome);                                                                     \
    for (const char* part : {__VA_ARGS__}) EXPECT_TRUE(absl::StrContains(said, part)) << part << "\nin: " << said; \
  } while (false)

// The pointer `%p` is loaded from, and what was loaded goes to z.
std::string Load(const std::string& pointer) {
  return absl::StrCat(pointer, "\n  %v, %read = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token",
                      "\n  %done = store_ptr_tko weak %z, %v : tile<ptr<f32>>, tile<f32> -> token");
}

TEST_F(Provenance, AnotherArrayIsOutside) {
  const std::string body = Load("  %p = offset %x, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>");
  EXPECT_TRUE(Run(body, 63).ok());
  EXPECT_SAYS(Run(body, 64),
              "vm.out_of_bounds: reads 4 bytes at index 64 of `x` (f32[64], 256 bytes), just past its end, in `y`",
              "fix: check the index", "--any-array");
  EXPECT_SAYS(Run(body, 70),
              "index 70 of `x` (f32[64], 256 bytes), 24 bytes past its end, in `y` (f32[64], 256 bytes)");
  const std::string back = Load("  %p = offset %y, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>");
  EXPECT_SAYS(Run(back, -3), "index -3 of `y` (f32[64], 256 bytes), 12 bytes before it, in `x`");
  launch_.any_array = true;
  EXPECT_TRUE(Run(body, 70).ok());
  EXPECT_TRUE(Run(back, -3).ok());
}

TEST_F(Provenance, StoresAndUpdates) {
  const std::string p = "  %p = offset %x, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n";
  EXPECT_SAYS(Run(p + R"(  %one = constant <f32: 1.0> : tile<f32>
  %done = store_ptr_tko weak %p, %one : tile<ptr<f32>>, tile<f32> -> token)",
                  65),
              "writes 4 bytes at index 65 of `x`", "in `y`");
  EXPECT_SAYS(Run(p + R"(  %one = constant <f32: 1.0> : tile<f32>
  %old, %done = atomic_rmw_tko relaxed device %p, addf, %one : tile<ptr<f32>>, tile<f32> -> tile<f32>, token)",
                  65),
              "writes 4 bytes at index 65 of `x`", "in `y`");
  const std::string combined = R"(  %q = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i32>>
  %r = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
  %all = broadcast %r : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %k = iota : tile<64xi32>
  %each = offset %all, %k : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %one = constant <i32: 1> : tile<64xi32>
  %old, %done = atomic_rmw_tko relaxed device %each, add, %one : tile<64xptr<i32>>, tile<64xi32> -> tile<64xi32>, token)";
  EXPECT_TRUE(Run(p + combined, 0).ok());
  EXPECT_SAYS(Run(p + combined, 1), "element [63] of the tile writes 4 bytes at index 64 of `x`", "in `y`");
}

TEST_F(Provenance, TilesThatCrossFromOneArrayIntoTheNext) {
  const std::string body = R"(  %r = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %all = broadcast %r : tile<1xptr<f32>> -> tile<16xptr<f32>>
  %k = iota : tile<16xi32>
  %ir = reshape %i : tile<i32> -> tile<1xi32>
  %is = broadcast %ir : tile<1xi32> -> tile<16xi32>
  %at = addi %k, %is : tile<16xi32>
  %p = offset %all, %at : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
  %v, %read = load_ptr_tko weak %p : tile<16xptr<f32>> -> tile<16xf32>, token)";
  EXPECT_TRUE(Run(body, 48).ok());
  EXPECT_SAYS(Run(body, 60), "element [4] of the tile reads 4 bytes at index 64 of `x`", "just past its end, in `y`");
}

TEST_F(Provenance, SelectionsMayLeadToEither) {
  const std::string body = Load(R"(  %zero = constant <i32: 0> : tile<i32>
  %c = cmpi greater_than %j, %zero, signed : tile<i32> -> tile<i1>
  %s = select %c, %x, %z : tile<i1>, tile<ptr<f32>>
  %p = offset %s, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>)");
  EXPECT_TRUE(Run(body, 5, 0).ok());
  EXPECT_TRUE(Run(body, 5, 1).ok());
  EXPECT_SAYS(Run(body, 64, 1), "index 64 of `x`", "in `y`", "its pointer may also lead to `z`");
}

TEST_F(Provenance, BranchesAndLoops) {
  const std::string branch = Load(R"(  %zero = constant <i32: 0> : tile<i32>
  %c = cmpi greater_than %j, %zero, signed : tile<i32> -> tile<i1>
  %s = if %c -> tile<ptr<f32>> {
    yield %x : tile<ptr<f32>>
  } else {
    yield %z : tile<ptr<f32>>
  }
  %p = offset %s, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>)");
  EXPECT_TRUE(Run(branch, 3, 0).ok());
  EXPECT_SAYS(Run(branch, 80, 1), "of `x`", "in `y`");
  const std::string loop = R"(  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %step = constant <i32: 16> : tile<i32>
  %end = for %n in (%zero to %i, step %one) : tile<i32> iter_values(%q = %x) -> (tile<ptr<f32>>) {
    %v, %read = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token
    %next = offset %q, %step : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    continue %next : tile<ptr<f32>>
  })";
  EXPECT_TRUE(Run(loop, 4).ok());
  EXPECT_SAYS(Run(loop, 5), "index 64 of `x`", "just past its end, in `y`");
}

TEST_F(Provenance, IntegersAndBack) {
  const std::string body = Load(R"(  %a = ptr_to_int %x : tile<ptr<f32>> -> tile<i64>
  %four = constant <i64: 4> : tile<i64>
  %wide = exti %i signed : tile<i32> -> tile<i64>
  %bytes = muli %wide, %four : tile<i64>
  %b = addi %a, %bytes : tile<i64>
  %p = int_to_ptr %b : tile<i64> -> tile<ptr<f32>>)");
  EXPECT_TRUE(Run(body, 63).ok());
  EXPECT_SAYS(Run(body, 64), "index 64 of `x`", "in `y`");
  // The difference of two arrays leads from one to the other: each of them may be meant.
  const std::string difference = Load(R"(  %a = ptr_to_int %x : tile<ptr<f32>> -> tile<i64>
  %b = ptr_to_int %y : tile<ptr<f32>> -> tile<i64>
  %d = subi %b, %a : tile<i64>
  %sum = addi %a, %d : tile<i64>
  %p = int_to_ptr %sum : tile<i64> -> tile<ptr<f32>>)");
  EXPECT_TRUE(Run(difference).ok());
}

TEST_F(Provenance, TablesOfPointers) {
  const std::string entry = R"(  %e = offset %table, %j : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
  %a, %got = load_ptr_tko weak %e : tile<ptr<i64>> -> tile<i64>, token
)";
  const std::string body = Load(entry + R"(  %base = int_to_ptr %a : tile<i64> -> tile<ptr<f32>>
  %p = offset %base, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>)");
  EXPECT_TRUE(Run(body, 63, 1).ok());
  EXPECT_SAYS(Run(body, 64, 1), "index 64 of `y`", "in `z`");
  EXPECT_SAYS(Run(body, -1, 1), "index -1 of `y`", "in `x`");
}

TEST_F(Provenance, PointersThatGoThroughMemory) {
  const std::string body = Load(R"(  %a = ptr_to_int %y : tile<ptr<f32>> -> tile<i64>
  %saved = store_ptr_tko weak %table, %a : tile<ptr<i64>>, tile<i64> -> token
  %b, %got = load_ptr_tko weak %table token = %saved : tile<ptr<i64>> -> tile<i64>, token
  %base = int_to_ptr %b : tile<i64> -> tile<ptr<f32>>
  %p = offset %base, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>)");
  EXPECT_TRUE(Run(body, 1).ok());
  EXPECT_SAYS(Run(body, 64), "index 64 of `y`", "in `z`");
}

TEST_F(Provenance, EachIterationHasItsOwnEntryOfATable) {
  // In iteration n, entry n: element i of it.
  const std::string body = R"(  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %three = constant <i32: 3> : tile<i32>
  for %n in (%zero to %three, step %one) : tile<i32> {
    %e = offset %table, %n : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
    %a, %got = load_ptr_tko weak %e : tile<ptr<i64>> -> tile<i64>, token
    %base = int_to_ptr %a : tile<i64> -> tile<ptr<f32>>
    %p = offset %base, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %v, %read = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    continue
  })";
  EXPECT_TRUE(Run(body, 63).ok());
  EXPECT_SAYS(Run(body, 64), "index 64 of `x`", "in `y`");
}

TEST_F(Provenance, WhatABlockAllocates) {
  const std::string body = Load(R"(  %m = alloca num_elem = 8, alignment = 16 : tile<ptr<f32>>
  %one = constant <f32: 1.0> : tile<f32>
  %p = offset %m, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %wrote = store_ptr_tko weak %p, %one : tile<ptr<f32>>, tile<f32> -> token)");
  EXPECT_TRUE(Run(body, 7).ok());
  EXPECT_SAYS(Run(body, 8), "index 8 of alloca `alloca`", "just past its end");
}

TEST_F(Provenance, Globals) {
  const std::string text = R"(global @g alignment = 64 <f32: [1.0, 2.0, 3.0, 4.0]> : tile<4xf32>
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %z: tile<ptr<f32>>, %table: tile<ptr<i64>>, %i: tile<i32>, %j: tile<i32>) {
  %g = get_global @g : tile<ptr<f32>>
  %p = offset %g, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %v, %read = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
  return
}
)";
  EXPECT_TRUE(RunText(text, 3, 0).ok());
  EXPECT_SAYS(RunText(text, 4, 0), "index 4 of global `g`", "just past its end");
  EXPECT_SAYS(RunText(text, -1, 0), "index -1 of global `g`", "4 bytes before it");
}

TEST_F(Provenance, ViewsAreHeldToTheArrayOfTheirBase) {
  const std::string body = R"(  %zero = constant <i32: 0> : tile<i32>
  %b = offset %x, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %t = make_tensor_view %b, shape = [16], strides = [1] : tensor_view<16xf32, strides=[1]>
  %w = make_partition_view %t : partition_view<tile=(16), tensor_view<16xf32, strides=[1]>>
  %v, %read = load_view_tko weak %w[%zero] -> tile<16xf32>, token)";
  EXPECT_TRUE(Run(body, 48).ok());
  EXPECT_SAYS(Run(body, 49), "reads element [15] of the 16 tensor over `x`, which has only 256 bytes; it is in `y`");
  // A base that is wholly in the next array.
  EXPECT_SAYS(Run(body, 64), "reads element [0] of the 16 tensor over `x`", "it is in `y`");
}

// Beyond some number the origins of one pointer are not told apart: nothing is wrong then.
TEST_F(Provenance, PointersOfManyOrigins) {
  std::string body =
      "  %zero = constant <i32: 0> : tile<i32>\n  %one = constant <f32: 1.0> : tile<f32>\n  %s0 = alloca num_elem = 4, "
      "alignment = 16 : tile<ptr<f32>>\n";
  for (int k = 1; k < 100; ++k) {
    absl::StrAppend(&body, "  %c", k, " = cmpi equal %i, ", k, ", signed : tile<i32> -> tile<i1>\n  %m", k,
                    " = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>\n  %s", k, " = select %c", k, ", %m", k,
                    ", %s", k - 1, " : tile<i1>, tile<ptr<f32>>\n");
  }
  body += "  %done = store_ptr_tko weak %s99, %one : tile<ptr<f32>>, tile<f32> -> token";
  for (const int64_t i : {0, 1, 50, 99}) {
    const Outcome outcome = Run(body, i);
    EXPECT_TRUE(outcome.ok()) << Message(outcome);
  }
}

TEST_F(Provenance, NullPointers) {
  null_ = 0;
  EXPECT_SAYS(Run(Load("  %p = offset %x, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>"), 2),
              "at address 0x8, through a null pointer: `x` has no memory", "fix: pass an array that has memory");
}

TEST_F(Provenance, PartsOfTheirMemory) {
  const std::string body = Load("  %p = offset %x, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>");
  Describe({2, 4}, {4, 1}, 8);
  EXPECT_TRUE(Run(body, 7).warnings.empty());
  const Outcome warned = Run(body, 8);
  EXPECT_TRUE(warned.ok()) << Message(warned);
  ASSERT_EQ(warned.warnings.size(), 1u);
  EXPECT_EQ(warned.warnings[0].code, "vm.outside_view");
  EXPECT_EQ(
      warned.warnings[0].message,
      "reads 4 bytes at index 8 of `x` (f32[2,4], 32 bytes), just past its end, in the rest of `x` (f32[64], 256 bytes)");
  EXPECT_EQ(Run(body, -8).warnings.size(), 1u);
  EXPECT_SAYS(
      Run(body, -9),
      "vm.out_of_bounds: reads 4 bytes at index -9 of `x` (f32[2,4], 32 bytes), 36 bytes before it, beyond all of `x` "
      "(f32[64], 256 bytes)");
  EXPECT_SAYS(
      Run(body, 56),
      "vm.out_of_bounds: reads 4 bytes at index 56 of `x` (f32[2,4], 32 bytes), 192 bytes past its end, beyond all of "
      "`x` (f32[64], 256 bytes), in `y`");
  launch_.check = CheckLevel::kFull;
  EXPECT_TRUE(Run(body, 7).ok());
  EXPECT_SAYS(Run(body, 8), "vm.outside_view: reads 4 bytes at index 8 of `x`");
  launch_.any_array = true;
  EXPECT_TRUE(Run(body, 8).ok());
}

// Memory has a name of its own: the array's comes first, also where one of several is meant.
TEST_F(Provenance, FarAccessesNameTheArray) {
  Describe({2, 4}, {4, 1}, 8);
  launch_.pointers[0].name = "queries";
  EXPECT_SAYS(Run(Load("  %p = offset %x, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>"), 2000000000),
              "at index 2000000000 of `queries` (f32[2,4], 32 bytes), ", "beyond all of `x` (f32[64], 256 bytes)");
  EXPECT_SAYS(Run(Load(R"(  %zero = constant <i32: 0> : tile<i32>
  %c = cmpi greater_than %j, %zero, signed : tile<i32> -> tile<i1>
  %s = select %c, %x, %z : tile<i1>, tile<ptr<f32>>
  %p = offset %s, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>)"),
                  2000000, 0),
              "of `z` (f32[64], 256 bytes)", "its pointer may also lead to `queries`");
}

TEST_F(Provenance, BetweenTheElementsOfAnArray) {
  const std::string body = Load("  %p = offset %x, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>");
  Describe({4, 4}, {8, 1}, 0);  // the left half of eight columns
  EXPECT_TRUE(Run(body, 5).warnings.empty());
  launch_.check = CheckLevel::kFull;
  EXPECT_TRUE(Run(body, 3).ok());
  EXPECT_TRUE(Run(body, 27).ok());
  EXPECT_SAYS(
      Run(body, 5),
      "vm.outside_view: reads 4 bytes at index 5 of `x` (f32[4,4], 112 bytes), between its elements, whose strides are 8, 1");
  Describe({4, 4}, {1, 4}, 0);  // all of it, transposed
  EXPECT_TRUE(Run(body, 5).ok());
  Describe({4, 4}, {1, 1}, 0);  // elements that share places: nothing is between them
  EXPECT_TRUE(Run(body, 5).ok());
  Describe({4, 4}, {0, 2}, 0);  // one row, repeated
  EXPECT_TRUE(Run(body, 4).ok());
}

TEST_F(Provenance, NegativeStridesReachBelowTheirPointer) {
  const std::string body = Load("  %p = offset %x, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>");
  Describe({8}, {-1}, 20);
  for (const int64_t i : {0, -7}) EXPECT_TRUE(Run(body, i).warnings.empty());
  EXPECT_EQ(Run(body, 1).warnings.size(), 1u);
  EXPECT_EQ(Run(body, -8).warnings.size(), 1u);
}

TEST_F(Provenance, AnEmptyArrayHasNoElement) {
  Describe({0, 4}, {4, 1}, 32);
  const Outcome outcome = Run(Load("  %p = offset %x, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>"));
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_TRUE(absl::StrContains(outcome.warnings[0].message, "index 0 of `x` (f32[0,4], 0 bytes), just past its end"))
      << outcome.warnings[0].message;
}

// --- wrapped addresses ----------------------------------------------------------------------------------------------

TEST_F(Provenance, NamesTheProductThatWrapped) {
  const std::string body = Load(R"(  %n = muli %i, %j : tile<i32>
  %p = offset %x, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>)");
  for (const CheckLevel level : {CheckLevel::kBounds, CheckLevel::kFull}) {
    launch_.check = level;
    EXPECT_SAYS(Run(body, 70000, 40000), "index -1494967296 of `x` (f32[64], 256 bytes)",
                "; 70000 * 40000 at k.tile:3:8 does not fit i32 and becomes -1494967296", "fix: compute it in 64 bits");
  }
}

TEST_F(Provenance, NamesAWrapBeforeALoopAndInATile) {
  EXPECT_SAYS(Run(R"(  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %k = iota : tile<16xi32>
  %jr = reshape %j : tile<i32> -> tile<1xi32>
  %js = broadcast %jr : tile<1xi32> -> tile<16xi32>
  %at = muli %k, %js : tile<16xi32>
  %xr = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %xs = broadcast %xr : tile<1xptr<f32>> -> tile<16xptr<f32>>
  %first = offset %xs, %at : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
  %three = constant <i32: 3> : tile<16xi32>
  %bound = constant <i32: 12> : tile<16xi32>
  %low = cmpi greater_than_or_equal %k, %bound, signed : tile<16xi32> -> tile<16xi1>
  %end = for %n in (%zero to %i, step %one) : tile<i32> iter_values(%q = %first) -> (tile<16xptr<f32>>) {
    %v, %read = load_ptr_tko weak %q, %low : tile<16xptr<f32>>, tile<16xi1> -> tile<16xf32>, token
    %next = offset %q, %three : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    continue %next : tile<16xptr<f32>>
  })",
                  1, 200000000),
              "element [12] of the tile reads 4 bytes at index -1894967296 of `x`",
              "; 12 * 200000000 at k.tile:8:9 does not fit i32 and becomes -1894967296");
  // An increment that wraps in every iteration.
  EXPECT_SAYS(Run(R"(  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %two = constant <i32: 2> : tile<i32>
  %end = for %n in (%zero to %two, step %one) : tile<i32> iter_values(%q = %x) -> (tile<ptr<f32>>) {
    %v, %read = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token
    %step = muli %i, %j : tile<i32>
    %next = offset %q, %step : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    continue %next : tile<ptr<f32>>
  })",
                  70000, 40000),
              "index -1494967296 of `x`", "; 70000 * 40000 at k.tile:8:13 does not fit i32");
}

TEST_F(Provenance, NamesAWrapOfALoadedNumber) {
  const std::string body = Load(R"(  %large = constant <i64: 70000> : tile<i64>
  %saved = store_ptr_tko weak %table, %large : tile<ptr<i64>>, tile<i64> -> token
  %row, %got = load_ptr_tko weak %table token = %saved : tile<ptr<i64>> -> tile<i64>, token
  %narrow = trunci %row : tile<i64> -> tile<i32>
  %n = muli %narrow, %j : tile<i32>
  %p = offset %x, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>)");
  EXPECT_SAYS(Run(body, 0, 40000), "; 70000 * 40000 at k.tile:7:8 does not fit i32");
}

// Rows of a table that views of each kind read, tiles that lie in memory as they are and others; a table of the program.
TEST_F(Provenance, NamesAWrapOfWhatAViewLoaded) {
  constexpr char kPlaces[] = R"(  %narrow = trunci %rows : tile<4xi64> -> tile<4xi32>
  %jr = reshape %j : tile<i32> -> tile<1xi32>
  %js = broadcast %jr : tile<1xi32> -> tile<4xi32>
  %at = muli %narrow, %js : tile<4xi32>
  %xr = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %xs = broadcast %xr : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %p = offset %xs, %at : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %v, %read = load_ptr_tko weak %p : tile<4xptr<f32>> -> tile<4xf32>, token)";
  const std::string fill = R"(  %large = constant <i64: 70000> : tile<i64>
  %zeros = constant <i64: 0> : tile<8xi64>
  %ft = make_tensor_view %table, shape = [8], strides = [1] : tensor_view<8xi64, strides=[1]>
  %fv = make_partition_view %ft : partition_view<tile=(8), tensor_view<8xi64, strides=[1]>>
  %f0 = store_view_tko weak %zeros, %fv[0]
  %six = constant <i32: 6> : tile<i32>
  %e = offset %table, %six : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
  %f1 = store_ptr_tko weak %e, %large token=%f0
)";
  const std::pair<const char*, const char*> tables[] = {
      {"element [2] of the tile reads",
       R"(  %w = make_partition_view %ft : partition_view<tile=(4), tensor_view<8xi64, strides=[1]>>
  %rows, %got = load_view_tko weak %w[1] token=%f1 -> tile<4xi64>, token
)"},
      {"element [3] of the tile reads", R"(  %four = constant <i32: 4> : tile<i32>
  %dt = make_tensor_view %table, shape = [%four], strides = [%i] : tensor_view<?xi64, strides=[?]>
  %w = make_strided_view %dt : strided_view<tile=(4), traversal_strides=[1], tensor_view<?xi64, strides=[?]>>
  %rows, %got = load_view_tko weak %w[0] token=%f1 -> tile<4xi64>, token
)"},
      {"element [2] of the tile reads",
       R"(  %nt = make_tensor_view %table, shape = [8, 1], strides = [1, 8] : tensor_view<8x1xi64, strides=[1,8]>
  %w = make_gather_scatter_view %nt : gather_scatter_view<tile=(4x1), tensor_view<8x1xi64, strides=[1,8]>, sparse_dim=0>
  %k = iota : tile<4xi32>
  %k2 = addi %k, 4 : tile<4xi32>
  %column, %got = load_view_tko weak %w[%k2, 0] token=%f1 -> tile<4x1xi64>, token
  %rows = reshape %column : tile<4x1xi64> -> tile<4xi64>
)"}};
  for (const auto& [element, table] : tables) {
    for (const CheckLevel level : {CheckLevel::kBounds, CheckLevel::kFull}) {
      launch_.check = level;
      EXPECT_SAYS(Run(fill + table + kPlaces, 2, 40000), element, "of `x` (f32[64], 256 bytes)",
                  "; 70000 * 40000 at k.tile:", " does not fit i32 and becomes -1494967296");
    }
  }
  launch_.check = CheckLevel::kBounds;
  EXPECT_SAYS(RunText(R"(global @rows <i32: [1, 2, 70000, 4]> : tile<4xi32>
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %z: tile<ptr<f32>>, %table: tile<ptr<i64>>, %i: tile<i32>, %j: tile<i32>) {
  %g = get_global @rows : tile<ptr<i32>>
  %e = offset %g, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %row, %got = load_ptr_tko weak %e : tile<ptr<i32>> -> tile<i32>, token
  %n = muli %row, %j : tile<i32>
  %p = offset %x, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %v, %read = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
  return
}
)",
                      2, 40000),
              "; 70000 * 40000 at k.tile:6:8 does not fit i32");
}

TEST_F(Provenance, SaysNothingOfWrapsThatAreBounded) {
  const std::string body = Load(R"(  %n = muli %i, %j : tile<i32>
  %mask = constant <i32: 1023> : tile<i32>
  %low = andi %n, %mask : tile<i32>
  %p = offset %x, %low : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>)");
  const std::string said = Message(Run(body, 70001, 40001));
  EXPECT_TRUE(absl::StrContains(said, "of `x`")) << said;
  EXPECT_FALSE(absl::StrContains(said, "does not fit")) << said;
}

TEST_F(Provenance, NamesTheWrapOfAViewsIndex) {
  const std::string body = R"(  %n = muli %i, %j : tile<i32>
  %t = make_tensor_view %x, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
  %w = make_partition_view %t : partition_view<tile=(16), tensor_view<64xf32, strides=[1]>>
  %v, %read = load_view_tko weak %w[%n] -> tile<16xf32>, token)";
  const Outcome outcome = Run(body, 70000, 40000);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_TRUE(absl::StrContains(outcome.warnings[0].message, "; 70000 * 40000 at k.tile:3:8 does not fit i32"))
      << outcome.warnings[0].message;
}

}  // namespace
}  // namespace tile::vm
