#include "codegen/assemble/frequencies.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "codegen/assemble/version_number.h"

namespace tile::codegen {
bool HasFrequencies(const std::string& ptx) { return ptx.find(kFrequencyMark) != std::string::npos; }

std::string WithFrequencies(const std::string& ptx) {
  std::string out;
  for (const absl::string_view line : absl::StrSplit(ptx, '\n')) {
    if (!out.empty()) out += '\n';
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(line);
    if (absl::ConsumePrefix(&rest, kFrequencyMark)) {
      absl::StrAppend(&out, "\t.pragma \"frequency ", absl::StripAsciiWhitespace(rest), "\";");
    } else if (absl::ConsumePrefix(&rest, ".version ") &&
               VersionNumber(absl::StripAsciiWhitespace(rest)) < kPtxOfFrequencies) {
      absl::StrAppend(&out, ".version ", kPtxOfFrequencies / 10, ".", kPtxOfFrequencies % 10);
    } else {
      absl::StrAppend(&out, line);
    }
  }
  return out;
}

std::string WithoutFrequencies(const std::string& ptx) {
  std::string out;
  for (const absl::string_view line : absl::StrSplit(ptx, '\n')) {
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), kFrequencyMark)) continue;
    if (!out.empty()) out += '\n';
    absl::StrAppend(&out, line);
  }
  return out;
}

}  // namespace tile::codegen
