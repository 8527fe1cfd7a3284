// The part of a program that one role of a block runs: a copy of its operations and control flow. Derived classes
// (worker_role.h, producer_role.h) define the role's code for a fetch_ahead and the loop around it.
//
//   WorkerRole workers(rings, *function, layouts);
//   workers.Begin(b, /*phase=*/0);
//   workers.CopyBlock(b, *function->body());      // at the end of the builder's block
//
// The positions of the role in the rings are values. Control flow around the loop of a ring passes them on: loops carry
// them, an if yields them.
#ifndef TILE_CODEGEN_PASSES_EXPAND_ROLE_COPY_H_
#define TILE_CODEGEN_PASSES_EXPAND_ROLE_COPY_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "codegen/passes/expand/fetch_ring.h"
#include "codegen/plan/mma/stored_operands.h"
#include "codegen/plan/tile_layout.h"
#include "ir/create_like.h"
#include "ir/op_views.h"

namespace tile::codegen {

class RoleCopy {
 public:
  // `layouts` is that of the program, or null for a role without products.
  RoleCopy(const std::vector<FetchRing>& rings, const ir::Function& function, LayoutTable* layouts = nullptr);
  virtual ~RoleCopy() = default;

  // Makes the first positions of the role.
  void Begin(ir::Builder& b, int64_t phase);
  std::vector<RingPosition>& positions() { return positions_; }
  // All positions, as values that an operation carries, and back.
  ir::ops::Values FlatPositions() const;
  void SetPositions(absl::Span<ir::Value* const> flat);

  // Copies the block without the return that ends the body of a function.
  void CopyBlock(ir::Builder& b, const ir::Block& from);

 protected:
  // The role runs the operation; it has the value, which control flow passes on.
  virtual bool Runs(const ir::Op& op) const = 0;
  virtual bool Has(const ir::Value* v) const = 0;
  // Called before the copy of each operation, also of one that the role does not run.
  virtual void Before(ir::Builder& /*b*/, const ir::Op& /*op*/) {}
  // Copies an operation that is neither control flow nor a fetch.
  virtual void CopyOther(ir::Builder& b, const ir::Op& op);
  virtual void CopyFetchLoop(ir::Builder& b, const ir::ForOp& loop, size_t ring) = 0;
  // Copies the fetch, in the copy of the loop's body.
  virtual void CopyFetch(ir::Builder& b, const ir::Op& fetch, size_t ring) = 0;
  // Ends an iteration, before a continue of the loop of this ring. Returns additional values for the continue.
  virtual ir::ops::Values EndIteration(ir::Builder& b, const ir::Op& loop, size_t ring) = 0;

  // Waits until all copies of the ring have ended, if an earlier execution of its loop may have started some.
  virtual void AwaitLoads(ir::Builder& /*b*/, size_t /*ring*/) {}

  // Copies the computations of the fetch's region for its loads, with `index` as the loop's induction variable. `load`
  // copies a tile.
  void CopyLoads(ir::Builder& b, const ir::Op& fetch, ir::Value* index, const std::function<void(const ir::Op&)>& load);
  // In an elect: copies the tile of result i by TMA to its slot of this stage. The stage's barrier among `barriers`
  // counts its bytes.
  void LoadTile(ir::Builder& b, size_t ring, size_t i, ir::Value* stage, ir::Value* barriers);
  // Result i of the fetch, in the stage at which the role is.
  void StageTile(ir::Builder& b, const ir::Op& fetch, size_t ring, int i);
  // Before the loop, one warp makes the kernel's own descriptors, unless they already describe these tensors.
  void MakeTensorMaps(ir::Builder& b, size_t ring);

  // The product with these operands, without the decisions that are written out as operations.
  ir::Op* CopyProduct(ir::Builder& b, const ir::Op& mma, const ir::ops::Values& operands, bool async);
  // Before a loop: operands of its products that it does not change are stored (stored_operands.cc).
  void StoreBefore(ir::Builder& b, const ir::Op& loop);
  // A product whose other operands are stored directly before it.
  void MultiplyStored(ir::Builder& b, const ir::Op& mma);

  LayoutTable* layouts() const { return layouts_; }
  const FetchRing& ring(size_t i) const { return rings_[i]; }
  ir::Value* Of(ir::Value* v) const;
  ir::ops::Values Of(absl::Span<ir::Value* const> values) const;
  void Set(const ir::Value* old, ir::Value* copy);
  ir::ValueMap& values() { return values_; }
  // A copy of the loop that also carries `more`, with an empty body. Returns the body's arguments for `more`.
  ir::ops::Values BeginFor(ir::Builder& b, const ir::ForOp& loop, const ir::ops::Values& more, ir::Op** copy);

 private:
  using Rings = std::vector<size_t>;

  ir::Value* ViewBefore(ir::Builder& b, const ir::Op& load);
  void CopyControl(ir::Builder& b, const ir::Op& op);
  void CopyRegions(ir::Builder& b, const ir::Op& op, ir::Op* copy, const Rings& inside);
  void CopyBranch(ir::Builder& b, const ir::Op& branch);
  const Rings& RingsIn(const ir::Op& op) const;
  void AddPositions(const Rings& of, ir::ops::Values* values) const;

  const std::vector<FetchRing>& rings_;
  absl::flat_hash_map<const ir::Op*, Rings> rings_in_;        // of control flow
  absl::flat_hash_map<const ir::Op*, size_t> ring_of_fetch_;  // by the fetch_ahead, and the loop around it
  std::vector<RingPosition> positions_;
  LayoutTable* const layouts_;
  // A tile that threads have stored for products of a block or loop: its address and layout, and whether it was permuted.
  struct StoredTiles {
    ir::Value* address = nullptr;
    StagedTile tile;
    bool turned = false;
  };
  // Stores the tile, which is `copy` in the role.
  StoredTiles Store(ir::Builder& b, const StoredOperand& operand, ir::Value* copy);
  absl::flat_hash_map<std::pair<const ir::Value*, const ir::Block*>, StoredTiles> stored_;
  absl::flat_hash_map<std::pair<const ir::Value*, const ir::Op*>, StoredTiles> stored_before_;  // by loop
  ir::ValueMap values_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_ROLE_COPY_H_
