#include "codegen/analysis/missing_fact.h"

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kDepth = 64;

uint64_t SizeOf(const Value* v, int dim) { return static_cast<uint64_t>(v->type().shape()[static_cast<size_t>(dim)]); }

// The operand of an elementwise operation for which this holds; null if there is none.
template <class Fn>
const Value* OperandWhere(const Op& op, Fn&& fn) {
  for (int i = 0; op.info()->has(ir::kElementwise) && i < op.num_operands(); ++i) {
    if (fn(op.operand(i))) return op.operand(i);
  }
  return nullptr;
}

}  // namespace

MissingFact WhyNotNeighbours(Facts* facts, const Value* pointers) {
  int dim = -1;
  for (int d = 0; d < pointers->type().rank(); ++d) {
    const Facts::Line line = facts->LineOf(pointers, d);
    if (line.rising > 1) {
      return {absl::StrCat("the pointers are neighbours along dimension ", d,
                           ", but a thread holds none of them together")};
    }
    if (line.equal < SizeOf(pointers, d)) dim = d;
  }
  if (dim < 0) return {"all pointers are equal"};
  const std::string lost = absl::StrCat("it is not known that the pointers are neighbours along dimension ", dim);
  const Value* v = pointers;
  for (int depth = 0; depth < kDepth; ++depth) {
    const Op* op = v->def();
    if (op == nullptr) return {absl::StrCat(lost, ": they follow from an argument")};
    if (OperandWhere(*op, [&](const Value* x) { return facts->LineOf(x, dim).rising > 1; }) != nullptr) {
      return {absl::StrCat(lost, ": behind ", op->info()->mnemonic, ", neighbours need not rise by one"), op};
    }
    const Value* from = OperandWhere(*op, [&](const Value* x) { return facts->LineOf(x, dim).equal < SizeOf(x, dim); });
    if (from == nullptr) return {absl::StrCat(lost, ": they follow from what ", op->info()->mnemonic, " gives"), op};
    v = from;
  }
  return {lost};
}

MissingFact WhyNotEqual(Facts* facts, const Value* mask, int dim, uint64_t n) {
  const Value* v = mask;
  for (int depth = 0; depth < kDepth; ++depth) {
    const Op* op = v->def();
    if (op == nullptr) return {"it follows from an argument"};
    if (const auto compare = ir::As<ir::CmpIOp>(op)) {
      const Facts::Line a = facts->LineOf(compare->lhs(), dim), b = facts->LineOf(compare->rhs(), dim);
      const bool left_rises = a.rising > 1;
      const Facts::Line& index = left_rises ? a : b;
      if (index.aligned() < n) {
        return {absl::StrCat("the index that cmpi compares is not known to begin at a multiple of ", n), op};
      }
      if (facts->Divisor(left_rises ? compare->rhs() : compare->lhs()) < n) {
        return {absl::StrCat("the bound that cmpi compares with is not known to be a multiple of ", n,
                             " (assume div_by<", n, "> says so)"),
                op};
      }
      return {"the order of what cmpi compares may change among them", op};
    }
    const Value* from = OperandWhere(*op, [&](const Value* x) { return facts->LineOf(x, dim).equal < n; });
    if (from == nullptr) return {absl::StrCat("it follows from what ", op->info()->mnemonic, " gives"), op};
    v = from;
  }
  return {"it follows from too many operations"};
}

}  // namespace tile::codegen
