// Tiles that must live whole and exceed the registers go to memory, so that what makes them and what needs them can be
// done in slices (slice.h): shared memory while that lasts, else the block's workspace. Internal to codegen/passes.
//
//   TileSpiller keeper(options, module, function);
//   keeper.Prepare();     // before slicing
//   keeper.KeepBlocked(loads);        // after it: what cannot be loaded again, as a store may have overwritten it; then slice again
//   keeper.KeepRest(/*all=*/false);   // what is still too large, of what is loaded; then slice again
//
// Before:                                                  After:
//   %old, %t = atomic_rmw_tko … %p, add, %x                  %m = alloca …
//   … %old …                                                 %old, %t = atomic_rmw_tko … %p, add, %x
//                                                            %kept = store_view_tko weak %old, %m.view[0]
//                                                            %again, %u = load_view_tko weak %m.view[0] token = %kept
//                                                            … %again …
//
// In a loop the memory is made in the loop, so that it may be the same in each iteration: the emitter waits there until no thread uses
// it any more. (Tile code has alloc_shared at the top level only; TileCodeOf moves it there.)
//
// Prepare keeps what is given once (old values of updates, loads that others may see), and does in memory what moves
// elements anywhere: cat, extract, insert, pack, unpack. What only says where memory is accessed is computed again where it is needed,
// and never kept. --remarks tells of each tile.
#ifndef TILE_CODEGEN_PASSES_SLICING_SPILL_TILES_H_
#define TILE_CODEGEN_PASSES_SLICING_SPILL_TILES_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "codegen/trace/trace.h"
#include "ir/ops.h"

namespace tile::codegen {

struct KeepOptions {
  int64_t limit = 0;         // tiles of more registers of 32 bits, over all threads, are too large
  int64_t registers = 0;     // that all threads have for tiles: what fits is not kept elsewhere
  int64_t shared_bytes = 0;  // of shared memory that may be taken
};

class TileSpiller {
 public:
  TileSpiller(const KeepOptions& options, ir::Module* module, ir::Function* function, Trace* trace);

  // All say whether anything was changed.
  bool Prepare();
  // Unless registers hold all tiles that live at once.
  bool KeepBlocked(absl::Span<ir::Op* const> loads);
  bool KeepRest(bool all);

 private:
  bool IsLarge(const ir::Value* v) const;
  // Slicing what it takes part in would not help.
  bool IsTied(const ir::Value* v) const;
  bool Keep(ir::Value* v, bool must = false);
  bool DoInMemory(ir::Op* op);
  // Memory for a tile, as a tensor of this shape; null: there is none. `must`: it can't stay in registers.
  ir::Value* Memory(ir::Builder& b, ir::Elem elem, absl::Span<const int64_t> shape, bool must);
  void Remark(const ir::Op& op, const ir::Type& type, absl::string_view where);

  const KeepOptions options_;
  ir::Module* module_;
  ir::Function* function_;
  Trace* trace_;
  int64_t shared_left_;
  bool in_shared_ = false;                             // the last memory
  absl::flat_hash_set<const ir::Value*> from_memory_;  // tiles that are read from it
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_SPILL_TILES_H_
