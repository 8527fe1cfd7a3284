#include "tools/data/compare_arrays.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ir/float.h"
#include "tools/data/element_text.h"

namespace tile::tools {
namespace {

using ir::Elem;

constexpr int64_t kPiece = 4096;

// Codes in the order of their values. At most 2^63, so differences fit 64 bits unsigned.
int64_t Ordinal(const ir::FloatFormat& f, uint64_t bits) {
  bits >>= f.unused;
  const int64_t magnitude = static_cast<int64_t>(bits & f.magnitude_mask());
  return f.has_sign && (bits >> f.magnitude_bits() & 1) ? -magnitude : magnitude;
}

class Comparer {
 public:
  Comparer(const ArrayView& a, const ArrayView& e, const Tolerance& t) : a_(a), e_(e), t_(t) {}

  Comparison Run() {
    c_.count = a_.count();
    // Equal bytes are equal values, but for NaNs that shall not be. Pieces are of whole bytes.
    const bool bytes_tell = a_.element == e_.element && t_.nan_equal;
    const int bits = ir::MemoryBits(a_.element.kind);
    for (int64_t first = 0; first < c_.count; first += kPiece) {
      const int64_t n = std::min(kPiece, c_.count - first);
      const int64_t from = first * bits / 8, size = (n * bits + 7) / 8;
      if (bytes_tell && std::memcmp(a_.bytes.data() + from, e_.bytes.data() + from, size) == 0) continue;
      if (ir::IsFloat(a_.element.kind)) {
        FloatPiece(first, n);
      } else {
        for (int64_t i = first; i < first + n; ++i) Integer(i);
      }
    }
    return c_;
  }

 private:
  void Differ(int64_t i) {
    if (c_.differing++ == 0) c_.first = i;
  }

  void Integer(int64_t i) {
    const int64_t a = LoadInt(a_, i), e = LoadInt(e_, i);
    if (a == e && a_.is_unsigned == e_.is_unsigned) return;
    // Bits decide, whatever the declared sign; the difference is told in the actual array's sign.
    const uint64_t mask = ~uint64_t{0} >> (64 - ir::ElemInfoOf(a_.element.kind).bits);
    if (((static_cast<uint64_t>(a) ^ static_cast<uint64_t>(e)) & mask) == 0) return;
    ArrayView e_as_a = e_;
    e_as_a.is_unsigned = a_.is_unsigned;
    const int64_t x = LoadInt(e_as_a, i);
    const bool less = a_.is_unsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(x) : a < x;
    const uint64_t distance = less ? static_cast<uint64_t>(x) - a : static_cast<uint64_t>(a) - x;
    const double abs = static_cast<double>(distance);
    const double size =
        std::fabs(a_.is_unsigned ? static_cast<double>(static_cast<uint64_t>(x)) : static_cast<double>(x));
    c_.max_abs = std::max(c_.max_abs, abs);
    c_.max_ulp = std::max(c_.max_ulp, distance);
    if (size != 0) c_.max_rel = std::max(c_.max_rel, abs / size);
    if (abs > t_.atol) Differ(i);
  }

  void FloatPiece(int64_t first, int64_t n) {
    LoadDoubles(a_, first, n, actual_.data());
    LoadDoubles(e_, first, n, expected_.data());
    const Elem elem = a_.element.kind;
    const ir::FloatFormat& format = ir::FloatFormatOf(elem);
    for (int64_t k = 0; k < n; ++k) {
      const double a = actual_[k], e = expected_[k];
      if (a == e) continue;
      if (std::isnan(a) || std::isnan(e)) {
        if (std::isnan(a) && std::isnan(e) && t_.nan_equal) continue;
        ++c_.nan_differing;
        Differ(first + k);
        continue;
      }
      const uint64_t e_bits =
          e_.element == a_.element ? LoadBits(elem, e_.bytes.data(), first + k) : ir::FromDouble(elem, e);
      uint64_t ulp = UINT64_MAX;  // the expected value has no counterpart in this type
      if (!ir::IsNanBits(elem, e_bits)) {
        const int64_t x = Ordinal(format, LoadBits(elem, a_.bytes.data(), first + k)), y = Ordinal(format, e_bits);
        ulp = x < y ? static_cast<uint64_t>(y) - x : static_cast<uint64_t>(x) - y;
      }
      const double abs = std::fabs(a - e);
      c_.max_abs = std::max(c_.max_abs, abs);
      c_.max_ulp = std::max(c_.max_ulp, ulp);
      const bool finite = std::isfinite(a) && std::isfinite(e);
      if (e != 0 && std::isfinite(e)) c_.max_rel = std::max(c_.max_rel, abs / std::fabs(e));
      // Rounding to this type is not a difference that ulp = 0 excuses: the values themselves must be equal then.
      const bool close = (finite && abs <= t_.atol + t_.rtol * std::fabs(e)) || (t_.ulp > 0 && ulp <= t_.ulp);
      if (!close) Differ(first + k);
    }
  }

  const ArrayView& a_;
  const ArrayView& e_;
  const Tolerance& t_;
  Comparison c_;
  std::vector<double> actual_ = std::vector<double>(kPiece), expected_ = std::vector<double>(kPiece);
};

std::string IndexText(absl::Span<const int64_t> shape, int64_t flat) {
  std::vector<int64_t> index(shape.size());
  for (size_t k = shape.size(); k-- > 0;) {
    index[k] = flat % shape[k];
    flat /= shape[k];
  }
  return absl::StrCat("[", absl::StrJoin(index, ","), "]");
}

std::string ElementAt(const ArrayView& a, int64_t i, bool is_unsigned) {
  return FormatElement(a.element.kind, LoadBits(a.element.kind, a.bytes.data(), i), is_unsigned);
}

}  // namespace

uint64_t UlpDistance(Elem elem, uint64_t a, uint64_t b) {
  const int64_t x = Ordinal(ir::FloatFormatOf(elem), a), y = Ordinal(ir::FloatFormatOf(elem), b);
  return x < y ? static_cast<uint64_t>(y) - x : static_cast<uint64_t>(x) - y;
}

absl::Status CheckComparable(const ArrayView& actual, const ArrayView& expected) {
  const Elem a = actual.element.kind, e = expected.element.kind;
  if (actual.shape == expected.shape && (a == e || (ir::IsFloat(a) && ir::IsFloat(e)))) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("is ", TypeText(actual), ", expected ", TypeText(expected)));
}

absl::StatusOr<Comparison> Compare(const ArrayView& actual, const ArrayView& expected, const Tolerance& tolerance) {
  if (absl::Status s = CheckComparable(actual, expected); !s.ok()) return s;
  return Comparer(actual, expected, tolerance).Run();
}

std::string Describe(const Comparison& c, const ArrayView& actual, const ArrayView& expected) {
  std::string text = absl::StrCat(c.ok() ? "all" : absl::StrCat(c.differing, " of"), " ", c.count,
                                  c.ok() ? " elements agree" : " elements differ");
  if (c.first >= 0) {
    absl::StrAppend(&text, ", first at ", IndexText(actual.shape, c.first), ": ",
                    ElementAt(actual, c.first, actual.is_unsigned), ", expected ",
                    ElementAt(expected, c.first, actual.is_unsigned));
  }
  if (c.nan_differing > 0) absl::StrAppend(&text, "; ", c.nan_differing, " because of NaN");
  if (c.max_abs == 0) return text;
  absl::StrAppendFormat(&text, "\nlargest difference %.6g absolute, %.6g relative", c.max_abs, c.max_rel);
  if (ir::IsFloat(actual.element.kind)) absl::StrAppend(&text, ", ", c.max_ulp, " ULP");
  return text;
}

}  // namespace tile::tools
