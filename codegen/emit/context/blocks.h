// Which tile block is being worked on, and its cluster.
//
//   e.blocks().Id(0)             // i32
//
// Not thread-safe.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_BLOCKS_H_
#define TILE_CODEGEN_EMIT_CONTEXT_BLOCKS_H_

#include <array>

#include "llvm/IR/Value.h"

namespace tile::codegen {

class Emitter;

class Blocks {
 public:
  explicit Blocks(Emitter& e) : e_(e) {}

  // Place of the tile block in the grid (i32): the hardware's, or in another order if the schedule says so.
  llvm::Value* Id(int dim);
  // Size of that grid (i32): of the launch's where no tile blocks are joined.
  llvm::Value* Count(int dim);
  // The same for all dimensions.
  using Ids = std::array<llvm::Value*, 3>;
  // Of hardware block number `i` (and its place along z; null: `i` counts along z, too), at the insertion point. Takes divisions.
  Ids Place(llvm::Value* i, llvm::Value* z);
  void set_ids(const Ids& ids) { ids_ = ids; }
  // The place of the first tile block of a hardware block, in a persistent grid.
  const Ids& first() const { return first_; }
  void set_first(const Ids& ids) { first_ = ids; }

  // Blocks of the cluster: how many there are (1, 2), which this one is (i32).
  llvm::Value* ClusterSize();
  llvm::Value* ClusterRank();

 private:
  void SortByWork();

  Emitter& e_;
  Ids ids_ = {}, first_ = {};
  llvm::Value *cluster_size_ = nullptr, *cluster_rank_ = nullptr;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_BLOCKS_H_
