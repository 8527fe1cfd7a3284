// What is known of a value because it is a constant. Pure.
//
//   if (IsZero(mma.acc())) …   // sums begin with it
#ifndef TILE_CODEGEN_ANALYSIS_CONSTANTS_H_
#define TILE_CODEGEN_ANALYSIS_CONSTANTS_H_

#include "ir/module.h"

namespace tile::codegen {

// A constant all of whose bits are 0.
bool IsZero(const ir::Value* v);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_CONSTANTS_H_
