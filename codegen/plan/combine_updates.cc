#include "codegen/plan/combine_updates.h"

#include <algorithm>

#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Opcode;
using ir::Value;

constexpr int64_t kMostAddresses = 4096;  // 16 KB of shared memory
constexpr int64_t kLeastShare = 4;        // elements for each address, so that it pays

bool MovesOnly(const ir::Op& op) { return op.info()->has(ir::kMoves); }

// The scalar that all elements of a tile are, or null.
const Value* ScalarOf(const Value* v) {
  while (!v->type().is_scalar()) {
    if (v->def() == nullptr || !MovesOnly(*v->def())) return nullptr;
    v = v->def()->operand(0);
  }
  return v;
}

std::optional<uint64_t> ConstantOf(const Value* v) {
  const ir::Op* def = v->def();
  while (def != nullptr && MovesOnly(*def)) def = def->operand(0)->def();
  const auto constant = ir::As<ir::ConstantOp>(def);
  if (!constant || !constant->value().splat) return std::nullopt;
  uint64_t bits = 0;
  const ir::Dense& d = constant->value();
  std::copy(d.bytes.begin(), d.bytes.begin() + ir::StorageBytes(d.elem), reinterpret_cast<uint8_t*>(&bits));
  return bits;
}

// Elements lie in [0, n) for the n returned, whatever the data; 0: not known.
int64_t RangeOf(const Value* v, int depth = 0) {
  const ir::Op* def = v->def();
  if (def == nullptr || depth > 16) return 0;
  if (MovesOnly(*def)) return RangeOf(def->operand(0), depth + 1);
  if (const auto extended = ir::As<ir::ExtiOp>(def)) {
    const int bits = ir::ElemInfoOf(extended->from()->type().elem()).bits;
    const int64_t inside = RangeOf(extended->from(), depth + 1);
    if (inside > 0 && inside <= int64_t{1} << (bits - 1)) return inside;
    return extended->signedness() == ir::Signedness::kUnsigned && bits < 32 ? int64_t{1} << bits : 0;
  }
  if (const auto masked = ir::As<ir::AndiOp>(def)) {
    for (const Value* v : {masked->lhs(), masked->rhs()}) {
      const auto mask = ConstantOf(v);
      if (mask && *mask < static_cast<uint64_t>(kMostAddresses)) return static_cast<int64_t>(*mask) + 1;
    }
  }
  if (const auto rest = ir::As<ir::RemiOp>(def); rest && rest->signedness() == ir::Signedness::kUnsigned) {
    const auto divisor = ConstantOf(rest->rhs());
    if (divisor && *divisor > 0 && *divisor <= static_cast<uint64_t>(kMostAddresses))
      return static_cast<int64_t>(*divisor);
  }
  return 0;
}

bool IsCombinable(ir::RmwMode mode, ir::Elem elem) {
  if (elem != ir::Elem::kI32 && elem != ir::Elem::kI64) return false;
  static constexpr ir::RmwMode kModes[] = {ir::RmwMode::kAdd,  ir::RmwMode::kOr,  ir::RmwMode::kXor,
                                           ir::RmwMode::kAnd,  ir::RmwMode::kMax, ir::RmwMode::kMin,
                                           ir::RmwMode::kUmax, ir::RmwMode::kUmin};
  return std::find(std::begin(kModes), std::end(kModes), mode) != std::end(kModes);
}

// All elements update one place.
std::optional<Combination> ToOne(const ir::AtomicRmwOp& update) {
  const ir::Type arg = update.arg()->type();
  const Value* place = ScalarOf(update.pointers());
  if (place == nullptr || arg.is_scalar() || !IsCombinable(update.mode(), arg.elem())) return std::nullopt;
  Combination plan;
  plan.base = place;
  return plan;
}

// They are added to places that an index counts from one base.
std::optional<Combination> InTable(const ir::AtomicRmwOp& update) {
  const ir::Op* offset = update.pointers()->def();
  const ir::Type arg = update.arg()->type();
  if (update.mode() != ir::RmwMode::kAdd || arg.elem() != ir::Elem::kI32 || offset == nullptr ||
      offset->opcode() != Opcode::kOffset) {
    return std::nullopt;
  }
  Combination plan{
      .addresses = RangeOf(offset->operand(1)), .base = ScalarOf(offset->operand(0)), .index = offset->operand(1)};
  if (plan.base == nullptr || plan.addresses == 0 || plan.addresses > kMostAddresses ||
      arg.num_elements() < kLeastShare * plan.addresses) {
    return std::nullopt;
  }
  return plan;
}

}  // namespace

std::optional<Combination> PlanCombination(const ir::Op& op) {
  const auto update = ir::As<ir::AtomicRmwOp>(&op);
  if (!update || update->ordering() != ir::MemoryOrdering::kRelaxed || op.result(0)->has_uses()) return std::nullopt;
  const std::optional<Combination> one = ToOne(*update);
  return one ? one : InTable(*update);
}

void Decide(ir::Module* module, ir::Op* op, const Combination& plan) {
  Decide<Decision::kCombines>(module, op, plan.addresses);
}

std::optional<Combination> CombinationOf(const ir::Op& op) {
  const auto addresses = DecisionOf<Decision::kCombines>(op);
  if (!addresses) return std::nullopt;
  const Value* pointers = ir::AtomicRmwOp(op).pointers();
  Combination plan;
  plan.addresses = *addresses;
  plan.base = ScalarOf(pointers);
  if (*addresses == 1 && plan.base != nullptr) return plan;
  plan.base = ScalarOf(pointers->def()->operand(0));
  plan.index = pointers->def()->operand(1);
  return plan;
}

}  // namespace tile::codegen
