// Warp specialization: marks what the producer warp, which only starts TMA loads, executes of the program (codegen/plan/staging/producer_slice.h).
#ifndef TILE_CODEGEN_PASSES_LAYOUTS_SPECIALIZE_WARPS_H_
#define TILE_CODEGEN_PASSES_LAYOUTS_SPECIALIZE_WARPS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status SpecializeWarps(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_LAYOUTS_SPECIALIZE_WARPS_H_
