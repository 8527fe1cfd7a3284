// Parts of a tile that registers of a thread hold by themselves: to take one out, or to put two together, moves nothing.
//
//   std::optional<RegisterParts> parts = RegisterParts::Of(whole, {16, 1});       // of a 16x2 tile
//   parts->layout()                        // of a part; null option: lanes or warps hold different parts
//   parts->RegisterOf(r, {0, 1})           // of the tile, which holds register r of part (0, 1)
//
//   Layout whole = WithHalves(half, /*dim=*/1);     // which Of() takes apart again
//
// Values; thread-safe as those are.
#ifndef TILE_CODEGEN_LAYOUT_REGISTER_PARTS_H_
#define TILE_CODEGEN_LAYOUT_REGISTER_PARTS_H_

#include <optional>

#include "codegen/layout/layout.h"

namespace tile::codegen {

class RegisterParts {
 public:
  // `part`: sizes that divide those of the tile. Nullopt unless each bit that says in which part an element lies is the basis of one register bit, alone.
  static std::optional<RegisterParts> Of(const Layout& whole, absl::Span<const int64_t> part);

  const Layout& layout() const { return part_; }
  // `which`: the part's number along each dimension.
  int RegisterOf(int r, absl::Span<const int64_t> which) const;

 private:
  Layout whole_, part_;
  Mask choosing_ = 0;  // bits of the register's number
};

// Of a tile with twice as many elements along the dimension, halves of this layout. Registers stay in the order of their offsets, so that neighbours
// in memory stay neighbours.
Layout WithHalves(const Layout& half, int dim);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LAYOUT_REGISTER_PARTS_H_
