// Functions larger than anything that people write: generated programs, or loops that a frontend unrolled without end.
// They get few of LLVM's passes, because most take time that grows with the square of blocks, loops, phis or instructions,
// and some recurse along chains of these until the stack ends. Each of the usual passes takes seconds or minutes for
// 8,000 loops, ifs or reductions. The largest kernel of 344 that were captured from 41 projects has 145 blocks, 134 phis in a block
// and 27,393 instructions.
#ifndef TILE_CODEGEN_LLVM_LARGE_FUNCTION_H_
#define TILE_CODEGEN_LLVM_LARGE_FUNCTION_H_

#include <string>

#include "llvm/IR/Module.h"

namespace tile::codegen {

inline constexpr int kMostLoops = 512, kMostBlocks = 2048, kMostPhis = 512, kMostInstructions = 32768;

// Says which of these a function of the module exceeds: "2000 loops; 512 at most". "" if none does.
std::string WhyLarge(llvm::Module& module);

// Selection of instructions takes time and stack by the square of a block's length, so long blocks become several.
void SplitLongBlocks(llvm::Module* module);

// LLVM asks for each call whether anything takes the address of the function, and looks at all of its calls. So a function that is called
// more often gets copies.
void CopyBusyFunctions(llvm::Module* module);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_LARGE_FUNCTION_H_
