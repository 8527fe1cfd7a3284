// When a block does the work of several neighbours along one dimension of the grid, its tiles grow. This finds all of
// them: loads and stores that have the place in the grid as an index, and all tiles computed from them. Internal to
// codegen/passes.
//
//   CoarsenedTiles growth(module, function, /*grid_dim=*/0, CoarsenedTiles::Place::kIndices);
//   if (growth.CanGrow() && growth.Of(mma) == 0) growth.Grow(/*factor=*/2);
//
// With Place::kAny the place may also be in numbers, of two blocks that become one (passes/grid/coarsen_by_rows.h says how).
#ifndef TILE_CODEGEN_PASSES_GRID_COARSENED_TILES_H_
#define TILE_CODEGEN_PASSES_GRID_COARSENED_TILES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/loops.h"
#include "ir/module.h"

namespace tile::codegen {

class CoarsenedTiles {
 public:
  enum class Place : uint8_t { kIndices, kAny };

  CoarsenedTiles(ir::Module* module, ir::Function* function, int grid_dim, Place place)
      : module_(module), function_(function), grid_dim_(grid_dim), place_(place) {}

  bool CanGrow();
  // Along which of its result's dimensions the product grows; -1: it does not.
  int Of(const ir::Op& mma) const { return DimOf(mma.result(0)); }
  int DimOf(const ir::Value* v) const;
  void Grow(int64_t factor);

  // Where the place is in numbers, in the order of the program: what computes them; broadcasts of them to tiles that grow; branches and loops
  // that depend on them.
  const std::vector<ir::Op*>& numbers() const { return numbers_; }
  const std::vector<ir::Op*>& seams() const { return seams_; }
  const std::vector<ir::Op*>& branches() const { return branches_; }
  const std::vector<ir::Op*>& loops() const { return loops_; }
  bool IsNumber(const ir::Value* v) const { return places_.contains(v); }
  // The place itself.
  ir::Value* place() const { return id_; }

 private:
  bool FindAccesses();
  bool AddAccess(ir::Op* op, const ir::Value* id);
  bool StoresNeed();
  bool Need(ir::Value* v, int dim);
  bool NeedCarried(const ir::CarryingLoop& loop, int i, int dim);
  bool NeedYielded(const ir::Op& branch, int i, int dim);
  bool LoadsAreNeeded() const;
  bool UsersGrow() const;
  bool Takes(const ir::Op& user, int i) const;
  bool FindNumbers();
  bool AddNumber(ir::Value* v);
  bool AddUse(ir::Op* user, int i);
  bool BranchesAreSimple() const;
  bool LoopsAreSimple() const;
  bool HasOwnFor(const ir::Value* v) const;
  void GrowForUsers(ir::Value* v, ir::Type type, int64_t factor);

  ir::Module* module_;
  ir::Function* function_;
  const int grid_dim_;
  const Place place_;
  ir::Value* id_ = nullptr;
  std::vector<ir::Op*> stores_;
  absl::flat_hash_map<ir::Op*, int> accesses_;       // that the place is an index of, and which
  absl::flat_hash_map<const ir::Value*, int> dims_;  // along which what grows does
  std::vector<ir::Value*> made_;                     // the same values, in a certain order
  absl::flat_hash_set<const ir::Value*> places_;     // numbers that the place is in
  absl::flat_hash_set<const ir::Op*> uses_;          // operations that take them
  std::vector<ir::Op*> numbers_, seams_, branches_, loops_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_GRID_COARSENED_TILES_H_
