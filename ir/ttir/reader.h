// Reads TTIR, the first form that Triton gives a kernel (`kernel.asm["ttir"]`), as Triton 3.6 to 3.9 print it.
//
//   Diagnostics diags;
//   std::unique_ptr<Module> m = ReadTtir(text, "softmax.ttir", &diags);
//   if (m == nullptr) std::cerr << diags.ToString();
//   // softmax.py:12:22: error[ttir.unsupported]: tt.inline_asm_elementwise is not supported
//
// Every public function becomes a kernel with raw parameters, in Triton's order; a descriptor is its base, sizes and
// strides (i64). Operations keep Python's file, line and column as debug information, and messages name them. What cannot
// be read is refused, never left out; codes: ttir.syntax, ttir.limit, ttir.unsupported, ttir.type, ttir.value.
//
// Any text is safe. The result is not verified yet: run Verify (ir/verify/verify.h) before use. Thread-safe.
#ifndef TILE_IR_TTIR_READER_H_
#define TILE_IR_TTIR_READER_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "ir/diagnostic.h"
#include "ir/module.h"

namespace tile::ir {

// Whether a line of the text begins a function of TTIR. True for damaged texts, too.
bool LooksLikeTtir(absl::string_view text);

// Null if there is any error; `diags` then has at least one more. `name`: of the file.
std::unique_ptr<Module> ReadTtir(absl::string_view text, absl::string_view name, Diagnostics* diags);

}  // namespace tile::ir

#endif  // TILE_IR_TTIR_READER_H_
