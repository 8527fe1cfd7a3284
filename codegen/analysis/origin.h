// Where a value comes from. Pure.
//
//   if (IsZero(mma.acc())) …                       // sums begin with it
//   if (const Value* n = Assumed(v); IsParameter(n)) n->index()
#ifndef TILE_CODEGEN_ANALYSIS_ORIGIN_H_
#define TILE_CODEGEN_ANALYSIS_ORIGIN_H_

#include "ir/module.h"

namespace tile::codegen {

// A constant all of whose bits are 0.
bool IsZero(const ir::Value* v);

// What assumes are made about, once or more often; the value itself if none is.
const ir::Value* Assumed(const ir::Value* v);

// Of the kernel.
bool IsParameter(const ir::Value* v);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_ORIGIN_H_
