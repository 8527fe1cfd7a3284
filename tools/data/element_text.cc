#include "tools/data/element_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/charconv.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/float.h"

namespace tile::tools {
namespace {

using ir::Elem;

struct Integer {
  bool negative = false;
  uint64_t magnitude = 0;
};

// nullopt: not an integer; an integer too large for 64 bits gives overflow = true.
std::optional<Integer> ParseInteger(absl::string_view text, bool* overflow) {
  Integer x;
  *overflow = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    x.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  uint64_t base = 10;
  if (absl::StartsWithIgnoreCase(text, "0x")) base = 16;
  if (absl::StartsWithIgnoreCase(text, "0b")) base = 2;
  if (base != 10) text.remove_prefix(2);
  if (text.empty()) return std::nullopt;
  for (char c : text) {
    const uint64_t digit = c >= '0' && c <= '9'   ? c - '0'
                           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                  : 99;
    if (digit >= base) return std::nullopt;
    if (x.magnitude > (std::numeric_limits<uint64_t>::max() - digit) / base) *overflow = true;
    x.magnitude = x.magnitude * base + digit;
  }
  return x;
}

// A float literal of type T, rounded once; out of range gives infinity or zero.
template <class T>
std::optional<T> ParseFloat(absl::string_view text) {
  bool overflow;
  if (std::optional<Integer> x = ParseInteger(text, &overflow); x.has_value() && !overflow) {
    const T value = static_cast<T>(x->magnitude);
    return x->negative ? -value : value;
  }
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  absl::chars_format format = absl::chars_format::general;
  if (absl::StartsWithIgnoreCase(text, "0x")) {
    format = absl::chars_format::hex;
    text.remove_prefix(2);
  }
  if (text.empty() || text[0] == '-' || text[0] == '+' || absl::StrContains(text, '(')) return std::nullopt;
  T value;
  const absl::from_chars_result r = absl::from_chars(text.data(), text.data() + text.size(), value, format);
  if (r.ptr != text.data() + text.size() || r.ec == std::errc::invalid_argument) return std::nullopt;
  if (r.ec == std::errc::result_out_of_range && value > 1) value = std::numeric_limits<T>::infinity();
  return negative ? -value : value;
}

bool SaysInfinity(absl::string_view text) { return absl::StrContains(text, 'i') || absl::StrContains(text, 'I'); }

absl::Status DoesNotFit(Elem elem, absl::string_view text, absl::string_view range) {
  return absl::InvalidArgumentError(
      absl::StrCat(text, " does not fit ", ir::ElemInfoOf(elem).spelling, " (", range, ")"));
}

absl::StatusOr<uint64_t> ParseIntegerElement(Elem elem, absl::string_view text) {
  if (elem == Elem::kI1 && absl::EqualsIgnoreCase(text, "true")) return 1;
  if (elem == Elem::kI1 && absl::EqualsIgnoreCase(text, "false")) return 0;
  bool overflow;
  const std::optional<Integer> x = ParseInteger(text, &overflow);
  if (!x.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("'", absl::Utf8SafeCEscape(text), "' is not ",
                                                   elem == Elem::kI1 ? "true or false" : "an integer", ", as ",
                                                   ir::ElemInfoOf(elem).spelling, " needs"));
  }
  const int bits = ir::ElemInfoOf(elem).bits;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t lowest = elem == Elem::kI1 ? 0 : uint64_t{1} << (bits - 1);
  if (overflow || x->magnitude > (x->negative ? lowest : mask)) {
    return DoesNotFit(elem, text, absl::StrCat(lowest == 0 ? "" : "-", lowest, " to ", mask));
  }
  return (x->negative ? ~x->magnitude + 1 : x->magnitude) & mask;
}

absl::StatusOr<uint64_t> ParseFloatElement(Elem elem, absl::string_view text) {
  std::optional<double> value;
  if (elem == Elem::kF32) {
    const std::optional<float> f = ParseFloat<float>(text);
    if (f.has_value()) value = *f;
  } else {
    value = ParseFloat<double>(text);
  }
  if (!value.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("'", absl::Utf8SafeCEscape(text), "' is not a number, as ",
                                                   ir::ElemInfoOf(elem).spelling, " needs"));
  }
  const ir::FloatFormat& f = ir::FloatFormatOf(elem);
  const uint64_t bits = ir::FromDouble(elem, *value);
  const std::string largest = FormatElement(elem, f.largest() << f.unused);
  const std::string range = absl::StrCat(!f.has_zero  ? FormatElement(elem, 0)
                                         : f.has_sign ? absl::StrCat("-", largest)
                                                      : "0",
                                         " to ", largest);
  if (std::isnan(*value)) return f.has_nan ? absl::StatusOr<uint64_t>(bits) : DoesNotFit(elem, text, range);
  if ((std::signbit(*value) && *value != 0 && !f.has_sign) || (*value == 0 && !f.has_zero)) {
    return DoesNotFit(elem, text, range);
  }
  if (std::isinf(*value) && SaysInfinity(text)) {
    return f.has_infinity ? absl::StatusOr<uint64_t>(bits) : DoesNotFit(elem, text, range);
  }
  // Half a step above the largest value still rounds to it.
  const double top = ir::ToDouble(elem, f.largest() << f.unused);
  const double step = std::ldexp(1.0, std::ilogb(top) - f.mantissa_bits);
  if (std::isinf(*value) || std::fabs(*value) - top >= step / 2) return DoesNotFit(elem, text, range);
  return bits;
}

template <class T>
std::string Shortest(T value) {
  char buffer[64];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr - buffer);
}

}  // namespace

bool IsScalarText(absl::string_view text) {
  return absl::EqualsIgnoreCase(text, "true") || absl::EqualsIgnoreCase(text, "false") ||
         ParseFloat<double>(text).has_value();
}

absl::StatusOr<uint64_t> ParseElement(Elem elem, absl::string_view text) {
  return ir::IsFloat(elem) ? ParseFloatElement(elem, text) : ParseIntegerElement(elem, text);
}

std::string FormatElement(Elem elem, uint64_t bits, bool is_unsigned) {
  if (elem == Elem::kI1) return bits & 1 ? "true" : "false";
  if (!ir::IsFloat(elem)) {
    const int unused = 64 - ir::ElemInfoOf(elem).bits;
    if (is_unsigned) return absl::StrCat(bits << unused >> unused);
    return absl::StrCat(static_cast<int64_t>(bits << unused) >> unused);
  }
  const double value = ir::ToDouble(elem, bits);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // Integers in full: 448, not 4.5e+02, although f8E4M3FN could not tell them apart.
  if (std::fabs(value) < (1 << 24) && value == std::trunc(value)) {
    return absl::StrCat(std::signbit(value) ? "-" : "", static_cast<int64_t>(std::fabs(value)));
  }
  if (elem == Elem::kF64) return Shortest(value);
  if (elem != Elem::kF16 && elem != Elem::kBF16 && elem != Elem::kTF32) return Shortest(static_cast<float>(value));
  for (int digits = 1; digits < 9; ++digits) {
    char buffer[64];
    const std::to_chars_result r =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, digits);
    double read;
    std::from_chars(buffer, r.ptr, read);
    if (ir::ToDouble(elem, ir::FromDouble(elem, read)) == value) return std::string(buffer, r.ptr - buffer);
  }
  return Shortest(static_cast<float>(value));
}

}  // namespace tile::tools
