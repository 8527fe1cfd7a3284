#include "tests/harness/announced.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace tile {
namespace {

// Line of "<name>:12:3"; 0 for a place in another file, or none.
int LineOf(const ir::Diagnostic& d, const std::string& name) {
  absl::string_view where = d.where;
  int line = 0;
  if (absl::ConsumePrefix(&where, name + ":")) (void)absl::SimpleAtoi(where.substr(0, where.find(':')), &line);
  return line;
}

}  // namespace

std::vector<Announced> ParseAnnounced(const std::string& text) {
  std::vector<Announced> all;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> comments = absl::StrSplit(line, "//");
    for (size_t i = 1; i < comments.size(); ++i) {
      absl::string_view c = absl::StripAsciiWhitespace(comments[i]);
      Announced a;
      a.line = number;
      for (const char* severity : {"error", "warning"}) {
        if (absl::ConsumePrefix(&c, severity)) a.severity = severity;
      }
      if (a.severity.empty()) continue;
      if (absl::ConsumePrefix(&c, " anywhere")) a.line = 0;
      if (!absl::ConsumePrefix(&c, ": ")) continue;
      const std::vector<absl::string_view> parts = absl::StrSplit(c, absl::MaxSplits(": ", 1));
      a.code = std::string(parts[0]);
      if (parts.size() > 1) a.text = std::string(parts[1]);
      all.push_back(std::move(a));
    }
  }
  return all;
}

void ExpectAnnounced(const std::string& name, std::vector<Announced> expected, const ir::Diagnostics& diagnostics) {
  for (const ir::Diagnostic& got : diagnostics.list()) {
    const int line = LineOf(got, name);
    const auto it = std::find_if(expected.begin(), expected.end(), [&](const Announced& a) {
      return a.line == line && a.code == got.code && absl::StrContains(got.message, a.text) &&
             (a.severity == "error") == (got.severity == ir::Severity::kError);
    });
    if (it == expected.end()) {
      ADD_FAILURE() << "not announced in the file: " << got.ToString();
    } else {
      expected.erase(it);
    }
  }
  for (const Announced& a : expected) {
    ADD_FAILURE() << name << ":" << a.line << ": not reported: " << a.code << ": " << a.text << "\n"
                  << diagnostics.ToString();
  }
}

}  // namespace tile
