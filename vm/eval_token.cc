// Tokens, which have no value here because a block runs in textual order; grid dependency; printing.
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/float.h"
#include "vm/launch_state.h"
#include "vm/prepare.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Op;
using ir::Value;

// For --check=full, which follows tokens.
const Instr* RunNothing(BlockState&, const Instr* in) { return in + 1; }

struct PrintArg {
  Slot at;
  ir::Type type;
  int64_t n;
};

struct PrintData {
  absl::string_view format;
  int n;
  const PrintArg* args;
};

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
  std::snprintf(buffer, sizeof buffer, spec.c_str(), is_signed ? static_cast<long long>(value) : static_cast<long long>(bits));
  return buffer;
}

std::string FormatElement(const Conversion& c, Elem e, const uint8_t* p) {
  uint64_t bits = 0;
  std::memcpy(&bits, p, static_cast<size_t>(ir::StorageBytes(e)));
  if (ir::IsFloat(e)) {
    const double value = ir::ToDouble(e, bits);
    if (IsFloatConversion(c.letter)) return FormatNumber(c, value);
    // A conversion that does not fit prints the value as far as it has one.
    if (IsIntConversion(c.letter)) {
      const int64_t i = std::isfinite(value) && std::fabs(value) < 9e18 ? static_cast<int64_t>(value) : 0;
      return FormatNumber(c, i, static_cast<uint64_t>(i));
    }
    return FormatNumber(Conversion{c.flags, 'g'}, value);
  }
  const int width = ir::ElemInfoOf(e).bits;
  const int64_t value = width >= 64 ? static_cast<int64_t>(bits) : static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
  if (IsIntConversion(c.letter)) return FormatNumber(c, e == Elem::kI1 ? static_cast<int64_t>(bits) : value, bits);
  if (IsFloatConversion(c.letter)) return FormatNumber(c, static_cast<double>(value));
  if (c.letter == 'p') return absl::StrFormat("0x%x", bits);
  return FormatNumber(Conversion{c.flags, 'd'}, value, bits);
}

// A scalar as itself, a tile as nested lists.
void FormatTile(const Conversion& c, const PrintArg& arg, const uint8_t* data, int dim, int64_t* at, std::string* out) {
  const auto shape = arg.type.shape();
  if (dim == static_cast<int>(shape.size())) {
    absl::StrAppend(out, FormatElement(c, arg.type.elem(), data + *at * ir::StorageBytes(arg.type.elem())));
    ++*at;
    return;
  }
  out->push_back('[');
  for (int64_t i = 0; i < shape[static_cast<size_t>(dim)]; ++i) {
    if (i > 0) absl::StrAppend(out, ", ");
    FormatTile(c, arg, data, dim + 1, at, out);
  }
  out->push_back(']');
}

const Instr* RunPrint(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const PrintData*>(in->data);
  std::string out;
  int next = 0;
  for (size_t i = 0; i < d.format.size(); ++i) {
    const char ch = d.format[i];
    if (ch != '%') {
      out.push_back(ch);
      continue;
    }
    if (i + 1 < d.format.size() && d.format[i + 1] == '%') {
      out.push_back('%');
      ++i;
      continue;
    }
    Conversion c;
    // Length modifiers say nothing here: the operand's type is known.
    for (++i; i < d.format.size(); ++i) {
      const char f = d.format[i];
      if (std::strchr("diuoxXeEfFgGaAcCsSpn", f) != nullptr) {
        c.letter = f;
        break;
      }
      if (std::strchr("-+ #0123456789.", f) != nullptr && c.flags.size() < 16) c.flags.push_back(f);
    }
    if (c.letter == 0 || next >= d.n) break;
    // A field width from the program must not fill memory.
    int digits = 0;
    std::string kept;
    for (char f : c.flags) {
      digits = f >= '0' && f <= '9' ? digits + 1 : 0;
      if (digits <= 2) kept.push_back(f);
    }
    c.flags = kept;
    const PrintArg& arg = d.args[next++];
    int64_t at = 0;
    FormatTile(c, arg, static_cast<const uint8_t*>(b.at(arg.at)), 0, &at, &out);
  }
  PrintText(b, out);
  return in + 1;
}

void PrepareNothing(Preparer& p, const Op& op) { p.Emit(op, RunNothing, nullptr); }

}  // namespace

void PrepareMakeToken(Preparer& p, const Op& op) { PrepareNothing(p, op); }
void PrepareJoinTokens(Preparer& p, const Op& op) { PrepareNothing(p, op); }
void PrepareMemoryFenceAlias(Preparer& p, const Op& op) { PrepareNothing(p, op); }
// One launch at a time: there is no dependent kernel to let go and none to wait for.
void PrepareGdcLaunchDependents(Preparer& p, const Op& op) { PrepareNothing(p, op); }
void PrepareGdcWait(Preparer& p, const Op& op) { PrepareNothing(p, op); }

void PreparePrint(Preparer& p, const Op& op) {
  auto* d = p.New<PrintData>();
  d->format = op.attr("format").as_string();
  const std::vector<Value*> values = op.group("args");
  auto* args = p.NewArray<PrintArg>(values.size());
  for (size_t i = 0; i < values.size(); ++i) args[i] = {p.dense(values[i]), values[i]->type(), p.plan().elements(values[i])};
  d->n = static_cast<int>(values.size());
  d->args = args;
  p.Emit(op, RunPrint, d);
}

}  // namespace tile::vm
