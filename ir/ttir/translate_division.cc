// What Triton takes for granted of neighbours that are divided, as `assume` of the result.
//
//   %o = rising by one from a multiple of 16          %r = remi %o, %n signed
//   arith.remsi %o, %n    (%n divisible by 16)        assume div_by<16, every 16 along 0>, %r
//   arith.divsi %o, %n                                assume same_elements<[16]>, of the quotient
//
// Of numbers that are not negative this follows. Of others it need not: -16 % 16 is 0, and -15 % 16 is -15. Triton's compiler does not ask
// for the sign (RemOpAxisInfoVisitor), and reads vectors; so a kernel that runs on a GPU has no such numbers, and engines that know
// it read vectors, too. The VM's full checks find a kernel that does have them.
#include <algorithm>

#include "ir/op_views.h"
#include "ir/ttir/lines.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {
namespace {

// Whether numbers may be negative: what only counts from zero is known not to be, and needs no promise.
bool CountsFromZero(const Value* v) {
  const Op* op = v->def();
  if (op == nullptr) return false;
  const bool passes = BroadcastOp::Is(op) || ReshapeOp::Is(op) || ExtiOp::Is(op);
  return IotaOp::Is(op) || (passes && CountsFromZero(op->operand(0)));
}

}  // namespace

Value* Translator::WithNeighbours(Value* divided) {
  const Type t = divided->type();
  const Op& op = *divided->def();
  const Value *x = op.operand(0), *n = op.operand(1);
  if (!t.is_tile() || CountsFromZero(x)) return divided;
  const int64_t divisor = SeenDivisor(n);
  std::vector<int64_t> equal(static_cast<size_t>(t.rank()), 1);
  Value* promised = divided;
  for (int d = 0; d < t.rank() && divisor > 1; ++d) {
    const auto start = StartOfRising(x, d);
    if (!start || !SeenEqual(n, d)) continue;
    const int64_t group = std::min({*start, divisor, kGroup, t.shape()[static_cast<size_t>(d)]});
    if (group == 1) continue;
    if (DiviOp::Is(&op)) {
      equal[static_cast<size_t>(d)] = group;
      continue;
    }
    Predicate rises;
    rises.divisor = static_cast<uint64_t>(group);
    rises.every = group;
    rises.along = d;
    promised = ops::Assume(b_, promised, rises);
  }
  if (std::any_of(equal.begin(), equal.end(), [](int64_t g) { return g > 1; })) {
    Predicate same;
    same.kind = Predicate::Kind::kSameElements;
    same.groups = equal;
    promised = ops::Assume(b_, promised, same);
  }
  return promised;
}

}  // namespace tile::ir::ttir
