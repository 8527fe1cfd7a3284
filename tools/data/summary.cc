#include "tools/data/summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/data/element_text.h"

namespace tile::tools {
namespace {

constexpr int64_t kPiece = 4096;

void MeasureFloats(const ArrayView& a, Statistics* s) {
  std::vector<double> values(kPiece);
  double min = INFINITY, max = -INFINITY, sum = 0;
  int64_t finite = 0;
  for (int64_t first = 0; first < s->count; first += kPiece) {
    const int64_t n = std::min(kPiece, s->count - first);
    LoadDoubles(a, first, n, values.data());
    double piece = 0;  // sums of pieces lose less than one long sum
    for (int64_t i = 0; i < n; ++i) {
      const double v = values[i];
      if (!std::isfinite(v)) {
        ++(std::isnan(v) ? s->nans : s->infinities);
        continue;
      }
      ++finite;
      piece += v;
      if (v < min) {
        min = v;
        s->min_index = first + i;
      }
      if (v > max) {
        max = v;
        s->max_index = first + i;
      }
    }
    sum += piece;
  }
  if (finite > 0) s->mean = sum / static_cast<double>(finite);
}

void MeasureIntegers(const ArrayView& a, Statistics* s) {
  // One order for both: unsigned values, or signed ones with the sign flipped.
  const uint64_t flip = a.is_unsigned ? 0 : uint64_t{1} << 63;
  uint64_t min = UINT64_MAX, max = 0;
  double sum = 0;
  for (int64_t i = 0; i < s->count; ++i) {
    const int64_t x = LoadInt(a, i);
    const uint64_t order = static_cast<uint64_t>(x) ^ flip;
    sum += a.is_unsigned ? static_cast<double>(static_cast<uint64_t>(x)) : static_cast<double>(x);
    if (i == 0 || order < min) {
      min = order;
      s->min_index = i;
    }
    if (i == 0 || order > max) {
      max = order;
      s->max_index = i;
    }
  }
  if (s->count > 0) s->mean = sum / static_cast<double>(s->count);
}

}  // namespace

Statistics Measure(const ArrayView& array) {
  Statistics s;
  s.count = array.count();
  if (ir::IsFloat(array.element.kind)) {
    MeasureFloats(array, &s);
  } else {
    MeasureIntegers(array, &s);
  }
  return s;
}

std::string Summary(const ArrayView& array, int first) {
  const auto element = [&](int64_t i) {
    return FormatElement(array.element.kind, LoadBits(array.element.kind, array.bytes.data(), i), array.is_unsigned);
  };
  const Statistics s = Measure(array);
  std::string text = absl::StrCat(TypeText(array), " ");
  for (int64_t i = 0; i < std::min<int64_t>(first, s.count); ++i) absl::StrAppend(&text, " ", element(i));
  if (s.count > first) text += " ...";
  if (s.count == 0) text += " no elements";
  if (s.count < 2) return text;
  text += "\n";
  if (s.min_index >= 0) {
    absl::StrAppendFormat(&text, "min %s, max %s, mean %.6g", element(s.min_index), element(s.max_index), s.mean);
  }
  if (s.nans > 0) absl::StrAppend(&text, s.min_index >= 0 ? ", " : "", s.nans, " nan");
  if (s.infinities > 0) absl::StrAppend(&text, s.min_index >= 0 || s.nans > 0 ? ", " : "", s.infinities, " inf");
  return text;
}

}  // namespace tile::tools
