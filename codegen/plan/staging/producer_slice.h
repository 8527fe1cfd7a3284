// The part of a program that the producer of its loads needs (codegen/passes/expand/producer_role.h). It has scalars and
// views that follow from parameters, block numbers, induction variables, and values of weak loads that no token orders.
// It also has the control flow around fetch_ahead operations.
//
//   IsSliceable(value)        // the producer can compute it
//   ProducerOps(function)     // the operations that it executes
//
// The producer runs ahead of the other warps, which compute the same for themselves. Of what a loop carries or leaves, and an if yields, it
// has what is sliceable. Pure functions.
#ifndef TILE_CODEGEN_PLAN_STAGING_PRODUCER_SLICE_H_
#define TILE_CODEGEN_PLAN_STAGING_PRODUCER_SLICE_H_

#include "absl/container/flat_hash_set.h"
#include "ir/module.h"

namespace tile::codegen {

// Of tiles, those that a load brings and of which elements are taken: so small that each warp has all of one (IsInEachWarp in shared_use.h).
inline constexpr int64_t kMostSliced = 32;  // elements

bool IsSliceable(const ir::Value* v);
// The loop's bounds are sliceable, and so is what decides how often it runs: bounds and conditions around it.
bool IsSliceableLoop(const ir::Op& loop);
// Those in a fetch_ahead apart, which it executes all, and what ends the regions of those that are marked.
absl::flat_hash_set<const ir::Op*> ProducerOps(const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_STAGING_PRODUCER_SLICE_H_
