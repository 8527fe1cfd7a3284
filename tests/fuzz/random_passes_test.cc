// Random programs behind each pass of code generation, turned back into tile code: they stay valid, and the VM gives the same
// results. As text behind a pass, read back, they become the same machine code.
//
//   random_passes_test --seeds=FIRST,LAST     others than those of the test
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "codegen/passes/gpu_text.h"
#include "codegen/passes/tile_code.h"
#include "codegen/pipeline.h"
#include "codegen/target/tuning.h"
#include "gtest/gtest.h"
#include "tests/fuzz/random_program.h"
#include "tests/harness/on_vm.h"
#include "tests/passes/through_text.h"

namespace tile::fuzz {
namespace {

uint64_t first_seed = 0, last_seed = 39;

std::string OnVm(const RandomProgram& p, const ir::Module& module, ops::Arguments* arguments) {
  *arguments = MakeArguments(p);
  const ops::Answer answer = ops::OnVm(vm::CheckLevel::kBounds, 1)(module, "random", arguments);
  if (!answer.refused.ok()) return answer.refused.ToString();
  return answer.reports.empty() ? "" : answer.reports[0];
}

codegen::CompileOptions OptionsFor(int sm, int warps) {
  codegen::CompileOptions options;
  options.target = codegen::FindTarget(sm);
  options.num_warps = warps;
  options.permissions.Allow(codegen::May::kTakeDescriptors, sm == 90);
  return options;
}

codegen::Candidate CandidateFor(int sm, int warps) {
  return {sm == 90 ? codegen::Ahead::kTma : codegen::Ahead::kCopies, codegen::tuning::kMostCopyStages, warps};
}

// The warps are few, so that tiles of random programs exceed their registers.
void Compare(uint64_t first, uint64_t last, int sm, int warps) {
  int changed = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, " for sm_", sm));
    const RandomProgram p = MakeRandomProgram({.seed = seed});
    ops::Arguments expected;
    ASSERT_EQ(OnVm(p, *p.module, &expected), "");
    codegen::CompileOptions options = OptionsFor(sm, warps);
    options.verify_each = true;
    codegen::Compilation c(*p.module, *p.module->functions[0], options, CandidateFor(sm, warps));
    std::string before = codegen::PrintGpu(*c.module);
    for (absl::string_view pass : codegen::TileCodePasses()) {
      const absl::Status s = codegen::RunPass(c, pass);
      if (c.fit != codegen::Fit::kFits) break;
      ASSERT_TRUE(s.ok()) << pass << ": " << s;
      std::string text = codegen::PrintGpu(*c.module);
      if (text == before) continue;
      before = std::move(text);
      ++changed;
      ops::Arguments actual;
      ASSERT_EQ(OnVm(p, *codegen::TileCodeOf(*c.module), &actual), "") << "behind " << pass << "\n" << before;
      ASSERT_EQ(Difference(p, expected, actual), "") << "behind " << pass << "\n" << before;
    }
    for (absl::string_view pass : codegen::GpuLevelPasses()) {
      if (c.fit != codegen::Fit::kFits) break;
      const absl::Status s = codegen::RunPass(c, pass);
      ASSERT_TRUE(s.ok()) << pass << ": " << s;
    }
  }
  std::printf("%d changes\n", changed);
  EXPECT_GE(changed, static_cast<int>(last - first + 1)) << "at least the layouts";
}

// Of larger ones (a product by one warp) the machine code takes LLVM ten seconds, and it is made behind each pass.
constexpr size_t kMostPtx = 400'000;

// As text behind each pass, they become the same PTX.
void CompareText(uint64_t first, uint64_t last, int sm, int warps) {
  int compared = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, " for sm_", sm));
    const RandomProgram p = MakeRandomProgram({.seed = seed});
    codegen::CompileOptions options = OptionsFor(sm, warps);
    options.permissions.Allow(codegen::May::kAssumeAligned, seed % 2 == 1);
    const ir::Function& f = *p.module->functions[0];
    const auto straight = codegen::PtxThroughText(*p.module, f, options, CandidateFor(sm, warps), "");
    if (!straight.ok() || straight->size() > kMostPtx) continue;
    for (absl::string_view pass : codegen::ProgramPasses()) {
      const auto ptx = codegen::PtxThroughText(*p.module, f, options, CandidateFor(sm, warps), pass);
      ASSERT_TRUE(ptx.ok()) << pass << ": " << ptx.status();
      ASSERT_EQ(*ptx, *straight) << "as text behind " << pass;
      ++compared;
    }
  }
  std::printf("%d compared\n", compared);
  EXPECT_GT(compared, static_cast<int>(last - first));
}

TEST(RandomPasses, Ampere) { Compare(first_seed, last_seed, 80, 1); }
TEST(RandomPasses, Hopper) { Compare(first_seed, last_seed, 90, 4); }
TEST(RandomPasses, ProductsOnAmpere) { Compare(kProductSeeds + first_seed, kProductSeeds + last_seed, 80, 4); }
TEST(RandomPasses, ProductsOnHopper) { Compare(kProductSeeds + first_seed, kProductSeeds + last_seed, 90, 8); }
TEST(RandomPasses, ProductsInTensorMemory) { Compare(kZeroSeeds + first_seed, kZeroSeeds + last_seed, 100, 8); }
TEST(RandomPasses, LoopsOnAmpere) { Compare(kLoopSeeds + first_seed, kLoopSeeds + last_seed, 80, 4); }
TEST(RandomPasses, LoopsOnHopper) { Compare(kLoopSeeds + first_seed, kLoopSeeds + last_seed, 90, 8); }

TEST(RandomPasses, FlatLoopsOnAmpere) { Compare(kFlatSeeds + first_seed, kFlatSeeds + last_seed, 80, 4); }
TEST(RandomPasses, FlatLoopsOnHopper) { Compare(kFlatSeeds + first_seed, kFlatSeeds + last_seed, 90, 8); }
TEST(RandomPasses, KeptFactorsOnHopper) { Compare(kKeptSeeds + first_seed, kKeptSeeds + last_seed, 90, 8); }

uint64_t LastOfText() { return first_seed + (last_seed - first_seed) / 8; }  // all of the machine code takes its time
TEST(RandomPassesThroughText, Ampere) { CompareText(first_seed, LastOfText(), 80, 1); }
TEST(RandomPassesThroughText, ProductsOnAmpere) {
  CompareText(kProductSeeds + first_seed, kProductSeeds + LastOfText(), 80, 4);
}
TEST(RandomPassesThroughText, ProductsOnHopper) {
  CompareText(kProductSeeds + first_seed, kProductSeeds + LastOfText(), 90, 8);
}
TEST(RandomPassesThroughText, ProductsInTensorMemory) {
  CompareText(kZeroSeeds + first_seed, kZeroSeeds + LastOfText(), 100, 8);
}

}  // namespace
}  // namespace tile::fuzz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) std::sscanf(argv[1], "--seeds=%lu,%lu", &tile::fuzz::first_seed, &tile::fuzz::last_seed);
  return RUN_ALL_TESTS();
}
