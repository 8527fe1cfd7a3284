// The pieces of the printer. One Printer writes one module or one op; every Print function appends to the text.
#ifndef TILE_IR_TEXT_PRINT_INTERNAL_H_
#define TILE_IR_TEXT_PRINT_INTERNAL_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/text/names.h"
#include "ir/text/printer.h"
#include "ir/text/syntax.h"

namespace tile::ir::text {

// Dense lists longer than this are written as one hexadecimal string.
inline constexpr int64_t kMaxListed = 256;

// "@k", or with quotes if the name is not a plain one.
std::string SymbolText(absl::string_view name);
// "f32[x.shape[0]] …": the interface block of an entry, indented, with its closing brace.
std::string InterfaceText(const Function& f, const Interface& interface, const Names& names);
// "#3 = …" for one record.
std::string DebugText(const DebugRecord& record, LocId id);
std::string DenseText(const Dense& d, absl::Span<const int64_t> shape);
std::string HintsText(const Hints& hints);
std::string AttrText(const AttrInfo& info, const Attr& attr, const Op& op);

class Printer {
 public:
  Printer(const PrintOptions& options, bool one_line)
      : options_(options), one_line_(one_line), names_(options.keep_names) {}

  void PrintModule(const Module& module);
  void PrintOp(const Op& op, int indent);
  Names& names() { return names_; }
  std::string Take() { return std::move(out_); }

 private:
  template <class... Args>
  void Put(const Args&... args) {
    absl::StrAppend(&out_, args...);
  }
  void PutGlobal(const Global& g);
  void PutFunction(Function& f);
  void PutItems(const Op& op, const std::vector<SyntaxItem>& items, bool* first);
  bool GroupPrinted(const Op& op, const SyntaxItem& group) const;
  bool GroupSkipped(const Op& op, const std::vector<SyntaxItem>& items, size_t i) const;
  void PutTypes(const std::vector<Type>& operands, const std::vector<Type>& results);
  void PutValues(const std::vector<Value*>& values);
  void PutAnnotations(const Op& op);
  void PutLoc(LocId loc);
  void PutBody(const Op& op, int region, int indent);

  // Operations with a text of their own (print_custom.cc).
  void PutCustom(const Op& op, int indent);
  void PutFor(const Op& op, int indent);
  void PutLoop(const Op& op, int indent);
  void PutIf(const Op& op, int indent);
  void PutReduce(const Op& op, int indent);
  void PutMakeTensorView(const Op& op);
  void PutIterValues(const Op& op, const std::vector<Value*>& inits, int first_arg);

  const PrintOptions options_;
  const bool one_line_;
  Names names_;
  int op_number_ = 0;  // of the last operation, in its function
  std::string out_;
};

}  // namespace tile::ir::text

#endif  // TILE_IR_TEXT_PRINT_INTERNAL_H_
