// The general rules: what ops.def and formats.def say of an operation. The notation is turned into small records once;
// judging an operation then is a loop over its records.

#include <algorithm>
#include <iterator>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ir/verify/verify.h"
#include "ir/verify/verify_advice.h"
#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

// A set of types: tiles with certain elements, or kinds of other types.
struct Set {
  const char* name;
  uint32_t elems;  // by Elem, of tiles
  uint32_t kinds;  // by TypeKind, of what is no tile
  const char* text;
};

constexpr uint32_t Bit(Elem e) { return uint32_t{1} << static_cast<int>(e); }
constexpr uint32_t Bit(TypeKind k) { return uint32_t{1} << static_cast<int>(k); }
constexpr uint32_t Where(bool (*predicate)(Elem)) {
  uint32_t bits = 0;
  for (int i = 0; i < kNumElems; ++i) bits |= predicate(static_cast<Elem>(i)) ? uint32_t{1} << i : 0;
  return bits;
}
constexpr uint32_t kEvery = Where([](Elem) { return true; });
constexpr uint32_t kGrid = Bit(TypeKind::kPartitionView) | Bit(TypeKind::kStridedView);
constexpr uint32_t kViews = kGrid | Bit(TypeKind::kGatherScatterView);

constexpr Set kSets[] = {
    {"I1", Bit(Elem::kI1), 0, "a tile of i1"},
    {"I8", Bit(Elem::kI8), 0, "a tile of i8"},
    {"I32", Bit(Elem::kI32), 0, "a tile of i32"},
    {"I64", Bit(Elem::kI64), 0, "a tile of i64"},
    {"F32", Bit(Elem::kF32), 0, "a tile of f32"},
    {"INT", Where(IsInt), 0, "a tile of i1, i8, i16, i32 or i64"},
    {"INTX", Where(IsInt) | Bit(Elem::kI4), 0, "a tile of i1, i4, i8, i16, i32 or i64"},
    {"FP", Where(IsFp), 0, "a tile of f16, bf16, f32 or f64"},
    {"XFP", Where(IsFloat), 0, "a tile of a float type"},
    {"NUM", Where(IsNum), 0, "a tile of numbers other than i4"},
    {"PACK", (Where(IsNum) | Bit(Elem::kI4)) & ~Where([](Elem e) { return ElemInfoOf(e).bits == 8; }), 0,
     "a tile of numbers that don't have 8 bits"},
    {"ANY", kEvery, 0, "a tile"},
    {"PTR", Bit(Elem::kPtr), 0, "a tile of pointers"},
    {"TOKEN", 0, Bit(TypeKind::kToken), "a token"},
    {"TVIEW", 0, Bit(TypeKind::kTensorView), "a tensor_view"},
    {"VIEW", 0, kViews, "a partition_view, strided_view or gather_scatter_view"},
    {"PVIEW", 0, Bit(TypeKind::kPartitionView), "a partition_view"},
    {"SVIEW", 0, Bit(TypeKind::kStridedView), "a strided_view"},
    {"GVIEW", 0, Bit(TypeKind::kGatherScatterView), "a gather_scatter_view"},
    {"GRID", 0, kGrid, "a partition_view or strided_view"},
    {"OBJ", 0, kViews | Bit(TypeKind::kTensorView), "a view"},
    {"ALL", kEvery, ~Bit(TypeKind::kFunction), "a value"},
};

enum class Relation : uint8_t { kInSet, kSameType, kSameShape, kSameElement };

struct Field {
  bool result;
  int index;
};

struct Constraint {
  Relation relation;
  Field a, b;
  const Set* set;
  int rank;  // -1: any
};

struct OpTable {
  std::vector<Constraint> constraints;
  std::vector<uint64_t> enum_numbers;  // per attribute: bit n is set if n is a value
  int least_results = 0, most_results = 0;
  int variadic_result = -1;  // field
  OpVerifier verifier = nullptr;
};

Field ParseField(const FormatInfo& format, absl::string_view name) {
  const int operand = format.operand_index(name);
  return operand >= 0 ? Field{false, operand} : Field{true, format.result_index(name)};
}

// A mistake in the table itself must not pass unseen; verify_test.cc parses every row.
Constraint ParseConstraint(const FormatInfo& format, absl::string_view word) {
  Constraint c{Relation::kInSet, {}, {}, nullptr, -1};
  const size_t at = word.find_first_of(":=~^");
  c.a = ParseField(format, word.substr(0, at));
  absl::string_view right = word.substr(at + 1);
  switch (word[at]) {
    case '=': c.relation = Relation::kSameType; break;
    case '~': c.relation = Relation::kSameShape; break;
    case '^': c.relation = Relation::kSameElement; break;
    default:
      if (const size_t dot = right.find('.'); dot != absl::string_view::npos) {
        c.rank = right[dot + 1] - '0';
        right = right.substr(0, dot);
      }
      for (const Set& set : kSets) {
        if (right == set.name) c.set = &set;
      }
      return c;
  }
  c.b = ParseField(format, right);
  return c;
}

std::vector<OpTable> BuildTables() {
  std::vector<OpTable> tables(AllOps().size());
  for (const OpInfo& op : AllOps()) {
    OpTable& t = tables[op.index];
    for (absl::string_view word : absl::StrSplit(op.constraints, ' ', absl::SkipEmpty())) {
      Constraint c = ParseConstraint(*op.format, word);
      t.constraints.push_back(c);
      const int result = op.format->result_index(word.substr(0, word.find_first_of(":=~^")));
      if (c.a.result || result < 0) continue;
      c.a = {true, result};  // `token:TOKEN` speaks of the operand and of the result
      t.constraints.push_back(c);
    }
    for (const AttrInfo& attr : op.format->attrs) {
      uint64_t numbers = 0;
      for (const EnumValueInfo& v : kEnumValues) {
        if (attr.kind == AttrKind::kEnum && v.id == attr.enum_id) numbers |= uint64_t{1} << v.number;
      }
      t.enum_numbers.push_back(numbers);
    }
    for (size_t i = 0; i < op.format->results.size(); ++i) {
      const Arity arity = op.format->results[i].arity;
      t.least_results += arity == Arity::kOne;
      t.most_results += 1;
      if (arity == Arity::kVariadic) {
        t.variadic_result = static_cast<int>(i);
        t.most_results = 1 << 30;
      }
    }
  }
  const absl::Span<const OpRules> families[] = {
#define TILE_OP(number, Name, mnemonic, Format, Family, ...) Family##Rules(),
#include "ir/ops.def"
  };
  for (const auto& family : families) {
    for (const OpRules& row : family) tables[GetOp(row.opcode)->index].verifier = row.verifier;
  }
  return tables;
}

const OpTable& TableOf(const OpInfo& info) {
  static const auto* tables = new std::vector<OpTable>(BuildTables());
  return (*tables)[info.index];
}

// The values of a field: operands [begin, end) or results [begin, end).
struct Range {
  const Op& op;
  bool result;
  int begin, end;
  Type type(int i) const { return result ? op.result(i)->type() : op.operand(i)->type(); }
};

Range ValuesOf(const Op& op, const OpTable& table, Field f) {
  if (!f.result) return {op, false, op.group_begin(f.index), op.group_end(f.index)};
  if (f.index == table.variadic_result) return {op, true, f.index, op.num_results()};
  return {op, true, f.index, std::min(f.index + 1, op.num_results())};
}

std::string NameOf(const Range& values, Field f, int i) {
  const FormatInfo& format = *values.op.info()->format;
  const FieldInfo& field = f.result ? format.results[f.index] : format.operands[f.index];
  if (field.arity != Arity::kVariadic) return field.name;
  return absl::StrCat(field.name, " ", i - values.begin);
}

bool Agree(Relation relation, Type a, Type b) {
  if (a == b) return true;
  if (relation == Relation::kSameType || !a.is_tile() || !b.is_tile()) return false;
  return relation == Relation::kSameShape ? a.shape() == b.shape() : a.element() == b.element();
}

const char* RelationText(Relation r) {
  return r == Relation::kSameType ? "type" : r == Relation::kSameShape ? "shape" : "element type";
}

// Of an operation that takes only what its operands say.
std::string ResultAdvice(const Op& op) {
  return absl::StrCat("write the type of the result so that it fits the operands; `tilevm ops ", op.info()->mnemonic,
                      "` has the types");
}

bool CheckConstraint(OpCheck& c, const OpTable& table, const Constraint& k) {
  const Range a = ValuesOf(c.op, table, k.a);
  if (k.relation == Relation::kInSet) {
    for (int i = a.begin; i < a.end; ++i) {
      const Type t = a.type(i);
      const bool inside = t.is_tile() ? (k.set->elems & Bit(t.elem())) != 0 : (k.set->kinds & Bit(t.kind())) != 0;
      if (inside && (k.rank < 0 || t.rank() == k.rank)) continue;
      c.Fail(Rule::kTypeSet,
             absl::StrCat(NameOf(a, k.a, i), " is ", t.ToString(), ", must be ", k.set->text,
                          k.rank < 0 ? "" : absl::StrCat(" of rank ", k.rank)),
             a.result ? ResultAdvice(c.op) : ToSet(c.op, *c.op.operand(i), k.set->elems, k.set->kinds, k.rank));
      return false;
    }
    return true;
  }
  const Range b = ValuesOf(c.op, table, k.b);
  if (b.begin == b.end) return true;
  const Type expected = b.type(b.begin);
  for (int i = a.begin; i < a.end; ++i) {
    if (Agree(k.relation, a.type(i), expected)) continue;
    c.Fail(Rule::kTypesAgree,
           absl::StrCat(NameOf(a, k.a, i), " is ", a.type(i).ToString(), ", must have the ", RelationText(k.relation),
                        " of ", NameOf(b, k.b, b.begin), ", ", expected.ToString()),
           a.result ? ResultAdvice(c.op) : ToType(c.op, *c.op.operand(i), expected));
    return false;
  }
  return true;
}

bool CheckOperandCounts(OpCheck& c) {
  const Op& op = c.op;
  const FormatInfo& format = *op.info()->format;
  int begin = 0;
  for (size_t f = 0; f < format.operands.size(); ++f) {
    const int end = op.group_end(static_cast<int>(f));
    const int n = end - begin;
    const Arity arity = format.operands[f].arity;
    if (n < 0 || end > op.num_operands() || (arity == Arity::kOne && n != 1) || (arity == Arity::kOptional && n > 1)) {
      c.Fail(Rule::kOperandCount, absl::StrCat("has ", n, " operands for ", format.operands[f].name, ", takes ",
                                               arity == Arity::kOne ? "one" : "one or none"));
      return false;
    }
    begin = end;
  }
  if (begin == op.num_operands()) return true;
  c.Fail(Rule::kOperandCount, absl::StrCat("has ", op.num_operands(), " operands, takes ", begin));
  return false;
}

bool CheckAttrs(OpCheck& c, const OpTable& table) {
  const FormatInfo& format = *c.op.info()->format;
  bool ok = true;
  for (size_t i = 0; i < format.attrs.size(); ++i) {
    const AttrInfo& info = format.attrs[i];
    const Attr& attr = c.op.attr(static_cast<int>(i));
    if (!attr.present()) {
      if (info.optional) continue;
      c.Fail(Rule::kAttribute, absl::StrCat("lacks the attribute ", info.name));
      ok = false;
    } else if (attr.kind() != info.kind) {
      c.Fail(Rule::kAttribute, absl::StrCat("the attribute ", info.name, " is of another kind"));
      ok = false;
    } else if (info.kind == AttrKind::kEnum) {
      const int64_t n = attr.as_int();
      if (n >= 0 && n < 64 && (table.enum_numbers[i] >> n & 1)) continue;
      c.Fail(Rule::kEnumNumber, absl::StrCat(info.name, " is ", n, ", no value of ", EnumName(info.enum_id)));
      ok = false;
    }
  }
  return ok;
}

bool CheckTypes(OpCheck& c) {
  bool ok = true;
  for (int i = 0; i < c.op.num_results(); ++i) ok &= c.verifier.CheckType(c.op.result(i)->type(), &c.op, nullptr);
  // The type of an operand was judged where the operand is defined; here it only matters that there is one.
  for (int i = 0; i < c.op.num_operands(); ++i) ok &= c.verifier.CheckType(c.op.operand(i)->type(), &c.op, nullptr);
  return ok;
}

}  // namespace

bool IsTileOp(const OpInfo* info) {
  const std::vector<OpInfo>& all = AllOps();
  return !std::less<>()(info, all.data()) && std::less<>()(info, all.data() + all.size());
}

OpVerifier RulesFor(const OpInfo& info) { return TableOf(info).verifier; }

bool CheckAgainstTable(OpCheck& c) {
  const OpTable& table = TableOf(*c.op.info());
  if (!CheckOperandCounts(c)) return false;
  if (c.op.num_results() < table.least_results || c.op.num_results() > table.most_results) {
    c.Fail(Rule::kResultCount,
           absl::StrCat("has ", c.op.num_results(), " results, gives ",
                        c.op.num_results() < table.least_results ? table.least_results : table.most_results));
    return false;
  }
  const bool attrs_ok = CheckAttrs(c, table);
  if (!CheckTypes(c)) return false;
  // Of one field only the first mistake is told: the rest follows from it.
  uint32_t bad_operands = 0, bad_results = 0;
  for (const Constraint& k : table.constraints) {
    uint32_t& bad = k.a.result ? bad_results : bad_operands;
    const uint32_t bit_b = uint32_t{1} << k.b.index;
    if (bad >> k.a.index & 1) continue;
    if (k.relation != Relation::kInSet && ((k.b.result ? bad_results : bad_operands) & bit_b)) continue;
    if (!CheckConstraint(c, table, k)) bad |= uint32_t{1} << k.a.index;
  }
  return attrs_ok && bad_operands == 0 && bad_results == 0;
}

}  // namespace tile::ir::verify

namespace tile::ir {

const char* SetText(absl::string_view name) {
  for (const verify::Set& set : verify::kSets) {
    if (name == set.name) return set.text;
  }
  return nullptr;
}

}  // namespace tile::ir
