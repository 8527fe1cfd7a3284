#include "ir/op_info.h"

#include <array>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

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

int ParseSince(absl::string_view& text) {
  const size_t at = text.find('@');
  if (at == absl::string_view::npos) return 0;
  int v = 0;
  for (char c : text.substr(at + 1)) v = v * 10 + (c - '0');
  text = text.substr(0, at);
  return v;
}

std::vector<FieldInfo> ParseFields(absl::string_view text, char mark, bool* marked) {
  std::vector<FieldInfo> fields;
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (word.size() == 1 && word[0] == mark) {
      *marked = true;
      continue;
    }
    FieldInfo f;
    f.since = ParseSince(word);
    if (absl::ConsumeSuffix(&word, "...")) f.arity = Arity::kVariadic;
    if (absl::ConsumeSuffix(&word, "?")) f.arity = Arity::kOptional;
    f.name = std::string(word);
    fields.push_back(std::move(f));
  }
  return fields;
}

AttrInfo ParseAttr(absl::string_view word) {
  AttrInfo a;
  a.since = ParseSince(word);
  absl::string_view default_keyword;
  if (const size_t eq = word.find('='); eq != absl::string_view::npos) {
    default_keyword = word.substr(eq + 1);
    word = word.substr(0, eq);
  }
  if (absl::ConsumeSuffix(&word, "?")) a.optional = true;
  const size_t colon = word.find(':');
  a.name = std::string(word.substr(0, colon));
  const absl::string_view kind = word.substr(colon + 1);
  static constexpr struct { const char* name; AttrKind kind; } kKinds[] = {
      {"flag", AttrKind::kFlag}, {"bool", AttrKind::kBool}, {"int", AttrKind::kInt}, {"string", AttrKind::kString},
      {"symbol", AttrKind::kSymbol}, {"dense", AttrKind::kDense}, {"ints", AttrKind::kInts},
      {"bools", AttrKind::kBools}, {"predicate", AttrKind::kPredicate}, {"hints", AttrKind::kHints},
      {"scalars", AttrKind::kScalars},
  };
  for (const auto& k : kKinds) {
    if (kind == k.name) {
      a.kind = k.kind;
      return a;
    }
  }
  a.kind = AttrKind::kEnum;
  a.enum_id = FindEnum(kind).value();
  if (!default_keyword.empty()) a.default_value = FindEnumKeyword(a.enum_id, default_keyword)->number;
  return a;
}

std::vector<FormatInfo> ParseFormats() {
  struct Row { Format id; const char *name, *operands, *attrs, *results, *regions, *syntax; };
  static constexpr Row kRows[] = {
#define TILE_FORMAT(Name, operands, attrs, results, regions, syntax) \
  {Format::k##Name, #Name, operands, attrs, results, regions, syntax},
#include "ir/formats.def"
  };
  std::vector<FormatInfo> formats;
  for (const Row& row : kRows) {
    FormatInfo f;
    f.id = row.id;
    f.name = row.name;
    f.syntax = row.syntax;
    f.operands = ParseFields(row.operands, '#', &f.operands_counted);
    f.results = ParseFields(row.results, '*', &f.results_counted);
    for (absl::string_view word : absl::StrSplit(row.attrs, ' ', absl::SkipEmpty())) f.attrs.push_back(ParseAttr(word));
    for (absl::string_view word : absl::StrSplit(row.regions, ' ', absl::SkipEmpty())) f.regions.emplace_back(word);
    formats.push_back(std::move(f));
  }
  return formats;
}

std::vector<OpInfo> BuildOps() {
  std::vector<OpInfo> ops = {
#define TILE_OP(number, Name, mnemonic, Format_, Family_, since, traits, constraints)                       \
  OpInfo{Opcode::k##Name, #Name, mnemonic, &GetFormat(Format::k##Format_), Family::k##Family_, since, traits, \
         constraints, 0},
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

const char* FamilyName(Family f) {
  static constexpr const char* kNames[] = {"atomic", "compare", "constant", "control", "convert", "float", "integer",
                                           "math", "memory", "mma", "multimem", "reduce", "shape", "token", "view"};
  return kNames[static_cast<int>(f)];
}

const std::vector<FormatInfo>& AllFormats() {
  static const auto* formats = new std::vector<FormatInfo>(ParseFormats());
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
