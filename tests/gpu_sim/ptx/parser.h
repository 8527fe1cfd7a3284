// Reads a module of PTX text. Any text gives a module or an error "line N: …"; nothing is skipped that has a meaning.
//
//   absl::StatusOr<std::unique_ptr<ptx::Module>> module = ptx::Parse(text);
//   for (const ptx::Kernel& k : (*module)->kernels) …
//
// Scopes ({ … }) of registers and labels, as inline assembly has them, are resolved, and those of the parameters of calls. Device
// functions that stand in the module can be called by name; calls through registers are errors.
#ifndef TILE_TESTS_GPU_SIM_PTX_PARSER_H_
#define TILE_TESTS_GPU_SIM_PTX_PARSER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/gpu_sim/ptx/syntax.h"

namespace tile::gpu_sim::ptx {

absl::StatusOr<std::unique_ptr<Module>> Parse(absl::string_view text);

}  // namespace tile::gpu_sim::ptx

#endif  // TILE_TESTS_GPU_SIM_PTX_PARSER_H_
