#include "codegen/assemble/frequencies.h"

#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

TEST(Frequencies, AreCommentsThatBecomePragmas) {
  const std::string ptx = "//\n.version 8.4\n.target sm_90a\n$L1:\n\t// tile.frequency 1000\n\tret;\n";
  ASSERT_TRUE(HasFrequencies(ptx));
  EXPECT_EQ(WithFrequencies(ptx), "//\n.version 9.0\n.target sm_90a\n$L1:\n\t.pragma \"frequency 1000\";\n\tret;\n");
}

TEST(Frequencies, CanBeLeftOut) {
  EXPECT_EQ(WithoutFrequencies("$L1:\n\t// tile.frequency 1000\n\tret;\n"), "$L1:\n\tret;\n");
}

TEST(Frequencies, LeaveANewerVersionAndOtherCommentsAlone) {
  const std::string ptx = ".version 9.1\n\t// tile\n";
  EXPECT_FALSE(HasFrequencies(ptx));
  EXPECT_EQ(WithFrequencies(ptx), ptx);
}

}  // namespace
}  // namespace tile::codegen
