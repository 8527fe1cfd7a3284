// Runs every file of this folder through the parser and the verifier. A file is named after the rule it is about,
// `addf.c10.tile`, and says what must be reported where:
//
//   %0 = addf %x, %x flush_to_zero : tile<f16>   // error: addf.c10: needs f32
//
// The line must give exactly the diagnostics that its comments name (`error:` or `warning:`, several separated by `//`),
// the message holding the text behind the code. `error anywhere:` is about one that has no line, or one of another file.
// Rules that the text form cannot break have a case in unwritable.cc. A rule without file and case fails the test.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify.h"
#include "tests/verify/unwritable.h"

namespace tile::ir {
namespace {

struct Expected {
  std::string severity, code, text;
  int line;  // 0: anywhere
};

std::vector<std::filesystem::path> Files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/verify")) {
    if (entry.path().extension() == ".tile") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Contents(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

std::vector<Expected> Annotations(const std::string& text) {
  std::vector<Expected> all;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> comments = absl::StrSplit(line, "//");
    for (size_t i = 1; i < comments.size(); ++i) {
      absl::string_view c = absl::StripAsciiWhitespace(comments[i]);
      Expected e;
      e.line = number;
      if (absl::ConsumePrefix(&c, "error")) e.severity = "error";
      else if (absl::ConsumePrefix(&c, "warning")) e.severity = "warning";
      else continue;
      if (absl::ConsumePrefix(&c, " anywhere")) e.line = 0;
      if (!absl::ConsumePrefix(&c, ": ")) continue;
      const std::vector<absl::string_view> parts = absl::StrSplit(c, absl::MaxSplits(": ", 1));
      e.code = std::string(parts[0]);
      if (parts.size() > 1) e.text = std::string(parts[1]);
      all.push_back(e);
    }
  }
  return all;
}

// Line of "<name>:12:3"; 0 for a place in another file, or none.
int LineOf(const Diagnostic& d, const std::string& name) {
  absl::string_view where = d.where;
  int line = 0;
  if (absl::ConsumePrefix(&where, name + ":")) (void)absl::SimpleAtoi(where.substr(0, where.find(':')), &line);
  return line;
}

class VerifyFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(VerifyFile, ReportsWhatItSays) {
  const std::string text = Contents(GetParam()), name = GetParam().filename();
  Diagnostics d;
  const std::unique_ptr<Module> module = Parse(text, name, &d);
  ASSERT_NE(module, nullptr) << d.ToString();
  Verify(*module, &d);

  std::vector<Expected> expected = Annotations(text);
  for (const Diagnostic& got : d.list()) {
    const int line = LineOf(got, name);
    const auto it = std::find_if(expected.begin(), expected.end(), [&](const Expected& e) {
      return e.line == line && e.code == got.code && absl::StrContains(got.message, e.text) &&
             (e.severity == "error") == (got.severity == Severity::kError);
    });
    if (it == expected.end()) {
      ADD_FAILURE() << "not announced in the file: " << got.ToString();
    } else {
      expected.erase(it);
    }
  }
  for (const Expected& e : expected) {
    ADD_FAILURE() << name << ":" << e.line << ": not reported: " << e.code << ": " << e.text << "\n" << d.ToString();
  }
  // A file shows what its name says.
  const std::string label = GetParam().stem();
  EXPECT_TRUE(label == "valid" || absl::StrContains(text, absl::StrCat(": ", label, ":"))) << label;
}

INSTANTIATE_TEST_SUITE_P(Files, VerifyFile, testing::ValuesIn(Files()), [](const auto& info) {
  std::string s = info.param.stem();
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
  for (const auto& file : Files()) {
    for (const Expected& e : Annotations(Contents(file))) shown.insert(e.code);
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
