// Every elementwise operation: a kernel of vm/kernels over the stored elements of the operands.
//
// Compact operands (prepare/value_plan.h) are read as they are: the result is computed in chunks in which each operand is either
// contiguous or one element.
#include <algorithm>
#include <bit>
#include <cassert>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "vm/eval/elementwise_key.h"
#include "vm/kernels/elementwise.h"
#include "vm/prepare/prepare.h"
#include "vm/prepare/strips.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Value;

// Small tiles and scalars are most instructions of many kernels: no loop over their operands.
template <int kArity>
const Instr* RunWhole(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const ElementwiseData*>(in->data);
  const void* operands[kArity];
  for (int i = 0; i < kArity; ++i) operands[i] = b.at(d.in[i]);
  d.fn(b.at(d.out), operands, d.n);
  return in + 1;
}

constexpr ExecFn kRunWhole[] = {RunWhole<1>, RunWhole<2>, RunWhole<3>};  // by number of operands
static_assert(std::size(kRunWhole) == kMaxElementwiseOperands);

const Instr* RunChunks(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const ElementwiseData*>(in->data);
  auto* out = static_cast<char*>(b.at(d.out));
  for (int64_t e = 0; e < d.n; e += d.chunk) {
    const void* operands[kMaxElementwiseOperands];
    for (int i = 0; i < d.arity; ++i) {
      operands[i] = static_cast<const char*>(b.at(d.in[i])) + d.Offset(i, e);
    }
    d.fn(out + e * d.out_bytes, operands, d.chunk);
  }
  return in + 1;
}

// Fills in how each operand is read, and gives the mask of operands that are one element per call.
int PlanOperands(Plan& plan, const Op& op, bool compact_result, ElementwiseData* d) {
  int mask = 0;
  d->chunk = d->n;
  for (int i = 0; i < d->arity; ++i) {
    const Form f = plan.form(op.operand(i));
    d->bytes[i] = static_cast<int>(StoredElementBytes(op.operand(i)->type()));
    d->run[i] = 1;
    d->count[i] = f.count;
    if (f.count == 1 && d->n > 1) {
      d->run[i] = d->n;
      mask |= 1 << i;
    } else if (compact_result) {
      // Compact in the same way: element for element.
    } else if (f.run > 1) {
      d->run[i] = f.run;
      d->chunk = std::min(d->chunk, f.run);
      mask |= 1 << i;
    } else {
      d->chunk = std::min(d->chunk, f.count);
    }
    assert(std::has_single_bit(static_cast<uint64_t>(d->count[i])));
    d->run_bits[i] = std::countr_zero(static_cast<uint64_t>(d->run[i]));
  }
  return mask;
}

}  // namespace

ElementwiseKey ElementwiseKeyOf(const Op& op) {
  ElementwiseKey key;
  key.op = op.opcode();
  key.out = op.result(0)->type().elem();
  // The operand whose element type differs from the result's tells most; select's condition tells nothing.
  key.in = op.operand(0)->type().elem();
  if (op.opcode() == ir::Opcode::kSelect) {
    key.in = key.out;
  } else {
    for (int i = 0; i < op.num_operands(); ++i) {
      if (op.operand(i)->type().elem() != key.out) key.in = op.operand(i)->type().elem();
    }
  }
  const auto number = [&](ir::Field field, int64_t missing) {
    const ir::Attr* a = ir::FindAttr(op, field);
    return a == nullptr ? missing : a->as_int();
  };
  key.rounding = static_cast<ir::Rounding>(number(ir::Field::kRounding, static_cast<int64_t>(key.rounding)));
  key.flush_to_zero = number(ir::Field::kFlushToZero, 0) != 0;
  key.propagate_nan = number(ir::Field::kPropagateNan, 0) != 0;
  key.saturating = number(ir::Field::kSaturating, 0) != 0;
  key.signedness = static_cast<ir::Signedness>(number(ir::Field::kSignedness, 0));
  key.predicate = static_cast<ir::ComparisonPredicate>(number(ir::Field::kPredicate, 0));
  key.ordering = static_cast<ir::ComparisonOrdering>(number(ir::Field::kOrdering, 0));
  if (op.result(0)->type().element().is_pointer()) {
    key.pointee_bytes = std::max(1, ir::MemoryBits(op.result(0)->type().element().pointee) / 8);
  }
  return key;
}

const ElementwiseData* ElementwiseOf(const Instr& in) {
  const bool whole = std::find(std::begin(kRunWhole), std::end(kRunWhole), in.fn) != std::end(kRunWhole);
  return whole || in.fn == RunChunks ? static_cast<const ElementwiseData*>(in.data) : nullptr;
}

void PrepareElementwise(Preparer& p, const Op& op) {
  if (MovesNothing(&op)) return;
  Plan& plan = p.plan();
  const Value* result = op.result(0);
  auto* d = p.New<ElementwiseData>();
  d->arity = op.num_operands();
  d->n = plan.form(result).count;  // a compact result is computed once per stored element
  d->out_bytes = static_cast<int>(StoredElementBytes(result->type()));
  d->out = p.raw(result);
  ElementwiseKey key = ElementwiseKeyOf(op);
  key.splat_mask = PlanOperands(plan, op, !plan.dense(result), d);
  d->fn = FindElementwise(key);
  if (d->fn != nullptr) {
    for (int i = 0; i < d->arity; ++i) d->in[i] = p.raw(op.operand(i));
  } else {
    // No kernel reads these operands as they are stored.
    key.splat_mask = 0;
    d->chunk = d->n;
    d->fn = FindElementwise(key);
    for (int i = 0; i < d->arity; ++i) {
      d->in[i] = p.dense(op.operand(i), d->n);
      d->run[i] = 1;
      d->count[i] = d->n;
      d->run_bits[i] = 0;
    }
  }
  if (d->fn == nullptr) {
    return p.Refuse(op, absl::StrCat("the VM has no kernel for ", ir::ElemInfoOf(key.in).spelling, " to ",
                                     ir::ElemInfoOf(key.out).spelling, " with these attributes"));
  }
  p.Emit(op, d->chunk == d->n ? kRunWhole[d->arity - 1] : RunChunks, d);
}

}  // namespace tile::vm
