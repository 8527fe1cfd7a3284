#include "ir/text/syntax.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/text/per_op.h"

namespace tile::ir::text {
namespace {

// --- the syntax column ----------------------------------------------------------------------------------------------

std::vector<SyntaxItem> Compile(const FormatInfo& format, absl::string_view* s, bool in_group) {
  std::vector<SyntaxItem> items;
  const auto word = [&] {
    size_t n = 0;
    while (n < s->size() && (absl::ascii_isalnum((*s)[n]) || (*s)[n] == '_')) ++n;
    const absl::string_view w = s->substr(0, n);
    s->remove_prefix(n);
    return std::string(w);
  };
  while (!s->empty()) {
    if (in_group && absl::ConsumePrefix(s, ")?")) return items;
    SyntaxItem item;
    item.space = absl::ConsumePrefix(s, " ");
    if (absl::ConsumePrefix(s, "(")) {
      item.kind = SyntaxItem::kGroup;
      item.items = Compile(format, s, true);
      item.items.front().space |= item.space;
    } else if (absl::ConsumePrefix(s, "$")) {
      const std::string name = word();
      item.kind = format.operand_index(name) >= 0 ? SyntaxItem::kOperand : SyntaxItem::kAttr;
      item.field = item.kind == SyntaxItem::kOperand ? format.operand_index(name) : format.attr_index(name);
      assert(item.field >= 0 && "the syntax names a field that the format lacks");
    } else {
      item.literal = word();
      if (item.literal.empty()) {
        item.literal = std::string(s->substr(0, 1));
        s->remove_prefix(1);
      }
    }
    items.push_back(std::move(item));
  }
  return items;
}

// --- constraints ----------------------------------------------------------------------------------------------------

void SetOf(absl::string_view set, FieldRule* field) {
  if (set == "ALL") field->kind = FieldRule::kAll;
  if (set == "I1") field->mask = true;
  if (set == "TOKEN") field->kind = FieldRule::kToken;
  if (set == "TVIEW") field->kind = FieldRule::kUnderView;
  const std::optional<Elem> elem = FindElem(absl::AsciiStrToLower(set.substr(0, set.find('.'))));
  if (elem && absl::EndsWith(set, ".0")) {
    field->kind = FieldRule::kFixed;
    field->fixed = *elem;
  }
}

TypeRule BuildRule(const OpInfo& info) {
  const FormatInfo& format = *info.format;
  TypeRule rule;
  rule.operands.resize(format.operands.size());
  rule.results.resize(format.results.size());
  bool makes_view = false;
  for (absl::string_view word : absl::StrSplit(info.constraints, ' ', absl::SkipEmpty())) {
    const size_t mark = word.find_first_of(":=~^");
    const absl::string_view name = word.substr(0, mark), right = word.substr(mark + 1);
    const int as_operand = format.operand_index(name), as_result = format.result_index(name);
    if (as_operand < 0 && as_result < 0) continue;
    if (word[mark] == ':') {
      // A set holds for the operand and the result of this name (`token`).
      if (as_operand >= 0) SetOf(right, &rule.operands[as_operand]);
      if (as_result >= 0) SetOf(right, &rule.results[as_result]);
      if (right == "PVIEW" || right == "SVIEW" || right == "GVIEW") makes_view |= as_result >= 0;
    } else if (word[mark] == '=') {
      FieldRule* field = as_operand >= 0 ? &rule.operands[as_operand] : &rule.results[as_result];
      const int self = as_operand >= 0 ? as_operand : as_result;
      const int operand = format.operand_index(right), result = format.result_index(right);
      if (name == right) {
        field->uniform = true;
      } else if (operand >= 0 && (as_operand < 0 || operand < self)) {
        field->kind = FieldRule::kOperand;
        field->same = operand;
      } else if (result >= 0 && as_operand < 0 && result < self) {
        field->kind = FieldRule::kResult;
        field->same = result;
      }
    }
  }
  // A single operand of any type is like any other; several have one type each.
  for (size_t i = 0; i < rule.operands.size(); ++i) {
    FieldRule& field = rule.operands[i];
    if (field.kind == FieldRule::kAll && format.operands[i].arity != Arity::kVariadic) field.kind = FieldRule::kListed;
    if (field.kind == FieldRule::kUnderView && !makes_view) field.kind = FieldRule::kListed;
  }
  for (FieldRule& field : rule.results) {
    if (field.kind == FieldRule::kAll || field.kind == FieldRule::kUnderView) field.kind = FieldRule::kListed;
  }
  rule.follow = std::all_of(rule.results.begin(), rule.results.end(),
                            [](const FieldRule& f) { return f.kind == FieldRule::kOperand; });
  return rule;
}

}  // namespace

std::vector<size_t> SpreadResults(const FormatInfo& format, size_t n) {
  std::vector<size_t> counts;
  size_t left = n;
  for (size_t f = 0; f < format.results.size(); ++f) {
    const size_t behind = format.results.size() - f - 1;  // a `...` field stands alone or last
    size_t take = std::min<size_t>(left, 1);
    if (format.results[f].arity == Arity::kVariadic) take = left > behind ? left - behind : 0;
    counts.push_back(take);
    left -= take;
  }
  return counts;
}

bool HasCustomSyntax(const FormatInfo& format) { return absl::string_view(format.syntax) == "custom"; }

const std::vector<SyntaxItem>& SyntaxOf(const FormatInfo& format) {
  static const auto* all = [] {
    auto* table = new std::vector<std::vector<SyntaxItem>>();
    for (const FormatInfo& f : AllFormats()) {
      absl::string_view s = f.syntax;
      table->push_back(HasCustomSyntax(f) ? std::vector<SyntaxItem>() : Compile(f, &s, false));
    }
    return table;
  }();
  return (*all)[static_cast<size_t>(format.id)];
}

std::string TypeList(const std::vector<Type>& types) {
  return absl::StrJoin(types, ", ", [](std::string* out, Type t) { out->append(t.ToString()); });
}

std::optional<Opcode> ImpliedTerminator(const OpInfo& info, size_t num_results, size_t num_carried) {
  const Format f = info.format->id;
  if ((f == Format::kIf && num_results == 0) || f == Format::kRegion) return Opcode::kYield;
  if ((f == Format::kFor || f == Format::kLoop) && num_carried == 0) return Opcode::kContinue;
  return std::nullopt;
}

int ListElement(const SyntaxItem& item) {
  const bool ok = item.kind == SyntaxItem::kGroup && item.items.size() == 2 && item.items[0].literal == "," &&
                  item.items[1].kind == SyntaxItem::kOperand;
  return ok ? item.items[1].field : -1;
}

const SyntaxItem& Decider(const SyntaxItem& group) {
  return *std::find_if(group.items.begin(), group.items.end(),
                       [](const SyntaxItem& i) { return i.kind != SyntaxItem::kLiteral; });
}

const TypeRule& TypeRuleOf(const OpInfo& info) { return PerOp<TypeRule>(info, BuildRule); }

std::vector<Type> OperandTypes(const OpInfo& info, absl::Span<Value* const> operands,
                               absl::Span<const uint32_t> operand_ends, bool full) {
  const TypeRule& rule = TypeRuleOf(info);
  std::vector<Type> types;
  size_t begin = 0;
  for (size_t f = 0; f < rule.operands.size(); begin = operand_ends[f], ++f) {
    const auto values = operands.subspan(begin, operand_ends[f] - begin);
    const FieldRule::Kind kind = rule.operands[f].kind;
    if (values.empty() || kind == FieldRule::kToken) continue;
    const bool one =
        std::all_of(values.begin(), values.end(), [&](Value* v) { return v->type() == values[0]->type(); });
    if (full || kind == FieldRule::kAll || (kind == FieldRule::kListed && !one)) {
      for (Value* v : values) types.push_back(v->type());
    } else if (kind == FieldRule::kListed) {
      types.push_back(values[0]->type());
    }
  }
  return types;
}

bool OperandsFollowRule(const OpInfo& info, absl::Span<Value* const> operands,
                        absl::Span<const uint32_t> operand_ends) {
  const TypeRule& rule = TypeRuleOf(info);
  uint32_t begin = 0;
  for (size_t f = 0; f < rule.operands.size(); begin = operand_ends[f], ++f) {
    const FieldRule& field = rule.operands[f];
    for (uint32_t i = begin; i < operand_ends[f]; ++i) {
      const Type t = operands[i]->type();
      bool ok = true;
      if (field.kind == FieldRule::kToken) ok = t.is_token();
      if (field.kind == FieldRule::kFixed) ok = t.is_scalar() && t.element() == Element::Number(field.fixed);
      if (field.kind == FieldRule::kOperand) {
        const uint32_t other = field.same == 0 ? 0 : operand_ends[field.same - 1];
        ok = other < operand_ends[field.same] && operands[other]->type() == t;
      }
      if (!ok) return false;
    }
  }
  return true;
}

bool OperandsFollowRule(const Op& op) {
  const FormatInfo& format = *op.info()->format;
  std::vector<Value*> operands;
  std::vector<uint32_t> ends;
  for (int i = 0; i < op.num_operands(); ++i) operands.push_back(op.operand(i));
  for (size_t f = 0; f < format.operands.size(); ++f) ends.push_back(op.group_end(static_cast<int>(f)));
  const std::vector<FieldRule>& rules = TypeRuleOf(*op.info()).operands;
  for (size_t f = 0; f < rules.size(); ++f) {
    if (rules[f].kind != FieldRule::kUnderView) continue;
    for (int i = op.group_begin(static_cast<int>(f)); i < op.group_end(static_cast<int>(f)); ++i) {
      if (op.num_results() == 0 || op.result(0)->type().tensor() != operands[i]->type()) return false;
    }
  }
  return OperandsFollowRule(*op.info(), operands, ends);
}

std::vector<Type> ResultTypes(const Op& op) {
  const TypeRule& rule = TypeRuleOf(*op.info());
  std::vector<Type> all, folded;
  const std::vector<size_t> counts = SpreadResults(*op.info()->format, op.num_results());
  bool follow = rule.follow, fold = true;
  std::vector<size_t> begins;
  size_t begin = 0;
  for (size_t f = 0; f < counts.size(); begin += counts[f], ++f) {
    begins.push_back(begin);
    const FieldRule& field = rule.results[f];
    for (size_t i = begin; i < begin + counts[f]; ++i) {
      const Type t = op.result(static_cast<int>(i))->type();
      all.push_back(t);
      if (field.kind == FieldRule::kOperand) {
        const int other = op.group_begin(field.same);
        follow &= other < op.group_end(field.same) && op.operand(other)->type() == t;
      }
      if (field.kind == FieldRule::kResult) {
        fold &= counts[field.same] > 0 && all[begins[field.same]] == t;
      } else if (!field.uniform || i == begin) {
        folded.push_back(t);
      } else {
        fold &= all[begin] == t && counts[f] <= kMaxFolded;
      }
    }
  }
  if (follow) return {};
  return fold ? folded : all;
}

}  // namespace tile::ir::text
