// What the tables say about the text of an operation, prepared once: the `syntax` column of formats.def as a list of
// items, and the rule for the types behind it. Parser and printer both follow this, so that they cannot disagree and a
// new operation needs nothing here.
//
// The rule for types: ` : ` operand types ` -> ` result types.
//
//   operands  One type per field in the order of the format. Left out: tokens, a field that the constraints make equal
//             to an earlier one (`rhs=lhs`) or fix to one type (`indices:I32.0`), and the tensor_view under a view that
//             the operation makes (the result names it). A `...` field gives its type once if all its values agree; a
//             field that may hold anything (ALL) gives the type of every value.
//   results   Left out if the constraints make each of them equal to an operand. Else one per result, but those made
//             equal to an earlier result are left out, and a `...` field of equal types is given once.
//
// What a program may leave out besides is in infer.h. Where a program breaks its constraints, every type is written. If
// there is nothing to write for the operands, the result types follow the colon without an arrow.
//
// Thread-safe.
#ifndef TILE_IR_TEXT_SYNTAX_H_
#define TILE_IR_TEXT_SYNTAX_H_

#include <optional>
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/op_info.h"

namespace tile::ir::text {

struct SyntaxItem {
  enum Kind { kLiteral, kOperand, kAttr, kGroup };
  Kind kind = kLiteral;
  bool space = false;             // a space before it
  std::string literal;            // a word or a punctuation mark
  int field = 0;                  // operand or attribute
  std::vector<SyntaxItem> items;  // of a group
};
// Items of a format whose syntax is not "custom".
const std::vector<SyntaxItem>& SyntaxOf(const FormatInfo& format);
bool HasCustomSyntax(const FormatInfo& format);
// The operand of a group `(, $x)?`, or -1 for any other item.
int ListElement(const SyntaxItem& item);
// The item that decides whether a group is printed: its first operand or attribute.
const SyntaxItem& Decider(const SyntaxItem& group);

// How the type of a field follows from its constraints.
struct FieldRule {
  enum Kind {
    kListed,  // it does not
    kAll,     // operands: anything goes, every value has its own type
    kToken,
    kFixed,    // tile<fixed>
    kOperand,  // type of operand field `same`
    kResult,   // type of result field `same`, an earlier one
    kUnderView,
  };
  Kind kind = kListed;
  int same = -1;
  Elem fixed = Elem::kI32;
  bool mask = false;     // elements are i1
  bool uniform = false;  // `x=x`: all values of the `...` field have one type
};
struct TypeRule {
  std::vector<FieldRule> operands, results;
  bool follow = false;  // every result equals an operand: not written
};
const TypeRule& TypeRuleOf(const OpInfo& info);

// Types in front of the arrow. `full`: nothing is left out but tokens.
std::vector<Type> OperandTypes(const OpInfo& info, absl::Span<Value* const> operands,
                               absl::Span<const uint32_t> operand_ends, bool full);
// Types behind the arrow as the printer writes them: empty when they follow from the operands.
std::vector<Type> ResultTypes(const Op& op);
// True if types of operands agree with the constraints, so that the short list tells everything.
bool OperandsFollowRule(const Op& op);
// The same of an operation without results yet.
bool OperandsFollowRule(const OpInfo& info, absl::Span<Value* const> operands, absl::Span<const uint32_t> operand_ends);
// Number of results that each field takes when there are n.
std::vector<size_t> SpreadResults(const FormatInfo& format, size_t n);

// The terminator without operands that a region of this operation may leave out: `yield` of an if without results or of a region,
// `continue` of a for or loop that carries nothing.
std::optional<Opcode> ImpliedTerminator(const OpInfo& info, size_t num_results, size_t num_carried);

// "tile<i32>, token".
std::string TypeList(const std::vector<Type>& types);

// More results than this are never folded into one type.
inline constexpr size_t kMaxFolded = 64;

}  // namespace tile::ir::text

#endif  // TILE_IR_TEXT_SYNTAX_H_
