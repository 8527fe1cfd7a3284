#include "ir/foreign_names.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ir/did_you_mean.h"
#include "ir/element.h"
#include "ir/op_info.h"

namespace tile::ir {
namespace {

using Kind = ForeignName::Kind;

constexpr ForeignName kNames[] = {
#define TILE_FOREIGN_OP(names, own, form, script) {Kind::kOp, names, own, form, script},
#define TILE_FOREIGN_ELEMENT(names, own, script) {Kind::kElement, names, own, own, script},
#define TILE_FOREIGN_FUNCTION(names, form) {Kind::kFunction, names, "", form, ""},
#define TILE_FOREIGN_SCRIPT(names, script) {Kind::kScript, names, "", "", script},
#define TILE_FOREIGN_ARGUMENT(names, script) {Kind::kArgument, names, "", "", script},
#include "ir/foreign_names.def"
};

constexpr size_t kLongestWord = 64;

std::string Key(Kind kind, absl::string_view word) {
  return absl::StrCat(static_cast<int>(kind), absl::AsciiStrToLower(word));
}

const absl::flat_hash_map<std::string, const ForeignName*>& Index() {
  static const auto* index = [] {
    auto* map = new absl::flat_hash_map<std::string, const ForeignName*>();
    for (const ForeignName& row : kNames) {
      for (const absl::string_view name : absl::StrSplit(row.names, ' ')) map->try_emplace(Key(row.kind, name), &row);
    }
    return map;
  }();
  return *index;
}

// Of "arith.addf" and "tl.load" what stands behind the point.
absl::string_view WithoutDialect(absl::string_view word) {
  const size_t point = word.rfind('.');
  return point == absl::string_view::npos ? word : word.substr(point + 1);
}

// "write maxf %x, 0.0"; what is not the text of an operation speaks for itself.
std::string Write(absl::string_view form) {
  const bool text = absl::StartsWith(form, "%") || FindOp(form.substr(0, form.find(' '))) != nullptr;
  return absl::StrCat(text ? "write " : "", form);
}

std::string Either(std::vector<absl::string_view> words) {
  const absl::string_view last = words.back();
  words.pop_back();
  return words.empty() ? std::string(last) : absl::StrCat(absl::StrJoin(words, ", "), " or ", last);
}

}  // namespace

absl::Span<const ForeignName> AllForeignNames() { return kNames; }

const ForeignName* FindForeignName(Kind kind, absl::string_view word) {
  word = WithoutDialect(word);
  if (word.size() > kLongestWord) return nullptr;
  const auto it = Index().find(Key(kind, word));
  return it == Index().end() ? nullptr : it->second;
}

std::vector<absl::string_view> OpsNamedLike(absl::string_view word) {
  std::vector<absl::string_view> found;
  if (word.size() < 3 || word.size() > kLongestWord) return found;
  for (const OpInfo& op : AllOps()) {
    const absl::string_view name = op.mnemonic;
    if (absl::StrContains(name, word)) found.push_back(name);
  }
  return found;
}

std::string OpAdvice(absl::string_view word) {
  constexpr size_t kMostListed = 6;
  if (const ForeignName* row = FindForeignName(Kind::kOp, word)) return Write(row->form);
  const std::string lower = absl::AsciiStrToLower(WithoutDialect(word).substr(0, kLongestWord + 1));
  if (const OpInfo* op = FindOp(absl::string_view(lower))) return absl::StrCat("did you mean ", op->mnemonic, "?");
  if (const auto found = OpsNamedLike(lower); !found.empty() && found.size() <= kMostListed) {
    return absl::StrCat("did you mean ", Either(found), "?");
  }
  std::vector<absl::string_view> all;
  for (const OpInfo& op : AllOps()) all.push_back(op.mnemonic);
  return DidYouMean(lower, all);
}

std::string ElementAdvice(absl::string_view word) {
  if (const ForeignName* row = FindForeignName(Kind::kElement, word))
    return absl::StrCat("did you mean ", row->own, "?");
  std::vector<absl::string_view> all;
  for (const ElemInfo& info : kElemInfo) {
    if (absl::EqualsIgnoreCase(info.spelling, word)) return absl::StrCat("did you mean ", info.spelling, "?");
    all.push_back(info.spelling);
  }
  return DidYouMean(word, all);
}

std::string FunctionAdvice(absl::string_view word) {
  if (const ForeignName* row = FindForeignName(Kind::kFunction, word)) return absl::StrCat("write ", row->form);
  return DidYouMean(word, {"ceildiv", "min", "max", "select", "num_sms"});
}

}  // namespace tile::ir
