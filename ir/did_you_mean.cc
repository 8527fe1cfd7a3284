#include "ir/did_you_mean.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tile::ir {

std::string DidYouMean(absl::string_view word, const std::vector<absl::string_view>& candidates) {
  if (word.size() > 64) return "";
  size_t best = std::min(std::max<size_t>(1, word.size() / 3) + 1, word.size());
  absl::string_view found;
  // Slips between beginnings of the word and of the candidate: a letter too many, left out, another, or two swapped.
  std::vector<size_t> before, last, row;
  for (absl::string_view c : candidates) {
    if (c.size() > word.size() + best || word.size() > c.size() + best) continue;
    row.resize(c.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      before = last;
      last = row;
      row[0] = i;
      for (size_t j = 1; j < row.size(); ++j) {
        row[j] = std::min({last[j - 1] + (word[i - 1] != c[j - 1]), last[j] + 1, row[j - 1] + 1});
        if (i > 1 && j > 1 && word[i - 1] == c[j - 2] && word[i - 2] == c[j - 1])
          row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    if (row.back() < best) {
      best = row.back();
      found = c;
    }
  }
  return found.empty() ? "" : absl::StrCat("did you mean ", found, "?");
}

}  // namespace tile::ir
