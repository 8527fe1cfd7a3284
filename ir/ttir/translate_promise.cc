// What the author of a kernel promises of values, as `assume` of them: tl.assume, tl.multiple_of, tl.max_contiguous, tl.max_constancy.
// The engines may rely on it; the VM finds promises that do not hold.
//
//   llvm.intr.assume (arith.cmpi sge, %x, 0)                  assume bounded<0, ?>, %x
//   llvm.intr.assume (arith.cmpi eq, (arith.remsi %x, 16), 0) assume div_by<16>, %x
//   … {tt.contiguity = dense<64>, tt.divisibility = dense<64>}  assume div_by<16, every 16 along 0>, …
//   a parameter that is a descriptor                          assume bounded<1, 1>, its last stride; …
//
//   llvm.intr.assume (another condition)                      assume bounded<-1, -1>, the condition
//
// What follows uses the result, under the name of the value.
#include <algorithm>
#include <limits>

#include "ir/bits.h"
#include "ir/op_views.h"
#include "ir/ttir/lines.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {
namespace {

constexpr int64_t kLargestBlock = 65536;
constexpr int kDepth = 32;

int64_t PowerOfTwoIn(int64_t n) { return static_cast<int64_t>(LowestBit(static_cast<uint64_t>(n))); }

// x `p` n as bounds of x, in its type.
std::optional<Predicate> BoundsOf(ComparisonPredicate p, int64_t n, int bits) {
  Predicate bounds;
  bounds.kind = Predicate::Kind::kBounded;
  const int64_t most = bits >= 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (bits - 1)) - 1;
  switch (p) {
    case ComparisonPredicate::kEqual: bounds.lower = bounds.upper = n; return bounds;
    case ComparisonPredicate::kGreaterThanOrEqual: bounds.lower = n; return bounds;
    case ComparisonPredicate::kLessThanOrEqual: bounds.upper = n; return bounds;
    case ComparisonPredicate::kGreaterThan:
      if (n == most) return std::nullopt;
      bounds.lower = n + 1;
      return bounds;
    case ComparisonPredicate::kLessThan:
      if (n == -most - 1) return std::nullopt;
      bounds.upper = n - 1;
      return bounds;
    case ComparisonPredicate::kNotEqual: return std::nullopt;
  }
  return std::nullopt;
}

// Computed from the number of the program, as the number of its row of blocks is.
bool CountsPrograms(const Value* v, int depth = 0) {
  const Op* op = v->def();
  if (depth > kDepth || !v->type().is_scalar()) return false;
  if (op == nullptr) {  // of a loop over tiles, which begins with the program's own
    const Op* around = v->block() != nullptr ? v->block()->parent() : nullptr;
    return around != nullptr && ForOp::Is(around) && v->index() == 0 &&
           CountsPrograms(ForOp(*around).lower_bound(), depth + 1);
  }
  if (GetTileBlockIdOp::Is(op)) return true;
  if (AssumeOp::Is(op)) return CountsPrograms(op->operand(0), depth + 1);
  const bool arithmetic = AddiOp::Is(op) || SubiOp::Is(op) || DiviOp::Is(op) || RemiOp::Is(op);
  return arithmetic && (CountsPrograms(op->operand(0), depth + 1) || CountsPrograms(op->operand(1), depth + 1));
}

}  // namespace

// The number of a block times its size does not overflow: where it did, addresses would be wrong already. Triton's own check of overflow
// (`debug=True`) asserts the same.
bool Translator::IsStartOfBlock(const Value* x, const Value* y) {
  for (int i = 0; i < 2; ++i, std::swap(x, y)) {
    const std::optional<int64_t> size = IntegerIn(y);
    if (size && *size > 0 && *size <= kLargestBlock && PowerOfTwoIn(*size) == *size && CountsPrograms(x)) return true;
  }
  return false;
}

void Translator::Rebind(const ValueRef& ref, Value* from, Value* to) {
  const auto it = values_.find(ref.name);
  if (it == values_.end() || ref.part >= it->second.size() || !it->second[ref.part].is_tile() ||
      it->second[ref.part].tile() != from) {
    return;
  }
  std::vector<Val> values = it->second;
  values[ref.part].parts[0] = to;
  Bind(ref.name, std::move(values));
}

// x % divisor == 0, of an integer, or of a pointer as one: from here on the name of x, or of the pointer, means what is promised.
bool Translator::AssumeDivisible(const RemiOp& rem) {
  const std::optional<int64_t> divisor = IntegerIn(rem.op().operand(1));
  const auto divided = operands_of_.find(rem.op().result(0));
  if (!divisor || *divisor < 2 || divided == operands_of_.end()) return false;
  Value* x = rem.op().operand(0);
  ValueRef name = divided->second;
  if (x->def() != nullptr && PtrToIntOp::Is(x->def())) {
    const auto pointer = operands_of_.find(x);
    if (pointer == operands_of_.end()) return false;
    name = pointer->second;
    x = x->def()->operand(0);
  }
  Predicate p;
  p.divisor = static_cast<uint64_t>(*divisor);
  Rebind(name, x, ops::Assume(b_, x, p));
  return true;
}

// Bounds and divisors are promised of the value. A condition of another form helps nobody, but is promised as well: i1 that is true is -1.
bool Translator::AssumeCondition(const Node& n, const OpRow&) {
  Value* condition = tile(0);
  const auto test = DefAs<CmpIOp>(condition);
  const auto names = operands_of_.find(condition);
  if (test && names != operands_of_.end()) {
    Value* x = test->op().operand(0);
    const ValueRef name = names->second;
    const std::optional<int64_t> bound = IntegerIn(test->op().operand(1));
    const auto promised = DefAs<AssumeOp>(x);  // of neighbours
    const auto rem = DefAs<RemiOp>(promised ? promised->op().operand(0) : x);
    const bool is_signed = test->signedness() == Signedness::kSigned;
    if (rem && bound == 0 && test->predicate() == ComparisonPredicate::kEqual && AssumeDivisible(*rem)) {
      return Define(n, std::vector<Val>());
    }
    if (bound && is_signed && !rem) {
      if (const auto p = BoundsOf(test->predicate(), *bound, ElemInfoOf(x->type().elem()).bits)) {
        Rebind(name, x, ops::Assume(b_, x, *p));
        return Define(n, std::vector<Val>());
      }
    }
  }
  Predicate holds;
  holds.kind = Predicate::Kind::kBounded;
  holds.lower = holds.upper = -1;
  ops::Assume(b_, condition, holds);
  return Define(n, std::vector<Val>());
}

// What Triton checks when the host makes a descriptor (triton.tools.tensor_descriptor): it has elements, rows are contiguous, and they and
// the tensor begin at multiples of 16 bytes.
void Translator::PromiseOfDescriptor(Val* v) {
  constexpr int64_t kAlignment = 16;
  const auto promise = [&](size_t part, const Predicate& p) { v->parts[part] = ops::Assume(b_, v->parts[part], p); };
  Predicate aligned;
  aligned.divisor = kAlignment;
  promise(0, aligned);
  aligned.divisor = static_cast<uint64_t>(kAlignment / std::max(1, MemoryBits(v->type.tile.elem()) / 8));
  const auto rank = static_cast<size_t>(v->rank());
  Predicate some;
  some.kind = Predicate::Kind::kBounded;
  some.lower = 1;
  for (size_t d = 0; d < rank; ++d) promise(1 + d, some);
  for (size_t d = 0; d + 1 < rank && aligned.divisor > 1; ++d) promise(1 + rank + d, aligned);
  Predicate one;
  one.kind = Predicate::Kind::kBounded;
  one.lower = one.upper = 1;
  promise(2 * rank, one);
}

// The hints beside an operation with one result.
void Translator::TakeHints(const Node& n) {
  const Attribute* divisibility = n.attr("tt.divisibility");
  const Attribute* contiguity = n.attr("tt.contiguity");
  const Attribute* constancy = n.attr("tt.constancy");
  if ((divisibility == nullptr && contiguity == nullptr && constancy == nullptr) || n.results.size() != 1) return;
  ValueRef name;
  name.name = n.results[0].name;
  const Val* found = values_.contains(name.name) ? &values_[name.name][0] : nullptr;
  if (found == nullptr || !found->is_tile() || lift_ != nullptr) return;
  Value* const v = found->tile();
  const Element e = v->type().element();
  if (!e.is_pointer() && (!IsInt(e.kind) || e.kind == Elem::kI1)) return;
  const int rank = v->type().rank();
  // One number is meant for every dimension.
  const auto at = [&](const Attribute* a, int d) -> int64_t {
    if (a == nullptr || a->ints.empty()) return 1;
    const auto i = a->ints.size() == 1 ? 0 : static_cast<size_t>(d);
    return i < a->ints.size() && a->ints[i] > 0 ? a->ints[i] : 1;
  };
  Value* promised = v;
  if (rank == 0 && at(divisibility, 0) > 1) {
    Predicate p;
    p.divisor = static_cast<uint64_t>(at(divisibility, 0));
    promised = ops::Assume(b_, promised, p);
  }
  std::vector<int64_t> equal(static_cast<size_t>(rank), 1);
  for (int d = 0; d < rank; ++d) {
    const int64_t size = v->type().shape()[static_cast<size_t>(d)];
    const auto group = [&](const Attribute* a) { return std::min({PowerOfTwoIn(at(a, d)), kGroup, size}); };
    equal[static_cast<size_t>(d)] = group(constancy);
    const int64_t unit = e.is_pointer() ? std::max(1, MemoryBits(e.pointee) / 8) : 1;
    const int64_t divisor = PowerOfTwoIn(at(divisibility, d));
    int64_t neighbours = group(contiguity);
    // tl.multiple_of alone is meant of what rises by itself, where it begins.
    if (neighbours == 1 && divisor > unit && StartOfRising(v, d)) neighbours = std::min({divisor / unit, kGroup, size});
    if (neighbours == 1) continue;
    Predicate p;
    p.divisor = static_cast<uint64_t>(std::min(divisor, neighbours * unit));
    p.every = neighbours;
    p.along = d;
    promised = ops::Assume(b_, promised, p);
  }
  if (std::any_of(equal.begin(), equal.end(), [](int64_t n) { return n > 1; })) {
    Predicate p;
    p.kind = Predicate::Kind::kSameElements;
    p.groups = equal;
    promised = ops::Assume(b_, promised, p);
  }
  if (promised != v) Rebind(name, v, promised);
}

}  // namespace tile::ir::ttir
