// The reference of the operations, made from the tables: text for a terminal, the page docs/operations.md, and JSON for
// programs in other languages. What an operation means comes from the comment above its row in ops.def, its example from
// there or from ir/examples; both are part of the library.
//
//   std::cout << OpReferenceText(*FindOp("addf"));
//   bazel run //ir:write_reference          # brings docs/operations.md up to date; a test fails when it is not
//
// Pure functions of the tables; thread-safe.
#ifndef TILE_IR_REFERENCE_H_
#define TILE_IR_REFERENCE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/op_info.h"

namespace tile::ir {

// The comment above the row of this operation or structure, without slashes and example, in one line. Empty if it has none.
absl::string_view DocOf(Opcode opcode);

// The example of the operation (a test runs them all): the body of a kernel without the last return, after its globals. It is made
// from a line of the comment in ops.def, `///     absi i8: [5, -5] = [5, 5]`, or is the kernel of the operation's name in
// ir/examples. Lines end in newlines. A comment `= …` after a line states the results. Empty if there is none.
absl::string_view ExampleOf(Opcode opcode);

// What `tilevm ops addf` prints: meaning, syntax, operands, attributes, results, rules, example. Ends in a newline.
std::string OpReferenceText(const OpInfo& op);

// All operations by family, one line each: mnemonic and meaning.
std::string OpListText();
// The same of these, in their order.
std::string OpListText(absl::Span<const absl::string_view> mnemonics);

// docs/operations.md.
std::string OperationsPage();

// One object: elements, enums, formats, ops, structures, rules and foreign_names (foreign_names.h), in the order of the tables.
std::string OpTableJson();

}  // namespace tile::ir

#endif  // TILE_IR_REFERENCE_H_
