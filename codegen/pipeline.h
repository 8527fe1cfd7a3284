// Runs the passes of codegen/passes.def over a kernel: times each, gives its text to who asks, and verifies the program
// after it where CompileOptions::verify_each says so.
//
//   Compilation c(module, function, options, candidate);
//   if (absl::Status s = RunProgramPasses(c); !s.ok()) …
//   if (absl::Status s = RunMachinePasses(c); !s.ok()) …
//   for (const PassInfo& p : AllPasses()) …
#ifndef TILE_CODEGEN_PIPELINE_H_
#define TILE_CODEGEN_PIPELINE_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "codegen/compilation.h"

namespace tile::codegen {

// The passes over tile code, which every candidate takes; then those from there to PTX, by way of the GPU level. Return the first error of a pass,
// or of the verifier after it (code codegen.internal, it names the pass). They begin after CompileOptions::start_after, and those over tile code
// end where Program::applies is false.
absl::Status RunProgramPasses(Compilation& c);
absl::Status RunMachinePasses(Compilation& c);
// One of them by its name, for tests; NotFound if there is none.
absl::Status RunPass(Compilation& c, absl::string_view name);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PIPELINE_H_
