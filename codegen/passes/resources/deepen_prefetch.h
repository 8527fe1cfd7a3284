// A loop that copies the next iteration's tiles to shared memory copies those of several iterations, as far as shared memory holds them beside
// what else is there (Decision::kPrefetchDistance).
#ifndef TILE_CODEGEN_PASSES_RESOURCES_DEEPEN_PREFETCH_H_
#define TILE_CODEGEN_PASSES_RESOURCES_DEEPEN_PREFETCH_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status DeepenPrefetch(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_RESOURCES_DEEPEN_PREFETCH_H_
