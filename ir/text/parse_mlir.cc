// What MLIR writes around tile code, so that text of the cuda_tile dialect can be read: names for attributes, types and
// locations (aliases), locations in place, modules in braces, dictionaries of attributes.
//
//   #file = #cuda_tile.di_file<"k.py" in "/src">
//   #loc = loc("k.py":5:9)
//   cuda_tile.module @kernels attributes {producer = "frontend 1.0"} {
//     entry @k(%x: !cuda_tile.tile<f32>) {
//       %y = cuda_tile.addf %x, %x : tile<f32> loc(#loc)
//     }
//   }
//
// An alias stands for its tokens: where one is used, the lexer reads the definition and then goes on behind the use. The
// lines `// -----`, at which MLIR's tools cut a file into several, bound what an alias is known in.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "ir/text/parser_internal.h"

namespace tile::ir::text {

// --- aliases --------------------------------------------------------------------------------------------------------

namespace {

// The definition that begins at byte `begin` of this line, or one without tokens.
Alias ReadAlias(absl::string_view text, uint32_t line, uint32_t begin) {
  Token at;
  at.pos = {line, 1};
  at.begin = begin;
  Lexer lexer(text);
  lexer.Reset(at, begin);
  Alias alias;
  alias.name = lexer.Next();
  if (alias.name.kind != Tok::kAlias || !lexer.Next().is("=")) return {};
  int depth = 0;
  for (Token t = lexer.Next(); t.kind != Tok::kEnd; t = lexer.Next()) {
    if (alias.first.kind == Tok::kEnd) {
      alias.first = t;
    } else if (depth <= 0 && t.first_on_line) {
      break;
    }
    alias.last = t;
    if (t.kind != Tok::kPunct) continue;
    if (absl::StrContains("<([{", t.text[0])) ++depth;
    if (t.text.size() == 1 && absl::StrContains(">)]}", t.text[0])) --depth;
  }
  return alias;
}

}  // namespace

void Parser::FindAliases() {
  const absl::string_view text = lexer_.text();
  uint32_t line = 1;
  size_t defined_to = 0;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const absl::string_view rest = text.substr(begin, end - begin);
    if (absl::StartsWith(rest, "// -----")) splits_.push_back(static_cast<uint32_t>(begin));
    if (begin >= defined_to && rest.size() > 1 && (rest[0] == '#' || rest[0] == '!') && IsNameChar(rest[1])) {
      Alias alias = ReadAlias(text, line, static_cast<uint32_t>(begin));
      if (alias.first.kind != Tok::kEnd) {
        defined_to = alias.last.end;
        aliases_.try_emplace(std::make_pair(Part(alias.name), alias.name.text), alias);
      }
    }
    begin = end + 1;
  }
}

size_t Parser::Part(const Token& t) const {
  return std::upper_bound(splits_.begin(), splits_.end(), t.begin) - splits_.begin();
}

Alias* Parser::FindAlias(const Token& t) {
  const auto it = aliases_.find(std::make_pair(Part(t), t.text));
  return it == aliases_.end() ? nullptr : &it->second;
}

bool Parser::FailAlias() {
  return Fail(tok_, "token", absl::StrCat(tok_.text, " is defined nowhere"),
              absl::StrCat("define it: ", tok_.text, " = …; a comment begins with //"));
}

bool Parser::Expand() {
  constexpr size_t kMaxExpansions = 64, kMaxGrowth = 64;
  if (tok_.kind != Tok::kAlias) return true;
  const Alias* alias = FindAlias(tok_);
  if (alias == nullptr) return FailAlias();
  expanded_ += alias->last.end - alias->first.begin;
  if (expansions_.size() >= kMaxExpansions || expanded_ > kMaxGrowth * (lexer_.text().size() + 1024)) {
    return Fail(tok_, "limit", absl::StrCat(tok_.text, " leads to too many other names, or to itself"));
  }
  expansions_.push_back({lexer_, alias->last.end});
  lexer_.Reset(alias->first, alias->first.begin);
  Next();
  return Expand();
}

bool Parser::ParseAliasDefinition() {
  const Alias* alias = FindAlias(tok_);
  if (alias == nullptr) return FailAlias();
  if (alias->name.begin != tok_.begin) {
    return Fail(tok_, "redefined", absl::StrCat(tok_.text, " is already defined in line ", alias->name.pos.line),
                "choose another name");
  }
  lexer_.Reset(alias->last, alias->last.end);
  Advance();
  return true;
}

// --- locations ------------------------------------------------------------------------------------------------------

LocId Parser::Intern(const DebugRecord& r) {
  const std::string key =
      absl::StrCat(static_cast<int>(r.kind), " ", r.scope, " ", r.file, " ", r.callee, " ", r.caller, " ", r.line, " ",
                   r.column, " ", r.scope_line, " ", r.flags, " ", r.name.size(), " ", r.name, r.directory.size(), " ",
                   r.directory, r.linkage_name);
  const auto [it, fresh] = interned_.try_emplace(key, static_cast<LocId>(module_->debug.size() + 1));
  if (fresh) module_->debug.push_back(r);
  return it->second;
}

// "k.py":5:9, also "k.py":5:9 to :5:12.
bool Parser::ParseFilePlace(absl::string_view file, LocId* loc) {
  DebugRecord record;
  record.name = file;
  uint64_t line = 0, column = 0;
  if (!Expect(":", "and the line") || !ParseUint(&line, 0xFFFFFFFF) || !Expect(":", "and the column") ||
      !ParseUint(&column, 0xFFFFFFFF)) {
    return false;
  }
  record.line = static_cast<uint32_t>(line);
  record.column = static_cast<uint32_t>(column);
  if (Accept("to")) {
    for (int i = 0; i < 2 && Accept(":"); ++i) {
      if (tok_.kind == Tok::kInt && !ParseUint(&line, 0xFFFFFFFF)) return false;
    }
  }
  *loc = Intern(record);
  return true;
}

bool Parser::ParseCallSite(LocId* loc) {
  DebugRecord record;
  record.kind = DebugRecord::Kind::kCallSite;
  if (!Expect("(", "after callsite") || !ParsePlace(&record.callee) || !Expect("at", "between callee and caller") ||
      !ParsePlace(&record.caller) || !Expect(")", "behind the caller")) {
    return false;
  }
  // A side that is not known leaves the other.
  *loc = record.callee == 0 || record.caller == 0 ? record.callee + record.caller : Intern(record);
  return true;
}

// Of several locations the first that is known counts.
bool Parser::ParseFused(LocId* loc) {
  if (Accept("<")) {
    int depth = 1;
    for (; depth > 0 && tok_.kind != Tok::kEnd; Advance()) depth += tok_.is("<") - tok_.is(">");
  }
  if (!Expect("[", "after fused")) return false;
  for (bool first = true; !tok_.is("]"); first = false) {
    LocId one = 0;
    if ((!first && !Expect(",", "or ']' between locations")) || !ParsePlace(&one)) return false;
    if (*loc == 0) *loc = one;
  }
  Advance();
  return true;
}

bool Parser::ParsePlace(LocId* loc) {
  if (tok_.kind == Tok::kAlias) {
    Alias* alias = FindAlias(tok_);
    if (alias == nullptr) return FailAlias();
    if (alias->loc) {
      *loc = *alias->loc;
      Advance();
      return true;
    }
    if (!Expand() || !ParsePlace(loc)) return false;
    alias->loc = *loc;
    return true;
  }
  if (Accept("unknown")) return true;
  if (tok_.is("loc")) return ParseLoc(loc);
  if (Accept("callsite")) return ParseCallSite(loc);
  if (Accept("fused")) return ParseFused(loc);
  if (Accept("di_loc")) {
    LocId place = 0, scope = 0;
    if (!Expect("<", "after di_loc") || !ParsePlace(&place) || !Expect("in", "and the scope") || !ParseRef(&scope) ||
        !Expect(">", "behind the scope")) {
      return false;
    }
    DebugRecord record = place == 0 ? DebugRecord() : module_->debug[place - 1];
    record.scope = scope;
    *loc = Intern(record);
    return true;
  }
  if (tok_.kind != Tok::kString) return ParseRef(loc);
  absl::string_view name;
  if (!ParseString(&name)) return false;
  if (tok_.is(":")) return ParseFilePlace(name, loc);
  if (!Accept("(")) return true;  // a name alone is no place
  return ParsePlace(loc) && Expect(")", "behind the location");
}

// --- attributes -----------------------------------------------------------------------------------------------------

// Behind the braces nothing is known of what stands in them.
bool Parser::SkipDictionary() {
  const Token open = tok_;
  int depth = 0;
  do {
    if (tok_.kind == Tok::kEnd)
      return Fail(open, "unclosed", "this '{' is not closed", "add '}' behind the attributes");
    depth += tok_.is("{") - tok_.is("}");
    Advance();
  } while (depth > 0);
  if (!told_attributes_) {
    diags_->Warning("text.attributes", At(open), "attributes in braces are no part of tile code and are left out",
                    "nothing, or remove them");
  }
  told_attributes_ = true;
  return true;
}

bool Parser::ParseModuleAttributes() {
  GenericItem item;
  return ParseItemAttrs(&item);
}

}  // namespace tile::ir::text
