// Operands of matrix instructions that the threads of a warp hold already: what another product gave, or a tile that was
// brought into fragments before a loop. Internal to codegen/emit.
#ifndef TILE_CODEGEN_EMIT_MMA_FRAGMENT_REGISTERS_H_
#define TILE_CODEGEN_EMIT_MMA_FRAGMENT_REGISTERS_H_

#include <memory>

#include "codegen/emit/context/fragment_source.h"

namespace tile::codegen {

// The value's fragments without shared memory or barriers, if registers or lanes only need to be renamed or exchanged; null
// if shared memory is needed or cheaper. `one_word`: the instruction's right operand is one word a thread.
std::unique_ptr<FragmentSource> FragmentsInRegisters(Emitter& e, const ir::Value* v, const Layout& fragment,
                                                     bool one_word = false);

// The same, through shared memory if need be: with barriers before it returns.
std::unique_ptr<FragmentSource> FragmentsBroughtToRegisters(Emitter& e, const ir::Value* v, const Layout& fragment,
                                                            bool one_word = false);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MMA_FRAGMENT_REGISTERS_H_
