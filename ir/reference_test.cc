#include "ir/reference.h"

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace tile::ir {
namespace {

TEST(Reference, EveryRowHasADocComment) {
  for (const OpInfo& op : AllOps()) EXPECT_FALSE(DocOf(op.opcode).empty()) << op.mnemonic;
  for (const StructureInfo& s : AllStructures()) EXPECT_FALSE(DocOf(s.opcode).empty()) << s.mnemonic;
  EXPECT_EQ(DocOf(Opcode::kAddf), "lhs + rhs, correctly rounded.");
}

TEST(Reference, EveryOperationHasAnExampleOfItself) {
  for (const OpInfo& op : AllOps()) {
    EXPECT_TRUE(absl::StrContains(ExampleOf(op.opcode), op.mnemonic))
        << op.mnemonic << ": no line `///     MNEMONIC f32: [1] = [1]` in its comment, no kernel in ir/examples";
  }
  EXPECT_EQ(ExampleOf(Opcode::kIota), "%i = iota : tile<8xi32>  // = [0, 1, 2, 3, 4, 5, 6, 7]\n");
}

TEST(Reference, TextOfAnOperation) {
  EXPECT_EQ(OpReferenceText(*FindOp("negi")),
            "negi  (0x50, Tile IR 13.1, pure, elementwise)\n"
            "  0 - source; the minimum stays.\n"
            "\n"
            "  negi $source (overflow<$overflow>)?\n"
            "\n"
            "  source    a tile of i1, i8, i16, i32 or i64\n"
            "  overflow  Overflow: none (default), no_signed_wrap, no_unsigned_wrap, no_wrap, since Tile IR 13.2\n"
            "  → result  type of source\n"
            "  negi.c10  overflow is none, no_signed_wrap or no_wrap.\n"
            "\n"
            "  example:\n"
            "    %x = constant <i8: [5, -5, 0, -128]> : tile<4xi8>\n"
            "    %r = negi %x  // = [-5, 5, 0, -128]\n");
}

TEST(Reference, RulesAboutMemoryAreThoseOfAccesses) {
  EXPECT_TRUE(absl::StrContains(OpReferenceText(*FindOp("load_ptr_tko")), "load_ptr_tko.c11  The memory ordering"));
  EXPECT_FALSE(absl::StrContains(OpReferenceText(*FindOp("cmpf")), "cmpf.c"));  // its ordering is about NaN
}

TEST(Reference, ListNamesEveryOperation) {
  const std::string list = OpListText();
  for (const OpInfo& op : AllOps())
    EXPECT_TRUE(absl::StrContains(list, absl::StrCat("  ", op.mnemonic, " "))) << op.mnemonic;
}

TEST(Reference, Json) {
  const std::string json = OpTableJson();
  EXPECT_TRUE(
      absl::StrContains(json,
                        "{\"number\": 2, \"mnemonic\": \"addf\", \"name\": \"Addf\", \"format\": \"BinaryRoundFtz\", "
                        "\"family\": \"float\", \"since\": 1301, \"traits\": [\"pure\", \"elementwise\", "
                        "\"commutative\"], \"constraints\": \"lhs:FP rhs=lhs result=lhs\", "
                        "\"rules\": [\"addf.c10\", \"addf.c11\"]"))
      << json.substr(json.find("addf") - 40, 300);
}

TEST(Reference, JsonHasTheNamesOfOthers) {
  EXPECT_TRUE(absl::StrContains(
      OpTableJson(),
      "{\"name\": \"relu\", \"kind\": \"op\", \"own\": \"maxf\", \"form\": \"maxf %x, 0.0\", \"script\": \"script.maximum(x, 0)\"}"));
}

TEST(Reference, AListOfSomeOperations) {
  const absl::string_view some[] = {"subf", "addf"};
  EXPECT_EQ(OpListText(some), absl::StrCat("subf", std::string(28, ' '), DocOf(Opcode::kSubf), "\naddf",
                                           std::string(28, ' '), DocOf(Opcode::kAddf), "\n"));
  EXPECT_EQ(OpListText(absl::Span<const absl::string_view>()), "");
}

// Update it with: bazel run //ir:write_reference
TEST(Reference, PageIsUpToDate) {
  std::ifstream in("docs/operations.md");
  std::stringstream page;
  page << in.rdbuf();
  EXPECT_TRUE(page.str() == OperationsPage())
      << "docs/operations.md is not what the tables say: bazel run //ir:write_reference";
}

}  // namespace
}  // namespace tile::ir
