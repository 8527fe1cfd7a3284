// Reads tile code (docs/text.md).
//
//   Diagnostics diags;
//   std::unique_ptr<Module> m = Parse(text, "kernel.tile", &diags);
//   if (m == nullptr) std::cerr << diags.ToString();
//   // kernel.tile:3:8: error[text.unknown_op]: there is no operation adf
//   //     %2 = adf %0, %1 : tile<128xf32>
//   //          ^
//   //   fix: did you mean addf?
//
// Text of MLIR's cuda_tile dialect is read, too: prefixes, modules in braces, names for attributes (parse_mlir.cc).
//
// The parser goes on behind an error at the next operation, so that one call reports all of them. What it gives back is
// well formed but not verified (ir/verify/verify.h): types of operands may be wrong. Limits: ir/limits.h. Time and memory are
// proportional to the text. Thread-safe.
#ifndef TILE_IR_TEXT_PARSER_H_
#define TILE_IR_TEXT_PARSER_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "ir/diagnostic.h"
#include "ir/module.h"
#include "ir/reading.h"

namespace tile::ir {

// Null if there is any error; `diags` then has at least one more. Nothing of the module refers to `text`.
std::unique_ptr<Module> Parse(absl::string_view text, absl::string_view file_name, Diagnostics* diags);

// The program as far as it could be read, and what is known of the rest; it is whole if `diags` got no error. Null if
// the text cannot be read at all. ir/text/check.h makes use of it.
std::unique_ptr<Module> ParsePartly(absl::string_view text, absl::string_view file_name, Diagnostics* diags,
                                    Reading* reading);

// Takes out what is only checked (Reading::left_out); Parse has done so.
void LeaveOut(const Reading& reading, Module* module);

// True unless the bytes are those of a binary file: no control characters in the first few thousand bytes.
bool LooksLikeText(absl::string_view bytes);

}  // namespace tile::ir

#endif  // TILE_IR_TEXT_PARSER_H_
