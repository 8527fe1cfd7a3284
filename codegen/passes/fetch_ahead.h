// Turns loops over matrix products into pipelines: loads whose only use is as operand of a product in the same for move
// into a fetch_ahead (codegen/target/gpu_ops.def), which brings later tiles while earlier ones are multiplied.
//
//   FetchPlan fetch = FetchAhead(target, /*num_warps=*/0, module, function, trace);
//   fetch.num_warps, fetch.maps[*DecisionOf<Decision::kTensorMap>(load)]
//
// Before:                                            After:
//   for %k … {                                         for %k … {
//     %x, %t = load_view_tko weak %a[%i, %k]             %x, %y = fetch_ahead iter_values(%j = %k) {
//     %y, %u = load_view_tko weak %b[%k, %j]               … the loads, for %j …
//     %s = mmaf %x, %y, %acc                               yield
//     continue %s                                        }
//   }                                                    %s = mmaf %x, %y, %acc
//                                                        continue %s
//                                                      }
//
// A load may move if it is weak, no token orders it behind a write, its indices follow from the induction variable and
// from values of before the loop by scalar operations, and its tensor is one that the host can describe for TMA. Loads that a cluster of blocks
// needs only once are marked (Decision::kMulticast).
#ifndef TILE_CODEGEN_PASSES_FETCH_AHEAD_H_
#define TILE_CODEGEN_PASSES_FETCH_AHEAD_H_

#include <vector>

#include "codegen/plan/tensor_map.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

struct FetchPlan {
  int num_warps = 0;            // that the products need; 0: nothing was changed
  std::vector<TensorMap> maps;  // by the numbers that the loads have (Decision::kTensorMap)
  int shared_dim = -1;          // of the grid, along which clusters of two blocks share loads; -1: they share none
};

// `num_warps`: 0: the plan's choice. The trace may be null.
FetchPlan FetchAhead(const Target& target, int num_warps, ir::Module* module, ir::Function* function, Trace* trace);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_FETCH_AHEAD_H_
