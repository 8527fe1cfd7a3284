// Machine code of a kernel that was text between two passes: what --print-after shows is the whole program.
//
//   absl::StatusOr<std::string> ptx = PtxThroughText(module, function, options, candidate, "slice");   // read back behind slice
#ifndef TILE_TESTS_PASSES_THROUGH_TEXT_H_
#define TILE_TESTS_PASSES_THROUGH_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "codegen/compilation.h"

namespace tile::codegen {

// The passes whose text is a program, in order: those behind which it is tile code, those of the GPU level, all.
std::vector<absl::string_view> TileCodePasses();
std::vector<absl::string_view> GpuLevelPasses();
std::vector<absl::string_view> ProgramPasses();

// Fails as the pass does that fails. `behind`: one of ProgramPasses; "": the program is never text.
absl::StatusOr<std::string> PtxThroughText(const ir::Module& module, const ir::Function& function,
                                           const CompileOptions& options, const Candidate& candidate,
                                           absl::string_view behind);

// Those of ProgramPasses that change the text of the program, in order, up to a pass that fails.
std::vector<std::string> PassesThatChange(const ir::Module& module, const ir::Function& function,
                                          const CompileOptions& options, const Candidate& candidate);

}  // namespace tile::codegen

#endif  // TILE_TESTS_PASSES_THROUGH_TEXT_H_
