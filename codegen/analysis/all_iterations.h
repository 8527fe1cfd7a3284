// Loops of which every iteration comes to the end of its body: what one operation of the body begins, a later one may count on.
//
//   for … {                         for … {
//     if %done { continue … }         …
//     …                               continue …
//     continue …                    }
//   }                               all iterations end
//   some end early
#ifndef TILE_CODEGEN_ANALYSIS_ALL_ITERATIONS_H_
#define TILE_CODEGEN_ANALYSIS_ALL_ITERATIONS_H_

#include "ir/module.h"

namespace tile::codegen {

// Nothing but the last operation of the loop's body, a continue, leads on from an iteration, out of the loop or out of the kernel. (An
// assertion that fails does not count.) Pure.
bool AllIterationsEnd(const ir::Op& loop);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_ALL_ITERATIONS_H_
