// Functions with very many loops do not get LLVM's passes over loops. From each loop these look at all loops before and
// after it, and would take most of the time: two seconds for 2,000 loops, a minute for 6,000. A chain of 2,000 loops
// that use each other's sums overflows the stack.
#ifndef TILE_CODEGEN_LLVM_MANY_LOOPS_H_
#define TILE_CODEGEN_LLVM_MANY_LOOPS_H_

#include "llvm/IR/Module.h"

namespace tile::codegen {

inline constexpr size_t kManyLoops = 512;

// Whether a function of the module has more.
bool HasManyLoops(llvm::Module& module);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_MANY_LOOPS_H_
