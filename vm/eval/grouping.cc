#include "vm/eval/grouping.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/float.h"
#include "ir/op_views.h"
#include "ir/print_format.h"
#include "vm/machine/checker.h"
#include "vm/machine/launch_state.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Op;
using ir::Opcode;

constexpr int64_t kTriples = 4;                     // that are tried at a time; one for each 32 elements of a line
constexpr uint64_t kAlways = 256, kSometimes = 16;  // a fold is tried the first times that it runs, then every 16th
constexpr uint64_t kAlwaysInParts = 16;  // as three parts of a line: the first times; later the 32nd, 64th, … time
constexpr int kNudges = 8;               // times that operands are changed in their last digits
constexpr double kSlack = 4;             // how much more than that rounding may do

bool IsWholeFloat(Elem e) { return ir::IsFloat(e) && !ir::IsSubByte(e); }

// What follows from the text of the body.
struct BodyFacts {
  bool rounds = false;  // some result is not exact
  double epsilon = 0;   // of the shortest float type
};

BodyFacts FactsOf(const Op& fold) {
  static constexpr Opcode kExact[] = {Opcode::kMaxf,   Opcode::kMinf,     Opcode::kSelect,  Opcode::kNegf,
                                      Opcode::kAbsf,   Opcode::kConstant, Opcode::kReshape, Opcode::kBitcast,
                                      Opcode::kAssume, Opcode::kBroadcast};
  BodyFacts facts;
  const auto look = [&facts](const ir::Type t) {
    if (!t.is_tile() || !IsWholeFloat(t.elem())) return;
    facts.epsilon = std::max(facts.epsilon, std::ldexp(1.0, -ir::FloatFormatOf(t.elem()).mantissa_bits));
  };
  for (const ir::Value* arg : fold.region(0)->args()) look(arg->type());
  ir::Walk(fold.region(0), [&](const Op* op) {
    for (int i = 0; i < op->num_results(); ++i) {
      look(op->result(i)->type());
      const bool exact = std::find(std::begin(kExact), std::end(kExact), op->opcode()) != std::end(kExact);
      const ir::Type t = op->result(i)->type();
      facts.rounds = facts.rounds || (!exact && t.is_tile() && IsWholeFloat(t.elem()));
    }
  });
  return facts;
}

// One value of each stream for each lane of a batch.
using Lanes = std::vector<std::vector<uint8_t>>;

class Grouping {
 public:
  Grouping(BlockState& b, const Instr* in, const BodyData& d, int64_t first)
      : b_(b), in_(in), d_(d), first_(first), facts_(FactsOf(*in->op)), checker_(std::exchange(b.checker, nullptr)) {}
  ~Grouping() { b_.checker = checker_; }
  Grouping(const Grouping&) = delete;
  Grouping& operator=(const Grouping&) = delete;

  // Tries steps [from, to) as three parts that are cut at `one` and `two`. False after a trap.
  bool Try(int64_t from, int64_t one, int64_t two, int64_t to) {
    Lanes parts[3];
    if (!Fold(from, one, &parts[0]) || !Fold(one, two, &parts[1]) || !Fold(two, to, &parts[2])) return false;
    Lanes ab, bc, left, right;
    if (!Group(parts, &ab, &bc, &left, &right)) return false;
    std::vector<std::vector<double>> change;  // made when it is first needed
    for (int64_t lane = 0; lane < d_.batch; ++lane) {
      if (!Differs(lane, left, right) || AnyNan(lane, {&parts[0], &parts[1], &parts[2], &ab, &bc, &left, &right})) {
        continue;
      }
      if (facts_.rounds && change.empty() && !FindChange(parts, left, right, &change)) return false;
      if (facts_.rounds && IsRounding(lane, left, right, change)) continue;
      Report(lane, parts, left, right, {from, one, two, to});
      return false;
    }
    return true;
  }

 private:
  Elem ElemOf(int s) const { return in_->op->operand(s)->type().elem(); }
  uint64_t Bits(const Lanes& v, int s, int64_t lane) const {
    uint64_t bits = 0;
    const auto bytes = static_cast<size_t>(d_.stream[s].bytes);
    std::memcpy(&bits, v[static_cast<size_t>(s)].data() + static_cast<size_t>(lane) * bytes, bytes);
    return bits;
  }
  double Number(const Lanes& v, int s, int64_t lane) const { return ir::ToDouble(ElemOf(s), Bits(v, s, lane)); }

  // The elements of a step of the fold.
  Lanes Elements(int64_t step) const {
    Lanes v(static_cast<size_t>(d_.streams));
    for (int s = 0; s < d_.streams; ++s) {
      const Stream& stream = d_.stream[s];
      v[static_cast<size_t>(s)].resize(static_cast<size_t>(d_.batch * stream.bytes));
      MoveLanes<true>(d_, stream.bytes, b_.at(stream.source), v[static_cast<size_t>(s)].data(), first_,
                      d_.reverse ? d_.n - 1 - step : step);
    }
    return v;
  }

  bool Combine(const Lanes& accumulator, const Lanes& element, Lanes* out) {
    for (size_t s = 0; s < element.size(); ++s) {
      std::memcpy(b_.at(d_.stream[s].accumulator), accumulator[s].data(), accumulator[s].size());
      std::memcpy(b_.at(d_.stream[s].element), element[s].data(), element[s].size());
    }
    if (!RunBody(b_, in_ + 1)) return false;
    out->resize(element.size());
    for (size_t s = 0; s < element.size(); ++s) {
      const auto* from = static_cast<const uint8_t*>(b_.at(d_.stream[s].accumulator));
      (*out)[s].assign(from, from + element[s].size());
    }
    return true;
  }

  bool Fold(int64_t from, int64_t to, Lanes* out) {
    *out = Elements(from);
    for (int64_t step = from + 1; step < to; ++step) {
      if (!Combine(*out, Elements(step), out)) return false;
    }
    return true;
  }

  bool Group(const Lanes (&p)[3], Lanes* ab, Lanes* bc, Lanes* left, Lanes* right) {
    return Combine(p[0], p[1], ab) && Combine(*ab, p[2], left) && Combine(p[1], p[2], bc) && Combine(p[0], *bc, right);
  }

  bool Differs(int64_t lane, const Lanes& left, const Lanes& right) const {
    for (int s = 0; s < d_.streams; ++s) {
      if (Bits(left, s, lane) == Bits(right, s, lane)) continue;
      if (!IsWholeFloat(ElemOf(s))) return true;
      // Most that is rounded differs by so little.
      if (!(facts_.rounds ? IsNear(s, lane, left, right, 0) : Number(left, s, lane) == Number(right, s, lane)))
        return true;
    }
    return false;
  }

  // What a NaN or an overflow meets is not asked for.
  bool AnyNan(int64_t lane, std::initializer_list<const Lanes*> values) const {
    for (int s = 0; s < d_.streams; ++s) {
      if (!IsWholeFloat(ElemOf(s))) continue;
      for (const Lanes* v : values) {
        const double x = Number(*v, s, lane);
        if (std::isnan(x) || (facts_.rounds && std::isinf(x))) return true;
      }
    }
    return false;
  }

  // How much each result changes when the operands change in their last digits, by stream and lane: infinite, if an integer changes.
  bool FindChange(const Lanes (&parts)[3], const Lanes& left, const Lanes& right,
                  std::vector<std::vector<double>>* change) {
    change->assign(static_cast<size_t>(d_.streams), std::vector<double>(static_cast<size_t>(d_.batch)));
    for (int nudge = 1; nudge <= kNudges; ++nudge) {
      Lanes near[3] = {parts[0], parts[1], parts[2]};
      for (int part = 0; part < 3; ++part) {
        for (int s = 0; s < d_.streams; ++s) Nudge(s, static_cast<uint64_t>(nudge * 3 + part), &near[part]);
      }
      Lanes ab, bc, l, r;
      if (!Group(near, &ab, &bc, &l, &r)) return false;
      for (int s = 0; s < d_.streams; ++s) {
        for (int64_t lane = 0; lane < d_.batch; ++lane) {
          double& most = (*change)[static_cast<size_t>(s)][static_cast<size_t>(lane)];
          if (!IsWholeFloat(ElemOf(s))) {
            const bool same = Bits(l, s, lane) == Bits(left, s, lane) && Bits(r, s, lane) == Bits(right, s, lane);
            most = same ? most : INFINITY;
            continue;
          }
          const double now = std::max(std::fabs(Number(l, s, lane) - Number(left, s, lane)),
                                      std::fabs(Number(r, s, lane) - Number(right, s, lane)));
          most = std::isnan(now) ? INFINITY : std::max(most, now);
        }
      }
    }
    return true;
  }

  // Whether the two groupings differ by no more than a few such changes.
  bool IsRounding(int64_t lane, const Lanes& left, const Lanes& right,
                  const std::vector<std::vector<double>>& change) const {
    for (int s = 0; s < d_.streams; ++s) {
      if (Bits(left, s, lane) == Bits(right, s, lane)) continue;
      const double most = change[static_cast<size_t>(s)][static_cast<size_t>(lane)];
      if (!IsWholeFloat(ElemOf(s)) ? most == 0 : !IsNear(s, lane, left, right, kSlack * most)) return false;
    }
    return true;
  }

  // Whether a float differs by no more than `allowed` and a few units in the last place.
  bool IsNear(int s, int64_t lane, const Lanes& left, const Lanes& right, double allowed) const {
    const double x = Number(left, s, lane), y = Number(right, s, lane);
    const double least = std::ldexp(8.0, 1 - ir::FloatFormatOf(ElemOf(s)).bias);  // a few subnormals
    return std::fabs(x - y) <= allowed + 8 * facts_.epsilon * std::max(std::fabs(x), std::fabs(y)) + least;
  }

  void Nudge(int s, uint64_t number, Lanes* v) const {
    if (!IsWholeFloat(ElemOf(s))) return;
    const auto bytes = static_cast<size_t>(d_.stream[s].bytes);
    for (int64_t lane = 0; lane < d_.batch; ++lane) {
      const uint64_t draw = Mix(number * 64 + static_cast<uint64_t>(s)) + static_cast<uint64_t>(lane);
      const double by = (static_cast<double>(draw % 9) - 4) * facts_.epsilon;
      const uint64_t bits = ir::FromDouble(ElemOf(s), Number(*v, s, lane) * (1 + by));
      std::memcpy((*v)[static_cast<size_t>(s)].data() + static_cast<size_t>(lane) * bytes, &bits, bytes);
    }
  }

  std::string Text(const Lanes& v, int64_t lane) const {
    std::vector<std::string> texts;
    for (int s = 0; s < d_.streams; ++s) {
      const uint64_t bits = Bits(v, s, lane);
      const ir::PrintOperand value{ElemOf(s), {}, reinterpret_cast<const uint8_t*>(&bits)};
      texts.push_back(ir::FormatPrint(ir::IsFloat(ElemOf(s)) ? "%.9g" : "%lld", {value}));
    }
    return texts.size() == 1 ? texts[0] : absl::StrCat("(", absl::StrJoin(texts, ", "), ")");
  }

  void Report(int64_t lane, const Lanes (&parts)[3], const Lanes& left, const Lanes& right, const int64_t (&cuts)[4]) {
    std::string elements;
    for (int i = 0; i < 3; ++i) {
      int64_t begin = cuts[i], last = cuts[i + 1] - 1;
      if (d_.reverse) begin = d_.n - 1 - begin, last = d_.n - 1 - last;
      absl::StrAppend(&elements,
                      i == 0   ? ""
                      : i == 1 ? ", "
                               : " and ",
                      begin, begin == last ? "" : absl::StrCat(" to ", last));
    }
    const Op* body = in_->op->region(0)->front();
    Trap(b_, in_->op, "vm.not_associative",
         absl::StrCat("the result depends on how elements are grouped: of a = ", Text(parts[0], lane),
                      ", b = ", Text(parts[1], lane), " and c = ", Text(parts[2], lane), " (elements ", elements,
                      ") the body at ", b_.code->module->Where(body->loc, body->pos), " makes ", Text(left, lane),
                      " if it combines a and b first, ", Text(right, lane), " if b and c"),
         "combine by a function for which both are the same, as engines choose the groups, or use a loop");
  }

  BlockState& b_;
  const Instr* in_;
  const BodyData& d_;
  const int64_t first_;
  const BodyFacts facts_;
  Checker* const checker_;
};

}  // namespace

bool CheckGrouping(BlockState& b, const Instr* in, const BodyData& d, int64_t first) {
  // Two elements make one group; a body whose lines are cut in parts is known to be associative.
  if (d.n < 3 || d.parts > 1) return true;
  const uint64_t times = b.launch->folds_tried[in->op]++;
  if (times >= kAlways && times % kSometimes != 0) return true;
  Grouping grouping(b, in, d, first);
  for (int64_t k = 0; k < std::clamp<int64_t>(d.n / 32, 1, kTriples); ++k) {
    const auto from =
        static_cast<int64_t>(Mix(times * kTriples + static_cast<uint64_t>(k)) % static_cast<uint64_t>(d.n - 2));
    if (!grouping.Try(from, from + 1, from + 2, from + 3)) return false;
  }
  if (d.n < 6 || (times >= kAlwaysInParts && (times & (times - 1)) != 0)) return true;
  return grouping.Try(0, d.n / 3, d.n - d.n / 3, d.n);
}

}  // namespace tile::vm
