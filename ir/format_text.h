// The notation of formats.def, read at compile time: for op_info.cc, which makes the table of it, and op_views.h, which
// makes classes of it. Internal to ir.
//
//   ForEachWord("# lower_bound init_values...", [](std::string_view word) { … ParseField(word) … });
#ifndef TILE_IR_FORMAT_TEXT_H_
#define TILE_IR_FORMAT_TEXT_H_

#include <cstdlib>
#include <iterator>
#include <string_view>

#include "ir/op_info.h"

namespace tile::ir::format_text {

struct Row {
  Format id;
  const char *name, *operands, *attrs, *results, *regions, *syntax;
};
inline constexpr Row kRows[] = {
#define TILE_FORMAT(Name, operands, attrs, results, regions, syntax) \
  {Format::k##Name, #Name, operands, attrs, results, regions, syntax},
#include "ir/formats.def"
};
inline constexpr std::string_view kFieldNames[] = {
#define TILE_FIELD(Name, name) #name,
#include "ir/fields.def"
};

template <class Fn>
constexpr void ForEachWord(std::string_view text, Fn&& fn) {
  while (!text.empty()) {
    const size_t end = text.find(' ');
    if (const std::string_view word = text.substr(0, end); !word.empty()) fn(word);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

// Cuts `text` off where `mark` begins and gives what follows the mark.
constexpr std::string_view CutAt(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + 1);
  text = text.substr(0, at);
  return rest;
}

constexpr int CutSince(std::string_view& text) {
  int since = 0;
  for (char c : CutAt(text, '@')) since = since * 10 + (c - '0');
  return since;
}

constexpr bool CutSuffix(std::string_view& text, std::string_view suffix) {
  const bool has = text.ends_with(suffix);
  if (has) text.remove_suffix(suffix.size());
  return has;
}

// `#` before operands and `*` before results.
constexpr bool IsMark(std::string_view word) { return word == "#" || word == "*"; }

struct FieldText {
  std::string_view name;
  Arity arity = Arity::kOne;
  int since = 0;
};
constexpr FieldText ParseField(std::string_view word) {
  FieldText f;
  f.since = CutSince(word);
  if (CutSuffix(word, "...")) f.arity = Arity::kVariadic;
  if (CutSuffix(word, "?")) f.arity = Arity::kOptional;
  f.name = word;
  return f;
}

struct AttrText {
  std::string_view name;
  AttrKind kind = AttrKind::kEnum;
  EnumId enum_id = EnumId::kSignedness;
  bool optional = false;
  std::string_view default_keyword;
  int since = 0;
};
constexpr AttrText ParseAttr(std::string_view word) {
  constexpr std::string_view kKinds[] = {
      "flag",  "bool", "int",   "",          "string", "symbol",
      "dense", "ints", "bools", "predicate", "hints",  "scalars"};  // as AttrKind; enumerations follow
  constexpr std::string_view kEnums[] = {
#define TILE_ENUM_BEGIN(Name) #Name,
#include "ir/enums.def"
  };
  AttrText a;
  a.since = CutSince(word);
  a.default_keyword = CutAt(word, '=');
  a.optional = CutSuffix(word, "?");
  const std::string_view kind = CutAt(word, ':');
  a.name = word;
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (kind != kKinds[i]) continue;
    a.kind = static_cast<AttrKind>(i);
    return a;
  }
  for (size_t i = 0; i < std::size(kEnums); ++i) {
    if (kind != kEnums[i]) continue;
    a.enum_id = static_cast<EnumId>(i);
    return a;
  }
  std::abort();  // no such kind: at compile time an error
}

}  // namespace tile::ir::format_text

#endif  // TILE_IR_FORMAT_TEXT_H_
