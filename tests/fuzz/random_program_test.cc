// Random programs on the VM: no check finds anything, and threads, check levels and a second making change nothing.
//
//   random_program_test --seeds=FIRST,LAST     others than those of the test
#include "tests/fuzz/random_program.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/clone.h"
#include "ir/compare.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "tests/harness/on_vm.h"

namespace tile::fuzz {
namespace {

int64_t first_seed = 0, last_seed = 299;

// Those and, unless others were asked for, some of matrix products and of loops of them, and one that reduces a tile of 4-bit floats, whose size must be even.
std::vector<int64_t> Seeds() {
  std::vector<int64_t> seeds;
  for (int64_t seed = first_seed; seed <= last_seed; ++seed) seeds.push_back(seed);
  for (int64_t i = 0; first_seed == 0 && i < 40; ++i) seeds.push_back(static_cast<int64_t>(kProductSeeds) + i);
  for (int64_t i = 0; first_seed == 0 && i < 40; ++i) seeds.push_back(static_cast<int64_t>(kLoopSeeds) + i);
  if (first_seed == 0) seeds.push_back(500642);
  return seeds;
}

std::string OnVm(const RandomProgram& p, vm::CheckLevel level, int threads, ops::Arguments* arguments) {
  *arguments = MakeArguments(p, level == vm::CheckLevel::kFull ? Bools::kBits : Bools::kBytes);
  const ops::Answer answer = ops::OnVm(level, threads)(*p.module, "random", arguments);
  if (!answer.refused.ok()) return answer.refused.ToString();
  return answer.reports.empty() ? "" : answer.reports[0];
}

TEST(RandomProgram, TheVmAgreesWithItself) {
  for (const int64_t seed : Seeds()) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const RandomProgram p = MakeRandomProgram({.seed = static_cast<uint64_t>(seed)});
    ops::Arguments full, one, two;
    ASSERT_EQ(OnVm(p, vm::CheckLevel::kFull, 1, &full), "");
    ASSERT_EQ(OnVm(p, vm::CheckLevel::kBounds, 1, &one), "");
    ASSERT_EQ(OnVm(p, vm::CheckLevel::kNone, 2, &two), "");
    ASSERT_EQ(Difference(p, one, two), "");
    SettleBools(p, &one);
    ASSERT_EQ(Difference(p, full, one), "");
  }
}

TEST(RandomProgram, ClonesAreEqual) {
  for (const int64_t seed : Seeds()) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const RandomProgram p = MakeRandomProgram({.seed = static_cast<uint64_t>(seed)});
    const std::unique_ptr<ir::Module> clone = ir::CloneModule(*p.module);
    ASSERT_EQ(ir::FirstDifference(*p.module, *clone), "");
    ASSERT_EQ(ir::Print(*p.module), ir::Print(*clone));
  }
}

TEST(RandomProgram, TheSeedDecides) {
  for (int64_t seed = first_seed; seed <= std::min(last_seed, first_seed + 20); ++seed) {
    const RandomOptions options = {.seed = static_cast<uint64_t>(seed)};
    const std::string text = ir::Print(*MakeRandomProgram(options).module);
    EXPECT_EQ(text, ir::Print(*MakeRandomProgram(options).module));
    ir::Diagnostics diagnostics;
    const auto parsed = ir::Parse(text, "random.tile", &diagnostics);
    ASSERT_NE(parsed, nullptr) << diagnostics.ToString();
    EXPECT_EQ(ir::Print(*parsed), text);
  }
}

// What finds the step that goes wrong.
TEST(RandomProgram, FewerStepsAreTheSameSteps) {
  for (int64_t seed = first_seed; seed <= std::min(last_seed, first_seed + 20); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const int steps = MakeRandomProgram({.seed = static_cast<uint64_t>(seed)}).steps;
    for (int n = 1; n <= steps; n += 3) {
      const RandomProgram p = MakeRandomProgram({.seed = static_cast<uint64_t>(seed), .steps = n, .last_only = true});
      EXPECT_EQ(p.steps, n);
      ops::Arguments arguments;
      EXPECT_EQ(OnVm(p, vm::CheckLevel::kFull, 1, &arguments), "");
    }
  }
}

}  // namespace
}  // namespace tile::fuzz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) std::sscanf(argv[1], "--seeds=%ld,%ld", &tile::fuzz::first_seed, &tile::fuzz::last_seed);
  return RUN_ALL_TESTS();
}
