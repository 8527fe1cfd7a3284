// Reductions and scans: with bodies that engines know and with others, commutative and not, of one operand and of two.
#include <cmath>
#include <limits>

#include "ir/float.h"
#include "tests/fuzz/generator.h"

namespace tile::fuzz {
namespace {

using ir::Signedness;
using op::Values;

// A body with its identities.
struct Body {
  std::vector<ir::Scalar> identities;
  ir::ops::internal::Combine combine;
  double bound = -1;
};

ir::Scalar Int(Elem e, int64_t n) {
  const int bits = ir::ElemInfoOf(e).bits;
  return {e, bits == 64 ? static_cast<uint64_t>(n) : static_cast<uint64_t>(n) & ((uint64_t{1} << bits) - 1)};
}

int64_t Minimum(Elem e, Signedness s) {
  return s == Signedness::kUnsigned ? 0 : static_cast<int64_t>(~uint64_t{0} << (ir::ElemInfoOf(e).bits - 1));
}
int64_t Maximum(Elem e, Signedness s) { return s == Signedness::kUnsigned ? -1 : ~Minimum(e, s); }

Body IntegerBody(ir::Builder& b, Random& r, Elem e, Signedness s) {
  const int64_t any = r.Below(1 << 20);
  const bool swap = r.Percent(30);
  const auto two = [&b, swap](auto f) {
    return [&b, swap, f](const Values& el, const Values& acc) -> Values {
      return {swap ? f(b, acc[0], el[0]) : f(b, el[0], acc[0])};
    };
  };
  const auto constant = [e](ir::Builder& in, int64_t n) { return op::Integer(in, in.types().Scalar(e), n); };
  using Op = Value* (*)(ir::Builder&, Value*, Value*);
  switch (r.Below(14)) {
    case 0:
    case 1: return {{Int(e, 0)}, two(Op([](ir::Builder& c, Value* x, Value* y) { return op::Addi(c, x, y); }))};
    case 2: return {{Int(e, 1)}, two(Op([](ir::Builder& c, Value* x, Value* y) { return op::Muli(c, x, y); }))};
    case 3: return {{Int(e, -1)}, two(Op([](ir::Builder& c, Value* x, Value* y) { return op::Andi(c, x, y); }))};
    case 4: return {{Int(e, 0)}, two(Op([](ir::Builder& c, Value* x, Value* y) { return op::Ori(c, x, y); }))};
    case 5: return {{Int(e, 0)}, two(Op([](ir::Builder& c, Value* x, Value* y) { return op::Xori(c, x, y); }))};
    case 6:
      return {{Int(e, Minimum(e, s))}, two([s](ir::Builder& c, Value* x, Value* y) { return op::Maxi(c, x, y, s); })};
    case 7:
      return {{Int(e, Maximum(e, s))}, two([s](ir::Builder& c, Value* x, Value* y) { return op::Mini(c, x, y, s); })};
    case 8:  // (1 + x)(1 + y) - 1
      return {{Int(e, 0)}, two(Op([](ir::Builder& c, Value* x, Value* y) {
                return op::Addi(c, op::Addi(c, x, y), op::Muli(c, x, y));
              }))};
    case 9:  // x ^ y ^ any
      return {{Int(e, any)}, two([constant, any](ir::Builder& c, Value* x, Value* y) {
                return op::Xori(c, op::Xori(c, x, y), constant(c, any));
              })};
    case 10: {  // the first that is not 0, or the last
      const bool first = r.Percent(50);
      return {{Int(e, 0)}, [&b, constant, first, s](const Values& el, const Values& acc) -> Values {
                Value* probe = first ? acc[0] : el[0];
                Value* some = op::CmpI(b, ir::ComparisonPredicate::kNotEqual, probe, constant(b, 0), s);
                return {op::Select(b, some, probe, first ? el[0] : acc[0])};
              }};
    }
    case 11:  // x -> p x + q, one after the other
      return {{Int(e, 1), Int(e, 0)}, [&b](const Values& el, const Values& acc) -> Values {
                Value* p = op::Muli(b, acc[0], el[0]);
                return {p, op::Addi(b, op::Muli(b, acc[1], el[0]), el[1])};
              }};
    case 12:  // a sum and a maximum
      return {{Int(e, 0), Int(e, Minimum(e, s))}, [&b, s](const Values& el, const Values& acc) -> Values {
                return {op::Addi(b, el[0], acc[0]), op::Maxi(b, acc[1], el[1], s)};
              }};
    default: {  // the largest, and where; of equal ones the lowest number
      return {{Int(e, Minimum(e, s)), Int(Elem::kI32, -1)}, [&b, s](const Values& el, const Values& acc) -> Values {
                Value* more = op::CmpI(b, ir::ComparisonPredicate::kGreaterThan, el[0], acc[0], s);
                Value* same = op::CmpI(b, ir::ComparisonPredicate::kEqual, el[0], acc[0], s);
                Value* lower = op::CmpI(b, ir::ComparisonPredicate::kLessThan, el[1], acc[1], Signedness::kUnsigned);
                Value* take = op::Ori(b, more, op::Andi(b, same, lower));
                return {op::Select(b, take, el[0], acc[0]), op::Select(b, take, el[1], acc[1])};
              }};
    }
  }
}

Body FloatBody(ir::Builder& b, Random& r, Elem e, double bound, int64_t n) {
  const double inf = std::numeric_limits<double>::infinity();
  const bool swap = r.Percent(30), nan = r.Percent(50), most = r.Percent(50);
  const double total = bound * static_cast<double>(n);
  if (bound >= 0 && total <= LargestWhole(e) && r.Percent(60)) {
    return {{op::Identity(e, 0)},
            [&b, swap](const Values& el, const Values& acc) -> Values {
              return {swap ? op::Addf(b, acc[0], el[0]) : op::Addf(b, el[0], acc[0])};
            },
            total};
  }
  if (bound >= 0 &&
      r.Percent(40)) {  // arg-max of whole numbers: of equal ones the lowest number, the first or the last
    const int64_t rule = r.Below(3);
    return {{{e, ir::FromDouble(e, -inf)}, Int(Elem::kI32, -1)},
            [&b, rule](const Values& el, const Values& acc) -> Values {
              using enum ir::ComparisonPredicate;
              Value* take = op::CmpF(b, rule == 2 ? kGreaterThanOrEqual : kGreaterThan, el[0], acc[0]);
              if (rule == 0) {
                Value* same = op::CmpF(b, kEqual, el[0], acc[0]);
                Value* lower = op::CmpI(b, kLessThan, el[1], acc[1], Signedness::kUnsigned);
                take = op::Ori(b, take, op::Andi(b, same, lower));
              }
              return {op::Select(b, take, el[0], acc[0]), op::Select(b, take, el[1], acc[1])};
            },
            bound};
  }
  // A NaN that loses is what changes nothing; else the infinity.
  const double identity = !nan ? std::nan("") : most ? -inf : inf;
  return {{{e, ir::FromDouble(e, identity)}},
          [&b, swap, nan, most](const Values& el, const Values& acc) -> Values {
            Value *x = swap ? acc[0] : el[0], *y = swap ? el[0] : acc[0];
            return {most ? op::Maxf(b, x, y, nan) : op::Minf(b, x, y, nan)};
          },
          bound};
}

}  // namespace

// A row of 16 bits as f32, and what may lie between its widening and a reduction of it.
Val Generator::Widened() {
  const Shape shape = RandomShape(RandomCount());
  const Elem narrow = r_.Percent(50) ? Elem::kF16 : Elem::kBF16;
  const ir::Type type = Tile(Elem::kF32, shape);
  Value* wide = op::FToF(b_, type, Operand(narrow, shape).v);
  const Val kept = {wide, -1, true, false};
  if (r_.Percent(50)) Add(kept);
  if (r_.Percent(40)) wide = r_.Percent(50) ? op::Absf(b_, wide) : op::Negf(b_, wide);
  if (r_.Percent(30)) {
    Value* other = op::Splat(b_, type, r_.Percent(70) ? 0.0 : 0.1);
    wide = op::Select(b_, Operand(Elem::kI1, shape).v, wide, other);
  }
  return {wide, -1, true, false};
}

void Generator::StepReduce() { StepReduce(Widens() && r_.Percent(70) ? Widened() : Exact()); }

void Generator::StepReduce(Val x) {
  if (x.rank() == 0 || x.count() < 2) {
    const Shape shape = RandomShape(RandomCount());
    const Elem e = Element();
    x = Operand(Legal(e, shape) ? e : Elem::kF32, shape);
  }
  if (!ir::IsInt(x.elem()) && !ir::IsFp(x.elem())) x = Converted(x, r_.Percent(50) ? IntElement() : FloatElement());
  if (x.rank() == 0) return;
  const Elem e = x.elem();
  if (ir::IsFp(e) && r_.Percent(Widens() ? 10 : 40)) x = Small(e, x.shape(), 4);
  const Shape s = x.shape();
  const int64_t dim = r_.Below(x.rank()), n = s[static_cast<size_t>(dim)];
  const Signedness sign = Sign();
  const Body body = ir::IsInt(e) ? IntegerBody(b_, r_, e, sign) : FloatBody(b_, r_, e, x.bound, n);
  Values operands = {x.v};
  if (body.identities.size() == 2) {
    if (body.identities[1] == Int(Elem::kI32, -1)) {
      Value* number = op::Iota(b_, Tile(Elem::kI32, {x.count()}));
      operands.push_back(op::Reshape(b_, Tile(Elem::kI32, s), number));
    } else {
      operands.push_back(Operand(e, s).v);
    }
  }
  const bool reverse = r_.Percent(50);
  const Values results = r_.Percent(60) ? op::Reduce(b_, operands, dim, body.identities, body.combine)
                                        : op::Scan(b_, operands, dim, body.identities, body.combine, reverse);
  for (Value* v : results) {
    const bool is_float = ir::IsFp(v->type().elem());
    Add({v, is_float ? body.bound : -1, true, !is_float || body.bound >= 0});
  }
}

}  // namespace tile::fuzz
