// Identities of elementwise operations.
#include <cmath>
#include <utility>

#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/fold.h"
#include "ir/passes/rewrite.h"
#include "ir/passes/simplify_rules.h"

namespace tile::ir {
namespace {

namespace op = ops;

using ArithmeticOp = OpView<AnyOf<Opcode::kAddf, Opcode::kSubf, Opcode::kMulf, Opcode::kDivf>>;

// x `opcode` c, with c on the right or, if the operation commutes, on the left.
enum class Gives : uint8_t { kX, kConstant, kZero };
struct Identity {
  Opcode opcode;
  int64_t constant;
  Gives gives;
};
constexpr Identity kIdentities[] = {
    {Opcode::kAddi, 0, Gives::kX},        {Opcode::kSubi, 0, Gives::kX},  {Opcode::kMuli, 1, Gives::kX},
    {Opcode::kMuli, 0, Gives::kConstant}, {Opcode::kDivi, 1, Gives::kX},  {Opcode::kRemi, 1, Gives::kZero},
    {Opcode::kShli, 0, Gives::kX},        {Opcode::kShri, 0, Gives::kX},  {Opcode::kAndi, -1, Gives::kX},
    {Opcode::kAndi, 0, Gives::kConstant}, {Opcode::kOri, 0, Gives::kX},   {Opcode::kOri, -1, Gives::kConstant},
    {Opcode::kXori, 0, Gives::kX},        {Opcode::kOffset, 0, Gives::kX}};

// x `opcode` x.
constexpr std::pair<Opcode, Gives> kOfEquals[] = {{Opcode::kAndi, Gives::kX},    {Opcode::kOri, Gives::kX},
                                                  {Opcode::kMaxi, Gives::kX},    {Opcode::kMini, Gives::kX},
                                                  {Opcode::kSubi, Gives::kZero}, {Opcode::kXori, Gives::kZero}};

// x * 1 and x / 1 are exact in every rounding; x + -0 and x - 0 keep the sign of zeros only if the nearest number is taken.
bool IsFloatIdentity(const Op& op, int constant_at) {
  const auto sum = As<ArithmeticOp>(&op);
  if (!sum || sum->flush_to_zero()) return false;
  const std::optional<double> c = FloatSplatOf(op.operand(constant_at));
  if (!c) return false;
  const Rounding rounding = sum->rounding();
  if (MulfOp::Is(&op)) return *c == 1;
  if (DivfOp::Is(&op)) {
    return constant_at == 1 && *c == 1 && rounding != Rounding::kApprox && rounding != Rounding::kFull;
  }
  if (rounding != Rounding::kNearestEven || *c != 0) return false;
  if (AddfOp::Is(&op)) return std::signbit(*c);
  return SubfOp::Is(&op) && constant_at == 1 && !std::signbit(*c);
}

Value* Not(Module* module, Op* where, Value* v) {
  Value* result = nullptr;
  WriteBefore(module, where, [&](Builder& b) { result = op::Xori(b, v, op::Integer(b, v->type(), 1)); });
  return result;
}

// A comparison for equality of a widened truth value with a constant is the truth value, its opposite, or known.
Value* SimplerTest(Module* module, Op* cmp) {
  const CmpIOp view(cmp);
  const std::optional<uint64_t> c = SplatOf(view.rhs());
  const bool equal = view.predicate() == ComparisonPredicate::kEqual;
  if (!c || (!equal && view.predicate() != ComparisonPredicate::kNotEqual)) return nullptr;
  Value* tested = view.lhs();
  uint64_t when_true = 1;
  if (const auto wide = DefAs<ExtiOp>(tested)) {
    if (wide->signedness() == Signedness::kSigned) when_true = LowBits(~uint64_t{0}, WidthOf(tested));
    tested = wide->from();
  }
  if (tested->type().elem() != Elem::kI1) return nullptr;
  if (*c != 0 && *c != when_true) return MakeSplat(module, cmp, cmp->result(0)->type(), equal ? 0 : 1);
  return (*c == when_true) == equal ? tested : Not(module, cmp, tested);
}

}  // namespace

Value* SimplerInteger(Module* module, Op* op) {
  Value* result = op->result(0);
  if (op->num_operands() != 2) return nullptr;
  Value *lhs = op->operand(0), *rhs = op->operand(1);
  if (lhs == rhs) {
    for (const auto& [opcode, gives] : kOfEquals) {
      if (opcode == op->opcode()) return gives == Gives::kX ? lhs : MakeSplat(module, op, result->type(), 0);
    }
  }
  for (const Identity& id : kIdentities) {
    if (id.opcode != op->opcode()) continue;
    for (const bool swapped : {false, true}) {
      if (swapped && !op->info()->has(kCommutative)) continue;
      Value *x = swapped ? rhs : lhs, *c = swapped ? lhs : rhs;
      if (!IsSplat(c, id.constant)) continue;
      if (id.gives == Gives::kX) return x;
      return id.gives == Gives::kConstant ? c : MakeSplat(module, op, result->type(), 0);
    }
  }
  return nullptr;
}

Value* SimplerFloat(Op* op) {
  // Signs are bits, of NaN too.
  const bool negates = NegfOp::Is(op);
  if (negates || AbsfOp::Is(op)) {
    Op* inner = op->operand(0)->def();
    if (NegfOp::Is(inner) && negates) return inner->operand(0);
    return AbsfOp::Is(inner) && !negates ? inner->result(0) : nullptr;
  }
  if (op->num_operands() != 2) return nullptr;
  if (IsFloatIdentity(*op, 1)) return op->operand(0);
  return op->info()->has(kCommutative) && IsFloatIdentity(*op, 0) ? op->operand(1) : nullptr;
}

Value* SimplerCompare(Module* module, Op* op) {
  if (const auto select = As<SelectOp>(op)) {
    Value *yes = select->val_if_true(), *no = select->val_if_false();
    if (yes == no) return yes;
    if (const std::optional<uint64_t> c = SplatOf(select->cond())) return *c != 0 ? yes : no;
    if (yes->type().elem() != Elem::kI1) return nullptr;
    if (IsSplat(yes, 1) && IsSplat(no, 0)) return select->cond();
    return IsSplat(yes, 0) && IsSplat(no, 1) ? Not(module, op, select->cond()) : nullptr;
  }
  const auto cmp = As<CmpIOp>(op);
  if (!cmp) return nullptr;
  if (cmp->lhs() == cmp->rhs()) {
    const bool holds = Compare(cmp->predicate(), cmp->signedness(), 0, 0, WidthOf(cmp->lhs()));
    return MakeSplat(module, op, op->result(0)->type(), holds ? 1 : 0);
  }
  return SimplerTest(module, op);
}

Value* SimplerConvert(Module* module, Op* op) {
  if (op->info()->has(kAlias) && op->operand(0)->type() == op->result(0)->type()) return op->operand(0);
  Op* inner = op->operand(0)->def();
  if (inner == nullptr || inner->num_operands() != 1 || inner->info()->family != Family::kConvert) return nullptr;
  Value* source = inner->operand(0);
  Value* result = nullptr;
  const Type to = op->result(0)->type();
  const auto outer_exti = As<ExtiOp>(op), inner_exti = As<ExtiOp>(inner);
  if (outer_exti && inner_exti) {
    // What was widened with zeros has no sign to be widened with.
    const bool zeros = inner_exti->signedness() == Signedness::kUnsigned;
    if (!zeros && outer_exti->signedness() != Signedness::kSigned) return nullptr;
    WriteBefore(module, op, [&](Builder& b) { result = op::Exti(b, to, source, inner_exti->signedness()); });
    return result;
  }
  if (TrunciOp::Is(op) && inner_exti) return source->type() == to ? source : nullptr;
  // Addresses and bits that change their type twice.
  const bool renames = op->info()->has(kAlias) && inner->info()->has(kAlias);
  return renames && source->type() == to ? source : nullptr;
}

}  // namespace tile::ir
