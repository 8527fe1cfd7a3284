#include "ir/passes/fold.h"

#include <algorithm>
#include <cmath>

#include "ir/float.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::ir {
namespace {

using Number = std::optional<uint64_t>;

// The operands as unsigned numbers, with their width.
struct Operands {
  const Op& op;
  absl::Span<const uint64_t> bits;
  int width;

  uint64_t operator[](size_t i) const { return bits[i]; }
  int64_t as_signed(size_t i) const { return AsSigned(bits[i], width); }
  bool is_signed() const { return SignednessOp(op).signedness() == Signedness::kSigned; }
  bool least_by_minus_one() const {
    return as_signed(1) == -1 && bits[0] == LowBits(uint64_t{1} << (width - 1), width);
  }
};

Number Divide(const Operands& in) {
  if (in[1] == 0) return std::nullopt;
  const Rounding rounding = DiviOp(in.op).rounding();
  if (!in.is_signed()) {
    const uint64_t q = in[0] / in[1];
    return q + (rounding == Rounding::kPositiveInf && in[0] % in[1] != 0 ? 1 : 0);
  }
  if (in.least_by_minus_one()) return std::nullopt;
  const int64_t a = in.as_signed(0), b = in.as_signed(1), q = a / b, rest = a % b;
  if (rest == 0) return static_cast<uint64_t>(q);
  const bool apart = (rest < 0) != (b < 0);
  if (rounding == Rounding::kNegativeInf && apart) return static_cast<uint64_t>(q - 1);
  if (rounding == Rounding::kPositiveInf && !apart) return static_cast<uint64_t>(q + 1);
  return static_cast<uint64_t>(q);
}

Number Remainder(const Operands& in) {
  if (in[1] == 0) return std::nullopt;
  if (!in.is_signed()) return in[0] % in[1];
  if (in.as_signed(1) == -1) return 0;
  return static_cast<uint64_t>(in.as_signed(0) % in.as_signed(1));
}

Number ShiftRight(const Operands& in) {
  const auto width = static_cast<uint64_t>(in.width);
  if (in.is_signed()) return static_cast<uint64_t>(in.as_signed(0) >> std::min(in[1], width - 1));
  return in[1] >= width ? 0 : in[0] >> in[1];
}

Number Most(const Operands& in, bool greater) {
  const bool first = in.is_signed() ? in.as_signed(0) > in.as_signed(1) : in[0] > in[1];
  return first == greater ? in[0] : in[1];
}

struct Row {
  Opcode opcode;
  Number (*fold)(const Operands&);
};

constexpr Row kRows[] = {
    {Opcode::kAbsi, [](const Operands& in) -> Number { return in.as_signed(0) < 0 ? 0 - in[0] : in[0]; }},
    {Opcode::kNegi, [](const Operands& in) -> Number { return 0 - in[0]; }},
    {Opcode::kAddi, [](const Operands& in) -> Number { return in[0] + in[1]; }},
    {Opcode::kSubi, [](const Operands& in) -> Number { return in[0] - in[1]; }},
    {Opcode::kMuli, [](const Operands& in) -> Number { return in[0] * in[1]; }},
    {Opcode::kMulhii,
     [](const Operands& in) -> Number {
       return static_cast<uint64_t>(static_cast<unsigned __int128>(in[0]) * in[1] >> in.width);
     }},
    {Opcode::kDivi, Divide},
    {Opcode::kRemi, Remainder},
    {Opcode::kMaxi, [](const Operands& in) { return Most(in, true); }},
    {Opcode::kMini, [](const Operands& in) { return Most(in, false); }},
    {Opcode::kShli,
     [](const Operands& in) -> Number { return in[1] >= static_cast<uint64_t>(in.width) ? 0 : in[0] << in[1]; }},
    {Opcode::kShri, ShiftRight},
    {Opcode::kAndi, [](const Operands& in) -> Number { return in[0] & in[1]; }},
    {Opcode::kOri, [](const Operands& in) -> Number { return in[0] | in[1]; }},
    {Opcode::kXori, [](const Operands& in) -> Number { return in[0] ^ in[1]; }},
    {Opcode::kExti,
     [](const Operands& in) -> Number { return in.is_signed() ? static_cast<uint64_t>(in.as_signed(0)) : in[0]; }},
    {Opcode::kTrunci, [](const Operands& in) -> Number { return in[0]; }},
    {Opcode::kCmpI,
     [](const Operands& in) -> Number {
       const CmpIOp cmp(in.op);
       return Compare(cmp.predicate(), cmp.signedness(), in[0], in[1], in.width) ? 1 : 0;
     }},
};

}  // namespace

bool Compare(ComparisonPredicate predicate, Signedness signedness, uint64_t a, uint64_t b, int width) {
  const bool less = signedness == Signedness::kSigned ? AsSigned(a, width) < AsSigned(b, width) : a < b;
  switch (predicate) {
    case ComparisonPredicate::kEqual: return a == b;
    case ComparisonPredicate::kNotEqual: return a != b;
    case ComparisonPredicate::kLessThan: return less;
    case ComparisonPredicate::kLessThanOrEqual: return less || a == b;
    case ComparisonPredicate::kGreaterThan: return !less && a != b;
    case ComparisonPredicate::kGreaterThanOrEqual: return !less;
  }
  return false;
}

std::optional<uint64_t> FoldInteger(const Op& op, absl::Span<const uint64_t> operands) {
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.opcode == op.opcode(); });
  if (row == std::end(kRows) || op.result(0)->type().elem() == Elem::kI4) return std::nullopt;
  const Number result = row->fold({op, operands, WidthOf(op.operand(0))});
  return result ? Number(LowBits(*result, WidthOf(op.result(0)))) : std::nullopt;
}

std::optional<uint64_t> FoldFloat(const Op& op, absl::Span<const uint64_t> operands) {
  const Elem from = op.operand(0)->type().elem(), to = op.result(0)->type().elem();
  if (IToFOp::Is(&op)) {
    constexpr int64_t kExact = int64_t{1}
                               << 53;  // a double holds every integer up to it, so that there is one rounding
    const bool is_signed = IToFOp(op).signedness() == Signedness::kSigned;
    const int64_t value = is_signed ? AsSigned(operands[0], WidthOf(op.operand(0))) : static_cast<int64_t>(operands[0]);
    if (from == Elem::kI4 || value > kExact || value < (is_signed ? -kExact : 0)) return std::nullopt;
    return FromDouble(to, static_cast<double>(value), IToFOp(op).rounding());
  }
  if (!FToFOp::Is(&op) && !NegfOp::Is(&op) && !AbsfOp::Is(&op)) return std::nullopt;
  const double value = ToDouble(from, operands[0]);
  if (std::isnan(value)) return std::nullopt;
  if (FToFOp::Is(&op)) return FromDouble(to, value, FToFOp(op).rounding());
  return FromDouble(to, NegfOp::Is(&op) ? -value : std::fabs(value));
}

}  // namespace tile::ir
