// Gives a function another body, which is made of what the old one says.
#ifndef TILE_CODEGEN_PASSES_EXPAND_REPLACE_BODY_H_
#define TILE_CODEGEN_PASSES_EXPAND_REPLACE_BODY_H_

#include <functional>

#include "ir/builder.h"

namespace tile::codegen {

// `build` makes the operations between the operation `kernel` and the return that ends the body. Those that are there now are dropped then.
void ReplaceBody(ir::Function* function, const std::function<void(ir::Builder&)>& build);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_REPLACE_BODY_H_
