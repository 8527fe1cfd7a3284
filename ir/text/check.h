// One round over a text: what the parser says and, of all that it could read, what the verifier says, in the order of
// the text, each with its line and a caret. A mistake in one line hides none in another, unless that uses what the
// first defines.
//
//   Diagnostics diags;
//   std::unique_ptr<Module> m = ParseAndVerify(text, "kernel.tile", &diags);   // verified, or null
#ifndef TILE_IR_TEXT_CHECK_H_
#define TILE_IR_TEXT_CHECK_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "ir/diagnostic.h"
#include "ir/module.h"

namespace tile::ir {

// Null if there is any error; `diags` then has at least one more, else perhaps warnings.
std::unique_ptr<Module> ParseAndVerify(absl::string_view text, absl::string_view file_name, Diagnostics* diags);

}  // namespace tile::ir

#endif  // TILE_IR_TEXT_CHECK_H_
