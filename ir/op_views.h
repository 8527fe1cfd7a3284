// Operations with names and types: a class per row of ops.def, whose methods are the fields of its format.
//
//   const ForOp loop(op);                          // ends the process if `op` is another operation
//   loop.step()->type();                           // Value*; null if an optional operand is absent
//   for (Value* v : loop.init_values()) …          // the operands of a `...` field
//   MmaIOp(op).signedness_lhs();                   // Signedness
//   if (const auto c = DefAs<ConstantOp>(v)) …     // nullopt if something else defines v
//   op->set_operand(MmaOp(op).acc_at(), v);        // x_at(): position among the operands
//
// A view may be of several operations; it has the fields that all of them have:
//
//   OpView<AnyOf<Opcode::kReduce, Opcode::kScan>>(op).dim();
//   OpView<WithFields<Field::kView, Field::kIndex>>(op).view();
//
// A method that the operations do not have does not compile. Positions come from formats.def at compile time where the
// operations agree, and from one look into FormatInfo::places otherwise; nothing is searched.
//
// An operand and a result of one name (only `token`): token() is the operand, result_token() the result.
#ifndef TILE_IR_OP_VIEWS_H_
#define TILE_IR_OP_VIEWS_H_

#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/check.h"
#include "ir/format_text.h"
#include "ir/module.h"

namespace tile::ir {
namespace internal {

struct OpRow {
  Opcode opcode;
  Format format;
  Family family;
  uint16_t traits;
};
inline constexpr OpRow kOpRows[] = {
#define TILE_OP(number, Name, mnemonic, FormatName, FamilyName, since, traits, constraints) \
  {Opcode::k##Name, Format::k##FormatName, Family::k##FamilyName, traits},
#include "ir/ops.def"
};

enum class Part : uint8_t { kNone, kOperand, kAttr, kResult };

// What a name is in a format, or in all of several.
struct Meaning {
  Part part = Part::kNone;
  int field = -1;     // position among the fields of its part; -1: formats differ
  bool fixed = true;  // of an operand: there is exactly one in each field before, so that `field` is its position, too
  Arity arity = Arity::kOne;
  AttrKind kind = AttrKind::kInt;
  EnumId enum_id = EnumId::kSignedness;
  bool optional = false;
};

constexpr Meaning InFields(std::string_view fields, std::string_view name, Part part) {
  Meaning m;
  int field = 0;
  bool fixed = true;
  format_text::ForEachWord(fields, [&](std::string_view word) {
    if (format_text::IsMark(word)) return;
    const format_text::FieldText f = format_text::ParseField(word);
    if (f.name == name) {
      m.part = part;
      m.field = field;
      m.fixed = fixed;
      m.arity = f.arity;
    }
    fixed = fixed && f.arity == Arity::kOne;
    ++field;
  });
  return m;
}
constexpr Meaning InAttrs(std::string_view attrs, std::string_view name) {
  Meaning m;
  int field = 0;
  format_text::ForEachWord(attrs, [&](std::string_view word) {
    const format_text::AttrText a = format_text::ParseAttr(word);
    if (a.name == name) {
      m.part = Part::kAttr;
      m.field = field;
      m.kind = a.kind;
      m.enum_id = a.enum_id;
      m.optional = a.optional;
    }
    ++field;
  });
  return m;
}
constexpr Meaning InFormat(Format format, Field field, bool of_results) {
  const format_text::Row& row = format_text::kRows[static_cast<size_t>(format)];
  const std::string_view name = format_text::kFieldNames[static_cast<size_t>(field)];
  const Meaning result = InFields(row.results, name, Part::kResult);
  if (of_results) return result;
  if (const Meaning m = InFields(row.operands, name, Part::kOperand); m.part != Part::kNone) return m;
  if (const Meaning m = InAttrs(row.attrs, name); m.part != Part::kNone) return m;
  return result;
}

template <class Set>
constexpr Meaning InRows(Field field, bool of_results) {
  Meaning all;
  bool first = true;
  for (const OpRow& row : kOpRows) {
    if (!Set::Has(row)) continue;
    const Meaning m = InFormat(row.format, field, of_results);
    if (first) {
      all = m;
      first = false;
      continue;
    }
    const bool alike = m.part == all.part && m.kind == all.kind && m.enum_id == all.enum_id &&
                       (m.arity == Arity::kVariadic) == (all.arity == Arity::kVariadic);
    if (!alike) return {};
    if (m.field != all.field) all.field = -1;
    if (m.arity == Arity::kOptional) all.arity = Arity::kOptional;
    all.fixed = all.fixed && m.fixed;
    all.optional = all.optional || m.optional;
  }
  return all;
}

// A set that says `kFormat` is of operations of a second table, which all have that format.
template <class Set>
constexpr Meaning InAll(Field field, bool of_results = false) {
  if constexpr (requires { Set::kFormat; }) {
    return InFormat(Set::kFormat, field, of_results);
  } else {
    return InRows<Set>(field, of_results);
  }
}

// Where the operands, or the results, of a `...` field lie.
template <bool kOperands>
class ValueRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Value*;
    using difference_type = std::ptrdiff_t;
    using pointer = Value* const*;
    using reference = Value*;
    Iterator() = default;
    Iterator(const Op* op, int i) : op_(op), i_(i) {}
    Value* operator*() const { return At(op_, i_); }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(op_, i_++); }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    const Op* op_ = nullptr;
    int i_ = 0;
  };

  ValueRange(const Op* op, int begin, int end) : op_(op), begin_(begin), end_(end) {}
  int first() const { return begin_; }  // position among all operands or results
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  bool empty() const { return begin_ == end_; }
  Value* operator[](size_t i) const { return At(op_, begin_ + static_cast<int>(i)); }
  Iterator begin() const { return Iterator(op_, begin_); }
  Iterator end() const { return Iterator(op_, end_); }
  std::vector<Value*> list() const { return std::vector<Value*>(begin(), end()); }

 private:
  static Value* At(const Op* op, int i) {
    if constexpr (kOperands) return op->operand(i);
    return op->result(i);
  }
  const Op* op_;
  int begin_, end_;
};

}  // namespace internal

using OperandRange = internal::ValueRange<true>;
using ResultRange = internal::ValueRange<false>;

// --- sets of operations --------------------------------------------------------------------------------------------

template <Opcode... kOpcodes>
struct AnyOf {
  static constexpr bool Has(const internal::OpRow& row) { return ((row.opcode == kOpcodes) || ...); }
  static bool Holds(const OpInfo& op) { return ((op.opcode == kOpcodes) || ...); }
};

template <uint16_t kTraits>
struct WithTraits {
  static constexpr bool Has(const internal::OpRow& row) { return (row.traits & kTraits) == kTraits; }
  static bool Holds(const OpInfo& op) { return (op.traits & kTraits) == kTraits; }
};

template <Family kFamily>
struct OfFamily {
  static constexpr bool Has(const internal::OpRow& row) { return row.family == kFamily; }
  static bool Holds(const OpInfo& op) { return op.family == kFamily; }
};

// Operations that have all of these operands or attributes.
template <Field... kFields>
struct WithFields {
  static constexpr bool Has(const internal::OpRow& row) { return (Has(row.format, kFields) && ...); }
  static bool Holds(const OpInfo& op) {
    return ((op.format->place(kFields).operand >= 0 || op.format->place(kFields).attr >= 0) && ...);
  }

 private:
  static constexpr bool Has(Format format, Field field) {
    const internal::Part part = internal::InFormat(format, field, false).part;
    return part == internal::Part::kOperand || part == internal::Part::kAttr;
  }
};

// What reads or writes memory.
struct Accesses {
  static constexpr bool Has(const internal::OpRow& row) { return (row.traits & (kReads | kWrites)) != 0; }
  static bool Holds(const OpInfo& op) { return op.is_access(); }
};

// --- views ---------------------------------------------------------------------------------------------------------

template <class Set>
class OpView {
 public:
  explicit OpView(const Op& op) : op_(&op) { TILE_CHECK(Set::Holds(*op.info()), "a view of another operation"); }
  explicit OpView(const Op* op) : op_(op) { TILE_CHECK(Is(op), "a view of another operation"); }
  static bool Is(const Op* op) { return op != nullptr && Set::Holds(*op->info()); }
  const Op& op() const { return *op_; }

#define TILE_FIELD(Name, name)                                                                               \
  decltype(auto) name() const requires(internal::InAll<Set>(Field::k##Name).part != internal::Part::kNone) { \
    return Get<Field::k##Name, false>();                                                                     \
  }                                                                                                          \
  int name##_at() const requires(internal::InAll<Set>(Field::k##Name).part == internal::Part::kOperand) {    \
    return At<Field::k##Name>();                                                                             \
  }
#include "ir/fields.def"

  Value* result_token() const requires(internal::InAll<Set>(Field::kToken, true).part == internal::Part::kResult) {
    return Get<Field::kToken, true>();
  }

 private:
  // Of a field in the operation's format: what all formats of the table agree on, or what this one says.
  template <int kFixed>
  static int Position(int here) {
    if constexpr (kFixed >= 0) return kFixed;
    TILE_CHECK(here >= 0, "the operation lacks a field of its view");
    return here;
  }

  template <Field kField>
  int At() const {
    constexpr internal::Meaning m = internal::InAll<Set>(kField);
    if constexpr (m.field >= 0 && m.fixed && m.arity != Arity::kOptional) return m.field;
    const int field = Position<m.field>(op_->info()->format->place(kField).operand);
    return m.arity == Arity::kOptional && op_->group_begin(field) == op_->group_end(field) ? -1
                                                                                           : op_->group_begin(field);
  }

  template <Field kField, bool kOfResults>
  decltype(auto) Get() const {
    constexpr internal::Meaning m = internal::InAll<Set>(kField, kOfResults);
    if constexpr (m.part == internal::Part::kOperand && m.arity == Arity::kVariadic) {
      const int field = Position<m.field>(op_->info()->format->place(kField).operand);
      return OperandRange(op_, op_->group_begin(field), op_->group_end(field));
    } else if constexpr (m.part == internal::Part::kOperand) {
      const int at = At<kField>();
      return at < 0 ? nullptr : op_->operand(at);
    } else if constexpr (m.part == internal::Part::kResult) {
      const int field = Position<m.field>(op_->info()->format->place(kField).result);
      if constexpr (m.arity == Arity::kVariadic) {
        return ResultRange(op_, field, op_->num_results());
      } else {
        return field < op_->num_results() ? op_->result(field) : nullptr;
      }
    } else {
      const int field = Position<m.field>(op_->info()->format->place(kField).attr);
      return Typed<m.kind, m.enum_id, m.optional>(op_->attr(field));
    }
  }

  template <AttrKind kKind, EnumId kEnum, bool kOptional>
  static decltype(auto) Typed(const Attr& a) {
    if constexpr (kKind == AttrKind::kEnum && kOptional) {
      using E = typename EnumOf<kEnum>::type;
      return a.present() ? std::optional<E>(a.as_enum<E>()) : std::nullopt;
    } else if constexpr (kKind == AttrKind::kEnum) {
      return a.as_enum<typename EnumOf<kEnum>::type>();
    } else if constexpr (kKind == AttrKind::kFlag || kKind == AttrKind::kBool) {
      return a.as_bool();
    } else if constexpr (kKind == AttrKind::kInt) {
      return a.as_int();
    } else if constexpr (kKind == AttrKind::kString || kKind == AttrKind::kSymbol) {
      return a.as_string();
    } else if constexpr (kKind == AttrKind::kDense) {
      return a.dense();
    } else if constexpr (kKind == AttrKind::kInts) {
      return a.ints();
    } else if constexpr (kKind == AttrKind::kBools) {
      return a.bools();
    } else if constexpr (kKind == AttrKind::kPredicate) {
      return a.predicate();
    } else if constexpr (kKind == AttrKind::kScalars) {
      return a.scalars();
    } else {
      static_assert(kKind == AttrKind::kHints && kOptional);
      return a.present() ? &a.hints() : nullptr;
    }
  }

  const Op* op_;
};

#define TILE_OP(number, Name, ...) using Name##Op = OpView<AnyOf<Opcode::k##Name>>;
#include "ir/ops.def"

using MmaOp = OpView<OfFamily<Family::kMma>>;
using ProductOp = OpView<WithTraits<kProduct>>;   // without scales
using FoldOp = OpView<WithTraits<kElementBody>>;  // reduce and scan
using AccessOp = OpView<Accesses>;
using ViewAccessOp = OpView<WithFields<Field::kView, Field::kIndex>>;
using OrderedOp = OpView<WithFields<Field::kOrdering, Field::kScope>>;  // accesses; cmpf has another `ordering`
using ViewUpdateOp = OpView<WithFields<Field::kView, Field::kIndex, Field::kValue>>;
using PointerUpdateOp = OpView<WithFields<Field::kPointers>>;
using ScatterOp = OpView<WithFields<Field::kView, Field::kIndices>>;
using RoundingOp = OpView<WithFields<Field::kRounding>>;
using FlushToZeroOp = OpView<WithFields<Field::kFlushToZero>>;
using SignednessOp = OpView<WithFields<Field::kSignedness>>;
using OverflowOp = OpView<WithFields<Field::kOverflow>>;

template <class View>
bool Is(const Op* op) {
  return View::Is(op);
}
template <class View>
std::optional<View> As(const Op* op) {
  return View::Is(op) ? std::optional<View>(View(op)) : std::nullopt;
}
// Of the operation that defines a value.
template <class View>
std::optional<View> DefAs(const Value* v) {
  return As<View>(v->def());
}

// --- fields that some operations have ------------------------------------------------------------------------------

// The operand of this name; null if it is absent, or if the operation has none of the name.
inline Value* FindOperand(const Op& op, Field field) {
  const int at = op.info()->format->place(field).operand;
  return at < 0 || op.group_begin(at) == op.group_end(at) ? nullptr : op.operand(op.group_begin(at));
}
// The attribute of this name, which may be absent; null if the operation has none of the name.
inline const Attr* FindAttr(const Op& op, Field field) {
  const int at = op.info()->format->place(field).attr;
  return at < 0 ? nullptr : &op.attr(at);
}
// Of an access; those that say nothing are weak.
inline MemoryOrdering OrderingOf(const Op& op) {
  return OrderedOp::Is(&op) ? OrderedOp(op).ordering() : MemoryOrdering::kWeak;
}

}  // namespace tile::ir

#endif  // TILE_IR_OP_VIEWS_H_
