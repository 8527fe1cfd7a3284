// A program on its way to the GPU as text, which can be read back: what --print-after shows and tests of passes begin with.
//
//   std::string text = PrintGpu(module);
//   std::unique_ptr<ir::Module> again = ParseGpu(text, "kernel.tile", &diagnostics);
//
// Layouts stand in comments behind the operations whose results have them. A program that is read back has none: the pass that
// assigns them gives the same ones again.
#ifndef TILE_CODEGEN_PASSES_GPU_TEXT_H_
#define TILE_CODEGEN_PASSES_GPU_TEXT_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "ir/diagnostic.h"
#include "ir/module.h"

namespace tile::codegen {

std::string PrintGpu(const ir::Module& module);
std::unique_ptr<ir::Module> ParseGpu(absl::string_view text, absl::string_view file_name, ir::Diagnostics* diagnostics);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_GPU_TEXT_H_
