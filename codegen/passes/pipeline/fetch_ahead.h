// Turns loops over matrix products into pipelines: loads whose only use is as operand of a product in the same for move
// into a fetch_ahead (codegen/gpu/ops.def), which brings later tiles while earlier ones are multiplied.
//
//   bool any = FetchAhead(target, /*num_warps=*/0, module, function, trace);
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
// A load may move if it is weak and no token orders it after a write. Its indices must follow from the induction
// variable and from values of before the loop by scalar operations. The host or the kernel must be able to describe its
// tensor for TMA. The load then has the number of its descriptor (plan/tma/tensor_maps.h), or makes it itself
// (plan/tma/device_tensor_map.h), and one that a cluster of blocks needs only once is marked (Decision::kMulticast).
#ifndef TILE_CODEGEN_PASSES_PIPELINE_FETCH_AHEAD_H_
#define TILE_CODEGEN_PASSES_PIPELINE_FETCH_AHEAD_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

// The pass, of candidates by TMA.
absl::Status FetchAhead(Program& p);

// Whether anything moved. `num_warps`: 0: the schedule's choice. `widens_k`: iterations may become fewer (resize_k.h). The trace may
// be null.
bool FetchAhead(const Target& target, int num_warps, bool widens_k, ir::Module* module, ir::Function* function,
                Trace* trace);

// Whether so many warps multiply its operands where they are in a stage, once TMA brings both.
bool WouldReadStages(const Target& target, int num_warps, ir::Op* mma);

// Whether that would move the product's operands, for so many warps.
bool WouldFetch(const Target& target, int num_warps, ir::Module* module, ir::Op* mma);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_PIPELINE_FETCH_AHEAD_H_
