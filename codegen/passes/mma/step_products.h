// Marks the products after a lazy rescaling that take their left operand step by step along K, as it is computed
// (codegen/llvm/order_steps.h).
#ifndef TILE_CODEGEN_PASSES_MMA_STEP_PRODUCTS_H_
#define TILE_CODEGEN_PASSES_MMA_STEP_PRODUCTS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status StepProducts(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MMA_STEP_PRODUCTS_H_
