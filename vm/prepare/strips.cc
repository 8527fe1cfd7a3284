#include "vm/prepare/strips.h"

#include <algorithm>
#include <cstring>

#include "ir/op_views.h"
#include "vm/kernels/copy.h"
#include "vm/machine/launch_state.h"
#include "vm/prepare/value_plan.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Value;

constexpr int64_t kStripBytes = 2048;  // of the widest elements
constexpr int64_t kMinStrip = 64;      // elements: below, calls cost more than they save
constexpr size_t kMaxSteps = 16;

struct Step {
  const ElementwiseData* d;
  bool local = false;  // nobody else uses the result: every strip of it is where the first does
  // From one element to the next of an operand in bytes: 0 if every strip of it is where the first does; -1: not that
  // simple.
  int step[kMaxElementwiseOperands] = {};
  // A mask of the lanes below or above a bound, for selects alone: where it holds for the first and the last lane, it need
  // not be computed, and the selects take their first choice.
  int iota = -1;   // its operand that counts the lanes; -1: no such mask
  int bound = -1;  // of such a select, the step that is its mask
};

struct StripData {
  Instr own;             // the first instruction as it was
  const Step* steps;     // where the store takes the strips
  const Step* unstored;  // where it does not: its tile is whole
  int count;
  int64_t n, strip;
  const Instr* store;  // null: none
  const Instr* next;   // after the row
};

// An operand as elements in memory, or in the frame.
struct Range {
  Range(const uint8_t* p, int64_t n) : at(reinterpret_cast<intptr_t>(p)), bytes(n) {}
  Range(Slot slot, int64_t n) : at(slot.offset), bytes(n) {}
  bool Overlaps(const Range& o) const { return at < o.at + o.bytes && o.at < at + bytes; }

  intptr_t at;
  int64_t bytes;
};

// The next block's tiles, a part at a time, so that they arrive while this one computes.
void FetchSome(BlockState& b) {
  constexpr int64_t kLine = 64;
  for (FetchAhead& f : b.ahead) {
    const uint8_t* end = f.end - f.next > kStripBytes ? f.next + kStripBytes : f.end;
    for (; f.next < end; f.next += kLine) __builtin_prefetch(f.next, 0, 2);
  }
}

// Writing strip after strip to `out` leaves alone what is still to be read of `in`: they are apart, or each strip of `in` is
// read just before its place is written.
bool Apart(const Range& in, int in_bytes, bool dense, const Range& out, int out_bytes) {
  return !in.Overlaps(out) || (dense && in.at == out.at && in_bytes == out_bytes);
}

bool IsDense(const ElementwiseData& d, int i) { return d.run[i] == 1 && d.count[i] == d.n; }

struct Places {
  uint8_t* out[kMaxSteps];
  const uint8_t* in[kMaxSteps][kMaxElementwiseOperands];
};

// What only the run knows: operands that are in memory, and where the store goes.
bool MemoryIsApart(const StripData& g, const Places& p, const StoreTarget& to) {
  const ElementwiseData& last = *g.steps[g.count - 1].d;
  for (int s = 0; s < g.count; ++s) {
    const ElementwiseData& d = *g.steps[s].d;
    for (int i = 0; i < d.arity; ++i) {
      if (!d.in[i].indirect()) continue;
      const Range in{p.in[s][i], d.count[i] * d.bytes[i]};
      if (to.at != nullptr && !Apart(in, d.bytes[i], IsDense(d, i), {to.at, g.n * last.out_bytes}, last.out_bytes))
        return false;
      for (int o = 0; o < g.count; ++o) {
        const ElementwiseData& e = *g.steps[o].d;
        if (!Apart(in, d.bytes[i], IsDense(d, i), {p.out[o], g.n * e.out_bytes}, e.out_bytes)) return false;
      }
    }
  }
  return true;
}

// Whether a mask of lanes below or above a bound holds for all.
bool HoldsForAll(const Step& step, const uint8_t* const* in) {
  const ElementwiseData& d = *step.d;
  bool all = true;
  for (const int64_t lane : {int64_t{0}, d.n - 1}) {
    uint8_t holds = 0;
    const void* operands[] = {in[0], in[1]};
    operands[step.iota] = in[step.iota] + lane * d.bytes[step.iota];
    d.fn(&holds, operands, 1);
    all = all && holds != 0;
  }
  return all;
}

const Instr* RunStrips(BlockState& b, const Instr* in) {
  const auto& g = *static_cast<const StripData*>(in->data);
  const auto alone = [&] {
    g.own.fn(b, &g.own);
    return in + 1;
  };
  if (b.checker != nullptr) return alone();
  Places p;
  for (int s = 0; s < g.count; ++s) {
    const ElementwiseData& d = *g.steps[s].d;
    p.out[s] = static_cast<uint8_t*>(b.at(d.out));
    for (int i = 0; i < d.arity; ++i) p.in[s][i] = static_cast<const uint8_t*>(b.at(d.in[i]));
  }
  StoreTarget to{};
  if (g.store != nullptr) {
    to = LocateStore(b, g.store);
    if (to.kind == StoreTarget::Kind::kTrap) return nullptr;
  }
  if (!MemoryIsApart(g, p, to)) return alone();
  const Step* steps = to.at != nullptr ? g.steps : g.unstored;
  bool holds[kMaxSteps];
  for (int s = 0; s < g.count; ++s) holds[s] = steps[s].iota >= 0 && HoldsForAll(steps[s], p.in[s]);

  for (int64_t e = 0; e < g.n; e += g.strip) {
    FetchSome(b);
    for (int s = 0; s < g.count; ++s) {
      if (holds[s]) continue;
      const Step& step = steps[s];
      const ElementwiseData& d = *step.d;
      const void* operands[kMaxElementwiseOperands];
      for (int i = 0; i < d.arity; ++i) {
        const int64_t offset = step.step[i] >= 0 ? e * step.step[i] : d.Offset(i, e);
        operands[i] = p.in[s][i] + offset;
      }
      const bool stores = s == g.count - 1 && to.at != nullptr;
      uint8_t* memory = stores ? to.at + e * d.out_bytes : nullptr;
      uint8_t* out = stores && step.local && !to.streaming ? memory : p.out[s] + (step.local ? 0 : e * d.out_bytes);
      if (step.bound < 0 || !holds[step.bound]) {
        d.fn(out, operands, g.strip);
      } else if (out != operands[1]) {
        CopyBytes(out, operands[1], g.strip * d.out_bytes);
      }
      if (stores && out != memory)
        CopyBytes(memory, out, g.strip * d.out_bytes, to.streaming ? CopyHint::kStreaming : CopyHint::kNone);
    }
  }
  if (to.at == nullptr) return g.store != nullptr ? g.store : g.next;
  if (to.streaming) StreamingDone();
  return g.next;
}

// --- finding rows ---------------------------------------------------------------------------------------------------

Range OutOf(const ElementwiseData& d) { return {d.out, d.n * d.out_bytes}; }

class Row {
 public:
  explicit Row(Code* code) : code_(*code) {}

  // Whether the instruction, which follows the last one, can go on strip by strip with those before it.
  bool Add(const Instr& in, const ElementwiseData& d) {
    const int64_t widest = Widest(d);
    int64_t strip = std::min(empty() ? d.n : strip_, std::max<int64_t>(1, kStripBytes / widest));
    while (strip > 1 && (d.chunk % strip != 0 || d.n % strip != 0)) strip /= 2;
    if (strip < std::min(kMinStrip, d.n) || steps_.size() == kMaxSteps) return false;
    if (!empty() && (d.n != n_ || in.op->block() != instrs_[0]->op->block())) return false;
    if (d.out.constant() || d.out.indirect() || !InOrder(d)) return false;
    instrs_.push_back(&in);
    steps_.push_back({&d});
    n_ = d.n;
    strip_ = strip;
    return true;
  }

  // Turns the first instruction into the row, if that gains anything. `next` is the instruction after it.
  void Close(const Instr* next) {
    const Instr* store = next != nullptr && TakesStrips(*next) ? next : nullptr;
    if (!empty() && (store != nullptr || (steps_.size() > 1 && n_ > strip_))) Join(store);
    instrs_.clear();
    steps_.clear();
  }

 private:
  bool empty() const { return steps_.empty(); }
  const Instr& back() const { return *instrs_.back(); }

  static int64_t Widest(const ElementwiseData& d) {
    int64_t bytes = d.out_bytes;
    for (int i = 0; i < d.arity; ++i) bytes = std::max<int64_t>(bytes, d.bytes[i]);
    return bytes;
  }

  static bool FrameApart(const ElementwiseData& reader, const ElementwiseData& writer) {
    const Range out = OutOf(writer);
    for (int i = 0; i < reader.arity; ++i) {
      // Pointers are read before the first strip is written, so their own place does not matter; what they point to is
      // looked at when it is known.
      if (reader.in[i].constant() || reader.in[i].indirect()) continue;
      const Range in(reader.in[i], reader.count[i] * reader.bytes[i]);
      if (!Apart(in, reader.bytes[i], IsDense(reader, i), out, writer.out_bytes)) return false;
    }
    return true;
  }

  // Strip by strip gives what instruction by instruction gives: whatever two of them share in the frame, they go through
  // in step.
  bool InOrder(const ElementwiseData& d) const {
    if (!FrameApart(d, d)) return false;
    for (const Step& step : steps_) {
      if (!FrameApart(d, *step.d) || !FrameApart(*step.d, d)) return false;
      if (!Apart(OutOf(*step.d), step.d->out_bytes, true, OutOf(d), d.out_bytes)) return false;
    }
    return true;
  }

  bool IsMember(const Op* op, const Instr* store) const {
    if (op == nullptr) return false;
    if (store != nullptr && store->op == op) return true;
    return std::any_of(instrs_.begin(), instrs_.end(), [&](const Instr* i) { return i->op == op; });
  }

  // All that use the value, also under the names that operations give it which move nothing.
  bool OnlyUsedHere(const Value* v, const Instr* store) const {
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      const bool same = MovesNothing(use->owner) && use->owner->block() == instrs_[0]->op->block();
      if (same ? !OnlyUsedHere(use->owner->result(0), store) : !IsMember(use->owner, store)) return false;
    }
    return true;
  }

  // The operand of an integer comparison that is an iota, if the other is one element and the order of the comparison
  // that of the lanes; else -1.
  static int BoundedIota(const Op& op, const ElementwiseData& d) {
    const auto cmp = ir::As<ir::CmpIOp>(&op);
    if (!cmp) return -1;
    const ir::ComparisonPredicate predicate = cmp->predicate();
    if (predicate == ir::ComparisonPredicate::kEqual || predicate == ir::ComparisonPredicate::kNotEqual) return -1;
    for (int i = 0; i < 2; ++i) {
      const Op* source = Source(op.operand(i));
      const bool counts = source != nullptr && source->opcode() == ir::Opcode::kIota && IsDense(d, i);
      if (counts && d.count[1 - i] == 1 && uint64_t(d.n) <= uint64_t{1} << (8 * d.bytes[i] - 1)) return i;
    }
    return -1;
  }

  // The members of the row that use the value are selects with it as their condition, and read their first choice element
  // for element.
  bool OnlyChooses(const Value* mask) const {
    for (const Instr* i : instrs_) {
      for (int k = 0; k < i->op->num_operands(); ++k) {
        if (Source(i->op->operand(k)) != mask->def()) continue;
        if (k != 0 || i->op->opcode() != ir::Opcode::kSelect || !IsDense(*ElementwiseOf(*i), 1)) return false;
      }
    }
    return true;
  }

  static const Op* Source(const Value* v) {
    while (v->def() != nullptr && MovesNothing(v->def())) v = v->def()->operand(0);
    return v->def();
  }

  const Step* Steps(const Instr* store) const {
    Step* steps = code_.arena.NewArray<Step>(steps_.size());
    std::copy(steps_.begin(), steps_.end(), steps);
    Step* end = steps + steps_.size();
    for (Step* s = steps; s != end; ++s)
      s->local = OnlyUsedHere(instrs_[static_cast<size_t>(s - steps)]->op->result(0), store);
    // The one strip of a local result must not be on the first strip of a result that stays.
    for (bool changed = true; changed;) {
      changed = false;
      for (Step* s = steps; s != end; ++s) {
        const bool clash = s->local && std::any_of(steps, end, [&](const Step& t) {
                             return !t.local && OutOf(*t.d).Overlaps(OutOf(*s->d));
                           });
        if (clash) s->local = false, changed = true;
      }
    }
    for (size_t s = 0; s < steps_.size(); ++s) {
      const Op* op = instrs_[s]->op;
      if (OnlyUsedHere(op->result(0), nullptr) && OnlyChooses(op->result(0)))
        steps[s].iota = BoundedIota(*op, *steps[s].d);
      const ElementwiseData& d = *steps[s].d;
      for (int i = 0; i < op->num_operands(); ++i) {
        steps[s].step[i] = d.count[i] == 1 ? 0 : IsDense(d, i) ? d.bytes[i] : -1;
        const Op* source = Source(op->operand(i));
        for (size_t w = 0; w < s; ++w) {
          if (instrs_[w]->op != source) continue;
          if (steps[w].local) steps[s].step[i] = 0;
          if (i == 0 && steps[w].iota >= 0) steps[s].bound = static_cast<int>(w);
        }
      }
    }
    return steps;
  }

  void Join(const Instr* store) {
    auto* g = code_.arena.New<StripData>();
    Instr& first = code_.instrs[static_cast<size_t>(instrs_[0] - code_.instrs.data())];
    const Step* unstored = Steps(nullptr);
    *g = {first, store != nullptr ? Steps(store) : unstored, unstored, static_cast<int>(steps_.size()), n_, strip_,
          store, (store != nullptr ? store : &back()) + 1};
    first.fn = RunStrips;
    first.data = g;
  }

  // A store of the last result, whose other operands come from before the row.
  bool TakesStrips(const Instr& in) const {
    if (empty() || n_ < kMinStrip || !IsPlainStore(in) || in.op->block() != back().op->block()) return false;
    const Value* tile = ir::StoreViewOp(in.op).tile();
    for (int i = 0; i < in.op->num_operands(); ++i) {
      const Value* v = in.op->operand(i);
      if (v != tile && IsMember(Source(v), nullptr)) return false;
    }
    return Source(tile) == back().op;
  }

  Code& code_;
  std::vector<const Instr*> instrs_;
  std::vector<Step> steps_;
  int64_t n_ = 0, strip_ = 0;
};

}  // namespace

void JoinStrips(Code* code, const std::vector<std::pair<int, int>>& targets) {
  std::vector<bool> entered(code->instrs.size() + 1);  // by a jump
  for (const auto& [from, to] : targets) entered[static_cast<size_t>(to)] = true;
  Row row(code);
  for (size_t i = 0; i < code->instrs.size(); ++i) {
    const Instr& in = code->instrs[i];
    if (entered[i]) row.Close(nullptr);
    const ElementwiseData* d = ElementwiseOf(in);
    if (d != nullptr) {
      if (row.Add(in, *d)) continue;
      row.Close(nullptr);
      row.Add(in, *d);
      continue;
    }
    row.Close(&in);
  }
  row.Close(nullptr);
}

}  // namespace tile::vm
