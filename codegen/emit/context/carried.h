// Values that control flow joins, as phis: what loops carry, and results of branches. Elements of 8 and 16 bits lie four and two in a word there, so
// that a tile that is loaded an iteration early takes a quarter or half of the registers. It is loaded and converted as words anyway.
//
//   std::vector<llvm::PHINode*> phis = NewPhis(e, type);   // at the insertion point
//   e.Set(v, RegistersOf(e, phis, type));                  // behind the last phi of the block
//   AddIncoming(e, {phis}, {value});                       // from the block of the insertion point
#ifndef TILE_CODEGEN_EMIT_CONTEXT_CARRIED_H_
#define TILE_CODEGEN_EMIT_CONTEXT_CARRIED_H_

#include <vector>

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// One for each register, or for each word. Tokens have none.
std::vector<llvm::PHINode*> NewPhis(Emitter& e, ir::Type t);
// The registers of a value of the type that comes as these: phis, or what they take.
Registers RegistersOf(Emitter& e, const Registers& words, ir::Type t);
// What the phis of a value take from where it is known.
Registers WordsOf(Emitter& e, const ir::Value* v);
void AddIncoming(Emitter& e, const Phis& phis, absl::Span<ir::Value* const> values);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_CARRIED_H_
