// Marks the products that still run when the next iteration begins (Decision::kAsync): nobody reads their results before the loop
// ends, and their operands are in stages. With layouts, which may have put conversions around products.
#ifndef TILE_CODEGEN_PASSES_MMA_CHOOSE_ASYNC_H_
#define TILE_CODEGEN_PASSES_MMA_CHOOSE_ASYNC_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status ChooseAsync(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MMA_CHOOSE_ASYNC_H_
