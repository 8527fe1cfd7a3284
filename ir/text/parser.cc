#include "ir/text/parser.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "ir/excerpt.h"
#include "ir/text/parser_internal.h"

namespace tile::ir::text {

// --- tokens and errors ----------------------------------------------------------------------------------------------

Parser::Parser(absl::string_view text, absl::string_view file_name, Diagnostics* diags, Reading* reading,
               const SecondTable& second)
    : lexer_(text), diags_(diags), reading_(reading), second_(second), module_(std::make_unique<Module>()) {
  module_->source_name = std::string(file_name);
  tok_ = lexer_.Next();
}

void Parser::Advance() {
  last_ = tok_;
  if (tok_.kind != Tok::kEnd) tok_ = lexer_.Next();
}

bool Parser::Accept(absl::string_view s) {
  if (!tok_.is(s)) return false;
  Advance();
  return true;
}

bool Parser::Expect(absl::string_view s, absl::string_view where, absl::string_view fix) {
  return Accept(s) || FailExpected(absl::StrCat("'", s, "' ", where), fix);
}

bool Parser::Fail(const Token& at, absl::string_view code, absl::string_view message, absl::string_view fix) {
  ++errors_;
  const std::string where = absl::StrCat(module_->source_name.empty() ? "<input>" : module_->source_name, ":",
                                         at.pos.line, ":", at.pos.column);
  std::string form;
  if (fix.empty() && info_ != nullptr) fix = form = FormOf(*info_);
  diags_->Error(absl::StrCat("text.", code), where, message, fix,
                Excerpt(lexer_.text(), at.begin - (at.pos.column - 1), at.begin));
  return false;
}

bool Parser::FailExpected(absl::string_view what, absl::string_view fix) {
  if (tok_.kind == Tok::kError) return Fail(tok_, "token", tok_.text, fix);
  const bool ends = tok_.kind == Tok::kEnd;
  if ((ends || tok_.first_on_line) && last_.kind != Tok::kEnd) {
    Token behind = last_;
    behind.pos.column += last_.end - last_.begin;
    behind.begin = last_.end;
    return Fail(behind, "syntax", absl::StrCat("expected ", what, ", found the end of the ", ends ? "file" : "line"),
                fix);
  }
  const absl::string_view found = lexer_.text().substr(tok_.begin, tok_.end - tok_.begin);
  return Fail(tok_, "syntax",
              absl::StrCat("expected ", what, ", found ", found.size() > 40 ? "this" : absl::StrCat("'", found, "'")),
              fix);
}

// To the next line that can start an operation, a closing brace of this block, or the end. Bodies are skipped whole.
void Parser::Recover() {
  int depth = 0;
  while (tok_.kind != Tok::kEnd && !stop()) {
    const bool word = tok_.kind == Tok::kIdent || tok_.kind == Tok::kValue || tok_.kind == Tok::kHash;
    if (depth == 0 && (tok_.is("}") || (tok_.first_on_line && word))) return;
    // A body that is not closed must not hide the rest of the file.
    if (tok_.first_on_line && (tok_.is("entry") || tok_.is("global"))) return;
    if (tok_.is("{")) ++depth;
    if (tok_.is("}")) --depth;
    Advance();
  }
}

// --- file level -----------------------------------------------------------------------------------------------------

std::unique_ptr<Module> Parser::ParseModule(bool partly) {
  if (tok_.kind == Tok::kEnd) Fail(tok_, "empty", "there is no program in this text", "write an entry");
  if (tok_.is("module") && !ParseHeader()) Recover();
  while (tok_.kind != Tok::kEnd && !stop()) {
    const uint32_t begin = tok_.begin;
    const bool record = tok_.kind == Tok::kHash;
    bool ok;
    if (tok_.is("entry")) {
      ok = ParseEntry();
    } else if (tok_.is("global")) {
      ok = ParseGlobal();
    } else if (tok_.kind == Tok::kHash) {
      ok = ParseDebugRecord();
    } else {
      last_ = Token();  // the error is this token, not the end of what stands before it
      ok = FailExpected("entry, global or a debug record",
                        tok_.is("module") ? "one module stands in a file; its header comes first" : "");
    }
    if (ok) continue;
    (record ? reading_->lacks_debug : reading_->lacks_symbols) = true;
    if (tok_.begin == begin) Advance();
    while (tok_.kind != Tok::kEnd && !stop()) {
      Recover();
      if (tok_.is("entry") || tok_.is("global") || tok_.kind == Tok::kHash) break;
      Advance();
    }
  }
  CheckLocs();
  return (errors_ == 0 || partly) && !stop() ? std::move(module_) : nullptr;
}

bool Parser::ParseHeader() {
  Advance();
  absl::string_view name, producer;
  if (!ParseSymbol(&name)) return false;
  module_->name = std::string(name);
  if (Accept("producer")) {
    if (!ParseString(&producer)) return false;
    module_->producer = std::string(producer);
  }
  return true;
}

bool Parser::ParseGlobal() {
  const SourcePos pos = tok_.pos;
  Advance();
  const bool is_private = Accept("private");
  const bool is_constant = Accept("constant");
  absl::string_view name;
  if (!ParseSymbol(&name)) return false;
  uint64_t alignment = 0;
  if (Accept("alignment") && (!Expect("=", "after alignment") || !ParseUint(&alignment, ~uint64_t{0}))) return false;
  Dense value;
  std::vector<int64_t> shape;
  if (!ParseDense(&value, &shape) || !Expect(":", "and the type of the global")) return false;
  const Token at = tok_;
  Type type;
  if (!ParseType(&type)) return false;
  if (!type.is_tile() || type.rank() != 1 || type.element() != Element::Number(value.elem)) {
    return Fail(at, "global_type",
                absl::StrCat("a global is a tile of one dimension with elements of its value, not ", type.ToString()),
                absl::StrCat("write tile<Nx", ElemInfoOf(value.elem).spelling, ">"));
  }
  const int64_t count = type.shape()[0];
  const int64_t given = static_cast<int64_t>(value.bytes.size()) / StorageBytes(value.elem);
  if (!value.splat && given != count) {
    return Fail(at, "global_type", absl::StrCat("the global has ", count, " elements, its value has ", given),
                absl::StrCat("write tile<", given, "x", ElemInfoOf(value.elem).spelling, ">, or other values"));
  }
  Global* g = module_->AddGlobal(name, value.elem, count);
  g->value = value;
  g->alignment = alignment;
  g->constant = is_constant;
  g->visibility = is_private ? Visibility::kPrivate : Visibility::kPublic;
  g->pos = pos;
  return ParseLoc(&g->loc);
}

bool Parser::ParseEntry() {
  names_.clear();
  scope_.clear();
  Advance();
  const bool is_private = Accept("private");
  const Token at = tok_;
  absl::string_view name;
  if (!ParseSymbol(&name) || !Expect("(", "before the parameters")) return false;
  std::vector<Token> params;
  std::vector<Type> types;
  while (!tok_.is(")")) {
    if (!params.empty() && !Expect(",", "or ')' after a parameter")) return false;
    if (tok_.kind != Tok::kValue) return FailExpected("a parameter like %x: tile<i32>");
    params.push_back(tok_);
    Advance();
    types.emplace_back();
    if (!Expect(":", "and the type of the parameter", "write it like %x: tile<i32>") || !ParseType(&types.back()))
      return false;
  }
  Advance();
  if (params.size() > static_cast<size_t>(kMaxArguments)) {
    return Fail(at, "limit", absl::StrCat("a kernel has at most ", kMaxArguments, " parameters"));
  }
  Function* f = module_->AddFunction(name, types);
  f->visibility = is_private ? Visibility::kPrivate : Visibility::kPublic;
  f->pos = at.pos;
  for (size_t i = 0; i < params.size(); ++i) Define(params[i], f->param(static_cast<int>(i)));
  for (const Token& t : params) reading_->entries[f].params.push_back(t.pos);
  const size_t errors = errors_;
  const bool options = ParseEntryOptions(f);
  if (errors_ != errors) f->interface = nullptr;  // in part it says the wrong thing
  const Token open = tok_;
  if (!options || !Expect("{", "before the body")) {
    reading_->short_blocks.insert(f->body());
    return false;
  }
  ParseOps(f->body());
  if (stop()) return false;
  if (!tok_.is("}")) return Fail(open, "unclosed", "this '{' is not closed", "add '}' behind the last operation");
  Advance();
  return ParseLoc(&f->loc);
}

bool Parser::ParseEntryOptions(Function* f) {
  while (tok_.kind == Tok::kIdent) {
    if (Accept("blocks_per_cluster")) {
      if (!Expect("=", "after blocks_per_cluster") || !Expect("(", "before three numbers")) return false;
      for (int i = 0; i < 3; ++i) {
        uint64_t n;
        if (!ParseUint(&n, 1 << 20) || !Expect(i < 2 ? "," : ")", "in blocks_per_cluster = (x, y, z)")) return false;
        f->blocks_per_cluster[i] = static_cast<int>(n);
      }
    } else if (Accept("optimization_hints")) {
      Hints* hints = module_->arena().New<Hints>();
      if (!Expect("=", "after optimization_hints") || !ParseHints(hints)) return false;
      f->hints = hints;
    } else if (tok_.is("interface")) {
      if (f->interface != nullptr) return Fail(tok_, "syntax", absl::StrCat("entry @", f->name, " has two interfaces"));
      if (!ParseInterface(*this, f)) return false;
    } else {
      return FailExpected("blocks_per_cluster, optimization_hints, interface or '{'");
    }
  }
  return true;
}

void Parser::CheckLocs() {
  for (const auto& [id, token] : references_) {
    if (id <= module_->debug.size() || stop()) continue;
    reading_->lacks_debug = true;
    Fail(token, "debug_reference", absl::StrCat("there is no debug record #", id),
         module_->debug.empty() ? "remove it, or add the records at the end of the file"
                                : absl::StrCat("the last one is #", module_->debug.size()));
  }
}

}  // namespace tile::ir::text

namespace tile::ir {

std::unique_ptr<Module> Parse(absl::string_view text, absl::string_view file_name, Diagnostics* diags) {
  return ParseWith({}, text, file_name, diags);
}

std::unique_ptr<Module> ParseWith(const SecondTable& second, absl::string_view text, absl::string_view file_name,
                                  Diagnostics* diags) {
  if (text.size() > kMaxFileBytes) {
    diags->Error("text.limit", absl::StrCat(file_name, ":1:1"),
                 absl::StrCat("the text is longer than ", kMaxFileBytes, " bytes"));
    return nullptr;
  }
  Reading reading;
  return text::Parser(text, file_name, diags, &reading, second).ParseModule(/*partly=*/false);
}

std::unique_ptr<Module> ParsePartly(absl::string_view text, absl::string_view file_name, Diagnostics* diags,
                                    Reading* reading) {
  if (text.size() > kMaxFileBytes) return Parse(text, file_name, diags);
  return text::Parser(text, file_name, diags, reading).ParseModule(/*partly=*/true);
}

bool LooksLikeText(absl::string_view bytes) {
  for (char c : bytes.substr(0, 4096)) {
    const unsigned char u = c;
    if ((u < 0x20 && !absl::ascii_isspace(u)) || u == 0x7F) return false;
  }
  return true;
}

}  // namespace tile::ir
