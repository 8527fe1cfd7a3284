#include "codegen/assemble/frequencies.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace tile::codegen {
namespace {

// "8.4": 84; 0 if it is none.
int VersionIn(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(absl::StripAsciiWhitespace(text), '.');
  int major = 0, minor = 0;
  return parts.size() == 2 && absl::SimpleAtoi(parts[0], &major) && absl::SimpleAtoi(parts[1], &minor)
             ? major * 10 + minor
             : 0;
}

}  // namespace

bool HasFrequencies(const std::string& ptx) { return ptx.find(kFrequencyMark) != std::string::npos; }

std::string WithFrequencies(const std::string& ptx) {
  std::string out;
  for (const absl::string_view line : absl::StrSplit(ptx, '\n')) {
    if (!out.empty()) out += '\n';
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(line);
    if (absl::ConsumePrefix(&rest, kFrequencyMark)) {
      absl::StrAppend(&out, "\t.pragma \"frequency ", absl::StripAsciiWhitespace(rest), "\";");
    } else if (absl::ConsumePrefix(&rest, ".version ") && VersionIn(rest) < kPtxOfFrequencies) {
      absl::StrAppend(&out, ".version ", kPtxOfFrequencies / 10, ".", kPtxOfFrequencies % 10);
    } else {
      absl::StrAppend(&out, line);
    }
  }
  return out;
}

}  // namespace tile::codegen
