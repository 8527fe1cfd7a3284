// reduce and scan (semantics 5.1). Arguments, ends and contents of their bodies are judged in verify_structure.cc.

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

bool CheckDim(OpCheck& c) {
  const int64_t dim = c.attr(Field::kDim).as_int();
  const bool good = c.op.num_operands() > 0 && dim >= 0 && dim < c.op.operand(0)->type().rank();
  return c.Require(good, Rule::kReduceDim, [&] {
    return c.op.num_operands() == 0 ? std::string("has no operand")
                                    : absl::StrCat("dim ", dim, " of ", c.op.operand(0)->type().ToString());
  });
}

void CheckIdentities(OpCheck& c) {
  const absl::Span<const Scalar> identities = c.attr(Field::kIdentities).scalars();
  if (!c.Require(static_cast<int>(identities.size()) == c.op.num_operands(), Rule::kReduceIdentities, [&] {
        return absl::StrCat("has ", identities.size(), " identities for ", c.op.num_operands(), " operands");
      })) {
    return;
  }
  for (int i = 0; i < c.op.num_operands(); ++i) {
    const Type t = c.op.operand(i)->type();
    c.Require(identities[i].elem == t.elem(), Rule::kReduceIdentities, [&] {
      return absl::StrCat("identity ", i, " is ", ElemInfoOf(identities[i].elem).spelling, ", operand ", i, " is ",
                          t.ToString());
    });
  }
}

bool WithoutDim(Type from, Type to, int64_t dim) {
  if (to.rank() != from.rank() - 1 || !(to.element() == from.element())) return false;
  for (int d = 0; d < to.rank(); ++d) {
    if (to->shape[d] != from->shape[d < dim ? d : d + 1]) return false;
  }
  return true;
}

void Check(OpCheck& c, bool keeps_dim) {
  if (!CheckDim(c)) return;
  CheckIdentities(c);
  if (!c.Require(c.op.num_results() == c.op.num_operands(), Rule::kReduceResults, [&] {
        return absl::StrCat("has ", c.op.num_results(), " results for ", c.op.num_operands(), " operands");
      })) {
    return;
  }
  const int64_t dim = c.attr(Field::kDim).as_int();
  for (int i = 0; i < c.op.num_operands(); ++i) {
    const Type from = c.op.operand(i)->type(), to = c.op.result(i)->type();
    c.Require(keeps_dim ? from == to : WithoutDim(from, to, dim), Rule::kReduceResults, [&] {
      return absl::StrCat("result ", i, " is ", to.ToString(), ", operand ", i, " is ", from.ToString(), ", dim ", dim);
    });
  }
}

void CheckReduce(OpCheck& c) { Check(c, false); }
void CheckScan(OpCheck& c) { Check(c, true); }

}  // namespace

absl::Span<const OpRules> ReduceRules() {
  static constexpr OpRules kRules[] = {{Opcode::kReduce, CheckReduce}, {Opcode::kScan, CheckScan}};
  return kRules;
}

}  // namespace tile::ir::verify
