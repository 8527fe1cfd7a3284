#include "vm/check/check_wraps.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "vm/check/check_integers.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr size_t kMostSources = 255;

// Integers that wrap have a promise not to.
bool CanWrap(const Op& op) { return ir::OverflowOp::Is(&op) && PromiseOf(op) == ir::Overflow::kNone; }

// Its operands say where in memory something is.
bool Addresses(const Op& op) { return op.info()->is_access() || op.opcode() == Opcode::kMakeTensorView; }

bool IsFold(const Op* op) { return op->info()->family == ir::Family::kReduce; }

// Values that an address may be computed from, against the direction of the marks.
class Feeding {
 public:
  void AddOperandsOf(const Op& op) {
    for (int i = 0; i < op.num_operands(); ++i) Add(op.operand(i));
  }
  void Close() {
    while (!open_.empty()) {
      const Value* v = open_.back();
      open_.pop_back();
      if (v->def() != nullptr) {
        if (Poison::PassesWrapOn(*v->def()->info())) AddOperandsOf(*v->def());
        if (v->def()->num_regions() > 0 && !IsFold(v->def())) AddCarriedBy(*v->def());
      } else if (const Op* around = v->block()->parent(); around != nullptr && !IsFold(around)) {
        AddCarriedBy(*around);
      }
    }
  }
  bool Contains(const Value* v) const { return values_.contains(v); }

 private:
  void Add(const Value* v) {
    if (v->type().is_tile() && values_.insert(v).second) open_.push_back(v);
  }
  // What an if or a loop takes in, and what the ends of its blocks hand on.
  void AddCarriedBy(const Op& op) {
    if (!carrying_.insert(&op).second) return;
    AddOperandsOf(op);
    for (int r = 0; r < op.num_regions(); ++r) {
      ir::Walk(op.region(r), [&](const Op* inner) {
        if (inner->info()->has(ir::kTerminator)) AddOperandsOf(*inner);
      });
    }
  }

  std::set<const Value*> values_;
  std::vector<const Value*> open_;
  std::set<const Op*> carrying_;  // whose operands and ends are in
};

bool InsideFold(const Op* op) {
  for (const Op* p = op->parent(); p != nullptr; p = p->parent()) {
    if (IsFold(p)) return true;
  }
  return false;
}

}  // namespace

Wraps::Wraps(const Code& code)
    : code_(code), flow_(code, nullptr, Mark::kWrapped), parts_(code.notes.size()), sources_(1) {
  Feeding feeding;
  for (const InstrNote& note : code.notes) {
    if (note.places != nullptr && Addresses(*note.places->op)) feeding.AddOperandsOf(*note.places->op);
  }
  feeding.Close();
  for (size_t i = 0; i < code.notes.size(); ++i) {
    const InstrNote& note = code.notes[i];
    if (note.role != Role::kWork || note.places == nullptr) continue;
    const Op& op = *note.places->op;
    parts_[i].may_wrap = CanWrap(op) && feeding.Contains(op.result(0)) && !InsideFold(&op);
    parts_[i].addresses = Addresses(op);
  }
}

bool Wraps::Before(BlockState& b, size_t instr, const InstrNote& note, FrameShadow& marks) {
  if (marks.any()) {
    if (parts_[instr].addresses) WarnOfUse(b, *note.places, marks);
    if (!flow_.Flow(b, code_.instrs.data() + instr, note, marks)) return false;
  }
  if (parts_[instr].may_wrap) MarkWrapped(b, *note.places, marks);
  return true;
}

void Wraps::MarkWrapped(BlockState& b, const OpPlaces& o, FrameShadow& marks) {
  if (!MayWrap(b, o, true, true)) return;
  const Op& op = *o.op;
  const ir::Type t = op.result(0)->type();
  const int bits = ir::ElemInfoOf(t.elem()).bits;
  const bool binary = op.num_operands() > 1;
  const ExactInteger compute(op.opcode());
  const Reader lhs(b, o.operands[0], op.operand(0)->type());
  const Reader rhs(b, o.operands[binary ? 1 : 0], op.operand(binary ? 1 : 0)->type());
  const bool shift = op.opcode() == Opcode::kShli;
  uint8_t mark = 0;
  for (int64_t e = 0; e < o.results[0].count; ++e) {
    const int64_t i = OperandIndex(o, 0, e), j = binary ? OperandIndex(o, 1, e) : 0;
    // The distance of a shift is unsigned.
    const Wide x = lhs.Signed(i), y = !binary ? Wide{0} : shift ? Wide{rhs.Unsigned(j)} : Wide{rhs.Signed(j)};
    const Wide exact = compute(x, y);
    if (Fits(exact, bits, true)) continue;
    // The sign of a negation is what it is about.
    if (op.opcode() != Opcode::kNegi &&
        Fits(compute(Wide{lhs.Unsigned(i)}, binary ? Wide{rhs.Unsigned(j)} : Wide{0}), bits, false)) {
      continue;
    }
    if (mark == 0) {
      const int64_t wrapped = static_cast<int64_t>(static_cast<uint64_t>(exact) << (64 - bits)) >> (64 - bits);
      mark = Number(op, [&] {
        return absl::StrCat(ElementText(t, e * o.results[0].run), compute.Text(x, y), " does not fit ",
                            ir::ElemInfoOf(t.elem()).spelling, " and becomes ", wrapped);
      });
    }
    marks.Set(static_cast<uint8_t*>(b.at(o.results[0].at)) + e * o.results[0].bytes, o.results[0].bytes, mark);
  }
}

uint8_t Wraps::Number(const Op& op, absl::FunctionRef<std::string()> text) {
  for (size_t i = 1; i < sources_.size(); ++i) {
    if (sources_[i].op == &op) return static_cast<uint8_t>(i);
  }
  // Beyond that many, operations are not told from the last.
  if (sources_.size() <= kMostSources) sources_.push_back({&op, text()});
  return static_cast<uint8_t>(sources_.size() - 1);
}

void Wraps::WarnOfUse(BlockState& b, const OpPlaces& o, const FrameShadow& marks) {
  const auto use = flow_.FindUse(b, o, marks);
  if (!use) return;
  const Source& source = sources_[use->mark];
  const std::string& name = o.op->info()->format->operands[static_cast<size_t>(use->field)].name;
  Warn(
      b, source.op, "vm.index_wrap",
      [&] {
        return absl::StrCat(source.text, "; the operand `", name, "` of ", o.op->info()->mnemonic, " at ",
                            code_.module->Where(o.op->loc, o.op->pos), " is computed from that");
      },
      "compute it in a wider type (exti to i64 first), or, if the wrap is meant, bound the result (andi, remi)");
}

}  // namespace tile::vm
