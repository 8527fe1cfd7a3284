// Two warpgroups begin the products that defer_products.h deferred one after the other, so that one multiplies while the other works on
// rows. Two that nothing keeps in turn fall into step when one of them skips its rescaling (attention in bf16, heads of 128, 128 x 64: 1040 us,
// 1109 to 1172 without turns).
#ifndef TILE_CODEGEN_PASSES_MMA_TAKE_TURNS_H_
#define TILE_CODEGEN_PASSES_MMA_TAKE_TURNS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status TakeTurns(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MMA_TAKE_TURNS_H_
