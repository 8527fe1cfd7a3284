// An access through a view whose index has a sign (Decision::kSignedIndex) as tile code can say it: through pointers, with a mask of
// what lies inside of the tensor. The way back from raise_views.h. Internal to codegen/passes.
//
//   if (DecisionOf<Decision::kSignedIndex>(*op)) AccessByPointers(module, op);     // `op` is erased
#ifndef TILE_CODEGEN_PASSES_SIGNED_INDEX_H_
#define TILE_CODEGEN_PASSES_SIGNED_INDEX_H_

#include "ir/module.h"

namespace tile::codegen {

// A weak load or store through a partition or strided view of a tensor that a make_tensor_view makes.
void AccessByPointers(ir::Module* module, ir::Op* access);

// In front of `where`, in order, all operations of a block that stands nowhere.
void MoveBefore(ir::Module* module, ir::Block* apart, ir::Op* where);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SIGNED_INDEX_H_
