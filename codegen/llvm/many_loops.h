// Functions with so many loops that LLVM's passes over loops, which look from each at all that stand in front of it or behind it, would
// take most of the time: two seconds for 2,000 loops, a minute for 6,000, and the end of the stack for a chain of 2,000 that count with
// each other's sums. Such functions do without those passes.
#ifndef TILE_CODEGEN_LLVM_MANY_LOOPS_H_
#define TILE_CODEGEN_LLVM_MANY_LOOPS_H_

#include "llvm/IR/Module.h"

namespace tile::codegen {

inline constexpr size_t kManyLoops = 512;

// Whether a function of the module has more.
bool HasManyLoops(llvm::Module& module);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_MANY_LOOPS_H_
