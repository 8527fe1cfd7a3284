// Extracts and concatenations that only rename registers: those that choose the part hold no part of their own in lanes or warps.
//
//   PartLayout(extract, *layout)           // the result's, if the source has this layout; nullopt: threads exchange elements
//   PartsOfTile(op)                        // once layouts are assigned: how the registers go; nullopt: through shared memory
//
// Triton's split and join are of that kind: pairs of neighbours that a thread loads as one vector.
#ifndef TILE_CODEGEN_PLAN_PARTS_OF_TILE_H_
#define TILE_CODEGEN_PLAN_PARTS_OF_TILE_H_

#include <optional>
#include <vector>

#include "codegen/layout/layout.h"
#include "codegen/layout/register_parts.h"
#include "ir/module.h"

namespace tile::codegen {

// Of an extract: the number of its part along each dimension, if constants say so.
std::optional<std::vector<int64_t>> ExtractedPart(const ir::Op& extract);

// What an extract makes of its source's layout, or a concatenation asks of its operands if its result has this layout.
std::optional<Layout> PartLayout(const ir::Op& op, const Layout& whole);

// Of the source of an extract, or the result of a concatenation.
std::optional<RegisterParts> PartsOfTile(const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_PARTS_OF_TILE_H_
