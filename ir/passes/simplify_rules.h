// The rules of simplify.h, a function per kind of operation. Internal to ir/passes.
//
//   if (Value* same = SimplerValue(module, op)) ReplaceOp(op, same);
#ifndef TILE_IR_PASSES_SIMPLIFY_RULES_H_
#define TILE_IR_PASSES_SIMPLIFY_RULES_H_

#include "ir/module.h"

namespace tile::ir {

// A value that is the same as the only result of `op`: one that there was, or one of a new operation in front of it. Null: no rule
// applies.
Value* SimplerValue(Module* module, Op* op);

// By family of operation; each for those of its family only.
Value* SimplerInteger(Module* module, Op* op);
Value* SimplerFloat(Op* op);
Value* SimplerCompare(Module* module, Op* op);  // and select
Value* SimplerConvert(Module* module, Op* op);
Value* SimplerShape(Module* module, Op* op);

// An integer constant of the type, in front of `op`.
Value* MakeSplat(Module* module, Op* op, Type type, uint64_t bits);

}  // namespace tile::ir

#endif  // TILE_IR_PASSES_SIMPLIFY_RULES_H_
