// What loops that fetch ahead (codegen/gpu_ops.def) get: how many stages, how many blocks beside each other, in which order
// blocks go through the grid.
//
//   PlanRings(target, function, &plan);   // after MakePlan; plan.num_warps is final
#ifndef TILE_CODEGEN_PLAN_RINGS_H_
#define TILE_CODEGEN_PLAN_RINGS_H_

#include "codegen/plan.h"
#include "codegen/target.h"
#include "ir/module.h"

namespace tile::codegen {

void PlanRings(const Target& target, const ir::Function& function, Plan* plan);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_RINGS_H_
