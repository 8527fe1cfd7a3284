// How often loops run.
#ifndef TILE_CODEGEN_ANALYSIS_ITERATIONS_H_
#define TILE_CODEGEN_ANALYSIS_ITERATIONS_H_

#include "ir/module.h"

namespace tile::codegen {

// The iterations of a loop whose bounds and step are constants; 0: it has none, or is no such loop.
int64_t IterationsOf(const ir::Op& loop);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_ITERATIONS_H_
