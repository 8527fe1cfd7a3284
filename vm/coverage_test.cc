// Which sides of branches, loops, masks, selects and comparisons a launch with full checks was seen to take.
#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile::vm {
namespace {

Outcome RunText(const std::string& text, std::vector<uint64_t> params, std::vector<Buffer> buffers,
                bool coverage = true, CheckLevel check = CheckLevel::kFull, int64_t blocks = 1) {
  ir::Diagnostics d;
  const auto module = ir::Parse(text, "k.tile", &d);
  if (module != nullptr) ir::Verify(*module, &d);
  EXPECT_TRUE(d.ok()) << d.ToString();
  auto program = Program::Prepare(*module, "k");
  EXPECT_TRUE(program.ok()) << program.status();
  Launch launch;
  launch.grid[0] = blocks;
  launch.params = std::move(params);
  launch.buffers = std::move(buffers);
  launch.check = check;
  launch.coverage = coverage;
  return (*program)->Run(launch);
}

template <class T>
Buffer BufferOf(T& x) {
  Buffer buffer;
  buffer.name = "x";
  buffer.address = x;
  buffer.bytes = sizeof(x);
  return buffer;
}

// "line:sides" of each operation with this choice.
std::vector<std::string> SidesOf(const Outcome& o, Choice choice) {
  std::vector<std::string> found;
  for (const Coverage& c : o.coverage) {
    if (c.choice != choice) continue;
    found.push_back(c.where.substr(7, c.where.find(':', 7) - 7) + ":" + std::to_string(c.sides));
  }
  return found;
}

constexpr char kBranches[] = R"(entry @k(%n: tile<i32>) {
  %x, %y, %z = get_tile_block_id
  %small = cmpi less_than %x, %n, signed : tile<i32> -> tile<i1>
  if %small {
    %i = iota : tile<4xi32>
  }
  for %j in (0 to %x, step 1) : tile<i32> {
    %k = addi %j, 1 : tile<i32>
  }
  return
}
)";

TEST(Coverage, BranchesAndLoops) {
  const Outcome one = RunText(kBranches, {5}, {});
  ASSERT_TRUE(one.ok()) << one.status;
  EXPECT_EQ(SidesOf(one, Choice::kBranch), std::vector<std::string>{"4:2"});
  EXPECT_EQ(SidesOf(one, Choice::kLoop), std::vector<std::string>{"7:1"});
  const Outcome all = RunText(kBranches, {5}, {}, true, CheckLevel::kFull, 7);
  EXPECT_EQ(SidesOf(all, Choice::kBranch), std::vector<std::string>{"4:3"});
  EXPECT_EQ(SidesOf(all, Choice::kLoop), std::vector<std::string>{"7:7"});
  EXPECT_EQ(all.coverage[0].kernel, "k");
}

TEST(Coverage, DistanceOfAComparison) {
  const Outcome o = RunText(kBranches, {5}, {}, true, CheckLevel::kFull, 3);
  const auto c = std::find_if(o.coverage.begin(), o.coverage.end(),
                              [](const Coverage& c) { return c.choice == Choice::kComparison; });
  ASSERT_NE(c, o.coverage.end());
  EXPECT_EQ(c->sides, kSeenTrue);
  EXPECT_EQ(c->predicate, "less_than");
  EXPECT_EQ(c->left.least, 0);
  EXPECT_EQ(c->left.most, 2);
  EXPECT_EQ(c->right.least, 5);
  EXPECT_EQ(c->gap.least, -5);
  EXPECT_EQ(c->gap.most, -3);
}

constexpr char kMasks[] = R"(entry @k(%x: tile<ptr<f32>>, %n: tile<i32>) {
  %i = iota : tile<4xi32>
  %one = reshape %n : tile<i32> -> tile<1xi32>
  %all = broadcast %one : tile<1xi32> -> tile<4xi32>
  %mask = cmpi less_than %i, %all, signed : tile<4xi32> -> tile<4xi1>
  %p1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p4 = broadcast %p1 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %at = offset %p4, %i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %zero = constant <f32: 0.0> : tile<4xf32>
  %v, %t = load_ptr_tko weak %at, %mask, %zero : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, token
  %large = cmpf greater_than ordered %v, %zero : tile<4xf32> -> tile<4xi1>
  %r = select %large, %v, %zero : tile<4xi1>, tile<4xf32>
  %t2 = store_ptr_tko weak %at, %r, %mask token=%t : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> token
  return
}
)";

TEST(Coverage, MasksAndSelects) {
  float x[4] = {1, 2, 3, 4};
  const auto run = [&](uint64_t n) { return RunText(kMasks, {reinterpret_cast<uint64_t>(x), n}, {BufferOf(x)}); };
  const Outcome whole = run(4), part = run(3);
  ASSERT_TRUE(whole.ok()) << whole.status;
  EXPECT_EQ(SidesOf(whole, Choice::kMask), (std::vector<std::string>{"10:2", "13:2"}));
  EXPECT_EQ(SidesOf(whole, Choice::kSelect), std::vector<std::string>{"12:2"});
  EXPECT_EQ(SidesOf(part, Choice::kMask), (std::vector<std::string>{"10:3", "13:3"}));
  EXPECT_EQ(SidesOf(part, Choice::kSelect), std::vector<std::string>{"12:3"});
}

// A tile that lies in part outside of its array is as one that is masked.
constexpr char kViews[] = R"(entry @k(%x: tile<ptr<f32>>) {
  %i, %y, %z = get_tile_block_id
  %t = make_tensor_view %x, shape = [6], strides = [1] : tensor_view<6xf32, strides=[1]>
  %v = make_partition_view %t : partition_view<tile=(4), padding_value = zero, tensor_view<6xf32, strides=[1]>>
  %a, %k = load_view_tko weak %v[%i] : partition_view<tile=(4), padding_value = zero, tensor_view<6xf32, strides=[1]>>, tile<i32> -> tile<4xf32>, token
  %l = store_view_tko weak %a, %v[%i] token=%k : tile<4xf32>, partition_view<tile=(4), padding_value = zero, tensor_view<6xf32, strides=[1]>>, tile<i32> -> token
  return
}
)";

TEST(Coverage, TilesAtTheEdge) {
  float x[6] = {};
  const auto run = [&](int64_t blocks) {
    return RunText(kViews, {reinterpret_cast<uint64_t>(x)}, {BufferOf(x)}, true, CheckLevel::kFull, blocks);
  };
  const Outcome inside = run(1), both = run(2);
  ASSERT_TRUE(inside.ok() && both.ok()) << both.status;
  EXPECT_EQ(SidesOf(inside, Choice::kMask), (std::vector<std::string>{"5:2", "6:2"}));
  EXPECT_EQ(SidesOf(both, Choice::kMask), (std::vector<std::string>{"5:3", "6:3"}));
}

TEST(Coverage, OnlyWhereItIsAskedFor) {
  EXPECT_TRUE(RunText(kBranches, {5}, {}, false).coverage.empty());
  EXPECT_TRUE(RunText(kBranches, {5}, {}, true, CheckLevel::kBounds).coverage.empty());
}

}  // namespace
}  // namespace tile::vm
