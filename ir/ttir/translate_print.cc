// tt.print, in the form of Triton's own printf: a line for each element of each operand, with its program and its place.
//
//   tt.print " x: " {…} : %x : tensor<8xi32>        pid (0, 0, 0) idx (0) x: 5
//                                                   pid (0, 0, 0) idx (1) x: 7 …
//
// On a GPU each thread that holds a scalar prints it; here it is one line.
#include <string>

#include "absl/strings/str_cat.h"
#include "ir/ttir/lexer.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {
namespace {

constexpr absl::string_view kProgram = "pid (%u, %u, %u)";

std::string ConversionOf(Element e, bool hex, bool is_signed) {
  if (e.is_pointer()) return "0x%016x";
  if (IsFloat(e.kind)) return "%f";
  if (hex) return absl::StrCat("0x%0", (ElemInfoOf(e.kind).bits + 3) / 4, "x");
  return is_signed ? "%d" : "%u";
}

// Indices below `size` in columns of equal width, as Triton counts it: that of `size`, which is a power of two.
std::string IndexConversion(int64_t size) {
  return size == 1 ? "%u" : absl::StrCat("%", absl::StrCat(size).size(), "u");
}

}  // namespace

bool Translator::PrintValues(const Node& n, const OpRow&) {
  const std::optional<std::string> text = Unescape(n.word(""));
  if (!text) return Fail(n, "ttir.syntax", "has a text with a wrong escape");
  std::string prefix;
  for (char c : *text) absl::StrAppend(&prefix, c == '%' ? "%" : "", std::string(1, c));
  const Type i32 = b_.types().Scalar(Elem::kI32);
  const Op* at = b_.Create(Opcode::kGetTileBlockId, {}, {i32, i32, i32});
  const ops::Values program = {at->result(0), at->result(1), at->result(2)};
  if (in_.empty()) {
    ops::Print(b_, absl::StrCat(kProgram, prefix, "\n"), program);
    return true;
  }
  const Attribute* is_signed = n.attr("isSigned");
  for (size_t i = 0; i < in_.size(); ++i) {
    if (!in(i).is_tile()) return WrongType(n, "prints tiles only");
    Value* v = tile(i);
    const Element e = v->type().element();
    const bool as_signed = is_signed == nullptr || i >= is_signed->ints.size() || is_signed->ints[i] != 0;
    std::string format = absl::StrCat(kProgram, " idx (");
    const absl::Span<const int64_t> shape = v->type().shape();
    for (size_t d = 0; d < shape.size(); ++d) absl::StrAppend(&format, d == 0 ? "" : ", ", IndexConversion(shape[d]));
    absl::StrAppend(&format, ")", prefix, in_.size() > 1 ? absl::StrCat("(operand ", i, ") ") : "",
                    ConversionOf(e, n.number("hex", 0) != 0, as_signed), "\n");
    if (e.is_pointer()) v = Create(Opcode::kPtrToInt, {v}, WithElem(Elem::kI64, v));
    PrintElements(format, program, v, {});
  }
  return true;
}

// `place`: the indices in the first dimensions; loops go over the others.
void Translator::PrintElements(const std::string& format, const ops::Values& program, Value* v,
                               const ops::Values& place) {
  const absl::Span<const int64_t> shape = v->type().shape();
  if (place.size() < shape.size()) {
    const Type i32 = b_.types().Scalar(Elem::kI32);
    ops::For(b_, ops::Integer(b_, i32, 0), ops::Integer(b_, i32, shape[place.size()]), ops::Integer(b_, i32, 1), {},
             [&](Value* i, const ops::Values&) -> ops::Values {
               ops::Values inner = place;
               inner.push_back(i);
               PrintElements(format, program, v, inner);
               return {};
             });
    return;
  }
  if (!shape.empty()) {
    const std::vector<int64_t> one(shape.size(), 1);
    v = Reshape(ops::Extract(b_, WithShape(v, one), v, place), {});
  }
  ops::Values operands = program;
  operands.insert(operands.end(), place.begin(), place.end());
  operands.push_back(v);
  ops::Print(b_, format, operands);
}

}  // namespace tile::ir::ttir
