// Text with operations of a second table beside those of ir/ops.def, as code generation has them. Their formats are those of
// ir/formats.def; types that ops.def would let follow from others are written.
//
//   std::unique_ptr<Module> m = ParseWith(FindGpuOp, text, "kernel.tile", &diags);   // as Parse (ir/text/parser.h)
//
// Print and PrintOp (ir/text/printer.h) write such operations as they are.
#ifndef TILE_IR_TEXT_SECOND_TABLE_H_
#define TILE_IR_TEXT_SECOND_TABLE_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "ir/diagnostic.h"
#include "ir/module.h"

namespace tile::ir {

// Null if the mnemonic is none of the second table.
using OpFinder = const OpInfo* (*)(absl::string_view mnemonic);

std::unique_ptr<Module> ParseWith(OpFinder second, absl::string_view text, absl::string_view file_name,
                                  Diagnostics* diags);

}  // namespace tile::ir

#endif  // TILE_IR_TEXT_SECOND_TABLE_H_
