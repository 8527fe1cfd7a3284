// Loads for matrix products do not wait for what the same loop stores through other parameters. Triton starts such loads some iterations
// early, without a look at stores in between, and kernels are written for that: gradients are stored or added in the loop that multiplies.
//
//   PassStores(module, loops);      // `for` loops that Triton may pipeline
//
// Before:  for %i … iter_values(%t = %t0) {            After:  for %i … iter_values(%t = %t0) {
//            %x, %tx = load_ptr_tko %p, token = %t               %x, %tx = load_ptr_tko %p, token = %t0
//            %s = mmaf %x …                                      %both = join_tokens %tx, %t
//            %ts = store_ptr_tko %q, … token = %tx               %s = mmaf %x …
//            continue %ts                                        %ts = store_ptr_tko %q, … token = %both
//          }                                                     continue %ts
//                                                              }
//
// %p and %q must come from different parameters, and what accesses memory in the loop be plain loads and stores, or updates of which nobody
// wants the old value: nothing that one could wait for. A store still waits for the loads and stores in front of it.
#ifndef TILE_IR_TTIR_PASS_STORES_H_
#define TILE_IR_TTIR_PASS_STORES_H_

#include "absl/types/span.h"
#include "ir/module.h"

namespace tile::ir::ttir {

// What each carries last is the token of its accesses.
void PassStores(Module* module, absl::Span<Op* const> loops);

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_PASS_STORES_H_
