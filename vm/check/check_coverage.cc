#include "vm/check/check_coverage.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "ir/float.h"
#include "ir/op_views.h"
#include "vm/check/check_poison.h"

namespace tile::vm {
namespace {

using ir::Opcode;

constexpr uint32_t kBoth = kSeenFalse | kSeenTrue;

// The elements of the tile that an access through a view moves; 0: it is no such access. Elements outside of the array count as masked off.
int64_t ElementsOfTile(const ir::Op& op) {
  if (ir::FindOperand(op, ir::Field::kView) == nullptr) return 0;
  const ir::Value* tile = ir::FindOperand(op, ir::Field::kTile);
  if (tile == nullptr && op.num_results() > 0) tile = op.result(0);
  return tile != nullptr && tile->type().is_tile() ? tile->type().num_elements() : 0;
}

std::optional<Choice> ChoiceOf(const ir::Op& op) {
  static constexpr struct {
    Opcode opcode;
    Choice choice;
  } kChoices[] = {{Opcode::kIf, Choice::kBranch},
                  {Opcode::kFor, Choice::kLoop},
                  {Opcode::kSelect, Choice::kSelect},
                  {Opcode::kCmpI, Choice::kComparison},
                  {Opcode::kCmpF, Choice::kComparison}};
  for (const auto& row : kChoices) {
    if (row.opcode == op.opcode()) return row.choice;
  }
  if (op.info()->is_access() && ir::FindOperand(op, ir::Field::kMask) != nullptr) return Choice::kMask;
  if (op.info()->is_access() && ElementsOfTile(op) > 0) return Choice::kMask;
  return std::nullopt;
}

// The operand that chooses; -1: none of one bit.
int ChoosingOperand(const ir::Op& op, Choice choice) {
  if (choice == Choice::kMask && ir::FindOperand(op, ir::Field::kMask) == nullptr) return -1;
  if (choice == Choice::kMask) return op.group_begin(op.info()->format->place(ir::Field::kMask).operand);
  return choice == Choice::kBranch || choice == Choice::kSelect ? 0 : -1;
}

bool IsSeen(const Coverage& c) { return (c.sides & kBoth) == kBoth; }

// An element of an operand. `is_signed`: of integers.
double At(ir::Elem e, const uint8_t* p, bool is_signed) {
  const int64_t bytes = ir::StorageBytes(e);
  uint64_t bits = 0;
  std::memcpy(&bits, p, static_cast<size_t>(bytes));
  if (ir::IsFloat(e)) return ir::ToDouble(e, bits);
  const int shift = 64 - ir::ElemInfoOf(e).bits;
  if (!is_signed) return static_cast<double>(bits << shift >> shift);
  return static_cast<double>(static_cast<int64_t>(bits << shift) >> shift);
}

void Widen(Interval* i, double v) {
  const bool empty = i->least > i->most;
  i->least = empty ? v : std::min(i->least, v);
  i->most = empty ? v : std::max(i->most, v);
}

}  // namespace

Choices::Choices(const Code& code) : code_(code), parts_(code.notes.size()) {
  for (size_t i = 0; i < code.notes.size(); ++i) {
    const InstrNote& note = code.notes[i];
    if (note.places == nullptr) continue;
    const ir::Op& op = *note.places->op;
    const std::optional<Choice> choice = ChoiceOf(op);
    if (!choice || note.role != (*choice == Choice::kLoop ? Role::kEnter : Role::kWork)) continue;
    parts_[i] = {static_cast<int32_t>(seen_.size()), ChoosingOperand(op, *choice),
                 *choice == Choice::kMask ? ElementsOfTile(op) : 0};
    Coverage c;
    c.choice = *choice;
    c.kernel = std::string(code.function->name);
    c.where = code.module->Where(op.loc, op.pos);
    c.op = op.info()->mnemonic;
    if (*choice == Choice::kComparison) {
      c.predicate = ir::Keyword(ir::FindAttr(op, ir::Field::kPredicate)->as_enum<ir::ComparisonPredicate>());
    }
    seen_.push_back(std::move(c));
  }
}

void Choices::Before(const BlockState& b, size_t instr) {
  const Part part = parts_[instr];
  if (part.choice < 0) return;
  Coverage& seen = seen_[static_cast<size_t>(part.choice)];
  const OpPlaces& o = *code_.notes[instr].places;
  accessed_ = 0;
  if (seen.choice == Choice::kLoop) {
    SeeLoop(b, o, &seen);
  } else if (part.operand >= 0 && !IsSeen(seen)) {
    SeeElements(b, o.operands[part.operand], &seen);
  }
}

void Choices::After(const BlockState& b, size_t instr) {
  const Part part = parts_[instr];
  if (part.choice < 0) return;
  Coverage& seen = seen_[static_cast<size_t>(part.choice)];
  if (seen.choice == Choice::kComparison && !IsSeen(seen)) SeeComparison(b, *code_.notes[instr].places, &seen);
  if (seen.choice == Choice::kMask && part.operand < 0) {
    seen.sides |= (accessed_ > 0 ? kSeenTrue : 0) | (accessed_ < part.elements ? kSeenFalse : 0);
  }
}

std::vector<Coverage> Choices::Take() { return std::move(seen_); }

void Choices::SeeElements(const BlockState& b, const Place& p, Coverage* seen) {
  const auto* bytes = static_cast<const uint8_t*>(b.at(p.at));
  for (int64_t i = 0; i < p.count && !IsSeen(*seen); ++i) seen->sides |= (bytes[i] & 1) != 0 ? kSeenTrue : kSeenFalse;
}

void Choices::SeeLoop(const BlockState& b, const OpPlaces& o, Coverage* seen) {
  const ir::ForOp loop(*o.op);
  const ir::Elem elem = loop.lower_bound()->type().elem();
  const auto value = [&](int i) {
    return At(elem, static_cast<const uint8_t*>(b.at(o.operands[i].at)), !loop.unsigned_cmp());
  };
  const double distance = value(1) - value(0), step = value(2);
  seen->sides |= distance <= 0 ? kSeenFalse : distance <= step ? kSeenTrue : kSeenSeveral;
}

void Choices::SeeComparison(const BlockState& b, const OpPlaces& o, Coverage* seen) {
  SeeElements(b, o.results[0], seen);
  if (IsSeen(*seen)) return;
  const ir::Elem elem = o.op->operand(0)->type().elem();
  if (elem == ir::Elem::kPtr) return;
  const ir::Attr* signedness = ir::FindAttr(*o.op, ir::Field::kSignedness);
  const bool is_signed = signedness == nullptr || signedness->as_enum<ir::Signedness>() == ir::Signedness::kSigned;
  const auto value = [&](int i, int64_t e) {
    const Place &p = o.operands[i], &r = o.results[0];
    const int64_t at = p.count == r.count && p.run == r.run ? e : StoredIndex(p, e * r.run);
    return At(elem, static_cast<const uint8_t*>(b.at(p.at)) + at * p.bytes, is_signed);
  };
  for (int64_t e = 0; e < o.results[0].count; ++e) {
    const double left = value(0, e), right = value(1, e);
    if (left != left || right != right) continue;
    Widen(&seen->left, left);
    Widen(&seen->right, right);
    Widen(&seen->gap, left - right);
  }
}

}  // namespace tile::vm
