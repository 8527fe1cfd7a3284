// Control flow as jumps: if, for, loop and the terminators.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "vm/machine/launch_state.h"
#include "vm/machine/memory_access.h"
#include "vm/prepare/prepare.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

std::vector<const Value*> Operands(const Op& op) {
  std::vector<const Value*> v;
  for (int i = 0; i < op.num_operands(); ++i) v.push_back(op.operand(i));
  return v;
}

std::vector<const Value*> Args(const ir::Block* block, int from) {
  std::vector<const Value*> v;
  for (int i = from; i < block->num_args(); ++i) v.push_back(block->arg(i));
  return v;
}

std::vector<const Value*> Results(const Op& op) {
  std::vector<const Value*> v;
  for (int i = 0; i < op.num_results(); ++i) v.push_back(op.result(i));
  return v;
}

const Instr* RunJump(BlockState&, const Instr* in) { return in->target; }
const Instr* RunNothing(BlockState&, const Instr* in) { return in + 1; }

const Instr* RunReturn(BlockState& b, const Instr*) {
  b.stop = Stop::kDone;
  return nullptr;
}

const Instr* RunYield(BlockState& b, const Instr*) {
  b.stop = Stop::kYield;
  return nullptr;
}

struct BranchData {
  Slot condition;
};

const Instr* RunBranch(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const BranchData*>(in->data);
  return b.get<uint8_t>(d.condition) != 0 ? in + 1 : in->target;
}

// --- rounds ---------------------------------------------------------------------------------------------------------

// False if the block must stop: another one trapped, or it made more rounds than the launch allows.
bool CountRound(BlockState& b, const Instr* in) {
  ++b.rounds;
  if ((b.rounds & 63) == 0) {
    b.launch->Poll();
    if (b.launch->stop.load(std::memory_order_relaxed)) {
      b.stop = Stop::kDone;
      return false;
    }
  }
  const int64_t limit = b.launch->launch->max_rounds;
  if (limit > 0 && b.rounds > limit) {
    Trap(b, in->op, "vm.round_limit", absl::StrCat("the block made more than ", limit, " rounds of loops"),
         "raise the limit of rounds if the kernel is meant to run this long");
    return false;
  }
  return true;
}

int64_t LoadInt(const void* p, int bytes, bool is_signed, bool i1) {
  if (i1) return is_signed ? -(*static_cast<const uint8_t*>(p) & 1) : (*static_cast<const uint8_t*>(p) & 1);
  uint64_t u = 0;
  std::memcpy(&u, p, static_cast<size_t>(bytes));
  if (!is_signed || bytes == 8) return static_cast<int64_t>(u);
  const int shift = 64 - 8 * bytes;
  return static_cast<int64_t>(u << shift) >> shift;
}

struct ForData {
  Slot lower, upper, step, iv, trips;
  int bytes;
  bool i1, is_unsigned;
};

// The number of rounds is fixed before the first: iv never has to pass the end of its type.
const Instr* RunForBegin(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const ForData*>(in->data);
  const bool s = !d.is_unsigned;
  using Wide = __int128;
  const auto wide = [&](Slot slot, bool as_signed) {
    const int64_t v = LoadInt(b.at(slot), d.bytes, as_signed, d.i1);
    return as_signed ? Wide{v} : Wide{static_cast<uint64_t>(v)};
  };
  const Wide lower = wide(d.lower, s), upper = wide(d.upper, s), step = wide(d.step, s);
  if (step <= 0) {
    return Trap(b, in->op, "vm.for_step",
                absl::StrCat("the step is ", static_cast<int64_t>(step), ", but must be positive"),
                "make the step at least 1");
  }
  if (lower >= upper) return in->target;
  b.get<uint64_t>(d.trips) = static_cast<uint64_t>((upper - lower + step - 1) / step);
  std::memcpy(b.at(d.iv), b.at(d.lower), static_cast<size_t>(d.bytes));
  return in + 1;
}

const Instr* RunForNext(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const ForData*>(in->data);
  uint64_t& trips = b.get<uint64_t>(d.trips);
  if (--trips == 0) return in + 1;
  if (!CountRound(b, in)) return nullptr;
  uint64_t iv = 0, step = 0;
  std::memcpy(&iv, b.at(d.iv), static_cast<size_t>(d.bytes));
  std::memcpy(&step, b.at(d.step), static_cast<size_t>(d.bytes));
  iv += step;
  if (d.i1) iv &= 1;
  std::memcpy(b.at(d.iv), &iv, static_cast<size_t>(d.bytes));
  return in->target;
}

// What a loop carries, to see whether a round changed anything.
struct LoopData {
  int n;
  const Slot* slots;
  const int* bytes;
  Slot saved;       // a copy of them
  bool comparable;  // small enough to compare
};

constexpr int kSpins = 8;  // rounds that only look before the block is parked

const Instr* RunLoopNext(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const LoopData*>(in->data);
  if (!CountRound(b, in)) return nullptr;
  const bool waits = b.read_shared_memory && !b.changed_memory;
  b.read_shared_memory = b.changed_memory = false;
  if (!waits) {
    b.unchanged_rounds = 0;
    return in->target;
  }
  bool same = d.comparable;
  if (d.comparable) {
    auto* saved = static_cast<char*>(b.at(d.saved));
    for (int i = 0; i < d.n; ++i) {
      same = std::memcmp(saved, b.at(d.slots[i]), static_cast<size_t>(d.bytes[i])) == 0 && same;
      std::memcpy(saved, b.at(d.slots[i]), static_cast<size_t>(d.bytes[i]));
      saved += d.bytes[i];
    }
  }
  b.unchanged_rounds = same ? b.unchanged_rounds + 1 : 0;
  if (b.rounds % kSpins != 0) return in->target;
  b.stop = Stop::kParked;
  b.waiting = in->op;
  b.pc = in->target;
  return nullptr;
}

}  // namespace

void PrepareIf(Preparer& p, const Op& op) {
  auto* d = p.New<BranchData>();
  d->condition = p.raw(ir::IfOp(op).condition());
  const int branch = p.Emit(op, RunBranch, d);
  p.ifs.push_back({&op, {}});
  p.PrepareBlock(op.region(0));
  const bool has_else = op.region(1) != nullptr && !op.region(1)->empty();
  int to_end = -1;
  if (has_else) {
    // A then-region that falls off its end (its yield is the last instruction) must step over the else-region.
    to_end = p.Emit(op, RunJump, nullptr, Role::kOther);
    p.SetTarget(branch, p.next_instr());
    p.PrepareBlock(op.region(1));
  } else {
    p.SetTarget(branch, p.next_instr());
  }
  if (to_end >= 0) p.SetTarget(to_end, p.next_instr());
  for (int jump : p.ifs.back().second) p.SetTarget(jump, p.next_instr());
  p.ifs.pop_back();
}

void PrepareFor(Preparer& p, const Op& op) {
  auto* d = p.New<ForData>();
  const ir::Block* body = op.region(0);
  const ir::ForOp loop(op);
  const ir::Elem elem = loop.lower_bound()->type().elem();
  d->bytes = ir::StorageBytes(elem);
  d->i1 = elem == ir::Elem::kI1;
  d->is_unsigned = loop.unsigned_cmp();
  d->lower = p.raw(loop.lower_bound());
  d->upper = p.raw(loop.upper_bound());
  d->step = p.raw(loop.step());
  d->iv = p.raw(body->arg(0));
  d->trips = p.permanent(8);
  const ir::OperandRange inits = loop.init_values();
  p.EmitCopies(op, std::vector<const Value*>(inits.begin(), inits.end()), Args(body, 1));
  const int begin = p.Emit(op, RunForBegin, d, Role::kEnter);
  const int first = p.next_instr();
  p.loops.push_back({&op, {}, {}});
  p.PrepareBlock(body);
  for (int jump : p.loops.back().continues) p.SetTarget(jump, p.next_instr());
  p.loops.pop_back();
  const int next = p.Emit(op, RunForNext, d, Role::kOther);
  p.SetTarget(next, first);
  p.SetTarget(begin, p.next_instr());
}

void PrepareLoop(Preparer& p, const Op& op) {
  auto* d = p.New<LoopData>();
  const ir::Block* body = op.region(0);
  const std::vector<const Value*> args = Args(body, 0);
  p.EmitCopies(op, Operands(op), args);
  p.Emit(op, RunNothing, nullptr, Role::kEnter);
  const int first = p.next_instr();
  p.loops.push_back({&op, {}, {}});
  p.PrepareBlock(body);
  const Preparer::LoopContext context = p.loops.back();
  p.loops.pop_back();
  for (int jump : context.continues) p.SetTarget(jump, p.next_instr());
  int64_t total = 0;
  auto* slots = p.NewArray<Slot>(args.size());
  auto* bytes = p.NewArray<int>(args.size());
  for (const Value* v : args) {
    if (v->type().is_token()) continue;
    const int64_t n = p.plan().form(v).count * StoredElementBytes(v->type());
    if (n > 4096 || total > 4096) {
      total = 1 << 20;
      break;
    }
    slots[d->n] = p.raw(v);
    bytes[d->n] = static_cast<int>(n);
    ++d->n;
    total += n;
  }
  d->slots = slots;
  d->bytes = bytes;
  d->comparable = total <= 8192;
  d->saved = p.permanent(d->comparable ? total : 0);
  const int next = p.Emit(op, RunLoopNext, d, Role::kOther);
  p.SetTarget(next, first);
  for (int jump : context.breaks) p.SetTarget(jump, p.next_instr());
}

void PrepareContinue(Preparer& p, const Op& op) {
  Preparer::LoopContext& loop = p.loops.back();
  const int first = ir::ForOp::Is(loop.op) ? 1 : 0;  // the induction variable is not carried
  p.EmitCopies(op, Operands(op), Args(loop.op->region(0), first));
  loop.continues.push_back(p.Emit(op, RunJump, nullptr));
}

void PrepareBreak(Preparer& p, const Op& op) {
  Preparer::LoopContext& loop = p.loops.back();
  p.EmitCopies(op, Operands(op), Results(*loop.op));
  loop.breaks.push_back(p.Emit(op, RunJump, nullptr));
}

void PrepareYield(Preparer& p, const Op& op) {
  const Op* parent = op.parent();
  if (parent->opcode() == Opcode::kIf) {
    p.EmitCopies(op, Operands(op), Results(*parent));
    p.ifs.back().second.push_back(p.Emit(op, RunJump, nullptr));
    return;
  }
  // reduce and scan: the accumulators are the odd arguments.
  std::vector<const Value*> accumulators;
  const ir::Block* body = parent->region(0);
  for (int i = 1; i < body->num_args(); i += 2) accumulators.push_back(body->arg(i));
  p.EmitCopies(op, Operands(op), accumulators);
  p.Emit(op, RunYield, nullptr);
}

void PrepareReturn(Preparer& p, const Op& op) { p.Emit(op, RunReturn, nullptr); }

// --- assert ---------------------------------------------------------------------------------------------------------

namespace {
struct AssertData {
  Slot condition;
  int64_t n;
  absl::string_view message;
  ir::Type type;
};

const Instr* RunAssert(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const AssertData*>(in->data);
  const auto* c = static_cast<const uint8_t*>(b.at(d.condition));
  int64_t failed = 0, first = -1;
  for (int64_t i = 0; i < d.n; ++i) {
    if (c[i] == 0) {
      if (failed++ == 0) first = i;
    }
  }
  if (failed == 0) return in + 1;
  const std::string more = failed > 1 ? absl::StrCat(" and ", failed - 1, " more") : "";
  ReportAssert(b, in->op, absl::StrCat("assertion failed: ", d.message),
               d.type.rank() > 0 ? absl::StrCat(" (element ", LaneText(d.type, first), more, ")") : "");
  return in + 1;
}
}  // namespace

void PrepareAssert(Preparer& p, const Op& op) {
  auto* d = p.New<AssertData>();
  const Value* c = ir::AssertOp(op).condition();
  d->condition = p.dense(c);
  d->n = p.plan().elements(c);
  d->message = ir::AssertOp(op).message();
  d->type = c->type();
  p.Emit(op, RunAssert, d);
}

}  // namespace tile::vm
