// The wait for the kernel in front (codegen/plan/dependent_launch.h) stands behind what does not need it: where a block's first accesses are, and which
// of them there are. ptxas moves the wait to the front of its basic block, and loads came a hundred cycles behind the end of the kernel in
// front; so the wait is made the end of one, by a condition of which only we know that it is always true.
#ifndef TILE_CODEGEN_LLVM_DELAY_GRID_WAIT_H_
#define TILE_CODEGEN_LLVM_DELAY_GRID_WAIT_H_

namespace llvm {
class Module;
}

namespace tile::codegen {

void DelayGridWait(llvm::Module* module);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_DELAY_GRID_WAIT_H_
