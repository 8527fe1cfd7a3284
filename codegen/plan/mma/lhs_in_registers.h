// Left operands that a loop does not change, of products that read stages: they are in shared memory for the loop (plan/mma/staged_mma.h), and in registers
// as far as there is room for them.
//
// m64nNk16 reads 2 KiB of its left operand and 32 N bytes of the right one in N / 2 cycles. Shared memory gives 128 bytes a cycle. 64
// columns take all of it; writes of TMA and reads by products of the other warpgroup come on top. Of 32 columns tensor cores would get two
// thirds of what they multiply. From registers the left operand costs nothing:
//
//   multiply {sums}, query in shared memory, keys      128 bytes a cycle (N = 64)
//   multiply {sums}, {four registers},       keys       64
//
// Each instruction along K has its own four registers, and reads either there or from memory; the result is the same.
//
// ptxas lays left operands that are made in an iteration over those that stay, as if nobody read these again (docs/gpu-faults.md), unless both
// live at once. Those of late products (plan/mma/cross_iteration_mma.h) live when what stays is read; behind the begin of other products what stays is read once
// more, by stores that are never done.
//
// Decided once, by passes/mma/keep_lhs_in_registers.h (Decision::kLhsInRegisters). Pure functions.
#ifndef TILE_CODEGEN_PLAN_MMA_LHS_IN_REGISTERS_H_
#define TILE_CODEGEN_PLAN_MMA_LHS_IN_REGISTERS_H_

#include <cstdint>
#include <vector>

#include "codegen/plan/schedule.h"
#include "ir/module.h"

namespace tile::codegen {

// Registers of a thread for the four words of an instruction's left operand.
inline constexpr int kWordsOfStep = 4;

struct LhsInRegisters {
  ir::Op* mma;
  int64_t steps;  // along K, the first ones: as many instructions for each 64 rows
};
// Of the products in a loop's body, with layouts: those that keep something.
std::vector<LhsInRegisters> LhsInRegistersIn(const Schedule& schedule, const ir::Op& loop);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_LHS_IN_REGISTERS_H_
