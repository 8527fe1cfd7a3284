// Marks the products that are done an iteration late, where that is possible and pays (codegen/plan/late_products.h), those of which left operands
// stay in registers (codegen/plan/kept_lhs.h), greatest numbers that may be taken as integers (codegen/plan/carried_maximum.h), and multiplications that
// a warp leaves out (codegen/plan/row_factors.h), with the products behind them that go in steps (codegen/llvm/order_steps.h): where they stand between the wait for a late product and the next one, or a block has
// one warpgroup. Two warpgroups without turns synchronise when one of them skips, and lose their overlap (attention in bf16, heads of 128,
// 128 x 64: 1040 us, 1109 to 1172 where that was all).
//
//   ChooseLate(target, schedule, &module, function, trace);
//
// With layouts, which may have put conversions around products. Before and after:
//   %next = mmaf %weight, %value, %less {instruction = "wgmma", …}
//   %next = mmaf %weight, %value, %less {instruction = "wgmma", …, late}
#ifndef TILE_CODEGEN_PASSES_CHOOSE_LATE_H_
#define TILE_CODEGEN_PASSES_CHOOSE_LATE_H_

#include "codegen/plan/schedule.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

// The trace may be null.
void ChooseLate(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function,
                Trace* trace);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CHOOSE_LATE_H_
