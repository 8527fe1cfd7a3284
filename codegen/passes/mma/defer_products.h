// Marks the products that are done an iteration later, where that is possible and pays (codegen/plan/mma/cross_iteration_mma.h). With
// layouts, which may have put conversions around products. Before and after:
//
//   %next = mmaf %weight, %value, %less {instruction = …}
//   %next = mmaf %weight, %value, %less {instruction = …, cross_iteration}
#ifndef TILE_CODEGEN_PASSES_MMA_DEFER_PRODUCTS_H_
#define TILE_CODEGEN_PASSES_MMA_DEFER_PRODUCTS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status DeferProducts(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MMA_DEFER_PRODUCTS_H_
