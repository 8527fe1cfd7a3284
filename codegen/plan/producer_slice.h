// What of a program the producer of its loads needs (codegen/emit/pipeline/producer.cc): scalars and views that follow from parameters,
// block numbers and induction variables without reading memory, and the loops around fetch_ahead operations.
//
//   IsSliceable(value)        // the producer can compute it
//   DecideProducerOps(module, function);           // once: marks the operations that it executes (Decision::kByProducer)
//
// Pure functions, except the one that decides.
#ifndef TILE_CODEGEN_PLAN_PRODUCER_SLICE_H_
#define TILE_CODEGEN_PLAN_PRODUCER_SLICE_H_

#include "ir/module.h"

namespace tile::codegen {

bool IsSliceable(const ir::Value* v);
// The loop's bounds are sliceable, and it is in nothing but such loops.
bool IsSliceableLoop(const ir::Op& loop);
// Those in a fetch_ahead apart, which it executes all.
void DecideProducerOps(ir::Module* module, ir::Function* function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_PRODUCER_SLICE_H_
