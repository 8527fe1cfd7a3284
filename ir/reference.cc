#include "ir/reference.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/reference_internal.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

// The text of ops.def, put here by the build.
constexpr char kOpsDef[] =
#include "ir/ops_def.inc"
    ;

struct Comment {
  std::string text, example;  // what is indented is the example
};

absl::flat_hash_map<int, Comment> ReadComments() {
  absl::flat_hash_map<int, Comment> comments;  // by number
  Comment comment;
  for (absl::string_view line : absl::StrSplit(kOpsDef, '\n')) {
    if (absl::ConsumePrefix(&line, "///")) {
      std::string& part = absl::StartsWith(line, "  ") ? comment.example : comment.text;
      absl::StrAppend(&part, part.empty() ? "" : " ", absl::StripAsciiWhitespace(line));
      continue;
    }
    int number = 0;
    if ((absl::ConsumePrefix(&line, "TILE_OP(") || absl::ConsumePrefix(&line, "TILE_STRUCTURE(")) &&
        absl::SimpleHexAtoi(line.substr(0, line.find(',')), &number)) {
      comments[number] = comment;
    }
    comment = Comment();
  }
  return comments;
}

const Comment& CommentOf(Opcode opcode) {
  static const auto* comments = new absl::flat_hash_map<int, Comment>(ReadComments());
  static const auto* none = new Comment();
  const auto it = comments->find(static_cast<int>(opcode));
  return it == comments->end() ? *none : it->second;
}

std::string Version(int since) {
  return since == 0 ? "extension" : absl::StrCat("Tile IR ", since / 100, ".", since % 100);
}

std::string FieldText(const OpInfo& op, const FieldInfo& field) {
  std::vector<std::string> parts;
  for (absl::string_view word : absl::StrSplit(op.constraints, ' ', absl::SkipEmpty())) {
    const size_t at = word.find_first_of(":=~^");
    if (word.substr(0, at) != field.name) continue;
    absl::string_view right = word.substr(at + 1);
    if (word[at] == ':') {
      const size_t dot = right.find('.');
      parts.push_back(
          absl::StrCat(SetText(right.substr(0, dot)),
                       dot == absl::string_view::npos ? "" : absl::StrCat(" of rank ", right.substr(dot + 1))));
    } else if (right == field.name) {
      parts.push_back(word[at] == '=' ? "all of one type" : "all of one shape");
    } else {
      parts.push_back(absl::StrCat(word[at] == '='   ? "type"
                                   : word[at] == '~' ? "shape"
                                                     : "element type",
                                   " of ", right));
    }
  }
  const char* arity = field.arity == Arity::kOptional   ? " (optional)"
                      : field.arity == Arity::kVariadic ? " (any number)"
                                                        : "";
  return absl::StrCat(absl::StrJoin(parts, ", "), arity,
                      field.since ? absl::StrCat(", since ", Version(field.since)) : "");
}

std::string AttrText(const AttrInfo& a) {
  std::string s = KindName(a);
  if (a.kind == AttrKind::kEnum) {
    std::vector<std::string> values;
    for (const EnumValueInfo& v : kEnumValues) {
      if (v.id == a.enum_id) {
        values.push_back(absl::StrCat(v.keyword, !a.optional && v.number == a.default_value ? " (default)" : ""));
      }
    }
    absl::StrAppend(&s, ": ", absl::StrJoin(values, ", "));
  }
  if (a.optional) absl::StrAppend(&s, " (optional)");
  if (a.since != 0) absl::StrAppend(&s, ", since ", Version(a.since));
  return s;
}

// "name", "text" of everything an operation has, for a table.
std::vector<std::pair<std::string, std::string>> Rows(const OpInfo& op) {
  std::vector<std::pair<std::string, std::string>> rows;
  const FormatInfo& f = *op.format;
  for (const FieldInfo& x : f.operands) rows.emplace_back(x.name, FieldText(op, x));
  for (const AttrInfo& x : f.attrs) rows.emplace_back(x.name, AttrText(x));
  for (const std::string& x : f.regions) rows.emplace_back(x, "region");
  for (const FieldInfo& x : f.results) rows.emplace_back("→ " + x.name, FieldText(op, x));
  for (const RuleInfo* r : RulesOf(op)) {
    rows.emplace_back(r->CodeFor(op), absl::StrCat(r->severity == Severity::kWarning ? "(warning) " : "", r->text));
  }
  return rows;
}

std::string Head(const OpInfo& op) {
  return absl::StrFormat(
      "0x%02X, %s%s", static_cast<int>(op.opcode), Version(op.since),
      absl::StrCat(TraitNames(op.traits).empty() ? "" : ", ", absl::StrJoin(TraitNames(op.traits), ", ")));
}

std::string Syntax(const OpInfo& op) {
  const absl::string_view syntax = op.format->syntax;
  if (syntax == "custom") return "";
  return absl::StrCat(op.mnemonic, syntax.empty() ? "" : " ", syntax);
}

constexpr int kFamilies = static_cast<int>(Family::kView) + 1;

// The sections of the page before the families.
constexpr int kGeneralSection = 1, kTypesSection = 2, kFilesSection = 3, kFirstFamilySection = 4;

// "4 atomic operations", "4.1 atomic_cas_tko".
std::string FamilyHeading(int family) {
  return absl::StrCat(kFirstFamilySection + family, " ", FamilyName(static_cast<Family>(family)), " operations");
}
std::string OpHeading(int family, int number, const OpInfo& op) {
  return absl::StrCat(kFirstFamilySection + family, ".", number, " ", op.mnemonic);
}

// "[text](#41-atomic_cas_tko)": links to headings, as GitHub and others name them.
std::string LinkTo(absl::string_view text, absl::string_view heading) {
  return absl::StrCat("[", text, "](#", absl::StrReplaceAll(heading, {{".", ""}, {" ", "-"}}), ")");
}

void AppendFamily(int family, std::string* page) {
  absl::StrAppend(page, "\n## ", FamilyHeading(family), "\n");
  int number = 0;
  for (const OpInfo& op : AllOps()) {
    if (static_cast<int>(op.family) != family) continue;
    absl::StrAppend(page, "\n### ", OpHeading(family, ++number, op), "\n\n", DocOf(op.opcode), "\n\n");
    if (const std::string syntax = Syntax(op); !syntax.empty()) absl::StrAppend(page, "`", syntax, "`\n\n");
    absl::StrAppend(page, "| | ", Head(op), " |\n|---|---|\n");
    for (const auto& [name, text] : Rows(op)) absl::StrAppend(page, "| ", name, " | ", text, " |\n");
    absl::StrAppend(page, "\n```\n", ExampleOf(op.opcode), "```\n");
  }
}

}  // namespace

const char* KindName(const AttrInfo& a) {
  static constexpr const char* kNames[] = {"flag",  "bool", "int",   "",          "string", "symbol",
                                           "dense", "ints", "bools", "predicate", "hints",  "scalars"};
  return a.kind == AttrKind::kEnum ? EnumName(a.enum_id) : kNames[static_cast<int>(a.kind)];
}

std::vector<const char*> TraitNames(uint16_t traits) {
  static constexpr struct {
    Trait bit;
    const char* name;
  } kNames[] = {
      {kPure, "pure"},
      {kElementwiseBit, "elementwise"},
      {kCommutative, "commutative"},
      {kTerminator, "terminator"},
      {kReads, "reads"},
      {kWrites, "writes"},
      {kTko, "token-ordered"},
      {kEffect, "effect"},
      {kRegions, "regions"},
  };
  std::vector<const char*> names;
  for (const auto& n : kNames) {
    if (traits & n.bit) names.push_back(n.name);
  }
  return names;
}

absl::string_view DocOf(Opcode opcode) { return CommentOf(opcode).text; }
absl::string_view ExampleLineOf(Opcode opcode) { return CommentOf(opcode).example; }

std::string OpReferenceText(const OpInfo& op) {
  std::string s = absl::StrCat(op.mnemonic, "  (", Head(op), ")\n  ", DocOf(op.opcode), "\n");
  if (const std::string syntax = Syntax(op); !syntax.empty()) absl::StrAppend(&s, "\n  ", syntax, "\n");
  const auto rows = Rows(op);
  // The arrow is one column of three bytes.
  const auto columns = [](const std::string& name) { return name.size() - (absl::StartsWith(name, "→") ? 2 : 0); };
  size_t width = 0;
  for (const auto& row : rows) width = std::max(width, columns(row.first));
  absl::StrAppend(&s, "\n");
  for (const auto& [name, text] : rows) {
    absl::StrAppend(&s, "  ", name, std::string(width + 2 - columns(name), ' '), text, "\n");
  }
  absl::StrAppend(&s, "\n  example:\n");
  for (absl::string_view line : absl::StrSplit(ExampleOf(op.opcode), '\n', absl::SkipEmpty())) {
    absl::StrAppend(&s, "    ", line, "\n");
  }
  return s;
}

std::string OpListText() {
  std::string s;
  for (int f = 0; f < kFamilies; ++f) {
    absl::StrAppend(&s, f == 0 ? "" : "\n", FamilyName(static_cast<Family>(f)), "\n");
    for (const OpInfo& op : AllOps()) {
      if (static_cast<int>(op.family) == f)
        absl::StrAppend(&s, absl::StrFormat("  %-30s  ", op.mnemonic), DocOf(op.opcode), "\n");
    }
  }
  return s;
}

std::string OpListText(absl::Span<const absl::string_view> mnemonics) {
  std::string s;
  for (const absl::string_view mnemonic : mnemonics) {
    if (const OpInfo* op = FindOp(mnemonic)) {
      absl::StrAppend(&s, absl::StrFormat("%-30s  ", op->mnemonic), DocOf(op->opcode), "\n");
    }
  }
  return s;
}

std::string OperationsPage() {
  std::string page =
      "# Operations\n\n"
      "Made from ir/ops.def, ir/formats.def, ir/verify/verify_rules.def and ir/examples by `bazel run //ir:write_reference`; do not\n"
      "edit. What types, views, roundings, orderings and tokens mean for all of them stands in [semantics](semantics/README.md).\n\n"
      "An operation is written `%result = mnemonic …  : types`. In the syntax lines `$x` stands for operand or attribute x and\n"
      "`( … )?` for a part that may be left out; [docs/text.md](text.md) says how types are written. Below the line stand\n"
      "operands, attributes, results (→) and, with their labels, the rules that the verifier checks beyond the types; then an\n"
      "example. A comment `= …` there states the results of its line (`_` is any value, `;` stands between results), `prints`\n"
      "what is printed, `traps` how the launch ends. A test runs every example.\n\n"
      "| family | operations |\n|---|---|\n";
  for (int f = 0; f < kFamilies; ++f) {
    std::vector<std::string> links;
    int number = 0;
    for (const OpInfo& op : AllOps()) {
      if (static_cast<int>(op.family) == f) links.push_back(LinkTo(op.mnemonic, OpHeading(f, ++number, op)));
    }
    absl::StrAppend(&page, "| ", LinkTo(FamilyName(static_cast<Family>(f)), FamilyHeading(f)), " | ",
                    absl::StrJoin(links, " "), " |\n");
  }
  absl::StrAppend(&page, "\n## ", kGeneralSection,
                  " General rules\n\nThese hold for every operation; the label is the operation's: `addf.c1`.\n\n",
                  "| label | rule |\n|---|---|\n");
  for (const RuleInfo& r : AllRules()) {
    if (absl::string_view(r.applies) == "*") absl::StrAppend(&page, "| *.c", r.number, " | ", r.text, " |\n");
  }
  absl::StrAppend(&page, "\n## ", kTypesSection, " Types and modules\n\n| label | rule |\n|---|---|\n");
  for (const RuleInfo& r : AllRules()) {
    if (r.Code().empty()) continue;
    absl::StrAppend(&page, "| ", r.Code(), " | ", r.severity == Severity::kWarning ? "(warning) " : "", r.text, " |\n");
  }
  absl::StrAppend(&page, "\n## ", kFilesSection, " File structure\n\n| number | name | meaning |\n|---|---|---|\n");
  for (const StructureInfo& s : AllStructures()) {
    absl::StrAppend(&page, absl::StrFormat("| 0x%02X | %s | ", static_cast<int>(s.opcode), s.mnemonic), DocOf(s.opcode),
                    " |\n");
  }
  for (int f = 0; f < kFamilies; ++f) AppendFamily(f, &page);
  return page;
}

}  // namespace tile::ir
