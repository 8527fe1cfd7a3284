#include "vm/kernels/isa.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace tile::vm {
namespace {

TEST(Isa, BestIsSupported) { EXPECT_TRUE(IsaSupported(BestIsa())); }

#if defined(__x86_64__)
TEST(Isa, EachLevelContainsTheOneBelow) {
  EXPECT_FALSE(IsaSupported(Isa::kGeneric));
  EXPECT_TRUE(IsaSupported(Isa::kV2) || !IsaSupported(Isa::kV3));
  EXPECT_TRUE(IsaSupported(Isa::kV3) || !IsaSupported(Isa::kV4));
}

TEST(IsaDeathTest, EnvironmentChooses) {
  // A child process, since the choice is made once.
  EXPECT_EXIT(
      {
        setenv("TILEVM_ISA", "v2", 1);
        _exit(BestIsa() == Isa::kV2 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        setenv("TILEVM_ISA", "v9", 1);
        _exit(IsaSupported(BestIsa()) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "TILEVM_ISA=v9 is not one");
}
#endif

}  // namespace
}  // namespace tile::vm
