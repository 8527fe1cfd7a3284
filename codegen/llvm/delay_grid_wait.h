// Moves the wait for the preceding kernel (codegen/plan/dependent_launch.h) after the instructions that do not need it,
// such as those that compute addresses and masks of the first accesses. ptxas moves the wait to the start of its basic
// block, so that loads came a hundred cycles after the end of the preceding kernel. So the wait is made to end a basic
// block: it has a condition that only we know to be always true.
#ifndef TILE_CODEGEN_LLVM_DELAY_GRID_WAIT_H_
#define TILE_CODEGEN_LLVM_DELAY_GRID_WAIT_H_

namespace llvm {
class Module;
}

namespace tile::codegen {

void DelayGridWait(llvm::Module* module);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_DELAY_GRID_WAIT_H_
