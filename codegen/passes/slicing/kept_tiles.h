// What threads must keep if a block works on large rows whole: tiles that live from before an exchange between threads to behind it. All else goes
// piece by piece: a piece is loaded, computed and used up before the next.
//
//   std::optional<int64_t> words = KeptWords(*block);    // registers of 32 bits of all threads; nothing: not known
//   ConvertAgain(module, block);
//
// What is loaded stays as it lies in memory: two elements of 16 bits to a register, four of 8. It is converted where it is used, and again behind
// each exchange. ConvertAgain writes the program so: %w is what a thread would keep for the second use, twice or four times as much as %x.
//
//   %x = load …                          %x = load …
//   %w = ftof %x                         %w = ftof %x
//   %s = reduce … of %w …                %s = reduce … of %w …
//   … %w …                               %v = ftof %x        // the emitter keeps LLVM from sharing it (codegen/emit/lower/word_converts.h)
//                                        … %v …
//
// Blocks of loads, stores, reductions and element-wise operations; tiles of nested regions are not known.
#ifndef TILE_CODEGEN_PASSES_SLICING_KEPT_TILES_H_
#define TILE_CODEGEN_PASSES_SLICING_KEPT_TILES_H_

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace tile::codegen {

std::optional<int64_t> KeptWords(const ir::Block& block);
// Registers of 32 bits that a tile takes over all threads as it lies in memory.
int64_t WordsInMemory(const ir::Type& t);
// The value from which conversions of one operand made this one, which threads can make again.
const ir::Value* Unconverted(const ir::Value* v);
void ConvertAgain(ir::Module* module, ir::Block* block);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_KEPT_TILES_H_
