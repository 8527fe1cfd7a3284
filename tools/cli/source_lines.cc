#include "tools/cli/source_lines.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ir/excerpt.h"

namespace tile::tools {
namespace {

constexpr absl::string_view kSources[] = {".py", ".tile", ".ttir", ".mlir", ".cu", ".cuh",
                                          ".cc", ".cpp",  ".cxx",  ".h",    ".hpp"};
constexpr int64_t kMostBytes = 16 << 20;

struct Place {
  std::string file;
  size_t line = 0, column = 0;
  std::string ToString() const { return absl::StrCat(file, ":", line, ":", column); }
};

// "file:12:9".
std::optional<Place> ParsePlace(absl::string_view text) {
  Place p;
  for (size_t* number : {&p.column, &p.line}) {
    const size_t colon = text.rfind(':');
    if (colon == absl::string_view::npos || !absl::SimpleAtoi(text.substr(colon + 1), number)) return std::nullopt;
    text = text.substr(0, colon);
  }
  p.file = std::string(text);
  const bool is_source = std::any_of(std::begin(kSources), std::end(kSources),
                                     [&](absl::string_view ending) { return absl::EndsWith(text, ending); });
  return is_source && p.line > 0 ? std::optional<Place>(p) : std::nullopt;
}

// The places that a first line of a diagnostic names: where it is, then others behind the word "at".
std::vector<Place> PlacesOf(absl::string_view line) {
  std::vector<Place> places;
  const auto add = [&](absl::string_view text) {
    const std::optional<Place> p = ParsePlace(text);
    const auto is_same = [&](const Place& other) { return other.ToString() == p->ToString(); };
    if (p && std::none_of(places.begin(), places.end(), is_same)) places.push_back(*p);
  };
  size_t head = std::string::npos;
  for (absl::string_view word : {": error[", ": warning["}) head = std::min(head, line.find(word));
  if (head == absl::string_view::npos) return places;
  add(line.substr(0, head));
  for (size_t at = line.find(" at ", head); at != absl::string_view::npos; at = line.find(" at ", at + 1)) {
    absl::string_view text = line.substr(at + 4);
    text = text.substr(0, text.find(' '));
    while (!text.empty() && absl::string_view(",;:.)").find(text.back()) != absl::string_view::npos)
      text.remove_suffix(1);
    add(text);
  }
  return places;
}

// The line and a caret; empty if there is no such line.
std::string ExcerptAt(const Place& place) {
  struct stat info;
  if (stat(place.file.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMostBytes) return "";
  std::ifstream file(place.file);
  std::string text;
  for (size_t i = 0; i < place.line; ++i) {
    if (!std::getline(file, text)) return "";
  }
  // cuTile and Triton count columns from 0, and may know the line only.
  const size_t column = text.find_first_not_of(" \t", place.column > 0 ? place.column - 1 : 0);
  return column == std::string::npos ? "" : ir::Excerpt(text, 0, column);
}

}  // namespace

std::string WithSourceLines(absl::string_view diagnostics) {
  std::vector<std::string> out;
  const std::vector<absl::string_view> lines = absl::StrSplit(diagnostics, '\n');
  for (size_t i = 0; i < lines.size();) {
    const absl::string_view head = lines[i];
    // What follows the message, up to the fix: where it happened.
    bool has_source = false;
    for (out.emplace_back(lines[i++]);
         i < lines.size() && absl::StartsWith(lines[i], "  ") && !absl::StartsWith(lines[i], "  fix: ");) {
      has_source |= absl::StartsWith(lines[i], "    ");
      out.emplace_back(lines[i++]);
    }
    if (absl::StartsWith(head, " ") || has_source) continue;
    const std::vector<Place> places = PlacesOf(head);
    for (size_t k = 0; k < places.size(); ++k) {
      const std::string excerpt = ExcerptAt(places[k]);
      if (excerpt.empty()) continue;
      if (k > 0) out.push_back(absl::StrCat("  ", places[k].ToString(), ":"));
      out.push_back(excerpt);
    }
  }
  return absl::StrJoin(out, "\n");
}

}  // namespace tile::tools
