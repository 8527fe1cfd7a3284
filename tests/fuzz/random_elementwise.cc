// Steps element by element: integers, floats, comparisons, conversions. Operations whose operands and result have one type are drawn
// from the table, so that a new one takes part without a line here; those that only some operands have a meaning for, and those
// whose results have a bound that later steps profit from, have a case of their own.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "tests/fuzz/generator.h"

namespace tile::fuzz {

using ir::Overflow;
using ir::Rounding;
using ir::Signedness;

namespace {

// One element type that the others equal: "lhs:INT rhs=lhs result=lhs".
bool HasOneType(const ir::OpInfo& op) {
  int sets = 0, equals = 0;
  for (absl::string_view word : absl::StrSplit(op.constraints, ' ')) {
    sets += absl::StrContains(word, ':') && !absl::StrContains(word, '.');
    equals += absl::StrContains(word, '=');
  }
  const size_t fields = op.format->operands.size() + op.format->results.size();
  return sets == 1 && static_cast<size_t>(sets + equals) == fields;
}

// The elementwise operations of a family on values of one type, but for some.
std::vector<ir::Opcode> Drawn(ir::Family family, std::initializer_list<ir::Opcode> without) {
  std::vector<ir::Opcode> drawn;
  for (const ir::OpInfo& op : ir::AllOps()) {
    if (op.has(ir::kElementwise) && op.family == family && HasOneType(op) &&
        !absl::c_linear_search(without, op.opcode)) {
      drawn.push_back(op.opcode);
    }
  }
  return drawn;
}

}  // namespace

// With the defaults of its attributes; its sign, if it has one, is drawn.
Value* Generator::Plain(ir::Opcode opcode, Value* x, Value* y, Value* z) {
  const ir::FormatInfo& format = *ir::GetOp(opcode)->format;
  ir::Builder::Groups operands = {{x}, {y}, {z}};
  operands.resize(format.operands.size());
  ir::Builder::NamedAttrs attrs;
  if (format.attr_index("signedness") >= 0) attrs.emplace_back("signedness", ir::Attr::Enum(Sign()));
  return b_.Create(opcode, operands, {x->type()}, attrs)->result(0);
}

Rounding Generator::Ieee() {
  if (r_.Percent(60)) return Rounding::kNearestEven;
  return r_.Of({Rounding::kNearestEven, Rounding::kZero, Rounding::kNegativeInf, Rounding::kPositiveInf});
}

Rounding Generator::FtofRounding(Elem from, Elem to) {
  if (to == Elem::kF8E8M0FNU) return r_.Of({Rounding::kZero, Rounding::kPositiveInf});
  if (ir::ElemInfoOf(to).bits <= 8) return Rounding::kNearestEven;
  if (from == Elem::kF64 && to == Elem::kF32) return Ieee();
  if (from == Elem::kF32 && to == Elem::kTF32) {
    return r_.Of({Rounding::kNearestEven, Rounding::kZero, Rounding::kNearestAway});
  }
  return r_.Of({Rounding::kNearestEven, Rounding::kZero});
}

Val Generator::Converted(Val x, Elem to) {
  const Elem from = x.elem();
  if (from == to) return x;
  const ir::Type type = Tile(to, x.shape());
  Val y = x;
  y.plain = true;
  if (from == Elem::kI4 && !ir::IsInt(to)) return Converted(Converted(x, Elem::kI8), to);
  if (to == Elem::kI4 && (!ir::IsInt(from) || from == Elem::kI1)) return Converted(Converted(x, Elem::kI8), to);
  const bool from_int = from == Elem::kI4 || ir::IsInt(from), to_int = to == Elem::kI4 || ir::IsInt(to);
  if (from_int && to_int) {
    const bool wider = ir::ElemInfoOf(to).bits > ir::ElemInfoOf(from).bits;
    y.v = wider ? op::Exti(b_, type, x.v, Sign()) : op::Trunci(b_, type, x.v);
    y.bound = -1;
    return y;
  }
  if (from_int) {
    if (to == Elem::kF8E8M0FNU) return Converted(Converted(x, Elem::kF32), to);
    const Signedness s = Sign();
    y.v = op::IToF(b_, type, x.v, s);
    const int bits = ir::ElemInfoOf(from).bits;
    const double largest = from == Elem::kI1 ? 1 : std::ldexp(1, s == Signedness::kSigned ? bits - 1 : bits);
    y.bound = bits <= 32 && largest <= LargestWhole(to) ? largest : -1;
    return y;
  }
  if (to_int) {
    if (to == Elem::kI1) {
      const Val i = Converted(x, Elem::kI8);
      return {
          op::CmpI(b_, ir::ComparisonPredicate::kNotEqual, i.v, Splat(Elem::kI8, x.shape(), 0), Signedness::kSigned)};
    }
    const Signedness s = Sign();
    const bool fits = x.bound >= 0 && s == Signedness::kSigned && x.bound < std::ldexp(1, ir::ElemInfoOf(to).bits - 1);
    y.v = op::FToI(b_, type, x.v, s, !fits || r_.Percent(30));
    y.bound = -1;
    return y;
  }
  y.v = op::FToF(b_, type, x.v, FtofRounding(from, to));
  y.plain = x.bound >= 0;
  if (y.bound > LargestWhole(to)) y.bound = -1;
  return y;
}

// As integers of the same bits, a number in the place of NaN. (A NaN in its place would not do: LLVM takes NaNs for
// alike and may leave out a select between them.)
Val Generator::Bits(Val x) {
  if (x.plain) return x;
  if (!ir::IsFp(x.elem())) return Bits(Converted(x, Elem::kF32));
  const int bits = ir::ElemInfoOf(x.elem()).bits;
  const ir::Type type = Tile(bits == 16 ? Elem::kI16 : bits == 32 ? Elem::kI32 : Elem::kI64, x.shape());
  Value* is_nan = op::CmpF(b_, ir::ComparisonPredicate::kNotEqual, x.v, x.v, ir::ComparisonOrdering::kUnordered);
  return {op::Select(b_, is_nan, op::Integer(b_, type, 77), op::Bitcast(b_, type, x.v))};
}

void Generator::StepInteger() {
  Val x = Exact();
  const Elem e = ir::IsInt(x.elem()) && r_.Percent(80) ? x.elem() : IntElement();
  x = Converted(x, e);
  const Shape s = x.shape();
  const Val y = Operand(e, s);
  const int bits = ir::ElemInfoOf(e).bits;
  Value* v = nullptr;
  static const auto& drawn =
      *new std::vector<ir::Opcode>(Drawn(ir::Family::kInteger, {ir::Opcode::kDivi, ir::Opcode::kRemi}));
  switch (r_.Below(18)) {
    default: v = Plain(r_.Of(drawn), x.v, y.v, nullptr); break;
    case 11:
    case 12:
    case 13: {
      // Amounts up to a bit more than the width.
      Value* amount = r_.Percent(30) ? y.v : op::Andi(b_, y.v, Splat(e, s, 2 * bits - 1));
      v = r_.Percent(40) ? op::Shli(b_, x.v, amount) : op::Shri(b_, x.v, amount, Sign());
      break;
    }
    case 14:
    case 15:
    case 16: {
      const Signedness sign = e == Elem::kI1 ? Signedness::kUnsigned : Sign();
      // No divisor is 0, and none -1 under the minimum.
      Value* divisor = op::Ori(b_, y.v, Splat(e, s, 1));
      if (r_.Percent(20)) divisor = Splat(e, s, e == Elem::kI1 ? 1 : int64_t{1} << r_.Below(bits - 1));
      Value* dividend = x.v;
      if (sign == Signedness::kSigned) dividend = op::Shri(b_, dividend, Splat(e, s, 1), sign);
      const Rounding round = sign == Signedness::kSigned
                                 ? r_.Of({Rounding::kZero, Rounding::kNegativeInf, Rounding::kPositiveInf})
                                 : r_.Of({Rounding::kZero, Rounding::kPositiveInf});
      v = r_.Percent(50) ? op::Divi(b_, dividend, divisor, sign, round) : op::Remi(b_, dividend, divisor, sign);
      break;
    }
    case 17: {
      // Sums that keep their promise: both have a spare bit.
      if (bits < 8) return;
      Value* one = Splat(e, s, 1);
      const Signedness sign = Sign();
      Value* a = op::Shri(b_, x.v, one, sign);
      Value* c = op::Shri(b_, y.v, one, sign);
      v = sign == Signedness::kSigned ? op::Addi(b_, a, c, Overflow::kNoSignedWrap)
                                      : op::Addi(b_, a, c, Overflow::kNoUnsignedWrap);
    }
  }
  Add({v});
}

void Generator::StepFloat() {
  Val x = Exact();
  const Elem e = ir::IsFp(x.elem()) && r_.Percent(80) ? x.elem() : FloatElement();
  x = Converted(x, e);
  const Val y = Operand(e, x.shape());
  const bool small = x.bound >= 0 && y.bound >= 0;
  const auto whole = [&](double bound) { return small && bound <= LargestWhole(e) ? bound : -1; };
  const bool nan = r_.Percent(50);
  const double larger = std::max(x.bound, y.bound);
  // Sums of whole numbers are exact; rounded down, x - x is -0.
  const Rounding round = small ? Rounding::kNearestEven : Ieee();
  Val z;
  static const auto& drawn = *new std::vector<ir::Opcode>(Drawn(ir::Family::kFloat, {}));
  switch (r_.Below(15)) {
    case 0: z = {op::Addf(b_, x.v, y.v, round), whole(x.bound + y.bound)}; break;
    case 1: z = {op::Subf(b_, x.v, y.v, round), whole(x.bound + y.bound)}; break;
    case 2: z = {op::Mulf(b_, x.v, y.v, round)}; break;
    case 3: {
      const Val a = Operand(e, x.shape());
      const bool all = small && a.bound >= 0;
      z = {op::Fma(b_, x.v, y.v, a.v, all ? Rounding::kNearestEven : Ieee()),
           all ? whole(x.bound * y.bound + a.bound) : -1};
      break;
    }
    case 4: z = {op::Divf(b_, x.v, y.v, Ieee())}; break;
    case 5: z = {op::Sqrt(b_, x.v, Ieee())}; break;
    case 6:
    case 13: z = {Plain(r_.Of(drawn), x.v, y.v, Operand(e, x.shape()).v)}; break;
    case 7: z = {op::Maxf(b_, x.v, y.v, nan), small ? larger : -1}; break;
    case 8: z = {op::Minf(b_, x.v, y.v, nan), small ? larger : -1}; break;
    case 9: z = {op::Absf(b_, x.v), x.bound}; break;
    case 10: z = {op::Negf(b_, x.v)}; break;
    case 11: z = {op::Ceil(b_, x.v), x.bound}; break;
    case 12: z = {op::Floor(b_, x.v), x.bound}; break;
    default:
      if (e != Elem::kF32) return;
      z = {op::Maxf(b_, x.v, y.v, nan, /*ftz=*/true), small ? larger : -1};
  }
  z.plain = z.bound >= 0;
  Add(z);
}

void Generator::StepCompare() {
  Val x = Exact();
  if (!ir::IsInt(x.elem()) && !ir::IsFp(x.elem())) {
    const Elem e = Element();
    if (Legal(e, x.shape())) x = Converted(x, e);
  }
  if (!ir::IsInt(x.elem()) && !ir::IsFp(x.elem())) return;
  const Val y = Operand(x.elem(), x.shape());
  const ir::ComparisonPredicate predicate = Predicate();
  const Signedness sign = Sign();
  Value* c = ir::IsInt(x.elem()) ? op::CmpI(b_, predicate, x.v, y.v, sign)
                                 : op::CmpF(b_, predicate, x.v, y.v, static_cast<ir::ComparisonOrdering>(sign));
  Add({c});
  if (r_.Percent(60)) {
    Elem e = Element();
    if (e == Elem::kF4E2M1FN) e = Elem::kF32;
    const Val t = Operand(e, x.shape()), f = Operand(e, x.shape());
    const bool small = t.bound >= 0 && f.bound >= 0;
    Add({op::Select(b_, c, t.v, f.v), small ? std::max(t.bound, f.bound) : -1, true, t.plain && f.plain});
  }
}

void Generator::StepConvert() {
  Val x = Exact();
  if (r_.Percent(60)) {
    Elem to = r_.Percent(60) ? Element() : static_cast<Elem>(r_.Below(static_cast<int64_t>(Elem::kPtr)));
    if (to == Elem::kI4 && x.count() < 2) return;
    if (!Legal(to, x.shape())) return;
    return Add(Converted(x, to));
  }
  static constexpr struct {
    Elem a, b;
  } kPairs[] = {
      {Elem::kI8, Elem::kF8E4M3FN},  {Elem::kI8, Elem::kF8E5M2}, {Elem::kF8E5M2, Elem::kF8E4M3FN},
      {Elem::kI8, Elem::kF8E8M0FNU}, {Elem::kI16, Elem::kF16},   {Elem::kI16, Elem::kBF16},
      {Elem::kF16, Elem::kBF16},     {Elem::kI32, Elem::kF32},   {Elem::kI64, Elem::kF64},
  };
  for (int i = 0; i < 8; ++i) {
    const auto& pair = kPairs[r_.Below(std::size(kPairs))];
    if (pair.a != x.elem() && pair.b != x.elem()) continue;
    if (!x.plain) return Add(Bits(x));
    const Elem to = x.elem() == pair.a ? pair.b : pair.a;
    return Add({op::Bitcast(b_, Tile(to, x.shape()), x.v)});
  }
}

// Functions whose results may differ in their last bits, and sums in any order.
void Generator::StepInexact() {
  std::vector<Val> near;
  for (const Val& v : pool_) {
    if (!v.exact) near.push_back(v);
  }
  if (near.empty() || r_.Percent(40)) {
    const Elem e = FloatElement();
    Shape s = Exact().shape();
    const Val x = Small(e, s, 4);
    Value* positive = op::Addf(b_, op::Absf(b_, x.v), op::Splat(b_, x.v->type(), 1));
    Val z;
    z.exact = z.plain = false;
    z.bound = 64;
    using enum ir::Opcode;
    static const auto& drawn = *new std::vector<ir::Opcode>(Drawn(
        ir::Family::kMath,
        {kFpowf, kLog, kLog2, kRsqrt, kErfinv, kErfcinv, kNormcdfinv, kLgamma, kTgamma, kJ0, kJ1, kY0, kY1, kJn, kYn}));
    switch (r_.Below(17)) {
      default: z.v = Plain(r_.Of(drawn), x.v, positive, positive); break;
      case 10: z.v = op::Log(b_, positive); break;
      case 11: z.v = op::Log2(b_, positive); break;
      case 12: z.v = op::Rsqrt(b_, positive); break;
      case 13: z.v = op::Fpowf(b_, positive, Small(e, s, 2).v), z.bound = 1024; break;
      case 14: {
        const Elem exponent = r_.Of({Elem::kI8, Elem::kI16, Elem::kI32});
        z.v = op::Fpowi(b_, positive, Splat(exponent, s, r_.In(-2, 2)));
        break;
      }
      case 15:
        if (e != Elem::kF32) return;
        z.v = op::Divf(b_, x.v, positive, r_.Of({Rounding::kApprox, Rounding::kFull}));
        break;
      case 16:
        if (e != Elem::kF32) return;
        z.v = op::Sqrt(b_, positive, Rounding::kApprox);
    }
    return Add(z);
  }
  const Val x = r_.Of(near);
  const Elem e = x.elem();
  Val z = x;
  switch (r_.Below(5)) {
    case 0: z.v = op::Negf(b_, x.v); break;
    case 1: z.v = op::Absf(b_, x.v); break;
    case 2:
      if (x.bound > 4096) return;
      z.v = op::Mulf(b_, x.v, Small(e, x.shape(), 4).v);
      z.bound *= 4;
      break;
    case 3: {
      const Val y = r_.Of(near);
      if (y.elem() != e || y.shape() != x.shape() || x.bound + y.bound > 16384) return;
      z.v = op::Addf(b_, x.v, y.v);
      z.bound += y.bound;
      break;
    }
    default: {
      if ((e != Elem::kF32 && e != Elem::kF64) || x.rank() == 0) return;
      const int64_t dim = r_.Below(x.rank());
      const auto sum = [&](const op::Values& el, const op::Values& acc) -> op::Values {
        return {op::Addf(b_, el[0], acc[0])};
      };
      if (r_.Percent(60)) {
        z.v = op::Reduce(b_, {x.v}, dim, {op::Identity(e, 0)}, sum)[0];
      } else {
        z.v = op::Scan(b_, {x.v}, dim, {op::Identity(e, 0)}, sum, r_.Percent(50))[0];
      }
      z.bound *= static_cast<double>(x.shape()[static_cast<size_t>(dim)]);
      if (z.bound > 1e6) return;
    }
  }
  Add(z);
}

}  // namespace tile::fuzz
