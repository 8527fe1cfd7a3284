// Rows that a loop holds in registers beside the tiles that it walks over, and the layout of such a tile by which both fit.
//
//   %w, %b: 1 x 4096, from before the loop       for … { %x = load 8 x 4096; … %x * broadcast %w + broadcast %b }
//
// A warp that has one row of %x needs as many elements of %w as of %x: of 16 warps, two to a row, each thread holds 64 of %x, of %w and of %b, which
// spills. Eight warps to a row hold 64, 16 and 16; a sum of a row then goes through more warps. So rows go to warps as far as registers do.
#ifndef TILE_CODEGEN_PLAN_LOOP_INVARIANT_ROWS_H_
#define TILE_CODEGEN_PLAN_LOOP_INVARIANT_ROWS_H_

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "codegen/layout/layout.h"
#include "ir/module.h"

namespace tile::codegen {

class LoopInvariantRows {
 public:
  // Of the loops of this block that multiply no matrices.
  void Note(ir::Block* body);

  // The layout of a tile of this shape with contiguous rows, loaded in vectors of so many elements. nullopt: rows need no more than
  // Layout::Default gives them.
  std::optional<Layout> LayoutFor(absl::Span<const int64_t> shape, int num_warps, int vector) const;

  // Registers of a thread for the rows that meet such a tile in this layout.
  int64_t RegistersBeside(absl::Span<const int64_t> shape, const Layout& layout) const;

 private:
  void NoteLoop(const ir::Op* loop);

  // By shape of the tile: the rows that meet it.
  absl::flat_hash_map<Shape, absl::flat_hash_set<const ir::Value*>> rows_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_LOOP_INVARIANT_ROWS_H_
