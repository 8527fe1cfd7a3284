// Marks the products that are done an iteration late, where that is possible and pays (codegen/plan/mma/cross_iteration_mma.h), those of which left operands
// stay in registers (codegen/plan/mma/lhs_in_registers.h), greatest numbers that may be taken as integers (codegen/plan/mma/integer_max.h), and multiplications that
// a warp leaves out (codegen/plan/mma/lazy_rescale.h), with the products behind them that go in steps (codegen/llvm/order_steps.h): where they stand between the wait for a late product and the next one, or a block has
// one warpgroup. Two that are not kept in turn by anything fall into step when one of them skips (attention in bf16, heads of 128,
// 128 x 64: 1040 us, 1109 to 1172 where that was all).
//
//   ChooseLate(target, schedule, &module, function, trace);
//
// With layouts, which may have put conversions around products. Before and after:
//   %next = mmaf %weight, %value, %less {instruction = "wgmma", …}
//   %next = mmaf %weight, %value, %less {instruction = "wgmma", …, late}
#ifndef TILE_CODEGEN_PASSES_MMA_CHOOSE_LATE_H_
#define TILE_CODEGEN_PASSES_MMA_CHOOSE_LATE_H_

#include "codegen/plan/schedule.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

// The trace may be null.
void ChooseLate(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function,
                Trace* trace);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MMA_CHOOSE_LATE_H_
