// Branches in the body of a reduction, of which tile code has none: both arms are computed, and one of what they give is chosen.
//
//   %r = if %c { yield %x } else { yield %y }       →       %r = select %c, %x, %y
//
// Internal to ir/ttir.
#ifndef TILE_IR_TTIR_CHOOSE_ARMS_H_
#define TILE_IR_TTIR_CHOOSE_ARMS_H_

#include "ir/module.h"

namespace tile::ir::ttir {

// Every `if` of the block, inner ones first. Those stay whose arms have loops, or divide integers, which not every divisor allows.
void ChooseArms(Module* module, Block* block);

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_CHOOSE_ARMS_H_
