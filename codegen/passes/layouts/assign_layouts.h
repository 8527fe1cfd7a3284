// Gives every tile a layout: which thread holds which of its elements, in which register.
//
//   LayoutTable layouts;                       // owns them; must live as long as the function is used
//   AssignLayouts(plan, &module, function, &layouts);
//   LayoutOf(value->type());                   // null for scalars
//
// Afterwards every tile type of rank 1 and more has an encoding (a `const Layout*`; equal layouts are one pointer). The
// operands and the result of an elementwise operation have the same one. `convert_layout` operations
// (codegen/gpu/ops.def) are inserted where a value is needed in another layout than its own.
//
// How they are chosen, in two steps:
//   1. Loads through views decide (neighbouring threads take neighbouring memory, 16 bytes each), and mma (its
//      fragments). What was copied ahead is read in rows, or where a product wants it (copied_read.h). From there
//      layouts flow through elementwise operations, reductions (what is left when a dimension
//      goes), reshapes, permutations and carried values. Constants and iota decide nothing, and broadcasts only where nothing else of
//      the shape is decided, folded or multiplied: a row that lies in all threads brings each the same columns of every row.
//   2. What nobody decided gets rows over threads, 16 bytes each. Where a value is wanted in another layout, and it is
//      cheap to make again (constants, iota, broadcasts of small tiles, arithmetic on those), it is made again;
//      otherwise it is converted, right after its definition. An operand of mma.sync that stays the same in a loop is wanted as
//      fragments, so that they are there before it.
#ifndef TILE_CODEGEN_PASSES_LAYOUTS_ASSIGN_LAYOUTS_H_
#define TILE_CODEGEN_PASSES_LAYOUTS_ASSIGN_LAYOUTS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/tile_layout.h"
#include "ir/module.h"

namespace tile::codegen {

absl::Status AssignLayouts(const Schedule& plan, ir::Module* module, ir::Function* function, LayoutTable* layouts);
// The pass, with the schedule that was decided.
absl::Status AssignLayouts(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_LAYOUTS_ASSIGN_LAYOUTS_H_
