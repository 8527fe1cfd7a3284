// Text with operations of a second table beside those of ir/ops.def, and with annotations, as code generation has them. Formats
// are those of ir/formats.def; types that ops.def would let follow from others are written.
//
//   std::unique_ptr<Module> m = ParseWith({FindGpuOp, FindDecision}, text, "kernel.tile", &diags);   // as Parse (parser.h)
//
// Annotations stand behind the types (or the region) and before the location, flags by their name alone:
//
//   %s = mmaf %x, %y, %acc {instruction = "wgmma", warpgroups = [2, 1]}
//
// Print (ir/text/printer.h) writes both as they are.
#ifndef TILE_IR_TEXT_SECOND_TABLE_H_
#define TILE_IR_TEXT_SECOND_TABLE_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "ir/diagnostic.h"
#include "ir/module.h"

namespace tile::ir {

// Null if the mnemonic is none of the second table.
using OpFinder = const OpInfo* (*)(absl::string_view mnemonic);
// Null if there is no such annotation.
using AnnotationFinder = const AttrInfo* (*)(absl::string_view name);

struct SecondTable {
  OpFinder find_op = nullptr;  // null: there are no more operations, no annotations
  AnnotationFinder find_annotation = nullptr;
};

std::unique_ptr<Module> ParseWith(const SecondTable& second, absl::string_view text, absl::string_view file_name,
                                  Diagnostics* diags);

}  // namespace tile::ir

#endif  // TILE_IR_TEXT_SECOND_TABLE_H_
