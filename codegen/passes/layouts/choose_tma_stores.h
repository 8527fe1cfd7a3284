// Gives descriptors to the stores that go by TMA (codegen/plan/tma/tma_store.h), in kernels with a producer warp. Layouts say which can.
#ifndef TILE_CODEGEN_PASSES_LAYOUTS_CHOOSE_TMA_STORES_H_
#define TILE_CODEGEN_PASSES_LAYOUTS_CHOOSE_TMA_STORES_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status ChooseTmaStores(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_LAYOUTS_CHOOSE_TMA_STORES_H_
