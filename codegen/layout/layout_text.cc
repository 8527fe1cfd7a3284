// Layouts as text, and back.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "codegen/layout/layout.h"

namespace tile::codegen {
namespace {

constexpr const char* kNames[kNumIns] = {"registers", "lanes", "warps"};
constexpr absl::string_view kScalar = "scalar";
constexpr int kMostOffsetBits = 48;
constexpr size_t kMostBases = 20;  // of registers; nothing has so many

// Non-negative numbers between separators; false for anything else.
bool ParseNumbers(absl::string_view text, char separator, std::vector<int64_t>* numbers) {
  for (absl::string_view word : absl::StrSplit(text, separator)) {
    if (!absl::SimpleAtoi(word, &numbers->emplace_back()) || numbers->back() < 0) return false;
  }
  return true;
}

bool ParseShape(absl::string_view text, Shape* shape) {
  if (text == kScalar) return true;
  std::vector<int64_t> sizes;
  if (!ParseNumbers(text, 'x', &sizes)) return false;
  int bits = 0;
  for (int64_t size : sizes) {
    if (size < 1 || (size & (size - 1)) != 0) return false;
    bits += __builtin_ctzll(static_cast<uint64_t>(size));
  }
  shape->assign(sizes.begin(), sizes.end());
  return bits <= kMostOffsetBits;
}

// "(0,8)", in a tile of this layout's shape.
bool ParseBasis(absl::string_view text, const Layout& tile, Mask* basis) {
  if (!absl::ConsumePrefix(&text, "(") || !absl::ConsumeSuffix(&text, ")")) return false;
  std::vector<int64_t> at;
  if (tile.rank() > 0 && !ParseNumbers(text, ',', &at)) return false;
  if (tile.rank() == 0 && !text.empty()) return false;
  if (at.size() != static_cast<size_t>(tile.rank())) return false;
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d] >= tile.shape()[d]) return false;
  }
  *basis = tile.Offset(at);
  return true;
}

}  // namespace

std::string Layout::ToString() const {
  std::string text = rank() == 0 ? std::string(kScalar) : absl::StrJoin(shape_, "x");
  for (int i = 0; i < kNumIns; ++i) {
    absl::StrAppend(&text, " ", kNames[i], bases_[i].empty() ? " -" : "");
    for (Mask basis : bases_[i]) absl::StrAppend(&text, " (", absl::StrJoin(Coordinates(basis), ","), ")");
  }
  return text;
}

std::optional<Layout> Layout::Parse(absl::string_view text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
  Layout l;
  if (!ParseShape(words[0], &l.shape_)) return std::nullopt;
  size_t next = 1;
  for (int i = 0; i < kNumIns; ++i) {
    if (next == words.size() || words[next++] != kNames[i]) return std::nullopt;
    if (next < words.size() && words[next] == "-") {
      ++next;
      continue;
    }
    for (; next < words.size() && absl::StartsWith(words[next], "("); ++next) {
      Mask basis = 0;
      if (!ParseBasis(words[next], l, &basis)) return std::nullopt;
      l.bases_[i].push_back(basis);
    }
    if (l.bases_[i].empty() || l.bases_[i].size() > kMostBases) return std::nullopt;
  }
  // Numbers have one spelling.
  if (next != words.size() || l.ToString() != text) return std::nullopt;
  return l;
}

}  // namespace tile::codegen
