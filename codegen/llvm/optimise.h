// LLVM's passes over a module.
#ifndef TILE_CODEGEN_LLVM_OPTIMISE_H_
#define TILE_CODEGEN_LLVM_OPTIMISE_H_

#include "codegen/trace/trace.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tile::codegen {

// `opt_level`: 0 … 3. A large function (large_function.h) gets few passes. Each of LLVM's optional passes is an optional step of the trace, which may be null.
void Optimise(llvm::Module* module, llvm::TargetMachine* machine, int opt_level, bool is_large, Trace* trace);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_OPTIMISE_H_
