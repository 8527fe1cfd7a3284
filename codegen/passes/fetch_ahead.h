// Turns loops over matrix products into pipelines: loads whose only use is as operand of a product in the same for move
// into a fetch_ahead (codegen/target/gpu_ops.def), which brings later tiles while earlier ones are multiplied.
//
//   FetchPlan fetch = FetchAhead(target, /*num_warps=*/0, module, function, trace);
//   fetch.num_warps, fetch.maps, fetch.map_of[load]
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
// from values of before the loop by scalar operations, and its tensor is one that the host can describe for TMA.
#ifndef TILE_CODEGEN_PASSES_FETCH_AHEAD_H_
#define TILE_CODEGEN_PASSES_FETCH_AHEAD_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "codegen/plan/share_loads.h"
#include "codegen/plan/tensor_map.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

struct FetchPlan {
  int num_warps = 0;  // that the products need; 0: nothing was changed
  std::vector<TensorMap> maps;
  absl::flat_hash_map<const ir::Op*, int> map_of;  // of a load in a fetch_ahead: position in maps
  Sharing sharing;                                 // what clusters of two blocks share
};

// `num_warps`: 0: the plan's choice. The trace may be null.
FetchPlan FetchAhead(const Target& target, int num_warps, ir::Module* module, ir::Function* function, Trace* trace);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_FETCH_AHEAD_H_
