#include "ir/tbc/op_list.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/op_info.h"
#include "ir/tbc/op_plan.h"
#include "ir/tbc/schema.h"

namespace tile::ir {
namespace {

using Words = std::vector<std::string>;

std::string FieldText(const FieldInfo& f) {
  return absl::StrCat(f.name, f.arity == Arity::kOptional ? "?" : f.arity == Arity::kVariadic ? "..." : "");
}

std::string AttrText(const AttrInfo& a, bool required) {
  std::string s = absl::StrCat(a.name, ":", fbs::EnumNameAttrKind(static_cast<fbs::AttrKind>(a.kind)));
  if (a.kind == AttrKind::kEnum) absl::StrAppend(&s, ":", EnumName(a.enum_id));
  if (a.kind == AttrKind::kEnum && !a.optional) absl::StrAppend(&s, "=", a.default_value);
  return absl::StrCat(s, a.optional ? "?" : required ? "!" : "");
}

std::string OpText(const OpInfo& op) {
  const FormatInfo& f = *op.format;
  const std::vector<int>& required = PlanOf(f).required_attrs;
  std::string s = absl::StrCat("op ", absl::Hex(static_cast<int>(op.opcode), absl::kZeroPad4), " ", op.mnemonic, " |");
  for (const FieldInfo& o : f.operands) absl::StrAppend(&s, " ", FieldText(o));
  absl::StrAppend(&s, " |");
  for (size_t i = 0; i < f.attrs.size(); ++i) {
    const bool needed = std::find(required.begin(), required.end(), static_cast<int>(i)) != required.end();
    absl::StrAppend(&s, " ", AttrText(f.attrs[i], needed));
  }
  absl::StrAppend(&s, " |");
  for (const FieldInfo& r : f.results) absl::StrAppend(&s, " ", FieldText(r));
  absl::StrAppend(&s, " |");
  for (const std::string& r : f.regions) absl::StrAppend(&s, " ", r);
  return s + "\n";
}

// "op 0002" or "enum Rounding" → the parts between the bars; the first part is what follows the key.
std::map<std::string, std::vector<Words>> ParseList(absl::string_view text) {
  std::map<std::string, std::vector<Words>> rows;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    std::vector<Words> parts;
    for (absl::string_view part : absl::StrSplit(line, '|'))
      parts.push_back(absl::StrSplit(part, ' ', absl::SkipEmpty()));
    if (parts[0].size() < 2) continue;
    const std::string key = absl::StrCat(parts[0][0], " ", parts[0][1]);
    parts[0].erase(parts[0].begin(), parts[0].begin() + 2);
    rows[key] = std::move(parts);
  }
  return rows;
}

bool MayBeAbsent(absl::string_view field) { return absl::EndsWith(field, "?") || absl::EndsWith(field, "..."); }

// Every word of `released` is in `current`, in the same order; what is new may be absent.
bool OperandsFit(const Words& released, const Words& current) {
  size_t next = 0;
  for (const std::string& field : current) {
    if (next < released.size() && released[next] == field) {
      ++next;
    } else if (!MayBeAbsent(field)) {
      return false;
    }
  }
  return next == released.size();
}

bool AttributesFit(const Words& released, const Words& current) {
  const auto has = [](const Words& list, const std::string& a) {
    return std::find(list.begin(), list.end(), a) != list.end();
  };
  return std::all_of(released.begin(), released.end(), [&](const std::string& a) { return has(current, a); }) &&
         std::all_of(current.begin(), current.end(),
                     [&](const std::string& a) { return has(released, a) || !absl::EndsWith(a, "!"); });
}

bool ResultsFit(const Words& released, const Words& current) {
  return current.size() >= released.size() && std::equal(released.begin(), released.end(), current.begin()) &&
         std::all_of(current.begin() + static_cast<long>(released.size()), current.end(), MayBeAbsent);
}

bool RowsFit(const std::vector<Words>& released, const std::vector<Words>& current) {
  if (released.size() != current.size() || released[0] != current[0]) return false;
  if (released.size() == 2) {  // an enumeration
    return std::all_of(released[1].begin(), released[1].end(), [&](const std::string& v) {
      return std::find(current[1].begin(), current[1].end(), v) != current[1].end();
    });
  }
  return released.size() == 5 && OperandsFit(released[1], current[1]) && AttributesFit(released[2], current[2]) &&
         ResultsFit(released[3], current[3]) && released[4] == current[4];
}

}  // namespace

std::string ListOps() {
  std::string s;
  for (const OpInfo& op : AllOps()) s += OpText(op);
  std::string last;
  for (const EnumValueInfo& v : kEnumValues) {
    if (last != EnumName(v.id)) absl::StrAppend(&s, last.empty() ? "" : "\n", "enum ", EnumName(v.id), " |");
    last = EnumName(v.id);
    absl::StrAppend(&s, " ", v.keyword, "=", v.number);
  }
  return s + "\n";
}

std::vector<std::string> OpListProblems(absl::string_view released, absl::string_view current) {
  std::vector<std::string> problems;
  const auto now = ParseList(current);
  for (const auto& [key, row] : ParseList(released)) {
    const auto it = now.find(key);
    if (it == now.end()) {
      problems.push_back(absl::StrCat(key, " is gone"));
    } else if (!RowsFit(row, it->second)) {
      problems.push_back(absl::StrCat(key, " changed in a way that old files do not survive"));
    }
  }
  return problems;
}

}  // namespace tile::ir
