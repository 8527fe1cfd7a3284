// Loops around which the program asks whether they have an iteration:
//
//   %runs = cmpi less_than %a, %b, signed
//   if %runs { for %i in (%a to %b, step %c) { … } … }
#ifndef TILE_CODEGEN_ANALYSIS_GUARDED_LOOP_H_
#define TILE_CODEGEN_ANALYSIS_GUARDED_LOOP_H_

#include "ir/module.h"

namespace tile::codegen {

// The operation is a for that is run only where it has an iteration.
bool IsGuarded(const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_GUARDED_LOOP_H_
