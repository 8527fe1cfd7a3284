// Comparisons and select.
#include <utility>

#include "codegen/emit/context/emitter.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::ComparisonPredicate;
using llvm::CmpInst;
using llvm::Value;

// Rows of the predicates in the order of their numbers.
struct Predicates {
  CmpInst::Predicate is_signed, is_unsigned, ordered, unordered;
};
constexpr Predicates kPredicates[] = {
    {CmpInst::ICMP_EQ, CmpInst::ICMP_EQ, CmpInst::FCMP_OEQ, CmpInst::FCMP_UEQ},
    {CmpInst::ICMP_NE, CmpInst::ICMP_NE, CmpInst::FCMP_ONE, CmpInst::FCMP_UNE},
    {CmpInst::ICMP_SLT, CmpInst::ICMP_ULT, CmpInst::FCMP_OLT, CmpInst::FCMP_ULT},
    {CmpInst::ICMP_SLE, CmpInst::ICMP_ULE, CmpInst::FCMP_OLE, CmpInst::FCMP_ULE},
    {CmpInst::ICMP_SGT, CmpInst::ICMP_UGT, CmpInst::FCMP_OGT, CmpInst::FCMP_UGT},
    {CmpInst::ICMP_SGE, CmpInst::ICMP_UGE, CmpInst::FCMP_OGE, CmpInst::FCMP_UGE},
};

const Predicates& RowOf(ComparisonPredicate p) { return kPredicates[static_cast<size_t>(p)]; }

// Of i1 as logic: predicates are no numbers to the GPU. As signed, true is the smaller.
Value* CompareBits(Emitter& e, ComparisonPredicate p, bool is_signed, Value* x, Value* y) {
  auto& b = e.b();
  if (is_signed) std::swap(x, y);
  switch (p) {
    case ComparisonPredicate::kEqual: return b.CreateNot(b.CreateXor(x, y));
    case ComparisonPredicate::kNotEqual: return b.CreateXor(x, y);
    case ComparisonPredicate::kLessThan: return b.CreateAnd(b.CreateNot(x), y);
    case ComparisonPredicate::kLessThanOrEqual: return b.CreateOr(b.CreateNot(x), y);
    case ComparisonPredicate::kGreaterThan: return b.CreateAnd(x, b.CreateNot(y));
    case ComparisonPredicate::kGreaterThanOrEqual: return b.CreateOr(x, b.CreateNot(y));
  }
  return b.getFalse();
}

}  // namespace

Value* EmitCmpI(Emitter& e, const ir::Op& op, Operands in) {
  const ir::CmpIOp cmp(op);
  const bool is_signed = cmp.signedness() == ir::Signedness::kSigned;
  if (in[0]->getType()->isIntegerTy(1)) {
    return CompareBits(e, cmp.predicate(), is_signed, in[0], in[1]);
  }
  const Predicates& p = RowOf(cmp.predicate());
  return e.b().CreateICmp(is_signed ? p.is_signed : p.is_unsigned, in[0], in[1]);
}

Value* EmitCmpF(Emitter& e, const ir::Op& op, Operands in) {
  const bool ordered = ir::CmpFOp(op).ordering() == ir::ComparisonOrdering::kOrdered;
  const Predicates& p = RowOf(ir::CmpFOp(op).predicate());
  return e.b().CreateFCmp(ordered ? p.ordered : p.unordered, in[0], in[1]);
}

Value* EmitSelect(Emitter& e, const ir::Op&, Operands in) { return e.b().CreateSelect(in[0], in[1], in[2]); }

}  // namespace tile::codegen
