#include "ir/text/parser.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "ir/excerpt.h"
#include "ir/op_views.h"
#include "ir/text/parser_internal.h"

namespace tile::ir::text {

// --- tokens and errors ----------------------------------------------------------------------------------------------

Parser::Parser(absl::string_view text, absl::string_view file_name, Diagnostics* diags, Reading* reading,
               const SecondTable& second)
    : lexer_(text), diags_(diags), reading_(reading), second_(second), module_(std::make_unique<Module>()) {
  module_->source_name = std::string(file_name);
  FindAliases();
  Next();
}

void Parser::Advance() {
  last_ = tok_;
  if (tok_.kind != Tok::kEnd) Next();
}

void Parser::Next() {
  tok_ = lexer_.Next();
  while (!expansions_.empty() && tok_.begin >= expansions_.back().end) {
    lexer_ = expansions_.back().resume;
    expansions_.pop_back();
    tok_ = lexer_.Next();
  }
  if (!expansions_.empty()) tok_.first_on_line = false;
}

bool Parser::Accept(absl::string_view s) {
  if (!tok_.is(s)) return false;
  Advance();
  return true;
}

bool Parser::Expect(absl::string_view s, absl::string_view where, absl::string_view fix) {
  return Accept(s) || FailExpected(absl::StrCat("'", s, "' ", where), fix);
}

std::string Parser::At(const Token& t) const {
  return absl::StrCat(module_->source_name.empty() ? "<input>" : module_->source_name, ":", t.pos.line, ":",
                      t.pos.column);
}

bool Parser::Fail(const Token& at, absl::string_view code, absl::string_view message, absl::string_view fix) {
  ++errors_;
  std::string form;
  if (fix.empty() && info_ != nullptr) fix = form = FormOf(*info_);
  diags_->Error(absl::StrCat("text.", code), At(at), message, fix,
                Excerpt(lexer_.text(), at.begin - (at.pos.column - 1), at.begin));
  return false;
}

bool Parser::FailExpected(absl::string_view what, absl::string_view fix) {
  if (tok_.kind == Tok::kError) return Fail(tok_, "token", tok_.text, fix);
  if (tok_.kind == Tok::kAlias && FindAlias(tok_) == nullptr) return FailAlias();
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
    if (ItemStarts()) return;
    if (tok_.is("{")) ++depth;
    if (tok_.is("}")) --depth;
    Advance();
  }
}

// --- file level -----------------------------------------------------------------------------------------------------

// What stands at the level of a file, or of a module in braces.
bool Parser::ItemStarts() const {
  if (!tok_.first_on_line) return false;
  return tok_.is("entry") || tok_.is("global") || tok_.is("testing$func") || (tok_.is("module") && HasBraces());
}

std::unique_ptr<Module> Parser::ParseModule(bool partly) {
  if (tok_.kind == Tok::kEnd) Fail(tok_, "empty", "there is no program in this text", "write an entry");
  while (tok_.kind != Tok::kEnd && !stop()) {
    const uint32_t begin = tok_.begin;
    const bool record = tok_.kind == Tok::kHash, header = modules_ == 0 && tok_.is("module");
    if (ParseItem()) continue;
    (record ? reading_->lacks_debug : reading_->lacks_symbols) = true;
    if (tok_.begin == begin) {
      Advance();
    } else if (header) {
      Recover();
      continue;
    }
    while (tok_.kind != Tok::kEnd && !stop()) {
      Recover();
      if (ItemStarts() || tok_.kind == Tok::kHash || (in_dialect() && tok_.is("}"))) break;
      Advance();
    }
  }
  if (in_dialect() && !stop()) {
    FailExpected("'}' at the end of the module");
  }
  CheckLocs();
  TellLeftOut();
  return (errors_ == 0 || partly) && !stop() ? std::move(module_) : nullptr;
}

bool Parser::ParseItem() {
  if (tok_.is("entry") || tok_.is("testing$func")) return ParseEntry();
  if (tok_.is("global")) return ParseGlobal();
  if (tok_.kind == Tok::kHash) return ParseDebugRecord();
  if (tok_.kind == Tok::kAlias) return ParseAliasDefinition();
  if (in_dialect() && tok_.is("}")) return CloseModule();
  if (tok_.kind == Tok::kString) return ParseGenericItem();
  const bool untouched = modules_ == 0 && module_->functions.empty() && module_->globals.empty();
  if (tok_.is("module") && (untouched || HasBraces())) return ParseHeader();
  last_ = Token();  // the error is this token, not the end of what stands before it
  const bool kernel = tok_.is("kernel") || tok_.is("func") || tok_.is("def") || tok_.is("void") || tok_.is("fn");
  return FailExpected("entry, global or a debug record",
                      tok_.is("module") ? "one module stands in a file; its header comes first"
                      : kernel          ? "a kernel begins with entry @name(%x: tile<ptr<f32>>) {"
                                        : "");
}

// Whether the header at hand opens a module of the dialect.
bool Parser::HasBraces() const {
  Lexer ahead = lexer_;
  Token t = ahead.Next();
  if (t.kind == Tok::kSymbol) t = ahead.Next();
  return t.is("{") || t.is("attributes");
}

// module @name producer "text", or module @name attributes {producer = "text"} { … }
bool Parser::ParseHeader() {
  Advance();
  absl::string_view name, producer;
  if (!tok_.is("{") && !tok_.is("attributes")) {
    if (!ParseSymbol(&name)) return false;
  }
  BeginModule(name, !name.empty());
  if (Accept("producer")) {
    if (!ParseString(&producer)) return false;
    module_->producer = std::string(producer);
  }
  if (Accept("attributes") && !ParseModuleAttributes()) return false;
  if (!Accept("{")) return true;
  if (open_modules_.size() >= kMaxNesting) return Fail(last_, "limit", "too many modules stand inside each other");
  open_modules_.push_back({});
  return true;
}

void Parser::BeginModule(absl::string_view name, bool named) {
  if (named && !named_) module_->name = std::string(name);
  named_ |= named;
  ++modules_;
  first_function_ = module_->functions.size();
  renamed_globals_.clear();
}

bool Parser::CloseModule() {
  Advance();
  const bool generic = open_modules_.back().generic;
  open_modules_.pop_back();
  for (size_t i = first_function_; i < module_->functions.size() && !renamed_globals_.empty(); ++i) {
    Walk(module_->functions[i]->body(), [&](Op* op) {
      if (!GetGlobalOp::Is(op)) return;
      const int name = op->info()->format->place(Field::kName).attr;
      const auto it = renamed_globals_.find(op->attr(name).as_string());
      if (it != renamed_globals_.end()) op->set_attr(name, Attr::String(AttrKind::kSymbol, it->second));
    });
  }
  LocId loc = 0;
  return generic ? Expect(")", "behind the module") && ParseItemEnd(&loc) : ParseLoc(&loc);
}

// Entries and globals of all modules get into one, where names differ.
absl::string_view Parser::UniqueSymbol(const Token& at, absl::string_view name) {
  const auto [it, fresh] = symbols_.try_emplace(name, modules_);
  if (fresh || it->second == modules_) return name;
  const absl::string_view unique = module_->Copy(absl::StrCat(name, ".", modules_));
  if (!told_renamed_) {
    diags_->Warning("text.renamed", At(at),
                    absl::StrCat("another module of this file has a @", name, ", too: this one is called @", unique),
                    "put each module into a file of its own to keep the names");
  }
  told_renamed_ = true;
  symbols_.try_emplace(unique, modules_);
  return unique;
}

void Parser::TellLeftOut() {
  const Function* first = nullptr;
  for (const auto& f : module_->functions) {
    if (first == nullptr && reading_->left_out.contains(f.get())) first = f.get();
  }
  if (first == nullptr || errors_ > 0) return;
  Token at;
  at.pos = first->pos;
  diags_->Warning(
      "text.test_function", At(at),
      absl::StrCat("testing$func @", first->name, " is no kernel but a function of NVIDIA's own tests: it is ",
                   "checked and left out", reading_->left_out.size() > 1 ? ", as are the others" : ""),
      "an entry, whose parameters are scalars and pointers, can be run");
}

bool Parser::ParseGlobal() {
  const Token begin = tok_;
  Advance();
  const bool is_private = Accept("private");
  if (!is_private) Accept("public");
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
  LocId loc = 0;
  if (!ParseType(&type)) return false;
  if (!AddGlobal(name, begin, value, type, at, alignment, is_constant, is_private, 0)) return false;
  if (!ParseLoc(&loc)) return false;
  module_->globals.back()->loc = loc;
  return true;
}

bool Parser::AddGlobal(absl::string_view name, const Token& begin, const Dense& value, Type type, const Token& type_at,
                       uint64_t alignment, bool is_constant, bool is_private, LocId loc) {
  if (!type || !type.is_tile() || type.rank() != 1 || type.element() != Element::Number(value.elem)) {
    return Fail(type_at, "global_type",
                absl::StrCat("a global is a tile of one dimension with elements of its value, not ",
                             type ? type.ToString() : "without a value"),
                absl::StrCat("write tile<Nx", ElemInfoOf(value.elem).spelling, ">"));
  }
  const int64_t count = type.shape()[0];
  const int64_t given = static_cast<int64_t>(value.bytes.size()) / StorageBytes(value.elem);
  if (!value.splat && given != count) {
    return Fail(type_at, "global_type", absl::StrCat("the global has ", count, " elements, its value has ", given),
                absl::StrCat("write tile<", given, "x", ElemInfoOf(value.elem).spelling, ">, or other values"));
  }
  const absl::string_view unique = UniqueSymbol(begin, name);
  if (unique != name) renamed_globals_[name] = unique;
  Global* g = module_->AddGlobal(unique, value.elem, count);
  g->value = value;
  g->alignment = alignment;
  g->constant = is_constant;
  g->visibility = is_private ? Visibility::kPrivate : Visibility::kPublic;
  g->pos = begin.pos;
  g->loc = loc;
  return true;
}

bool Parser::ParseParamType(Type* type, bool pointers) {
  if (!Expand()) return false;
  if (!pointers || !tok_.is("ptr")) return ParseType(type);
  Element pointer;
  if (!ParseElement(&pointer)) return false;
  *type = module_->types().Scalar(pointer);
  return true;
}

bool Parser::ParseParams(std::vector<Token>* params, std::vector<Type>* types, bool pointers) {
  while (!tok_.is(")")) {
    if (!params->empty() && !Expect(",", "or ')' after a parameter")) return false;
    if (tok_.kind != Tok::kValue) {
      return FailExpected("a parameter like %x: tile<i32>",
                          tok_.kind == Tok::kIdent ? absl::StrCat("write %", tok_.text) : "");
    }
    params->push_back(tok_);
    Advance();
    types->emplace_back();
    LocId loc = 0;
    if (!Expect(":", "and the type of the parameter", "write it like %x: tile<i32>") ||
        !ParseParamType(&types->back(), pointers) || (in_dialect() && tok_.is("{") && !SkipDictionary()) ||
        !ParseLoc(&loc)) {
      return false;
    }
  }
  Advance();
  return true;
}

// In a module of the dialect a body need not end in return.
void Parser::ImplyReturn(Function* f) {
  if (!in_dialect() || f->body()->terminator() != nullptr || reading_->short_blocks.contains(f->body())) return;
  PendingOp end;
  end.info = GetOp(Opcode::kReturn);
  end.mnemonic = tok_;
  end.operands.resize(end.info->format->operands.size());
  end.attrs.resize(end.info->format->attrs.size());
  Create(end, {}, f->body());
}

bool Parser::ParseEntry() {
  names_.clear();
  scope_.clear();
  const bool kernel = tok_.is("entry");
  Advance();
  const bool is_private = Accept("private");
  const Token at = tok_;
  absl::string_view name;
  if (!ParseSymbol(&name) || !Expect("(", "before the parameters")) return false;
  std::vector<Token> params;
  std::vector<Type> types, results;
  if (!ParseParams(&params, &types, !kernel)) return false;
  Function* f = BeginEntry(name, at, params, types, kernel);
  if (f == nullptr) return false;
  f->visibility = is_private ? Visibility::kPrivate : Visibility::kPublic;
  if (!kernel && !ParseArrowTypes(&results)) return false;
  const size_t errors = errors_;
  const bool options = ParseEntryOptions(f);
  if (errors_ != errors) f->interface = nullptr;  // in part it says the wrong thing
  const Token open = tok_;
  if (!options || !Expect("{", "before the body", tok_.is("->") ? "an entry has no results: store them" : "")) {
    reading_->short_blocks.insert(f->body());
    return false;
  }
  if (!ParseBody(f, open)) return false;
  if (in_dialect() && tok_.is("{") && !tok_.first_on_line && !SkipDictionary()) return false;
  return ParseLoc(&f->loc);
}

Function* Parser::BeginEntry(absl::string_view name, const Token& at, const std::vector<Token>& params,
                             const std::vector<Type>& types, bool kernel) {
  if (params.size() > static_cast<size_t>(kMaxArguments)) {
    Fail(at, "limit", absl::StrCat("a kernel has at most ", kMaxArguments, " parameters"));
    return nullptr;
  }
  Function* f = module_->AddFunction(UniqueSymbol(at, name), types);
  f->pos = at.pos;
  if (!kernel) reading_->left_out.insert(f);
  for (size_t i = 0; i < params.size(); ++i) Define(params[i], f->param(static_cast<int>(i)));
  for (const Token& t : params) reading_->entries[f].params.push_back(t.pos);
  return f;
}

bool Parser::ParseBody(Function* f, const Token& open) {
  ParseOps(f->body());
  if (stop()) return false;
  if (!tok_.is("}")) return Fail(open, "unclosed", "this '{' is not closed", "add '}' behind the last operation");
  reading_->entries[f].end = tok_.pos;
  ImplyReturn(f);
  Advance();
  return true;
}

bool Parser::ParseEntryOptions(Function* f) {
  while (tok_.kind == Tok::kIdent) {
    if (in_dialect() && Accept("attributes")) {
      if (!tok_.is("{")) return FailExpected("'{' before attributes");
      if (!SkipDictionary()) return false;
    } else if (Accept("blocks_per_cluster")) {
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
  std::unique_ptr<Module> module = text::Parser(text, file_name, diags, &reading, second).ParseModule(/*partly=*/false);
  if (module != nullptr) LeaveOut(reading, module.get());
  return module;
}

void LeaveOut(const Reading& reading, Module* module) {
  if (reading.left_out.empty()) return;
  std::erase_if(module->functions, [&](const auto& f) { return reading.left_out.contains(f.get()); });
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
