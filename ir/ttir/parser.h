// Reads the text of TTIR in MLIR's pretty form, as Triton prints it, or in its generic form (generic.h), into a tree. It
// knows the shape of operations in general (operands, words, attributes, types, regions), not each of them: what an
// operation means, and whether it is known at all, is for ir/ttir/translator.h.
//
// Any text is safe: nesting, numbers of operations, operands and elements are limited by ir/limits.h, time and memory are
// proportional to the text. Stops at the first error, which has the code ttir.syntax or ttir.limit. Thread-safe.
#ifndef TILE_IR_TTIR_PARSER_H_
#define TILE_IR_TTIR_PARSER_H_

#include "absl/strings/string_view.h"
#include "ir/diagnostic.h"
#include "ir/ttir/tree.h"

namespace tile::ir::ttir {

// Types become types of `module`, whose source_name names the text in messages. False after an error.
bool ParseTtir(absl::string_view text, Module* module, Tree* tree, Diagnostics* diags);

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_PARSER_H_
