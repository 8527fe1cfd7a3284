// Values of 16 bits that lie two in a word of 32, as memory brings them and as instructions on pairs take them. A register holds one value; that
// two registers are the halves of one word shows in how they were made, so that nothing is taken apart and put together again:
//
//   llvm::Value* word = …;                                  // i32
//   llvm::Value *low = HalfOfWord(e, word, 0, type), *high = HalfOfWord(e, word, 1, type);
//   WordOfHalves(low, high) == word
#ifndef TILE_CODEGEN_EMIT_CONTEXT_HALVES_H_
#define TILE_CODEGEN_EMIT_CONTEXT_HALVES_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// Half `i` (0: the low bits) of an i32, of a type of 16 bits.
llvm::Value* HalfOfWord(Emitter& e, llvm::Value* word, int i, llvm::Type* type);
// The word whose half `i` this is; null: of none.
llvm::Value* WordOfHalf(llvm::Value* half, int i);
// The word with these halves, if there is one already; null if not.
llvm::Value* WordOfHalves(llvm::Value* low, llvm::Value* high);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_HALVES_H_
