// Tells the assembler what a loop mostly does. ptxas lays blocks out in the order of the source, so that each iteration
// jumps over rare ones. A taken branch costs about ten cycles, and registers. Attention in bf16, heads of 64, H100, has
// three such branches: 538 us without marks, 532 with them. What branches weigh, which the emitter says where it knows,
// becomes a line at the beginning of both ways, of which the assembler gets how often it is done
// (codegen/assemble/frequencies.h).
#ifndef TILE_CODEGEN_LLVM_MARK_RARE_H_
#define TILE_CODEGEN_LLVM_MARK_RARE_H_

namespace llvm {
class Module;
}

namespace tile::codegen {

// `mark`: what a line begins with, behind which a number comes. The last pass of all: marks keep instructions in their block.
void MarkRare(llvm::Module* module, const char* mark);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_MARK_RARE_H_
