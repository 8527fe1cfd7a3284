// Hints of accesses, for one target: whatever stands for other architectures goes, and what is left stands as `default`, so that
// later passes need not know the target. The first pass; works on a copy of the program.
//
//   ResolveHints(target, &module, function);
//   if (!AllowsTma(access)) …                 // plan/tensor_map.h
#ifndef TILE_CODEGEN_PASSES_RESOLVE_HINTS_H_
#define TILE_CODEGEN_PASSES_RESOLVE_HINTS_H_

#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

void ResolveHints(const Target& target, ir::Module* module, ir::Function* function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_RESOLVE_HINTS_H_
