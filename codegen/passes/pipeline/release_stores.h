// Says which stores need not wait for loads that stand in front of them (Decision::kUnordered): neither tokens nor the memory that
// both may reach order them. A thread that holds a large tile then stores pieces of it while others are on their way
// (codegen/llvm/order_pieces.h), instead of loading all, computing all, and storing all.
#ifndef TILE_CODEGEN_PASSES_PIPELINE_RELEASE_STORES_H_
#define TILE_CODEGEN_PASSES_PIPELINE_RELEASE_STORES_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status ReleaseStores(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_PIPELINE_RELEASE_STORES_H_
