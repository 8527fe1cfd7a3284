// Values of 8 bits that lie four in a word of 32, as memory brings them. A register holds one value; that four registers are the bytes of one word
// shows in how they were made (halves.h does the same for 16 bits).
//
//   WordOfBytes({ByteOfWord(e, word, 0), …, ByteOfWord(e, word, 3)}) == word
#ifndef TILE_CODEGEN_EMIT_CONTEXT_BYTES_H_
#define TILE_CODEGEN_EMIT_CONTEXT_BYTES_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

inline constexpr int kBytesOfWord = 4;

// Byte `i` (0: the low bits) of an i32, as i8.
llvm::Value* ByteOfWord(Emitter& e, llvm::Value* word, int i);
// The word of which these four are all bytes, in their order; null if they are not of one.
llvm::Value* WordOfBytes(Operands bytes);
// The words of all of them; none if some four are not of one.
Registers WordsOfBytes(Operands bytes);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_BYTES_H_
