#include "ir/text/number.h"

#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/float.h"

namespace tile::ir::text {
namespace {

std::string Hex(Elem e, uint64_t bits) { return absl::StrFormat("0x%0*X", StorageBytes(e) * 2, bits); }

// The nearest element, ties to even; nothing if the type has none near the value.
std::optional<uint64_t> Encode(Elem e, double value) {
  const FloatFormat& f = FloatFormatOf(e);
  if (std::signbit(value) && !f.has_sign) return std::nullopt;
  const uint64_t bits = FromDouble(e, value);
  if (std::isnan(value)) return f.has_nan ? std::optional<uint64_t>(bits) : std::nullopt;
  if (std::isinf(value)) return f.has_infinity ? std::optional<uint64_t>(bits) : std::nullopt;
  const double read = ToDouble(e, bits);
  if (!std::isfinite(read)) return std::nullopt;
  if (f.saturates && std::fabs(value) > ToDouble(e, f.largest())) return std::nullopt;
  if (!f.has_zero && read != value) return std::nullopt;
  return bits;
}

}  // namespace

uint64_t ElementMask(Elem e) {
  if (e == Elem::kTF32) return 0xFFFFE000;
  const int width = ElemInfoOf(e).bits;
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

std::string FormatNumber(Elem e, uint64_t bits) {
  bits &= ElementMask(e);
  if (e == Elem::kI1) return bits ? "true" : "false";
  if (e == Elem::kPtr) return Hex(e, bits);
  if (!IsFloat(e)) {
    const int unused = 64 - ElemInfoOf(e).bits;
    return absl::StrCat(static_cast<int64_t>(bits << unused) >> unused);
  }
  const double value = ToDouble(e, bits);
  if (!std::isfinite(value)) return Hex(e, bits);
  const auto exact = [&](absl::string_view s) {
    double read;
    return absl::SimpleAtod(s, &read) && Encode(e, read) == bits;
  };
  std::string s = absl::StrFormat("%e", value);
  for (int digits = 7; !exact(s); ++digits) {
    if (digits > 17) return Hex(e, bits);
    s = absl::StrFormat("%.*g", digits, value);
    if (s.find_first_of(".e") == std::string::npos) s += ".0";
  }
  return s;
}

std::optional<std::string> ParseNumber(Elem e, bool negative, absl::string_view text, uint64_t* bits, Beyond beyond) {
  const std::string type = ElemInfoOf(e).spelling;
  const std::string shown = absl::StrCat(negative ? "-" : "", text);
  if (absl::StartsWithIgnoreCase(text, "0x")) {
    if (negative) return absl::StrCat(shown, ": hexadecimal digits are the bits of the element and take no sign");
    if (text.size() > 18 || !absl::SimpleHexAtoi(text, bits) || (*bits & ~ElementMask(e)) != 0) {
      return absl::StrCat(shown, " has bits that ", type, " lacks");
    }
    return std::nullopt;
  }
  if (IsFloat(e)) {
    double value;
    if (text == "inf") {
      value = std::numeric_limits<double>::infinity();
    } else if (text == "nan") {
      value = std::nan("");
    } else if (!absl::SimpleAtod(text, &value) || std::isnan(value)) {
      return absl::StrCat(shown, " is not a number of type ", type);
    } else if (std::isinf(value) && beyond == Beyond::kWrong) {
      return absl::StrCat(shown, " is beyond ", type);
    } else if (beyond == Beyond::kInfinite && FloatFormatOf(e).has_infinity &&
               !std::isfinite(ToDouble(e, FromDouble(e, value)))) {
      value = std::numeric_limits<double>::infinity();
    }
    const std::optional<uint64_t> code = Encode(e, negative ? -value : value);
    if (!code) return absl::StrCat(shown, " is not a value of ", type);
    *bits = *code;
    return std::nullopt;
  }
  if (e == Elem::kI1 && (text == "true" || text == "false") && !negative) {
    *bits = text == "true";
    return std::nullopt;
  }
  uint64_t magnitude;
  if (text.empty() || !absl::ascii_isdigit(text[0]) || !absl::SimpleAtoi(text, &magnitude)) {
    return absl::StrCat(shown, " is not a number of type ", type);
  }
  const int width = e == Elem::kPtr ? 64 : ElemInfoOf(e).bits;
  const uint64_t limit = negative ? uint64_t{1} << (width - 1) : ElementMask(e);
  if (magnitude > limit) return absl::StrCat(shown, " does not fit ", type);
  *bits = (negative ? 0 - magnitude : magnitude) & ElementMask(e);
  return std::nullopt;
}

}  // namespace tile::ir::text
