// Some random programs through the code generator for several kinds of GPU, and through ptxas if there is one. That
// they compute the right thing takes a GPU: //tests/gpu.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/compile.h"
#include "codegen/ptxas.h"
#include "gtest/gtest.h"
#include "tests/fuzz/random_program.h"

namespace tile::fuzz {
namespace {

class RandomCompile : public testing::TestWithParam<int> {};

TEST_P(RandomCompile, MakesPtxThatPtxasTakes) {
  int refused = 0;
  for (uint64_t i = 0; i < 12; ++i) {
    // Others for each target.
    const uint64_t seed = 1000 + 100 * static_cast<uint64_t>(GetParam()) + i;
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const RandomProgram p = MakeRandomProgram({.seed = seed});
    codegen::CompileOptions options;
    options.target = codegen::FindTarget(GetParam());
    const auto compiled = codegen::Compile(*p.module, *p.module->functions[0], options);
    if (!compiled.ok() && absl::StrContains(compiled.status().message(), "error[codegen.shared]")) {
      ++refused;  // a tile too large for what the target has
      continue;
    }
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_FALSE(compiled->ptx.empty());
    if (codegen::FindPtxas().empty()) continue;
    const auto assembled = codegen::Assemble(compiled->ptx, options.target->arch, {});
    EXPECT_TRUE(assembled.ok()) << assembled.status();
  }
  EXPECT_LE(refused, GetParam() == 75 ? 4 : 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomCompile, testing::Values(75, 80, 90),
                         [](const auto& info) { return absl::StrCat("sm_", info.param); });

}  // namespace
}  // namespace tile::fuzz
