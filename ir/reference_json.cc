// The tables as JSON, for frontends in other languages: nobody needs to copy numbers by hand.

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ir/foreign_names.h"
#include "ir/reference.h"
#include "ir/reference_internal.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

std::string Quote(absl::string_view text) {
  std::string s = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppend(&s, absl::StrFormat("\\u%04x", c));
    } else {
      s += c;
    }
  }
  return s + "\"";
}

// {"a": 1, "b": 2}; the values are JSON already.
using Members = std::vector<std::pair<absl::string_view, std::string>>;
std::string Object(const Members& members) {
  return absl::StrCat(
      "{",
      absl::StrJoin(members, ", ",
                    [](std::string* out, const auto& m) { absl::StrAppend(out, "\"", m.first, "\": ", m.second); }),
      "}");
}
template <class T, class Fn>
std::string Array(const T& items, Fn&& item) {
  std::vector<std::string> parts;
  for (const auto& x : items) parts.push_back(item(x));
  return absl::StrCat("[", absl::StrJoin(parts, ", "), "]");
}
template <class T, class Fn>
std::string Lines(const T& items, Fn&& item) {
  std::vector<std::string> parts;
  for (const auto& x : items) parts.push_back(absl::StrCat("\n    ", item(x)));
  return absl::StrCat("[", absl::StrJoin(parts, ","), "\n  ]");
}
std::string Bool(bool b) { return b ? "true" : "false"; }

std::string FieldJson(const FieldInfo& f) {
  static constexpr const char* kArities[] = {"one", "optional", "variadic"};
  return Object({{"name", Quote(f.name)},
                 {"arity", Quote(kArities[static_cast<int>(f.arity)])},
                 {"since", absl::StrCat(f.since)}});
}

std::string AttrJson(const AttrInfo& a) {
  Members m = {{"name", Quote(a.name)}, {"kind", Quote(a.kind == AttrKind::kEnum ? "enum" : KindName(a))}};
  if (a.kind == AttrKind::kEnum) m.emplace_back("enum", Quote(EnumName(a.enum_id)));
  m.emplace_back("optional", Bool(a.optional));
  if (a.kind == AttrKind::kEnum && !a.optional) m.emplace_back("default", absl::StrCat(a.default_value));
  m.emplace_back("since", absl::StrCat(a.since));
  return Object(m);
}

std::string FormatJson(const FormatInfo& f) {
  return Object({{"name", Quote(f.name)},
                 {"operands", Array(f.operands, FieldJson)},
                 {"attributes", Array(f.attrs, AttrJson)},
                 {"results", Array(f.results, FieldJson)},
                 {"regions", Array(f.regions, Quote)},
                 {"operands_counted", Bool(f.operands_counted)},
                 {"results_counted", Bool(f.results_counted)},
                 {"syntax", Quote(f.syntax)}});
}

std::string OpJson(const OpInfo& op) {
  return Object({{"number", absl::StrCat(static_cast<int>(op.opcode))},
                 {"mnemonic", Quote(op.mnemonic)},
                 {"name", Quote(op.name)},
                 {"format", Quote(op.format->name)},
                 {"family", Quote(FamilyName(op.family))},
                 {"since", absl::StrCat(op.since)},
                 {"traits", Array(TraitNames(op.traits), Quote)},
                 {"constraints", Quote(op.constraints)},
                 {"rules", Array(RulesOf(op), [&](const RuleInfo* r) { return Quote(r->CodeFor(op)); })},
                 {"doc", Quote(DocOf(op.opcode))},
                 {"example", Quote(ExampleOf(op.opcode))}});
}

std::string ElementJson(const ElemInfo& e) {
  return Object({{"spelling", Quote(e.spelling)},
                 {"bits", absl::StrCat(e.bits)},
                 {"storage", absl::StrCat(e.storage)},
                 {"tag", absl::StrCat(e.tag)},
                 {"since", absl::StrCat(e.since)}});
}

std::string EnumValueJson(const EnumValueInfo& v) {
  return Object({{"enum", Quote(EnumName(v.id))},
                 {"keyword", Quote(v.keyword)},
                 {"number", absl::StrCat(v.number)},
                 {"since", absl::StrCat(v.since)}});
}

std::string RuleJson(const RuleInfo& r) {
  return Object({{"name", Quote(r.name)},
                 {"severity", Quote(r.severity == Severity::kError ? "error" : "warning")},
                 {"applies", Quote(r.applies)},
                 {"number", absl::StrCat(r.number)},
                 {"text", Quote(r.text)}});
}

std::string StructureJson(const StructureInfo& s) {
  return Object({{"number", absl::StrCat(static_cast<int>(s.opcode))},
                 {"mnemonic", Quote(s.mnemonic)},
                 {"since", absl::StrCat(s.since)},
                 {"doc", Quote(DocOf(s.opcode))}});
}

// A row for each name.
std::string ForeignNamesJson() {
  static constexpr const char* kKinds[] = {"op", "element", "function", "script", "argument"};
  std::vector<std::string> rows;
  for (const ForeignName& row : AllForeignNames()) {
    for (const absl::string_view name : absl::StrSplit(row.names, ' ')) {
      rows.push_back(Object({{"name", Quote(name)},
                             {"kind", Quote(kKinds[static_cast<int>(row.kind)])},
                             {"own", Quote(row.own)},
                             {"form", Quote(row.form)},
                             {"script", Quote(row.script)}}));
    }
  }
  return Lines(rows, [](const std::string& row) { return row; });
}

// Those that operations of stored programs have.
std::vector<FormatInfo> StoredFormats() {
  std::vector<FormatInfo> formats;
  for (const FormatInfo& f : AllFormats()) {
    const auto& ops = AllOps();
    if (std::any_of(ops.begin(), ops.end(), [&](const OpInfo& op) { return op.format == &f; })) formats.push_back(f);
  }
  return formats;
}

}  // namespace

std::string OpTableJson() {
  return absl::StrCat(
      "{\n  \"elements\": ", Lines(kElemInfo, ElementJson), ",\n  \"enums\": ", Lines(kEnumValues, EnumValueJson),
      ",\n  \"formats\": ", Lines(StoredFormats(), FormatJson), ",\n  \"ops\": ", Lines(AllOps(), OpJson),
      ",\n  \"structures\": ", Lines(AllStructures(), StructureJson), ",\n  \"rules\": ", Lines(AllRules(), RuleJson),
      ",\n  \"foreign_names\": ", ForeignNamesJson(), "\n}\n");
}

}  // namespace tile::ir
