// Writes one loop over slices. Internal to codegen/passes.
//
//   SliceLoop loop{.sinks = {{store, 0, &cone}}, .slices = 8};
//   WriteLoop(module, &loop, waits);
//   loop.done                            // a token after it
//
// The loop precedes its last sink. Results of reductions that end in it replace those of the sinks; the sinks
// themselves stay, for their owner to erase.
#ifndef TILE_CODEGEN_PASSES_SLICING_SLICE_LOOP_H_
#define TILE_CODEGEN_PASSES_SLICING_SLICE_LOOP_H_

#include <functional>
#include <utility>
#include <vector>

#include "codegen/passes/slicing/slice_cone.h"

namespace tile::codegen {

// A store, an update, a reduce, or a matrix product along K, that is done in slices.
struct SliceSink {
  ir::Op* op = nullptr;
  int dim = 0;  // of the tile that is stored, reduced, or the left factor
  SliceCone* cone = nullptr;
  // Memory is written, or updated.
  bool is_store() const { return op->opcode() != ir::Opcode::kReduce && !IsPlainProduct(*op); }
};

struct SliceLoop {
  std::vector<SliceSink> sinks;  // in order of the text; all have as many slices
  int64_t slices = 0;
  ir::Value* done = nullptr;  // a token after its accesses, once it is written

  ir::Op* place() const { return sinks.back().op; }
  Turn turn() const;
};

// The loads that the loop does, with the dimension of their slices.
std::vector<std::pair<const ir::Op*, int>> LoadsOf(const SliceLoop& loop);

// `waits`: whether the store must come after the load, which is done in the same loop, too. `before`: tokens of earlier
// loops that the store must come after.
struct SliceWaits {
  std::function<bool(const ir::Op& store, const ir::Op& load)> waits;
  std::function<std::vector<ir::Value*>(const ir::Op& store)> before;
};

void WriteLoop(ir::Module* module, SliceLoop* loop, const SliceWaits& waits);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_SLICE_LOOP_H_
