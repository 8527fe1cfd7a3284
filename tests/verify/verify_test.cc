// Runs every file of this folder through the parser and the verifier, in one round. A file is named after the rule it
// is about, `addf.c10.tile`, and announces what must be reported where (tests/harness/announced.h). Rules that the text
// form cannot break have a case in unwritable.cc. A rule without file and case fails the test.

#include "ir/verify/verify.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/text/check.h"
#include "tests/harness/announced.h"
#include "tests/harness/tile_files.h"
#include "tests/verify/unwritable.h"

namespace tile::ir {
namespace {

class VerifyFile : public testing::TestWithParam<std::string> {};

TEST_P(VerifyFile, ReportsWhatItSays) {
  const std::string text = ReadFile(GetParam()), label = StemOf(GetParam()), name = label + ".tile";
  Diagnostics d;
  ParseAndVerify(text, name, &d);
  ExpectAnnounced(name, ParseAnnounced(text), d);
  // Every error says where in the text, unless it speaks of another file, and what to do.
  for (const Diagnostic& got : d.list()) {
    if (got.severity != Severity::kError) continue;
    EXPECT_NE(got.fix, "") << got.ToString();
    if (absl::StartsWith(got.where, absl::StrCat(name, ":"))) {
      EXPECT_NE(got.excerpt, "") << got.ToString();
    }
  }
  // A file shows what its name says.
  EXPECT_TRUE(label == "valid" || absl::StrContains(text, absl::StrCat(": ", label, ":"))) << label;
}

INSTANTIATE_TEST_SUITE_P(Files, VerifyFile, testing::ValuesIn(TileFiles("tests/verify")), [](const auto& info) {
  std::string s = StemOf(info.param);
  std::replace(s.begin(), s.end(), '.', '_');
  return s;
});

class Unwritable : public testing::TestWithParam<UnwritableCase> {};

TEST_P(Unwritable, IsReported) {
  Module m;
  GetParam().build(m);
  Diagnostics d;
  Verify(m, &d);
  ASSERT_FALSE(d.list().empty());
  for (const Diagnostic& got : d.list()) {
    EXPECT_EQ(got.code, GetParam().code) << got.ToString();
    EXPECT_TRUE(absl::StrContains(got.message, GetParam().text)) << got.ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Unwritable, testing::ValuesIn(UnwritableCases()), [](const auto& info) {
  std::string s = absl::StrCat(info.param.code, "_", info.index);
  std::replace(s.begin(), s.end(), '.', '_');
  return s;
});

TEST(Rules, EachHasAFileOrACase) {
  std::set<std::string> shown;
  for (const std::string& file : TileFiles("tests/verify")) {
    for (const Announced& e : ParseAnnounced(ReadFile(file))) shown.insert(e.code);
  }
  for (const UnwritableCase& c : UnwritableCases()) shown.insert(c.code);
  for (const RuleInfo& rule : AllRules()) {
    bool found = shown.count(rule.Code()) > 0;
    for (const OpInfo& op : AllOps()) found |= rule.AppliesTo(op) && shown.count(rule.CodeFor(op)) > 0;
    EXPECT_TRUE(found) << rule.name << " (" << rule.applies << ", number " << rule.number << ") has no test";
  }
}

}  // namespace
}  // namespace tile::ir
