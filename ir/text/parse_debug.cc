// Debug records: the table at the end of a file.
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "ir/text/parser_internal.h"

namespace tile::ir::text {

// A number, or in text of MLIR the record itself: #cuda_tile.di_file<"k.py" in "/src">.
bool Parser::ParseRef(LocId* id) {
  if (!Expand()) return false;
  if (tok_.kind == Tok::kIdent && absl::StartsWith(tok_.text, "di_")) {
    DebugRecord record;
    if (!ParseDebugFields(&record)) return false;
    *id = Intern(record);
    return true;
  }
  if (tok_.kind != Tok::kHash) return FailExpected("a debug record like #3");
  if (!absl::SimpleAtoi(tok_.text, id)) return Fail(tok_, "number", "the number is too large");
  references_.emplace_back(*id, tok_);
  Advance();
  return true;
}

namespace {

struct Field {
  absl::string_view key;
  LocId DebugRecord::*ref = nullptr;
  uint32_t DebugRecord::*number = nullptr;
  absl::string_view DebugRecord::*string = nullptr;
};
struct KindInfo {
  absl::string_view name;
  DebugRecord::Kind kind;
  std::vector<Field> fields;
};

const std::vector<KindInfo>& Kinds() {
  using R = DebugRecord;
  const auto ref = [](absl::string_view key, LocId R::*m) { return Field{.key = key, .ref = m}; };
  const auto number = [](absl::string_view key, uint32_t R::*m) { return Field{.key = key, .number = m}; };
  const auto string = [](absl::string_view key, absl::string_view R::*m) { return Field{.key = key, .string = m}; };
  static const auto* kinds = new std::vector<KindInfo>{
      {"compile_unit", R::Kind::kCompileUnit, {ref("file", &R::file)}},
      {"file", R::Kind::kFile, {string("name", &R::name), string("directory", &R::directory)}},
      {"lexical_block",
       R::Kind::kLexicalBlock,
       {ref("scope", &R::scope), ref("file", &R::file), number("line", &R::line), number("column", &R::column)}},
      {"subprogram",
       R::Kind::kSubprogram,
       {string("name", &R::name), string("linkage_name", &R::linkage_name), ref("file", &R::file),
        number("line", &R::line), ref("compile_unit", &R::scope), number("scope_line", &R::scope_line),
        number("flags", &R::flags)}},
      {"call_site", R::Kind::kCallSite, {ref("callee", &R::callee), ref("caller", &R::caller)}},
  };
  return *kinds;
}

// The dialect writes linkageName for linkage_name.
bool IsKey(const Token& t, absl::string_view key) {
  if (t.kind != Tok::kIdent) return false;
  std::string snake;
  for (char c : t.text) {
    if (absl::ascii_isupper(c)) snake += '_';
    snake += absl::ascii_tolower(c);
  }
  return snake == key;
}

}  // namespace

// "k.py" in "/src"
bool Parser::ParseDebugFile(DebugRecord* record) {
  return ParseString(&record->name) && Expect("in", "and the folder") && ParseString(&record->directory) &&
         Expect(">", "behind the folder");
}

bool Parser::ParseDebugFields(DebugRecord* record) {
  const KindInfo* kind = nullptr;
  std::vector<absl::string_view> names = {"loc"};
  absl::string_view word = tok_.text;
  absl::ConsumePrefix(&word, "di_");
  for (const KindInfo& k : Kinds()) {
    names.push_back(k.name);
    if (tok_.kind == Tok::kIdent && word == k.name) kind = &k;
  }
  if (kind == nullptr) {
    return FailExpected("compile_unit, file, lexical_block, subprogram, call_site or loc",
                        DidYouMean(tok_.text, names));
  }
  record->kind = kind->kind;
  Advance();
  if (!Expect("<", "before the fields of a debug record")) return false;
  if (kind->kind == DebugRecord::Kind::kFile && tok_.kind == Tok::kString) return ParseDebugFile(record);
  bool first = true;
  while (!tok_.is(">")) {
    if (!first && !Expect(",", "or '>' between fields")) return false;
    first = false;
    const Field* field = nullptr;
    std::string all;
    for (const Field& f : kind->fields) {
      absl::StrAppend(&all, all.empty() ? "" : ", ", f.key);
      if (IsKey(tok_, f.key)) field = &f;
    }
    if (field == nullptr) return FailExpected(absl::StrCat("a field of ", kind->name, ": ", all));
    Advance();
    if (!Expect("=", absl::StrCat("after ", field->key))) return false;
    uint64_t n = 0;
    if (field->ref != nullptr && !ParseRef(&(record->*field->ref))) return false;
    if (field->string != nullptr && !ParseString(&(record->*field->string))) return false;
    if (field->number != nullptr) {
      if (!ParseUint(&n, 0xFFFFFFFF)) return false;
      record->*field->number = static_cast<uint32_t>(n);
    }
  }
  Advance();
  return true;
}

bool Parser::ParseDebugRecord() {
  uint64_t id = 0;
  if (!interned_.empty()) {
    return Fail(tok_, "debug_order", "numbered records and locations written in place stand in one file",
                "write all locations as loc(#N), or none");
  }
  const bool number = absl::SimpleAtoi(tok_.text, &id);
  const uint64_t next = next_record_;
  next_record_ = number ? id + 1 : next + 1;  // a gap is reported once
  module_->debug.emplace_back();
  if (id != next)
    return Fail(tok_, "debug_order", absl::StrCat("the records are numbered in order; this one is #", next));
  Advance();
  DebugRecord record;
  if (!Expect("=", "after the number of a debug record")) return false;
  if (Accept("loc")) {
    uint64_t line, column;
    record.kind = DebugRecord::Kind::kLocation;
    if (!Expect("(", "after loc") || !ParseString(&record.name) || !Expect(":", "and the line") ||
        !ParseUint(&line, 0xFFFFFFFF) || !Expect(":", "and the column") || !ParseUint(&column, 0xFFFFFFFF)) {
      return false;
    }
    record.line = static_cast<uint32_t>(line);
    record.column = static_cast<uint32_t>(column);
    if (Accept("in") && !ParseRef(&record.scope)) return false;
    if (!Expect(")", "behind the location")) return false;
  } else if (!ParseDebugFields(&record)) {
    return false;
  }
  module_->debug.back() = record;
  return true;
}

}  // namespace tile::ir::text
