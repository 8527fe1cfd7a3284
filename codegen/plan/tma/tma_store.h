// Stores of whole tiles by TMA: every warp puts its part of the tile into shared memory, box by box, as the hardware
// reads it with a swizzle, and one of its lanes starts the copies. The warp waits for neither the others nor memory.
//
//   if (auto plan = PlanTmaStore(store, layout)) Decide(module, store, *plan, number);   // once, where layouts are assigned
//   const TmaStore s = TmaStoreOf(store, layout);                                        // from then on
//   for (Mask box : s.boxes) registers r with (RegisterPart(r) & s.between) == box go into one box,
//                             to s.map.Apply(…) elements behind its begin
//
// A store can be done so if it is weak, nothing waits for its token but itself (codegen/analysis/store_order.h), the host can describe
// its tensor, and each warp holds whole rows of boxes. It should if its own instructions would write short runs of bytes: of the results of a
// product in 32 bits 32, in 16 bits 16. Pure functions, except Decide.
#ifndef TILE_CODEGEN_PLAN_TMA_TMA_STORE_H_
#define TILE_CODEGEN_PLAN_TMA_TMA_STORE_H_

#include <optional>

#include "codegen/layout/layout.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tma/tensor_map.h"

namespace tile::codegen {

// Boxes of a warp that may be on their way at the same time.
inline constexpr int kTmaStoreBoxes = 2;

struct TmaStore {
  StagedTile box;        // what one copy takes; `load` is the store
  Gf2Map map;            // from an offset in the tile to the element's number in its box
  Mask between = 0;      // bits of the offset that tell a warp's boxes apart
  Masks boxes;           // all values of those bits
  bool ordered = false;  // a token orders it after other accesses
  bool repeats = false;  // a token orders it after its own copies of before

  // That a warp needs, at a multiple of 1024.
  int64_t warp_bytes() const {
    return box.chunk_bytes() * std::min<int64_t>(kTmaStoreBoxes, static_cast<int64_t>(boxes.size()));
  }
};

// The dimension of a view's tile along which memory is contiguous; the last one if none is known to be.
int FastestDim(ir::Type view);
// Shared memory that the store may take, whatever the layout; 0: it does not go by TMA.
int64_t TmaStoreBytes(const ir::Op& store, int num_warps);
std::optional<TmaStore> PlanTmaStore(const ir::Op& store, const Layout& layout);

// The store goes by TMA, with the descriptor of this number.
void Decide(ir::Module* module, ir::Op* store, const TmaStore& plan, int tensor_map);
// Of a store about which was decided so, with the layout that its tile has.
TmaStore TmaStoreOf(const ir::Op& store, const Layout& layout);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_TMA_TMA_STORE_H_
