// A product that only one sum or difference uses becomes one operation with it, of one rounding.
//
//   ContractProducts(module, function, ops);      // `ops`: multiplications, additions, subtractions that may be
//
// Before:  %p = mulf %x, %y          After:  %n = negf %m
//          %r = subf %p, %m                  %r = fma %x, %y, %n
#ifndef TILE_IR_TTIR_CONTRACT_H_
#define TILE_IR_TTIR_CONTRACT_H_

#include "absl/container/flat_hash_set.h"
#include "ir/module.h"

namespace tile::ir::ttir {

// Of f32 and f64; both operations stand in one block.
void ContractProducts(Module* module, Function* function, const absl::flat_hash_set<const Op*>& ops);

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_CONTRACT_H_
