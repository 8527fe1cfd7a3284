// The program between two passes, from a file: what --print-after wrote and --start-after goes on with.
//
//   HeadOf("slice", "@f for sm_90a")                  // "// ---- after slice: @f for sm_90a ----\n", its first line
//   auto text = ReadProgramText(bytes, "f.slice", "slice", *FindTarget(90));
//   options.start_after = "slice";
//   Compile(*(*text)->module, *(*text)->module->functions[0], options)
#ifndef TILE_CODEGEN_PROGRAM_TEXT_H_
#define TILE_CODEGEN_PROGRAM_TEXT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "codegen/plan/tile_layout.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

struct ProgramText {
  LayoutTable layouts;  // of the module's types
  std::unique_ptr<ir::Module> module;
};

// The first line of a pass's text.
std::string HeadOf(absl::string_view pass, absl::string_view of);

// Errors are complete messages: the text is malformed, of another pass by its first line, or no program that the passes after `pass`
// may be given.
absl::StatusOr<std::unique_ptr<ProgramText>> ReadProgramText(absl::string_view text, absl::string_view file_name,
                                                             absl::string_view pass, const Target& target);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PROGRAM_TEXT_H_
