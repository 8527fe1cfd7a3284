// Layouts multiplied and divided. (Maps are composed, inverted and solved for in gf2.h.)
//
//   Layout instruction = …16x8…, repeat = …2x4 registers…, warps = …2x2 warps…;
//   Layout c = Product(Product(instruction, repeat), warps);    // of a 64x64 tile
//   Quotient(c, instruction);                                   // Product(repeat, warps)
#ifndef TILE_CODEGEN_LAYOUT_ALGEBRA_H_
#define TILE_CODEGEN_LAYOUT_ALGEBRA_H_

#include <optional>

#include "codegen/layout/gf2.h"
#include "codegen/layout/layout.h"

namespace tile::codegen {

// Tiles of `inner`, laid out as `outer` says: dimension k has the size inner[k] * outer[k], a coordinate is
// outer's * inner's size + inner's, and of each of the numbers of register, lane and warp the low bits are inner's.
Layout Product(const Layout& inner, const Layout& outer);
// The layout q with Product(inner, q) == l; nullopt when l is not made of such tiles in that order of bits.
std::optional<Layout> Quotient(const Layout& l, const Layout& inner);

// The lowest place of each element, as a map from offsets to Layout::Join of places. The layout is surjective.
Gf2Map Invert(const Layout& l);
// The lowest place of an element.
Place PlaceOf(const Layout& l, Mask offset);

// The layout of the elements renumbered by a map of their offsets: of shape [2^out_bits].
Layout Compose(const Gf2Map& renumber, const Layout& l);

// The layout of pairs: without this bit of an element's number, which only the lowest bit of the register's has; nullopt: it is another's, too.
std::optional<Layout> OfPairs(const Layout& layout, Mask bit);

// True when each place of `a` that `b` has too holds the same element, whatever their free bits do: both have the
// same lanes and warps, and registers of `b` are among the lowest of `a`.
bool Covers(const Layout& a, const Layout& b);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LAYOUT_ALGEBRA_H_
