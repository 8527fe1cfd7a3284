#include "codegen/passes/slicing/coalesce_loops.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/begins_at_block.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/move_loads.h"
#include "codegen/passes/unused.h"
#include "codegen/target/decisions.h"
#include "ir/create_like.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;
using ir::Block;
using ir::Elem;
using ir::Op;
using ir::Value;

bool IsHarmless(const Op& op) {
  if (!op.info()->has(ir::kPure) || op.num_regions() > 0) return false;
  for (int i = 0; i < op.num_results(); ++i) {
    if (IsTile(op.result(i)) && op.opcode() != ir::Opcode::kConstant) return false;
  }
  return true;
}

// No access waits for the token, only tokens of later iterations do.
bool OrdersNothing(const Value* token) {
  for (const ir::Use* use = token->uses(); use != nullptr; use = use->next) {
    if (ir::ContinueOp::Is(use->owner)) continue;
    if (!ir::JoinTokensOp::Is(use->owner) || !OrdersNothing(use->owner->result(0))) return false;
  }
  return true;
}

bool AllIterationsRun(Program& p, Op* loop) {
  return ir::CarryingLoop(*loop).latch() != nullptr &&
         LoopLoads(p.module.get(), loop, {.by_workers = true}).AllIterationsRun();
}

}  // namespace

std::optional<LoopNest> FindNest(Program& p, Op* outer) {
  const ir::CarryingLoop around(*outer);
  if (around.num_carried() > 0 || ir::WidthOf(around.index()) > 32) return std::nullopt;
  LoopNest nest;
  for (Op* inside : *outer->region(0)) {
    if (ir::ContinueOp::Is(inside) || IsHarmless(*inside)) continue;
    if (!ir::ForOp::Is(inside) || nest.inner != nullptr) return std::nullopt;
    nest.inner = inside;
  }
  if (nest.inner == nullptr || !AllIterationsRun(p, outer) || !AllIterationsRun(p, nest.inner)) return std::nullopt;
  // A ring goes by the induction variable of the loop that it was made for.
  for (const Op* inside : *nest.inner->region(0)) {
    if (IsFetch(inside)) return std::nullopt;
  }
  const ir::ForOp inner(nest.inner);
  const auto end = ir::SplatOf(inner.upper_bound());
  const bool from_first = ir::IsSplat(inner.lower_bound(), 0) && ir::IsSplat(inner.step(), 1);
  if (!from_first || !end || *end < 2 || (*end & (*end - 1)) != 0) return std::nullopt;
  nest.slices = static_cast<int64_t>(*end);
  const ir::CarryingLoop carried(*nest.inner);
  for (int i = 0; i < carried.num_carried(); ++i) {
    const bool token = carried.arg(i)->type().is_token();
    if (!token || nest.inner->result(i)->has_uses() || !OrdersNothing(carried.arg(i))) return std::nullopt;
  }
  return nest;
}

namespace {

// How often the body runs, in 64 bits.
Value* TimesOf(ir::Builder& b, const ir::ForOp& loop) {
  const ir::Signedness sign = loop.unsigned_cmp() ? ir::Signedness::kUnsigned : ir::Signedness::kSigned;
  Value *begin = loop.lower_bound(), *end = loop.upper_bound();
  const ir::Type type = begin->type(), i64 = b.types().Scalar(Elem::kI64);
  // Between them there is no overflow, if the difference is taken for unsigned.
  Value* last = op::Subi(b, op::Subi(b, end, begin), op::Integer(b, type, 1));
  Value* steps = op::Divi(b, last, loop.step(), ir::Signedness::kUnsigned);
  Value* times = op::Addi(b, op::Exti(b, i64, steps, ir::Signedness::kUnsigned), op::Integer(b, i64, 1));
  Value* any = op::CmpI(b, ir::ComparisonPredicate::kLessThan, begin, end, sign);
  return op::Select(b, any, times, op::Integer(b, i64, 0));
}

void CopyBody(ir::Module* module, Block* from, Block* to, const Op* but, ir::ValueMap* values) {
  for (const Op* inside : *from) {
    if (inside == but || inside == from->back()) continue;
    module->Append(to, ir::CopyOp(module, *inside, values));
  }
}

Value* As(ir::Builder& b, ir::Type type, Value* wide) {
  return ir::WidthOf(wide) == 8 * ir::StorageBytes(type.elem()) ? wide : op::Trunci(b, type, wide);
}

void Coalesce(Program& p, Op* outer, const LoopNest& nest) {
  ir::Module* module = p.module.get();
  const ir::ForOp counted(outer), inner(nest.inner);
  const ir::CarryingLoop around(*outer), slices(*nest.inner);
  Op* flat = nullptr;
  ir::WriteBefore(module, outer, [&](ir::Builder& b) {
    const ir::Type i64 = b.types().Scalar(Elem::kI64);
    const auto number = [&](int64_t n) { return op::Integer(b, i64, n); };
    Value* end = op::Muli(b, TimesOf(b, counted), number(nest.slices));
    op::For(b, number(0), end, number(1), {}, [&](Value* t, const op::Values&) {
      const int64_t bits = __builtin_ctzll(static_cast<uint64_t>(nest.slices));
      const ir::Type type = around.index()->type();
      Value* iteration = As(b, type, op::Shri(b, t, number(bits), ir::Signedness::kUnsigned));
      ir::ValueMap values;
      values[around.index()] = op::Addi(b, counted.lower_bound(), op::Muli(b, iteration, counted.step()));
      values[slices.index()] = As(b, slices.index()->type(), op::Andi(b, t, number(nest.slices - 1)));
      CopyBody(module, outer->region(0), b.block(), nest.inner, &values);
      for (int i = 0; i < slices.num_carried(); ++i) values[slices.arg(i)] = op::MakeToken(b);
      CopyBody(module, nest.inner->region(0), b.block(), nullptr, &values);
      return op::Values{};
    });
    flat = b.block()->back();
  });
  Decide<Decision::kCoalesced>(module, flat, nest.slices);
  outer->Erase();
  EraseUnused(flat->region(0));
  EraseUnused(p.function->body());  // what whole tiles were made of
}

}  // namespace

absl::Status CoalesceLoops(Program& p) {
  std::vector<Op*> loops;
  for (Op* inside : *p.function->body()) {
    if (ir::ForOp::Is(inside) && BeginsAtBlock(*inside)) loops.push_back(inside);
  }
  for (Op* outer : loops) {
    const std::optional<LoopNest> nest = FindNest(p, outer);
    if (!nest) continue;
    const std::string taken = absl::StrCat("one loop over all ", nest->slices, " slices of each of its tiles");
    if (TakesStep(*p.module, *outer, {"coalesce-loops", taken, "it stays around a loop over slices"}, "", &p.trace()))
      Coalesce(p, outer, *nest);
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen
