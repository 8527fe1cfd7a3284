// What loops that fetch ahead (codegen/target/gpu_ops.def) get: how many stages, how many blocks beside each other, in which
// order blocks go through the grid.
//
//   PlanRings(target, function, sharing.dim, kMostStages, &plan);   // after MakePlan; plan.num_warps is final
//   PlanCopies(target, function, kMostCopyStages, true, &plan);     // the same for copy_ahead
#ifndef TILE_CODEGEN_PLAN_PLAN_RINGS_H_
#define TILE_CODEGEN_PLAN_PLAN_RINGS_H_

#include "codegen/plan/plan.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

// More bring nothing: blocks drift apart, and what one of them loads is not in the cache any more for the next.
inline constexpr int kMostStages = 5;
inline constexpr int kMostCopyStages = 4;

// `shared_dim`: of the grid, along which blocks share loads (passes/share_loads.h); -1: none.
// `most_stages`: no more than that.
void PlanRings(const Target& target, const ir::Function& function, int shared_dim, int most_stages, Plan* plan);

// Loops that copy ahead get two blocks on a multiprocessor, if their registers and three stages of each fit (one
// multiplies while the other waits at its barrier), else one with as many stages as fit. False if not even two stages
// fit. `chooses_warps`: nobody said how many; products of nothing but copies get fewer, with larger pieces of the
// result.
bool PlanCopies(const Target& target, const ir::Function& function, int most_stages, bool chooses_warps, Plan* plan);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_PLAN_RINGS_H_
