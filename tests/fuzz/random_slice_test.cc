// Random programs with their tiles cut into slices: the program stays valid, and the VM gives the same results and
// finds no token missing. Limits are so low that small tiles are cut, too.
//
//   random_slice_test --seeds=FIRST,LAST     others than those of the test
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/passes/slice.h"
#include "gtest/gtest.h"
#include "ir/text/printer.h"
#include "ir/verify.h"
#include "tests/fuzz/random_program.h"
#include "tests/ops/on_vm.h"

namespace tile::fuzz {
namespace {

int64_t first_seed = 0, last_seed = 299;

std::string OnVm(const RandomProgram& p, ops::Arguments* arguments) {
  *arguments = MakeArguments(p);
  const ops::Answer answer = ops::OnVm(vm::CheckLevel::kFull, 1)(*p.module, "random", arguments);
  if (!answer.refused.ok()) return answer.refused.ToString();
  return answer.reports.empty() ? "" : answer.reports[0];
}

TEST(RandomSlice, SlicedProgramsDoTheSame) {
  int64_t sliced = 0, compared = 0, outside = 0;
  for (int64_t seed = first_seed; seed <= last_seed; ++seed) {
    const int64_t slice = int64_t{16} << (seed % 4);
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const RandomOptions options = {.seed = static_cast<uint64_t>(seed)};
    const RandomProgram p = MakeRandomProgram(options), q = MakeRandomProgram(options);
    const int loops =
        codegen::Slice({.limit = 4 * slice, .slice = slice}, q.module.get(), q.module->functions[0].get(), nullptr);
    if (loops == 0) continue;
    sliced += loops;
    ir::Diagnostics diagnostics;
    ir::Verify(*q.module, &diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.ToString() << ir::Print(*q.module);
    ops::Arguments expected, actual;
    ASSERT_EQ(OnVm(p, &expected), "");
    const std::string report = OnVm(q, &actual);
    // A slice of a tile that sticks out of its tensor may lie outside altogether, which only GPUs take.
    if (absl::StartsWith(report, "vm.index_out_of_bounds")) {
      ++outside;
      continue;
    }
    ASSERT_EQ(report, "") << ir::Print(*p.module) << ir::Print(*q.module);
    ASSERT_EQ(Difference(p, expected, actual), "") << ir::Print(*p.module) << ir::Print(*q.module);
    ++compared;
  }
  std::printf("%ld loops, %ld programs compared, %ld with slices outside\n", sliced, compared, outside);
  EXPECT_GT(compared, (last_seed - first_seed + 1) / 20);
}

}  // namespace
}  // namespace tile::fuzz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) std::sscanf(argv[1], "--seeds=%ld,%ld", &tile::fuzz::first_seed, &tile::fuzz::last_seed);
  return RUN_ALL_TESTS();
}
