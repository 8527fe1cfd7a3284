// What a sink needs to be done in slices: the slices of values, back to loads, constants and what is there whole.
// Internal to codegen/passes.
//
//   SliceCone cone(around, /*slices=*/8);
//   std::string why = cone.Add(store, /*dim=*/1);   // "": these can be made
//   cone.made(), cone.largest()
//
// Not thread-safe.
#ifndef TILE_CODEGEN_PASSES_SLICING_SLICE_CONE_H_
#define TILE_CODEGEN_PASSES_SLICING_SLICE_CONE_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/module.h"

namespace tile::codegen {

// A value and the dimension along which a slice of it is meant.
using SliceKey = std::pair<const ir::Value*, int>;

// Where slices are made.
struct SliceScope {
  const ir::Block* block = nullptr;                            // loads of other blocks are not done again
  const absl::flat_hash_set<const ir::Value*>* big = nullptr;  // tiles that should not be whole
  const absl::flat_hash_set<const ir::Op*>* sinks = nullptr;   // reductions whose results are there before
  int64_t limit = 0;                                           // registers that one tile may take, over all threads
  bool through_loops = false;                                  // a `for` may be done for each slice (slice_nest.h)
};

// What a `for` that is done for each slice carries, by number.
struct SliceNest {
  const ir::Op* loop = nullptr;
  std::map<int, int> dims;  // of tiles in slices: their dimension
  std::set<int> whole;      // scalars, and small tiles
};

// Slices go by: in any order, from the first on, from the last on.
enum class Turn : int8_t { kAny = 0, kForward = 1, kBackward = -1 };

class SliceCone {
 public:
  SliceCone(const SliceScope& scope, int64_t slices) : scope_(scope), slices_(slices) {}

  // The operands of a sink: of a store along dimension `dim` of its tile, of a reduce along its own, of a product
  // along K. What it says is
  // why not, and then the cone is of no use.
  std::string Add(const ir::Op& sink, int dim);

  int64_t slices() const { return slices_; }
  // Slices that are made, in order; and those that are cut out of values that stay whole.
  const std::vector<SliceKey>& made() const { return made_; }
  bool IsCut(const SliceKey& key) const { return cut_.contains(key); }
  Turn turn() const { return turn_; }
  // An access that is done once, slice by slice, at the sink; null: none.
  const ir::Op* once() const { return once_; }
  // Operations that are done in slices, with the dimension of their results.
  const absl::flat_hash_set<const ir::Op*>& ops() const { return ops_; }
  bool Makes(const SliceKey& key) const { return known_.contains(key); }
  // Loops that are done for each slice.
  const std::vector<SliceNest>& nests() const { return nests_; }
  const SliceNest* NestOf(const ir::Op& loop) const;  // null: it is none of them
  // Registers over all threads of the largest whole tile, and of those that are held at once: what is loaded,
  // accumulators.
  int64_t largest() const { return largest_; }
  int64_t held() const;
  int cost() const { return cost_; }  // what slices along this dimension do to memory accesses; less is better

 private:
  std::string Need(const ir::Value* v, int dim, int depth);
  std::string NeedOperands(const ir::Op& op, const std::vector<int>& dims, int depth);
  std::string Make(const ir::Value* v, int dim, int depth);
  // What a loop carries, inside of it or as its result.
  std::string MakeCarried(const ir::Op& loop, int number, int dim, int depth);
  // It is needed whole, and computed again for each slice if it stands in such a loop.
  std::string NeedWhole(const ir::Value* v);
  // The one in whose body it stands, among those that are done for each slice; null: none.
  SliceNest* NestAround(const ir::Value& v);
  std::string MakeScan(const ir::Op& scan, int dim);
  std::string MakeOnce(const ir::Op& access, int dim);
  // False: the slices go by the other way.
  bool GoBy(Turn turn);
  void CountAccess(const ir::Op& op, int dim);

  SliceScope scope_;
  int64_t slices_;
  const ir::Op* sink_ = nullptr;
  const ir::Op* once_ = nullptr;
  int once_dim_ = 0;
  Turn turn_ = Turn::kAny;
  int64_t accumulators_ = 0;
  absl::flat_hash_set<SliceKey> known_, cut_;
  std::vector<SliceKey> made_;
  std::vector<SliceNest> nests_;
  absl::flat_hash_set<const ir::Value*> whole_;  // of their bodies
  absl::flat_hash_set<const ir::Op*> ops_;
  int64_t largest_ = 0;
  int cost_ = 0;
};

// A matrix product without scales; a slice along K adds to the sums of those before.
bool IsPlainProduct(const ir::Op& op);

// Behind the access, up to the sink, nothing happens.
bool IsRightBefore(const ir::Op& access, const ir::Op& sink);

// Constants and what is spread from small tiles: no registers are held for them.
bool IsFreeTile(const ir::Value* v);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_SLICE_CONE_H_
