// Replaces the body of a function by one that is made from it.
#ifndef TILE_CODEGEN_PASSES_EXPAND_REPLACE_BODY_H_
#define TILE_CODEGEN_PASSES_EXPAND_REPLACE_BODY_H_

#include <functional>

#include "ir/builder.h"

namespace tile::codegen {

// `build` makes the operations between `kernel` and the return that ends the body. The old ones are dropped afterwards.
void ReplaceBody(ir::Function* function, const std::function<void(ir::Builder&)>& build);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_REPLACE_BODY_H_
