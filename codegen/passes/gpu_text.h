// A program on its way to the GPU as text, which can be read back: what --print-after shows, and what tests of passes begin with.
//
//   std::string text = PrintGpu(module);
//   LayoutTable layouts;                          // of the program that is read
//   std::unique_ptr<ir::Module> again = ParseGpu(text, "kernel.tile", &layouts, &diagnostics);
//
// The passes that would follow make the same machine code of the program that is read. Decisions follow their
// operations. Layouts are one of them, for each result that is a tile; a loop's arguments have the layouts of their
// initial values:
//
//   %y = addf %x, %x : tile<4x16xf32> {layout = "4x16 registers (0,1) lanes (0,2) (0,4) (0,8) (1,0) (2,0) warps -"}
//   %n:2 = for … {layout = "4x16 registers …; 64 registers …"}
#ifndef TILE_CODEGEN_PASSES_GPU_TEXT_H_
#define TILE_CODEGEN_PASSES_GPU_TEXT_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "codegen/plan/tile_layout.h"
#include "ir/diagnostic.h"
#include "ir/module.h"

namespace tile::codegen {

std::string PrintGpu(const ir::Module& module);
// Null if there are errors. Whether layouts fit operations is not judged here (verify_program.h).
std::unique_ptr<ir::Module> ParseGpu(absl::string_view text, absl::string_view file_name, LayoutTable* layouts,
                                     ir::Diagnostics* diagnostics);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_GPU_TEXT_H_
