// What may stand anywhere behind its operands, for passes that move instructions.
#ifndef TILE_CODEGEN_LLVM_PURE_INSTRUCTION_H_
#define TILE_CODEGEN_LLVM_PURE_INSTRUCTION_H_

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace tile::codegen {

// Depends on nothing but its operands, and is no phi.
inline bool IsPure(const llvm::Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
  return !i.mayHaveSideEffects() && !i.mayReadFromMemory() && !i.isTerminator() && !llvm::isa<llvm::PHINode>(i) &&
         (call == nullptr || !call->isConvergent());
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_PURE_INSTRUCTION_H_
