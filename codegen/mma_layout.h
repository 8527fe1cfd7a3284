// Which thread holds which element of a matrix product.
#ifndef TILE_CODEGEN_MMA_LAYOUT_H_
#define TILE_CODEGEN_MMA_LAYOUT_H_

#include <optional>

#include "codegen/layout/layout.h"
#include "codegen/plan.h"
#include "codegen/target.h"
#include "ir/module.h"

namespace tile::codegen {

// The layout of the result (and accumulator) of mmaf, mmai or mmaf_scaled; nullopt: rows over threads will do.
std::optional<Layout> MmaResultLayout(const Target& target, const Plan& plan, const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_MMA_LAYOUT_H_
