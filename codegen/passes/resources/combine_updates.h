// Marks the contended atomic updates whose elements are combined before they reach memory (codegen/plan/combine_updates.h).
#ifndef TILE_CODEGEN_PASSES_RESOURCES_COMBINE_UPDATES_H_
#define TILE_CODEGEN_PASSES_RESOURCES_COMBINE_UPDATES_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status CombineUpdates(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_RESOURCES_COMBINE_UPDATES_H_
