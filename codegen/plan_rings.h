// What loops that fetch ahead (codegen/gpu_ops.def) get: how many stages, how many blocks beside each other, in which order
// blocks go through the grid.
//
//   PlanRings(target, function, sharing.dim, kMostStages, &plan);   // after MakePlan; plan.num_warps is final
#ifndef TILE_CODEGEN_PLAN_RINGS_H_
#define TILE_CODEGEN_PLAN_RINGS_H_

#include "codegen/plan.h"
#include "codegen/target.h"
#include "ir/module.h"

namespace tile::codegen {

// More bring nothing: blocks drift apart, and what one of them loads is not in the cache any more for the next.
inline constexpr int kMostStages = 5;

// `shared_dim`: of the grid, along which blocks share loads (passes/share_loads.h); -1: none.
// `most_stages`: no more than that.
void PlanRings(const Target& target, const ir::Function& function, int shared_dim, int most_stages, Plan* plan);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_RINGS_H_
