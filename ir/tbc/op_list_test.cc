#include "ir/tbc/op_list.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/op_info.h"
#include "ir/tbc/version.h"

namespace tile::ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(OpList, EveryReleasedTableIsKept) {
  int lists = 0;
  for (const auto& entry : std::filesystem::directory_iterator("schemas/released")) {
    if (entry.path().extension() != ".ops") continue;
    ++lists;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    EXPECT_GT(text.str().size(), 1000u);
    EXPECT_THAT(OpListProblems(text.str(), ListOps()), IsEmpty())
        << entry.path() << " is part of a release: files of that version would be misread";
  }
  EXPECT_GT(lists, 0);
}

// Else --target-version=0.1 would write files that readers of 0.1 reject.
TEST(OpList, LaterOperationsNeedAFeature) {
  std::stringstream first;
  first << std::ifstream("schemas/released/0.1.ops").rdbuf();
  for (const OpInfo& op : AllOps()) {
    const std::string key = absl::StrCat("op ", absl::Hex(static_cast<int>(op.opcode), absl::kZeroPad4), " ");
    EXPECT_NE(absl::StrContains(first.str(), key), TbcFeatureOfLaterOp(static_cast<int>(op.opcode)) >= 0)
        << op.mnemonic
        << ": operations that came after 0.1, and only they, belong to a TBC_LATER_OPS row of features.def";
  }
}

TEST(OpList, TellsWhatOldFilesSurvive) {
  const char* const kOld =
      "op 0001 a | x y | f:Flag r:Enum:R=0 n:Int! | result |\n"
      "op 0002 b | x i... t? | | r... | body\n"
      "enum R | one=0 two=1\n";
  const struct {
    const char *from, *to;
    bool survives;
  } kCases[] = {
      {"x y |", "x y z? |", true},  // a new optional operand
      {"x y |", "x more... y |", true},
      {"x y |", "x y z |", false},
      {"x y |", "y x |", false},
      {"x y |", "x |", false},
      {"i... t?", "t? i...", false},
      {"i... t?", "i... u? t?", true},
      {"f:Flag", "f:Bool", false},
      {"f:Flag", "g:Flag f:Flag", true},
      {"f:Flag", "g:Int! f:Flag", false},
      {"f:Flag ", "", false},
      {"r:Enum:R=0", "r:Enum:R=1", false},  // another default
      {"| result |", "| result token? |", true},
      {"| result |", "| result token |", false},
      {"| body", "| then else", false},
      {"0001 a", "0001 c", false},
      {"0001 a", "0003 a", false},
      {"two=1", "two=1 three=2", true},
      {"two=1", "two=2", false},
      {"two=1", "", false},
      {"enum R", "enum S | x=0\nenum R", true},
  };
  for (const auto& c : kCases) {
    const std::string changed = absl::StrReplaceAll(kOld, {{c.from, c.to}});
    ASSERT_NE(changed, kOld) << c.from;
    EXPECT_EQ(OpListProblems(kOld, changed).empty(), c.survives) << c.from << " -> " << c.to;
  }
  EXPECT_THAT(OpListProblems(kOld, ""), ElementsAre("enum R is gone", "op 0001 is gone", "op 0002 is gone"));
}

TEST(OpList, Lines) {
  const std::string list = ListOps();
  EXPECT_TRUE(
      absl::StrContains(list, "op 0002 addf | lhs rhs | flush_to_zero:Flag rounding:Enum:Rounding=0 | result |\n"));
  EXPECT_TRUE(absl::StrContains(list, "enum Signedness | unsigned=0 signed=1\n"));
}

}  // namespace
}  // namespace tile::ir
