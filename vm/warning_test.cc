// What works as on hardware but is probably not meant is said once, with place, first block and how often, whatever the
// number of threads; full checks make it an error. What has no value reads as zero, or as the launch says.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile::vm {
namespace {

using Floats = std::vector<float>;

// Runs the kernel `k` on x, which is an input, and out.
Outcome RunOn(const std::string& text, Floats x, Floats* out, Launch launch = {}) {
  Outcome failed;
  ir::Diagnostics diagnostics;
  const auto module = ir::Parse(text, "k.tile", &diagnostics);
  if (module != nullptr) ir::Verify(*module, &diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.ToString() << text;
  if (!diagnostics.ok()) return failed;
  auto program = Program::Prepare(*module, "k");
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return failed;
  for (auto& [name, memory] : {std::pair<const char*, Floats*>{"x", &x}, {"out", out}}) {
    Buffer b;
    b.name = name;
    b.address = memory->data();
    b.bytes = memory->size() * sizeof(float);
    b.element = ir::Element::Number(ir::Elem::kF32);
    launch.buffers.push_back(b);
    launch.params.push_back(reinterpret_cast<uint64_t>(memory->data()));
  }
  const Outcome outcome = (*program)->Run(launch);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  return outcome;
}

// Loads four of five rows of 2x4 elements a block from a tensor of 5x3, then does something.
std::string Kernel(const std::string& body) {
  return absl::StrCat(R"(entry @k(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
  %i, %j, %l = get_tile_block_id
  %zero = constant <i32: 0> : tile<i32>
  %t = make_tensor_view %x, shape = [5, 3], strides = [3, 1] : tensor_view<5x3xf32, strides=[3,1]>
  %v = make_partition_view %t : partition_view<tile=(2x4), tensor_view<5x3xf32, strides=[3,1]>>
  %a, %k = load_view_tko weak %v[%i, %zero] -> tile<2x4xf32>, token
)",
                      body, "  return\n}\n");
}

constexpr char kRows[] = R"(
  %s = reduce %a dim=1 identities=[0.0 : f32] : tile<2x4xf32> -> tile<2xf32> (%e: tile<f32>, %acc: tile<f32>) {
    %sum = addf %e, %acc
    yield %sum : tile<f32>
  }
  %o.t = make_tensor_view %out, shape = [5], strides = [1] : tensor_view<5xf32, strides=[1]>
  %o.v = make_partition_view %o.t : partition_view<tile=(2), tensor_view<5xf32, strides=[1]>>
  store_view_tko weak %s, %o.v[%i] -> token
)";

Launch Blocks(int64_t n, int threads = 1) {
  Launch launch;
  launch.grid[0] = n;
  launch.threads = threads;
  return launch;
}

TEST(Warning, SumOverElementsOutside) {
  for (const int threads : {1, 4}) {
    Floats out(5);
    const Outcome outcome = RunOn(Kernel(kRows), Floats(15, 1), &out, Blocks(3, threads));
    EXPECT_TRUE(outcome.reports.empty());
    EXPECT_EQ(out, Floats(5, 3));
    ASSERT_EQ(outcome.warnings.size(), 1u);
    const Report& w = outcome.warnings[0];
    EXPECT_EQ(
        w.ToString(),
        "k.tile:6:12: warning[vm.unspecified]: elements outside of `x` along dimension 1 of the tile have no specified "
        "value, and the result depends on them; 3 times in all\n  in kernel `k`, block (0, 0, 0), at load_view_tko\n"
        "  fix: give the view a padding_value (`padding_mode=` of ct.load), or select another value for these elements");
  }
}

TEST(Warning, ChosenValues) {
  Launch launch = Blocks(3);
  launch.unspecified = Unspecified::kOnes;
  Floats out(5), again(5);
  EXPECT_EQ(RunOn(Kernel(kRows), Floats(15, 1), &out, launch).warnings.size(), 1u);
  for (const float x : out) EXPECT_TRUE(std::isnan(x));
  launch.unspecified = Unspecified::kRandom;
  RunOn(Kernel(kRows), Floats(15, 1), &out, launch);
  launch.threads = 4;
  RunOn(Kernel(kRows), Floats(15, 1), &again, launch);
  EXPECT_NE(out, Floats(5, 3));
  for (size_t i = 0; i < out.size(); ++i)
    EXPECT_TRUE(out[i] == again[i] || (std::isnan(out[i]) && std::isnan(again[i])));
}

TEST(Warning, FullChecksMakeItAnError) {
  Launch launch = Blocks(3);
  launch.check = CheckLevel::kFull;
  Floats out(5);
  const Outcome outcome = RunOn(Kernel(kRows), Floats(15, 1), &out, launch);
  ASSERT_FALSE(outcome.reports.empty());
  EXPECT_EQ(outcome.reports[0].code, "vm.uninitialized");
  EXPECT_TRUE(outcome.warnings.empty());
}

TEST(Warning, NoneWhereElementsOutsideAreOnlyComputedAlong) {
  Floats out(15);
  Outcome outcome = RunOn(Kernel(R"(
  %b = addf %a, %a
  %o.t = make_tensor_view %out, shape = [5, 3], strides = [3, 1] : tensor_view<5x3xf32, strides=[3,1]>
  %o.v = make_partition_view %o.t : partition_view<tile=(2x4), tensor_view<5x3xf32, strides=[3,1]>>
  store_view_tko weak %b, %o.v[%i, %zero] -> token
)"),
                          Floats(15, 1), &out, Blocks(3));
  EXPECT_EQ(out, Floats(15, 2));
  EXPECT_TRUE(outcome.warnings.empty());
  // Under another shape the sum still runs over them.
  outcome = RunOn(Kernel(R"(
  %turned = permute %a [1, 0] : tile<2x4xf32> -> tile<4x2xf32>
  %many = reshape %turned : tile<4x2xf32> -> tile<4x2x1xf32>
  %s = reduce %many dim=0 identities=[0.0 : f32] : tile<4x2x1xf32> -> tile<2x1xf32> (%e: tile<f32>, %acc: tile<f32>) {
    %sum = addf %e, %acc
    yield %sum : tile<f32>
  }
)"),
                  Floats(15, 1), &out, Blocks(1));
  EXPECT_EQ(outcome.warnings.size(), 1u);
}

TEST(Warning, NoneWhereAnotherValueIsSelected) {
  Floats out(5);
  const Outcome outcome = RunOn(Kernel(absl::StrCat(R"(
  %places = iota : tile<4xi32>
  %row = reshape %places -> tile<1x4xi32>
  %all = broadcast %row -> tile<2x4xi32>
  %end = constant <i32: 3> : tile<2x4xi32>
  %inside = cmpi less_than %all, %end, signed -> tile<2x4xi1>
  %nothing = constant <f32: 0.0> : tile<2x4xf32>
  %b = select %inside, %a, %nothing
)",
                                                    absl::StrReplaceAll(kRows, {{"reduce %a", "reduce %b"}}))),
                                Floats(15, 1), &out, Blocks(3));
  EXPECT_EQ(out, Floats(5, 3));
  EXPECT_TRUE(outcome.warnings.empty());
}

// Elements of b beyond k count even where those of a are zero.
TEST(Warning, Products) {
  const auto product = [](absl::string_view a, absl::string_view b) {
    return absl::StrCat(R"(entry @k(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %t = make_tensor_view %x, shape = [4, 3], strides = [3, 1] : tensor_view<4x3xf32, strides=[3,1]>
  %v = make_partition_view %t : partition_view<tile=(4x4), tensor_view<4x3xf32, strides=[3,1]>>
  %a, %k = load_view_tko weak %v[%zero, %zero] -> tile<4x4xf32>, token
  %one = constant <f32: 1.0> : tile<4x4xf32>
  %p = mmaf )",
                        a, ", ", b, R"(, %one : tile<4x4xf32>, tile<4x4xf32>, tile<4x4xf32>
  return
}
)");
  };
  Floats out(1);
  EXPECT_EQ(RunOn(product("%a", "%one"), Floats(12, 1), &out).warnings.size(), 1u);
  EXPECT_EQ(RunOn(product("%one", "%a"), Floats(12, 1), &out).warnings.size(), 0u);
}

TEST(Warning, MaskedLoads) {
  const auto kernel = [](absl::string_view padding, absl::string_view then) {
    return absl::StrCat(R"(entry @k(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
  %i = iota : tile<4xi32>
  %x1 = reshape %x -> tile<1xptr<f32>>
  %x4 = broadcast %x1 -> tile<4xptr<f32>>
  %p = offset %x4, %i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %two = constant <i32: 2> : tile<4xi32>
  %mask = cmpi less_than %i, %two, signed -> tile<4xi1>
  %none = constant <f32: 0.0> : tile<4xf32>
  %a, %k = load_ptr_tko weak %p, %mask)",
                        padding, " -> tile<4xf32>, token\n", then, "  return\n}\n");
  };
  constexpr char kSum[] =
      R"(  %s = reduce %a dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32> (%e: tile<f32>, %acc: tile<f32>) {
    %sum = addf %e, %acc
    yield %sum : tile<f32>
  }
  store_ptr_tko weak %out, %s -> token
)";
  Floats out(1);
  const Outcome outcome = RunOn(kernel("", kSum), Floats(4, 1), &out);
  EXPECT_EQ(out[0], 2);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_TRUE(absl::StrContains(outcome.warnings[0].message, "the mask leaves out element [2]"))
      << outcome.warnings[0].message;
  EXPECT_TRUE(RunOn(kernel(", %none", kSum), Floats(4, 1), &out).warnings.empty());
}

// The fix sees indices that were exchanged.
TEST(Warning, IndicesInTheOtherOrder) {
  constexpr char kSwapped[] = R"(entry @k(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
  %i, %j, %l = get_tile_block_id
  %t = make_tensor_view %x, shape = [2, 6], strides = [6, 1] : tensor_view<2x6xf32, strides=[6,1]>
  %v = make_partition_view %t : partition_view<tile=(1x2), tensor_view<2x6xf32, strides=[6,1]>>
  %a, %k = load_view_tko weak %v[%j, %i] -> tile<1x2xf32>, token
  return
}
)";
  const auto fix_of = [&](int64_t columns, int64_t rows) {
    Floats out(1);
    Launch launch = Blocks(columns);
    launch.grid[1] = rows;
    const Outcome o = RunOn(kSwapped, Floats(12, 1), &out, launch);
    return o.warnings.empty() ? "" : o.warnings[0].fix;
  };
  const std::string fix = "launch fewer blocks, or guard the access (an index counts tiles, not elements)";
  EXPECT_EQ(fix_of(3, 2), "");
  EXPECT_EQ(fix_of(4, 1), fix);
  EXPECT_EQ(fix_of(2, 3), fix + "; in the other order, [0, 2], both indices are inside");
}

TEST(Warning, TilesOutsideOfTheView) {
  for (const int threads : {1, 4}) {
    Floats out(5, 7);
    const Outcome outcome = RunOn(Kernel(kRows), Floats(15, 1), &out, Blocks(40, threads));
    EXPECT_TRUE(outcome.reports.empty());
    EXPECT_EQ(out, Floats(5, 3));
    std::vector<std::string> said;
    for (const Report& w : outcome.warnings) {
      if (w.code == "vm.index_out_of_bounds") said.push_back(absl::StrCat(w.where, " ", w.block[0], ": ", w.message));
    }
    ASSERT_EQ(said.size(), 2u);
    EXPECT_EQ(said[1],
              "k.tile:14:3 3: index 3 of dimension 0 is outside of the view's 3 tiles over `out` (5 elements in steps "
              "of 2): nothing is stored; 37 times in all");
    EXPECT_EQ(said[0],
              "k.tile:6:12 3: index 3 of dimension 0 is outside of the view's 3 tiles over `x` (5 elements in steps of "
              "2): the tile is all padding; 37 times in all");
  }
  Launch unchecked = Blocks(40);
  unchecked.check = CheckLevel::kNone;
  Floats out(5, 7);
  EXPECT_TRUE(RunOn(Kernel(kRows), Floats(15, 1), &out, unchecked).warnings.empty());
  EXPECT_EQ(out, Floats(5, 3));
}

}  // namespace
}  // namespace tile::vm
