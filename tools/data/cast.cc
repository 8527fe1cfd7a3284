#include "tools/data/cast.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/float.h"
#include "tools/data/element_text.h"

namespace tile::tools {
namespace {

using ir::Elem;

constexpr int64_t kPiece = 4096;

// An integer as a double that rounds to any type of 24 significant bits or fewer as the integer itself would: above
// 2^53 the low bits go, and the last kept one remembers whether any was set.
double RoundToOdd(uint64_t magnitude, bool negative) {
  if (magnitude >> 53 != 0) magnitude = (magnitude >> 16 | ((magnitude & 0xFFFF) != 0)) << 16;
  const double value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

void LoadForRounding(const ArrayView& a, Elem to, int64_t first, int64_t n, double* out) {
  // To f64 a plain conversion rounds right; narrower types must not be rounded to it on the way.
  if (a.element.kind != Elem::kI64 || to == Elem::kF64) return LoadDoubles(a, first, n, out);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t x = LoadInt(a, first + i);
    const bool negative = x < 0 && !a.is_unsigned;
    out[i] = RoundToOdd(negative ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x), negative);
  }
}

void ToFloat(const ArrayView& from, Elem to, uint8_t* out) {
  std::vector<double> values(kPiece);
  for (int64_t first = 0, count = from.count(); first < count; first += kPiece) {
    const int64_t n = std::min(kPiece, count - first);
    LoadForRounding(from, to, first, n, values.data());
    if (to == Elem::kF64) {
      std::memcpy(out + first * 8, values.data(), n * 8);
    } else if (to == Elem::kF32) {
      for (int64_t i = 0; i < n; ++i) {
        const float f = static_cast<float>(values[i]);
        std::memcpy(out + (first + i) * 4, &f, 4);
      }
    } else {
      for (int64_t i = 0; i < n; ++i) StoreBits(to, out, first + i, ir::FromDouble(to, values[i]));
    }
  }
}

absl::Status Refuse(const ArrayView& from, int64_t i, Elem to) {
  const Elem elem = from.element.kind;
  return absl::InvalidArgumentError(
      absl::StrCat("element ", i, ": ", FormatElement(elem, LoadBits(elem, from.bytes.data(), i), from.is_unsigned),
                   " does not fit ", ir::ElemInfoOf(to).spelling));
}

absl::Status FloatToInt(const ArrayView& from, Elem to, uint8_t* out) {
  const int bits = ir::ElemInfoOf(to).bits;
  const double above = std::ldexp(1, bits), lowest = -std::ldexp(1, bits - 1);
  std::vector<double> values(kPiece);
  for (int64_t first = 0, count = from.count(); first < count; first += kPiece) {
    const int64_t n = std::min(kPiece, count - first);
    LoadDoubles(from, first, n, values.data());
    for (int64_t i = 0; i < n; ++i) {
      const double v = std::trunc(values[i]);
      uint64_t x;
      if (to == Elem::kI1) {
        x = values[i] != 0 && !std::isnan(values[i]);
      } else {
        if (!(v >= lowest && v < above)) return Refuse(from, first + i, to);
        x = v < 0 ? static_cast<uint64_t>(static_cast<int64_t>(v)) : static_cast<uint64_t>(v);
      }
      StoreBits(to, out, first + i, x);
    }
  }
  return absl::OkStatus();
}

absl::Status IntToInt(const ArrayView& from, Elem to, uint8_t* out) {
  const int bits = ir::ElemInfoOf(to).bits;
  const uint64_t above = bits == 64 ? 0 : ~uint64_t{0} << bits;  // bits that a non-negative value may not have
  const int64_t lowest = static_cast<int64_t>(~uint64_t{0} << (bits - 1));
  for (int64_t i = 0, count = from.count(); i < count; ++i) {
    const int64_t x = LoadInt(from, i);
    if (to == Elem::kI1) {
      StoreBits(to, out, i, x != 0);
      continue;
    }
    const bool negative = x < 0 && !from.is_unsigned;
    if (negative ? x < lowest : (static_cast<uint64_t>(x) & above) != 0) return Refuse(from, i, to);
    StoreBits(to, out, i, static_cast<uint64_t>(x));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Array> Cast(const ArrayView& from, ir::Element to) {
  absl::StatusOr<Array> out = Array::Make(to, std::vector<int64_t>(from.shape.begin(), from.shape.end()));
  if (!out.ok()) return out;
  uint8_t* bytes = out->bytes.data();
  absl::Status s;
  if (from.element == to) {
    std::copy(from.bytes.begin(), from.bytes.end(), bytes);
    out->is_unsigned = from.is_unsigned;
  } else if (ir::IsFloat(to.kind)) {
    ToFloat(from, to.kind, bytes);
  } else if (ir::IsFloat(from.element.kind)) {
    s = FloatToInt(from, to.kind, bytes);
  } else {
    s = IntToInt(from, to.kind, bytes);
    out->is_unsigned = from.is_unsigned;
  }
  if (!s.ok()) return s;
  return out;
}

}  // namespace tile::tools
