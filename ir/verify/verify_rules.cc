// The rules as data, for labels, the reference page and the tests.

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

// Scopes of rules that are not about operations.
bool IsScope(absl::string_view applies) {
  for (absl::string_view s : {"type", "module", "entry", "global", "hint", "interface", "debug"}) {
    if (applies == s) return true;
  }
  return false;
}

}  // namespace

std::string RuleInfo::CodeFor(const OpInfo& op) const { return absl::StrCat(op.mnemonic, ".c", number); }

std::string RuleInfo::Code() const { return IsScope(applies) ? absl::StrCat(applies, ".c", number) : ""; }

bool RuleInfo::AppliesTo(const OpInfo& op) const {
  const absl::string_view a = applies;
  if (IsScope(a)) return false;
  if (a == "*") return true;
  if (absl::StartsWith(a, "@")) {
    const std::pair<absl::string_view, absl::string_view> attr = absl::StrSplit(a.substr(1), absl::MaxSplits(':', 1));
    const int i = op.format->attr_index(attr.first);
    return i >= 0 && (attr.second.empty() || EnumName(op.format->attrs[static_cast<size_t>(i)].enum_id) == attr.second);
  }
  for (absl::string_view mnemonic : absl::StrSplit(a, ' ')) {
    if (mnemonic == op.mnemonic) return true;
  }
  return false;
}

const std::vector<RuleInfo>& AllRules() {
  static const auto* rules = new std::vector<RuleInfo>{
#define TILE_RULE(Name, severity, applies, number, text) {#Name, Severity::severity, applies, number, text},
#include "ir/verify/verify_rules.def"
  };
  return *rules;
}

std::vector<const RuleInfo*> RulesOf(const OpInfo& op) {
  std::vector<const RuleInfo*> rules;
  for (const RuleInfo& rule : AllRules()) {
    if (absl::string_view(rule.applies) != "*" && rule.AppliesTo(op)) rules.push_back(&rule);
  }
  std::sort(rules.begin(), rules.end(), [](const RuleInfo* a, const RuleInfo* b) { return a->number < b->number; });
  return rules;
}

}  // namespace tile::ir
