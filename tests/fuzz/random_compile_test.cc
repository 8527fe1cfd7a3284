// Some random programs through the code generator for several kinds of GPU, and through ptxas if there is one. That
// they compute the right thing takes a GPU: //tests/gpu.
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/assemble/ptxas.h"
#include "codegen/compile.h"
#include "gtest/gtest.h"
#include "tests/fuzz/random_program.h"

namespace tile::fuzz {
namespace {

class RandomCompile : public testing::TestWithParam<int> {};

// Others for each target, and some of matrix products and of loops of them.
std::vector<uint64_t> Seeds(int sm) {
  std::vector<uint64_t> seeds;
  for (uint64_t i = 0; i < 12; ++i) {
    seeds.push_back(1000 + 100 * static_cast<uint64_t>(sm) + i);
    if (i < 4) seeds.push_back(kLoopSeeds + 1000 + 100 * static_cast<uint64_t>(sm) + i);
    for (uint64_t more : {0, 50}) seeds.push_back(kProductSeeds + 1000 + 100 * static_cast<uint64_t>(sm) + i + more);
  }
  return seeds;
}

TEST_P(RandomCompile, MakesPtxThatPtxasTakes) {
  int refused = 0, refused_products = 0, by_tma = 0, without_library = 0;
  for (const uint64_t seed : Seeds(GetParam())) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const RandomProgram p = MakeRandomProgram({.seed = seed});
    codegen::CompileOptions options;
    options.target = codegen::FindTarget(GetParam());
    options.permissions.Allow(codegen::May::kTakeDescriptors, seed >= kProductSeeds);
    options.verify_each = true;
    const auto compiled = codegen::Compile(*p.module, *p.module->functions[0], options);
    if (!compiled.ok() && absl::StrContains(compiled.status().message(), "error[codegen.shared]")) {
      ++(seed < kProductSeeds ? refused : refused_products);  // a tile too large for what the target has
      continue;
    }
    if (!compiled.ok() && absl::StrContains(compiled.status().message(), "error[codegen.libdevice]")) {
      ++without_library;  // no CUDA on this machine
      continue;
    }
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_FALSE(compiled->ptx.empty());
    by_tma += absl::StrContains(compiled->ptx, "tile.bulk_group");
    if (codegen::FindPtxas().empty()) continue;
    const auto assembled = codegen::Assemble(compiled->ptx, options.target->arch, {});
    EXPECT_TRUE(assembled.ok()) << assembled.status();
  }
  EXPECT_LE(refused, GetParam() == 75 ? 4 : 0);
  EXPECT_LE(refused_products, GetParam() == 75 ? 10 : 0);
  EXPECT_LE(without_library, 12) << "few programs have mathematical functions";
  EXPECT_EQ(by_tma > 0, GetParam() == 90) << "the programs should store some results by TMA";
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomCompile, testing::Values(75, 80, 90),
                         [](const auto& info) { return absl::StrCat("sm_", info.param); });

}  // namespace
}  // namespace tile::fuzz
