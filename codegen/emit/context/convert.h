// The same tile in another layout: registers renamed, exchanged between lanes, or moved through shared memory, whichever
// is cheapest (codegen/layout/conversion.h, shared.h).
//
//   Registers y = ConvertRegisters(e, from, to, x);
#ifndef TILE_CODEGEN_EMIT_CONTEXT_CONVERT_H_
#define TILE_CODEGEN_EMIT_CONTEXT_CONVERT_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

Registers ConvertRegisters(Emitter& e, const Layout& from, const Layout& to, const Registers& in);

// One shuffle of any register type: the value of lane `source` (i32), which all lanes name for themselves.
llvm::Value* ShuffleFrom(Emitter& e, llvm::Value* value, llvm::Value* source);
// The value of lane (own ^ mask).
llvm::Value* ShuffleXor(Emitter& e, llvm::Value* value, uint32_t mask);
// i1, the same in the lanes of the warp, all of which are here: some of them, or all, have a condition that holds.
llvm::Value* AnyOfWarp(Emitter& e, llvm::Value* condition);
llvm::Value* AllOfWarp(Emitter& e, llvm::Value* condition);
// The value of the lane `distance` below (`up`) or above this one; its own where there is none.
llvm::Value* ShuffleBy(Emitter& e, llvm::Value* value, uint32_t distance, bool up);

// At the beginning of a block: what comes from one block or another, each register by the way that was taken; null where both are.
Registers Merged(Emitter& e, const Registers& x, llvm::BasicBlock* from_x, const Registers& y,
                 llvm::BasicBlock* from_y);

// Registers as shared memory holds them: i1 as i8, others as their bits. And back.
llvm::Value* ToMemory(Emitter& e, llvm::Value* v);
llvm::Value* FromMemory(Emitter& e, llvm::Value* bits, llvm::Type* type);
// Bytes of a register in shared memory.
int MemoryBytes(llvm::Type* type);
// Registers of one type that fill 32 bits (or fewer bits, the others zero), side by side, the first lowest: i32.
llvm::Value* PackWord(Emitter& e, Operands values);
// What PackWord put side by side, apart again.
Registers UnpackWord(Emitter& e, llvm::Value* word, size_t n, llvm::Type* type);

// Several registers of one type (a power of two, at most 16 bytes), neighbours in shared memory, in one access.
void StoreVector(Emitter& e, Operands values, llvm::Value* address);
Registers LoadVector(Emitter& e, llvm::Type* type, int n, llvm::Value* address);
// Address of an element in shared memory, from `base` on, if its number is the XOR of what lanes, warps and the register
// contribute. `bytes`: of an element.
llvm::Value* SharedPlace(Emitter& e, llvm::Value* base, absl::Span<const Mask> lanes, absl::Span<const Mask> warps,
                         Mask reg, int bytes);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_CONVERT_H_
