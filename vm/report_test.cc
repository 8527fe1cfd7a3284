// What is reported of a launch: once for all blocks in which the same is wrong, with the first of them and how many others there are.
#include <string>

#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile::vm {
namespace {

Outcome RunBody(const std::string& body, int64_t blocks, int threads, const char* order = "linear") {
  ir::Diagnostics d;
  const auto module =
      ir::Parse("entry @k() {\n  %x, %y, %z = get_tile_block_id\n" + body + "  return\n}\n", "k.tile", &d);
  if (module != nullptr) ir::Verify(*module, &d);
  EXPECT_TRUE(d.ok()) << d.ToString();
  auto program = Program::Prepare(*module, "k");
  EXPECT_TRUE(program.ok()) << program.status();
  Launch launch;
  launch.grid[0] = blocks;
  launch.threads = threads;
  launch.order = *ParseStartOrder(order);
  return (*program)->Run(launch);
}

// In blocks 5 and above, three times in each.
constexpr char kOften[] = R"(  %ok = cmpi less_than %x, 5, signed : tile<i32> -> tile<i1>
  for %i in (0 to 3, step 1) : tile<i32> {
    assert %ok, "x is small"
  }
)";

TEST(Reports, OneOfAllBlocks) {
  for (const int threads : {1, 4}) {
    for (const char* order : {"linear", "reverse"}) {
      const Outcome o = RunBody(kOften, 1000, threads, order);
      ASSERT_EQ(o.reports.size(), 1u);
      const std::string text = o.reports[0].ToString();
      EXPECT_EQ(
          text.substr(0, text.find('\n', text.find("in kernel"))),
          "k.tile:5:5: error[vm.assert]: assertion failed: x is small\n  in kernel `k`, block (5, 0, 0), at assert, and in 994 "
          "other blocks: first (6, 0, 0), last (999, 0, 0)");
    }
  }
  EXPECT_EQ(RunBody(kOften, 6, 1).reports[0].others, 0);
  EXPECT_TRUE(RunBody(kOften, 5, 1).ok());
}

// What differs in its text, its place or its code stays apart, each with its blocks. In which elements it is wrong may differ: those of the
// first block are said.
TEST(Reports, DifferentOnesStayApart) {
  const char* body = R"(  %i = iota : tile<4xi32>
  %r = remi %x, 3 signed : tile<i32>
  %one = reshape %r : tile<i32> -> tile<1xi32>
  %all = broadcast %one : tile<1xi32> -> tile<4xi32>
  %ok = cmpi less_than %i, %all, signed : tile<4xi32> -> tile<4xi1>
  assert %ok, "one"
  assert %ok, "two"
)";
  for (const char* order : {"linear", "reverse", "random:3"}) {
    const Outcome o = RunBody(body, 10, 1, order);
    ASSERT_EQ(o.reports.size(), 2u) << order;
    EXPECT_EQ(o.reports[0].message, "assertion failed: one");
    EXPECT_EQ(o.reports[1].message, "assertion failed: two");
    for (const Report& r : o.reports) {
      EXPECT_EQ(r.elements, " (element [0] and 3 more)") << order;
      EXPECT_EQ(r.block[0], 0);
      EXPECT_EQ(r.others, 9) << r.ToString();
      EXPECT_EQ(r.first_other[0], 1);
      EXPECT_EQ(r.last_other[0], 9);
    }
  }
}

// The limit is on reports, not on blocks.
TEST(Reports, NoMoreThanTheLimit) {
  std::string body = "  %no = constant <i1: false> : tile<i1>\n";
  for (size_t i = 0; i < kMaxReports + 8; ++i) body += "  assert %no, \"number " + std::to_string(i) + "\"\n";
  const Outcome o = RunBody(body, 50, 1);
  ASSERT_EQ(o.reports.size(), kMaxReports);
  for (const Report& r : o.reports) EXPECT_EQ(r.others, 49) << r.ToString();
}

}  // namespace
}  // namespace tile::vm
