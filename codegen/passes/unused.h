// Operations that nobody needs, and how they go. Internal to codegen/passes.
//
//   for (Op* op : users_first) if (IsUnused(*op)) op->Erase();
#ifndef TILE_CODEGEN_PASSES_UNUSED_H_
#define TILE_CODEGEN_PASSES_UNUSED_H_

#include "ir/module.h"

namespace tile::codegen {

// Nobody uses its results, and it does nothing besides computing them.
bool IsUnused(const ir::Op& op);

// All such of a block; not those in regions.
void EraseUnused(ir::Block* block);

// The load goes; nobody may use what it loads. What waited for it by a token waits for what it waited for.
void EraseLoad(ir::Module* module, ir::Op* load);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_UNUSED_H_
