#include "ir/print_format.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/float.h"

namespace tile::ir {
namespace {

// "%-5.2f": flags, width and precision of one conversion, and its letter.
struct Conversion {
  std::string flags;
  char letter = 0;
};

bool IsFloatConversion(char c) { return std::strchr("eEfFgGaA", c) != nullptr; }
bool IsIntConversion(char c) { return std::strchr("diuoxXc", c) != nullptr; }

std::string FormatNumber(const Conversion& c, double value) {
  const std::string spec = absl::StrCat("%", c.flags, std::string(1, c.letter));
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, spec.c_str(), value);
  return buffer;
}

std::string FormatNumber(const Conversion& c, int64_t value, uint64_t bits) {
  if (c.letter == 'c') return std::string(1, static_cast<char>(value));
  const std::string spec = absl::StrCat("%", c.flags, "ll", std::string(1, c.letter));
  char buffer[512];
  const bool is_signed = c.letter == 'd' || c.letter == 'i';
  std::snprintf(buffer, sizeof buffer, spec.c_str(),
                is_signed ? static_cast<long long>(value) : static_cast<long long>(bits));
  return buffer;
}

std::string FormatElement(const Conversion& c, Elem e, const uint8_t* p) {
  uint64_t bits = 0;
  std::memcpy(&bits, p, static_cast<size_t>(StorageBytes(e)));
  if (IsFloat(e)) {
    const double value = ToDouble(e, bits);
    if (IsFloatConversion(c.letter)) return FormatNumber(c, value);
    // A conversion that does not fit prints the value as far as it has one.
    if (IsIntConversion(c.letter)) {
      const int64_t i = std::isfinite(value) && std::fabs(value) < 9e18 ? static_cast<int64_t>(value) : 0;
      return FormatNumber(c, i, static_cast<uint64_t>(i));
    }
    return FormatNumber(Conversion{c.flags, 'g'}, value);
  }
  const int width = ElemInfoOf(e).bits;
  const int64_t value =
      width >= 64 ? static_cast<int64_t>(bits) : static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
  if (IsIntConversion(c.letter)) return FormatNumber(c, e == Elem::kI1 ? static_cast<int64_t>(bits) : value, bits);
  if (IsFloatConversion(c.letter)) return FormatNumber(c, static_cast<double>(value));
  if (c.letter == 'p') return absl::StrFormat("0x%x", bits);
  return FormatNumber(Conversion{c.flags, 'd'}, value, bits);
}

// A scalar as itself, a tile as nested lists.
void FormatTile(const Conversion& c, const PrintOperand& operand, size_t dim, int64_t* at, std::string* out) {
  if (dim == operand.shape.size()) {
    absl::StrAppend(out, FormatElement(c, operand.element, operand.data + *at * StorageBytes(operand.element)));
    ++*at;
    return;
  }
  out->push_back('[');
  for (int64_t i = 0; i < operand.shape[dim]; ++i) {
    if (i > 0) absl::StrAppend(out, ", ");
    FormatTile(c, operand, dim + 1, at, out);
  }
  out->push_back(']');
}

}  // namespace

std::string FormatPrint(absl::string_view format, absl::Span<const PrintOperand> operands) {
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    const char ch = format[i];
    if (ch != '%') {
      out.push_back(ch);
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      out.push_back('%');
      ++i;
      continue;
    }
    Conversion c;
    // Length modifiers say nothing here: the operand's type is known.
    for (++i; i < format.size(); ++i) {
      const char f = format[i];
      if (std::strchr("diuoxXeEfFgGaAcCsSpn", f) != nullptr) {
        c.letter = f;
        break;
      }
      if (std::strchr("-+ #0123456789.", f) != nullptr && c.flags.size() < 16) c.flags.push_back(f);
    }
    if (c.letter == 0 || next >= operands.size()) break;
    // A field width from the program must not fill memory. A zero before it is a flag.
    int digits = 0;
    std::string kept;
    for (char f : c.flags) {
      digits = f >= (digits == 0 ? '1' : '0') && f <= '9' ? digits + 1 : 0;
      if (digits <= 2) kept.push_back(f);
    }
    c.flags = kept;
    int64_t at = 0;
    FormatTile(c, operands[next++], 0, &at, &out);
  }
  return out;
}

}  // namespace tile::ir
