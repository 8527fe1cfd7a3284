// One round reports syntax, types and rules; what follows from an error is not reported.
#include "ir/text/check.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace tile::ir {
namespace {

// "2:8 text.unknown_op; 5:3 addf.c6; "
std::string Errors(absl::string_view text) {
  Diagnostics diags;
  EXPECT_EQ(ParseAndVerify(text, "f", &diags), nullptr);
  std::string s;
  for (const Diagnostic& d : diags.list()) {
    absl::StrAppend(&s, d.where.substr(2), " ", d.code, "; ");
    EXPECT_NE(d.excerpt, "") << d.ToString();
    EXPECT_NE(d.fix, "") << d.ToString();
  }
  return s;
}

constexpr char kHead[] = "entry @k(%n: tile<i32>, %x: tile<f32>, %h: tile<f16>, %c: tile<i1>, %p: tile<ptr<f32>>) {\n";

std::string InKernel(absl::string_view ops) { return Errors(absl::StrCat(kHead, ops, "\nreturn\n}\n")); }

TEST(Check, SyntaxTypesAndRulesInOneRound) {
  EXPECT_EQ(Errors("entry @k(%x: tile<f32>, %y: tile<f16>, %n: tile<i32>) {\n"
                   "  %a = addf %x, %y\n"                // 2: rule of types
                   "  %b = adf %x, %x\n"                 // 3: no such operation
                   "  %c = addf %b, %b\n"                // follows from 3
                   "  %d = addi %n, %n : tile<i64>\n"    // 5: types
                   "  %e = addf %x, %x flush_to_zero\n"  // fine: f32
                   "  %f = addf %y, %y flush_to_zero\n"  // 7: rule
                   "  %g = load_ptr_tko weak %x\n"       // 8: result does not follow
                   "  return %n\n"                       // 9: rule
                   "}\n"),
            "2:8 addf.c6; 3:8 text.unknown_op; 5:22 text.operand_types; 7:8 addf.c10; 8:28 text.result_types; 9:3 "
            "return.c10; ");
}

TEST(Check, VerifierErrorsHaveLineAndCaret) {
  Diagnostics diags;
  EXPECT_EQ(ParseAndVerify(absl::StrCat(kHead, "  %a = addf %x, %h // sum\n  return\n}\n"), "k.tile", &diags), nullptr);
  EXPECT_EQ(diags.ToString(),
            "k.tile:2:8: error[addf.c6]: addf: rhs is tile<f16>, must have the type of lhs, tile<f32>\n"
            "      %a = addf %x, %h // sum\n"
            "           ^\n"
            "  fix: convert it: %c = ftof %h : tile<f32>\n");
}

TEST(Check, AMissingTerminatorIsNotToldTwice) {
  EXPECT_EQ(InKernel("for %i in (0 to %n, step 1) iter_values(%a = %x) {\n%b = adf %a\ncontinue %b\n}"),
            "3:6 text.unknown_op; ");
  EXPECT_EQ(Errors("entry @k() {\n  retrun\n}\n"), "2:3 text.unknown_op; ");
  EXPECT_EQ(InKernel("%r = if %c {\nyield %nothing\n} else {\nyield %x\n}\n%s = addf %r, %h"),
            "3:7 text.undefined; 7:6 addf.c6; ");
  EXPECT_EQ(InKernel("%r = if %c {\nyield %nothing\n} else {\nyield %nothing\n}\n%s = addf %r, %h"),
            "3:7 text.undefined; 5:7 text.undefined; ");
  EXPECT_EQ(InKernel("%r = loop {\nbreak %nothing\n}\nnegf %r"), "3:7 text.undefined; ");
}

TEST(Check, BodiesOfOperationsWithAnErrorAreJudged) {
  // The loop's bound and what it carries are unknown, its body has a mistake of its own.
  EXPECT_EQ(InKernel("%a = adf %x\n"
                     "%r = for %i in (0 to %m, step 1) iter_values(%s = %a) {\n"
                     "  %t = addf %s, %x\n"
                     "  %u = addf %x, %h\n"
                     "  continue %t\n"
                     "}\n"
                     "%v = negf %r"),
            "2:6 text.unknown_op; 3:22 text.undefined; 5:8 addf.c6; ");
  EXPECT_EQ(InKernel("if %d {\n%a = addf %x, %h\n}"), "2:4 text.undefined; 3:6 addf.c6; ");
  EXPECT_EQ(InKernel("%r = reduce %y dim=0 identities=[0] (%e, %a) {\n%s = addi %e, %a\n%q = addf %x, %h\nyield %s\n}"),
            "2:13 text.undefined; 4:6 addf.c6; ");
}

TEST(Check, OfTwoValuesOfOneNameNothingIsSaid) {
  EXPECT_EQ(InKernel("%a = negf %x\n%a = negi %n\n%b = addi %a, %n"), "3:1 text.redefined; ");
}

TEST(Check, OtherEntriesAndGlobals) {
  EXPECT_EQ(Errors("entry @a(%x tile<f32>) {\n  return\n}\n"  // 1: syntax
                   "global @g <f32: [1, 2]> : tile<4xf32>\n"  // 4: type
                   "entry @b(%x: tile<f32>, %h: tile<f16>) {\n"
                   "  %p = get_global @g : tile<ptr<f32>>\n"  // follows from 4
                   "  %q = addf %x, %h\n  return\n}\n"),      // 7: rule
            "1:13 text.syntax; 4:27 text.global_type; 7:8 addf.c6; ");
  EXPECT_EQ(Errors("entry @b(%x: tile<f32>, %h: tile<f16>) interface {\n  in x f32[4]\n} {\n  %q = addf %x, %h\n"
                   "  return\n}\n"),
            "2:8 text.syntax; 4:8 addf.c6; ");
  EXPECT_EQ(Errors("entry @b(%x: tile<f32>, %h: tile<f16>) {\n  %q = addf %x, %h\n  return loc(#2)\n}\n"),
            "2:8 addf.c6; 3:14 text.debug_reference; ");
}

TEST(Check, PlacesOfParametersAndInterface) {
  EXPECT_EQ(Errors("entry @k(%a: tile<ptr<f32>>,\n         %b: tile<3xf32>) {\n  return\n}\n"), "2:10 type.c1; ");
  EXPECT_EQ(Errors("entry @k(%a: tile<ptr<f32>>,\n         %n: tile<i32>, %s: tile<f32>) interface {\n"
                   "  in x: f32[%n] at %a\n  out y: f32[%n]\n  grid 1, x.shape[1]\n} {\n  return\n}\n"),
            "2:25 interface.c6; 4:3 interface.c1; 5:11 interface.c3; ");
  Diagnostics diags;
  ParseAndVerify("entry @k() interface {\n  out y: f32[4]\n} {\n  return\n}\n", "f", &diags);
  ASSERT_EQ(diags.num_errors(), 1u);
  EXPECT_EQ(diags.list()[0].message, "interface of @k: y is bound to no pointer");
}

TEST(Check, WarningsAreKept) {
  Diagnostics diags;
  EXPECT_NE(ParseAndVerify("entry @k() optimization_hints=<sm_90 = {no_such_hint = 1}> {\n  return\n}\n", "f", &diags),
            nullptr);
  ASSERT_EQ(diags.list().size(), 1u);
  EXPECT_TRUE(absl::StartsWith(diags.list()[0].code, "hint.")) << diags.ToString();
}

TEST(Check, AFullListIsAnError) {
  std::string text = kHead;
  for (int i = 0; i < 1000; ++i) text += "addf %x, %h\n";
  Diagnostics diags(10);
  EXPECT_EQ(ParseAndVerify(text + "return\n}", "f", &diags), nullptr);
  EXPECT_EQ(diags.num_errors(), 10u);
}

TEST(Check, ByteOrderMarkAndLongLines) {
  Diagnostics diags;
  EXPECT_EQ(ParseAndVerify("\xEF\xBB\xBF"
                           "entry @k(%x: tile<3xf32>) {\n  return\n}\n",
                           "f", &diags),
            nullptr);
  ASSERT_EQ(diags.num_errors(), 1u);
  EXPECT_TRUE(absl::EndsWith(diags.list()[0].excerpt, "\n             ^")) << diags.ToString();
}

}  // namespace
}  // namespace tile::ir
