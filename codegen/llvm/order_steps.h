// Products that begin with the first of their operands. An asynchronous product takes its left operand step by step along K, and a step may run while
// the next one's words are computed. Attention's weights are powers, of which a special function makes one in the time of eight other
// instructions:
//
//   powers 0 … 7, sums, words 0 … 7, steps 0 … 7
//
// becomes
//
//   powers 0, words 0, step 0, powers 1, sums of 0 and 1, words 1, step 1, …
//
// so that what is left to wait for behind the last power is one step. Sums are taken as soon as they can be, which frees registers.
#ifndef TILE_CODEGEN_LLVM_ORDER_STEPS_H_
#define TILE_CODEGEN_LLVM_ORDER_STEPS_H_

namespace llvm {
class BasicBlock;
class Module;
}  // namespace llvm

namespace tile::codegen {

// `kind`: of the metadata that steps have.
void OrderSteps(llvm::Module* module, const char* kind);

bool HasSteps(const llvm::BasicBlock& block, unsigned kind);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_ORDER_STEPS_H_
