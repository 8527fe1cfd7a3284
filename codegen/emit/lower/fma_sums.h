// What a loop of products by fma leaves to a store: its sums, moved to other registers.
//
// Elements that one instruction stores are in registers that follow each other. The assembler would keep the sums in those all through the loop,
// where an fma reads a sum and the element of the right operand of the same column. Those come by vector loads, so both would have the same place
// among four registers and be in the same of the two banks, each of which gives one register a cycle: two cycles an instruction. An addition
// between the loop and the store leaves the assembler free to choose (4096^3, H100: 2829 us, 2743 so; cuBLAS 2669).
#ifndef TILE_CODEGEN_EMIT_LOWER_FMA_SUMS_H_
#define TILE_CODEGEN_EMIT_LOWER_FMA_SUMS_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// The loop's carried value `i` is a sum in f32 of products by fma that somebody stores as it is.
bool LeavesFmaSums(const ir::Op& loop, int i);

// Those sums, in other registers; bit for bit what they were, as fma gives just one NaN.
Registers InOtherRegisters(Emitter& e, const Registers& sums);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_FMA_SUMS_H_
