// The litmus tests on the VM, with two threads and with all checks: nothing forbidden comes out, and nothing is found.
// The weakened forms run on one thread; in those that are races the VM finds them.
#include "tests/gpu/litmus.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "tests/harness/on_vm.h"
#include "tests/harness/tile_files.h"

namespace tile::ops {
namespace {

// Whether a weaker form is a mistake that a check finds: a scope too narrow, or what is guarded is read or written
// weakly.
bool Races(const LitmusTest& t, const std::string& file) {
  return absl::StrContains(t.name, "tl_blk") || StemOf(file) == "lock" || t.of_round.contains("x");
}

class Litmus : public testing::TestWithParam<std::string> {};

TEST_P(Litmus, NothingForbiddenComesOut) {
  const auto tests = ParseLitmus(ReadFile(GetParam()));
  ASSERT_TRUE(tests.ok()) << tests.status();
  EXPECT_GE(tests->size(), 4u) << "two scopes, each with a weaker form";
  for (const LitmusTest& t : *tests) {
    SCOPED_TRACE(t.name);
    ir::Diagnostics diagnostics;
    const auto module = ir::Parse(t.text, GetParam(), &diagnostics);
    ASSERT_NE(module, nullptr) << diagnostics.ToString();
    ir::Verify(*module, &diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.ToString();
    LitmusCounts counts;
    // What races on purpose runs on one thread.
    const int most = t.weaker ? 1 : 2;
    for (const auto& [level, threads] :
         {std::pair(vm::CheckLevel::kBounds, most), std::pair(vm::CheckLevel::kFull, 1)}) {
      const int64_t rounds = 20, side_by_side = 3;
      auto arguments = LitmusArguments(t, *module->FindFunction("litmus"), rounds, side_by_side);
      ASSERT_TRUE(arguments.ok()) << arguments.status();
      Answer answer = OnVm(level, threads)(*module, "litmus", &*arguments);
      // What comes out depends on the order of blocks: that is what these programs are about.
      std::erase_if(answer.reports, [](const std::string& r) { return absl::StartsWith(r, "vm.order:"); });
      ASSERT_TRUE(answer.refused.ok()) << answer.refused;
      const bool race = t.weaker && level == vm::CheckLevel::kFull && Races(t, GetParam());
      EXPECT_EQ(answer.reports.empty(), !race) << (race ? "" : answer.reports[0]);
      if (answer.reports.empty()) CountOutcomes(t, *arguments, rounds, side_by_side, &counts);
    }
    if (!t.weaker) {
      EXPECT_EQ(counts.forbidden, 0) << counts.ToString();
      EXPECT_EQ(counts.runs, 120);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Litmus, testing::ValuesIn(TileFiles("tests/gpu/litmus")), TileFileName);

TEST(LitmusFile, SaysWhatItCannotRead) {
  EXPECT_FALSE(ParseLitmus("// blocks: 2\n// scopes: device\n").ok());
  EXPECT_FALSE(ParseLitmus("// blocks: x\n// scopes: device\n// forbidden: a=1\n").ok());
  EXPECT_FALSE(ParseLitmus("// blocks: 2\n// scopes: device\n// forbidden: a\n").ok());
  EXPECT_FALSE(
      ParseLitmus("// blocks: 2\n// scopes: device\n// forbidden: a=1\n// weaker b: no => such\nentry\n").ok());
}

TEST(LitmusFile, CountsOutcomes) {
  const auto tests = ParseLitmus(
      "// blocks: 2\n// scopes: device\n// forbidden: a=1 b=0\nentry @litmus(%a: tile<ptr<i32>>,"
      "%b: tile<ptr<i32>>, %rounds: tile<i32>) {\n  return\n}\n");
  ASSERT_TRUE(tests.ok()) << tests.status();
  ir::Diagnostics diagnostics;
  const auto module = ir::Parse((*tests)[0].text, "t.tile", &diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  auto arguments = LitmusArguments((*tests)[0], *module->functions[0], 3, 1);
  ASSERT_TRUE(arguments.ok()) << arguments.status();
  arguments->memories[0].array.bytes.data()[4] = 1;
  LitmusCounts counts;
  CountOutcomes((*tests)[0], *arguments, 3, 1, &counts);
  EXPECT_EQ(counts.forbidden, 1);
  EXPECT_EQ(counts.ToString(), "a=0 b=0: 2, a=1 b=0: 1");
}

}  // namespace
}  // namespace tile::ops
