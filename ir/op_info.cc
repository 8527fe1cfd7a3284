#include "ir/op_info.h"

#include <array>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "ir/format_text.h"

namespace tile::ir {
namespace {

// Rows must rise, so that a number is never used twice and the table can be read in order.
constexpr int kNumbers[] = {
#define TILE_OP(number, ...) number,
#define TILE_STRUCTURE(number, ...) number,
#include "ir/ops.def"
};
constexpr bool Rising() {
  for (size_t i = 1; i < std::size(kNumbers); ++i) {
    if (kNumbers[i - 1] >= kNumbers[i]) return false;
  }
  return true;
}
static_assert(Rising(), "rows of ops.def must be sorted by number");

// Every name of formats.def has a row in fields.def, so that no operand is without a method.
constexpr int FieldOf(std::string_view name) {
  for (int i = 0; i < kNumFields; ++i) {
    if (format_text::kFieldNames[i] == name) return i;
  }
  return -1;
}
constexpr bool AllNamed() {
  bool all = true;
  for (const format_text::Row& row : format_text::kRows) {
    const auto field = [&](std::string_view word) {
      all = all && (format_text::IsMark(word) || FieldOf(format_text::ParseField(word).name) >= 0);
    };
    format_text::ForEachWord(row.operands, field);
    format_text::ForEachWord(row.results, field);
    format_text::ForEachWord(
        row.attrs, [&](std::string_view word) { all = all && FieldOf(format_text::ParseAttr(word).name) >= 0; });
  }
  return all;
}
static_assert(AllNamed(), "a name of formats.def has no row in fields.def");

std::vector<FieldInfo> MakeFields(std::string_view text, bool* marked) {
  std::vector<FieldInfo> fields;
  format_text::ForEachWord(text, [&](std::string_view word) {
    if (format_text::IsMark(word)) {
      *marked = true;
      return;
    }
    const format_text::FieldText f = format_text::ParseField(word);
    fields.push_back({std::string(f.name), f.arity, f.since});
  });
  return fields;
}

AttrInfo MakeAttr(std::string_view word) {
  const format_text::AttrText t = format_text::ParseAttr(word);
  AttrInfo a;
  a.name = std::string(t.name);
  a.kind = t.kind;
  a.enum_id = t.enum_id;
  a.optional = t.optional;
  a.since = t.since;
  const absl::string_view keyword(t.default_keyword.data(), t.default_keyword.size());
  if (!keyword.empty()) a.default_value = FindEnumKeyword(a.enum_id, keyword)->number;
  return a;
}

template <class Fields>
void Place(const Fields& fields, int8_t FieldPlace::*part, FormatInfo* f) {
  for (size_t i = 0; i < fields.size(); ++i)
    f->places[static_cast<size_t>(FieldOf(fields[i].name))].*part = static_cast<int8_t>(i);
}

std::vector<FormatInfo> MakeFormats() {
  std::vector<FormatInfo> formats;
  for (const format_text::Row& row : format_text::kRows) {
    FormatInfo f;
    f.id = row.id;
    f.name = row.name;
    f.syntax = row.syntax;
    f.operands = MakeFields(row.operands, &f.operands_counted);
    f.results = MakeFields(row.results, &f.results_counted);
    format_text::ForEachWord(row.attrs, [&](std::string_view word) { f.attrs.push_back(MakeAttr(word)); });
    format_text::ForEachWord(row.regions, [&](std::string_view word) { f.regions.emplace_back(word); });
    Place(f.operands, &FieldPlace::operand, &f);
    Place(f.attrs, &FieldPlace::attr, &f);
    Place(f.results, &FieldPlace::result, &f);
    formats.push_back(std::move(f));
  }
  return formats;
}

std::vector<OpInfo> BuildOps() {
  std::vector<OpInfo> ops = {
#define TILE_OP(number, Name, mnemonic, Format_, Family_, since, traits, constraints)                       \
  OpInfo{Opcode::k##Name, #Name,       mnemonic, &GetFormat(Format::k##Format_), Family::k##Family_, since, \
         traits,          constraints, 0},
#include "ir/ops.def"
  };
  for (size_t i = 0; i < ops.size(); ++i) ops[i].index = static_cast<int>(i);
  return ops;
}

template <class Fields>
int IndexOf(const Fields& fields, absl::string_view name) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

int FormatInfo::operand_index(absl::string_view n) const { return IndexOf(operands, n); }
int FormatInfo::attr_index(absl::string_view n) const { return IndexOf(attrs, n); }
int FormatInfo::result_index(absl::string_view n) const { return IndexOf(results, n); }

const char* FieldName(Field f) { return format_text::kFieldNames[static_cast<size_t>(f)].data(); }

const char* FamilyName(Family f) {
  static constexpr const char* kNames[] = {"atomic",   "compare", "constant", "control", "convert",
                                           "float",    "integer", "math",     "memory",  "mma",
                                           "multimem", "reduce",  "shape",    "token",   "view"};
  return kNames[static_cast<int>(f)];
}

const std::vector<FormatInfo>& AllFormats() {
  static const auto* formats = new std::vector<FormatInfo>(MakeFormats());
  return *formats;
}

const FormatInfo& GetFormat(Format f) { return AllFormats()[static_cast<int>(f)]; }

const std::vector<OpInfo>& AllOps() {
  static const auto* ops = new std::vector<OpInfo>(BuildOps());
  return *ops;
}

const OpInfo* FindOp(int number) {
  // Two dense windows: NVIDIA's numbers and ours.
  static const auto* table = [] {
    auto* t = new std::array<const OpInfo*, 256>();
    t->fill(nullptr);
    for (const OpInfo& op : AllOps()) {
      const int n = static_cast<int>(op.opcode);
      (*t)[n >= 0x8000 ? 128 + (n - 0x8000) : n] = &op;
    }
    return t;
  }();
  if (number >= 0 && number < 128) return (*table)[number];
  if (number >= 0x8000 && number < 0x8080) return (*table)[128 + number - 0x8000];
  return nullptr;
}

const OpInfo* FindOp(absl::string_view mnemonic) {
  static const auto* table = [] {
    auto* t = new absl::flat_hash_map<std::string, const OpInfo*>();
    for (const OpInfo& op : AllOps()) (*t)[op.mnemonic] = &op;
    (*t)["pow"] = GetOp(Opcode::kFpowf);
    (*t)["print"] = GetOp(Opcode::kPrint);
    return t;
  }();
  auto it = table->find(mnemonic);
  return it == table->end() ? nullptr : it->second;
}

const std::vector<StructureInfo>& AllStructures() {
  static const auto* rows = new std::vector<StructureInfo>{
#define TILE_STRUCTURE(number, Name, mnemonic, since) {Opcode::k##Name, mnemonic, since},
#include "ir/ops.def"
  };
  return *rows;
}

}  // namespace tile::ir
