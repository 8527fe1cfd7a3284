// In which layout threads read a tile that was copied ahead, if elementwise operations bring it to a product, or to a product's result:
//
//   %x = copy_ahead { … }
//   %y = convert_layout %x              here: rows of the stage, or fragments of the product
//   %z = itof %y
//   %sum = mmaf …, %z, %acc             takes fragments
//
// Rows are read in wide vectors. What is made of them then changes threads, by shuffles or through shared memory again. In the product's layout
// pieces are narrower, and each warp that multiplies an element reads it and computes with it, but nothing moves behind that. The way is taken for
// which a warp issues less. Internal to codegen/passes. Pure.
#ifndef TILE_CODEGEN_PASSES_LAYOUTS_COPIED_READ_H_
#define TILE_CODEGEN_PASSES_LAYOUTS_COPIED_READ_H_

#include <optional>

#include "codegen/layout/layout.h"
#include "ir/module.h"

namespace tile::codegen {

// The product's layout, if it is cheaper to read than `rows`; nullopt: it is not, or something else is made of the tile, too.
// `read`: a convert_layout of what a copy_ahead brings.
std::optional<Layout> ProductLayoutOfRead(const ir::Op& read, const Layout& rows);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_LAYOUTS_COPIED_READ_H_
