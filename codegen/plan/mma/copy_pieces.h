// Rings whose unit is not a stage, all that an iteration multiplies, but a piece of an operand. Where shared memory does not hold two
// stages, pieces of later products, and of the next iteration, are on their way while those before them are multiplied:
//
//   for %i … {                                            for %i … {
//     %k, %v = copy_ahead …   // 128x512, 512x128           for each 64 of 512: wait for a piece of %k, copy one ahead, multiply it by its part of %q
//     %s = mmaf %k, %q, %zero                                …
//     …                                                      for each 64 of 512 rows: wait for a piece of %v, copy one ahead,
//     %o1 = mmaf %v, %p, %o                                                           multiply it, which gives 64 rows of %o1
//   }                                                     }
//
// Products that read shared memory take operands whole, which are pieces then: where there are just two stages, each operand's place is filled again when its
// product is done, not when all of the iteration are.
//
// A piece is one chunk of a tile or several (plan/staging/staging.h): along K or along the result's rows or columns, whichever lies in memory
// contiguously. Of an element of the result, sums come in the same order. Decided for the copy_ahead (Decision::kPieceBytes), with the
// schedule; Schedule::stages then counts pieces. Pure functions.
#ifndef TILE_CODEGEN_PLAN_MMA_COPY_PIECES_H_
#define TILE_CODEGEN_PLAN_MMA_COPY_PIECES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

// Of a ring of pieces in `room` bytes for each of these copy_ahead, one after another, whose stages are decided. bytes = 0: there can be none.
struct PieceRing {
  int64_t bytes = 0;  // of a piece
  int pieces = 0;
};
// How many whole operands there must be: more than two iterations have, as many, more than one has.
enum class WholePieces : uint8_t { kMoreThanTwo, kTwo, kMoreThanOne };
// `from_stages`: which of their products read operands from shared memory.
PieceRing PlanPieces(const Target& target, int num_warps, const std::vector<const ir::Op*>& copies, int64_t room,
                     const std::function<bool(const ir::Op&)>& from_stages,
                     WholePieces least = WholePieces::kMoreThanTwo);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_COPY_PIECES_H_
