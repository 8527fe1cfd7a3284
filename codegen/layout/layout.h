// A layout says which element of a tile every register of every lane of every warp holds.
//
// All tile shapes are powers of two, and so are the counts of registers, lanes and warps. An element's place is then
// the sum (XOR) of contributions of the single bits of the register, lane and warp numbers: a linear map over GF(2).
// A layout is the tile's shape and, for every bit of those numbers, its **basis**: the offset in the row-major tile
// that the bit contributes. The offset's bits are the coordinates' bits one after another; the last dimension has the
// lowest ones. Example: Layout::Blocked({4, 16}, /*elements=*/{1, 2}, /*lanes=*/{4, 8}, /*warps=*/{1, 1}, {1, 0}),
// the accumulator of a matrix instruction if it had four rows:
//
//   offset bits    5 4 | 3 2 1 0         element (1, 5) is at offset 21 = 01'0101.
//                  row   column
//   register bit 0   00'0001             column 1: a register pair is adjacent
//   lane bits 0-2    00'0010 00'0100 00'1000    columns 2, 4, 8
//   lane bits 3-4    01'0000 10'0000     rows 1, 2
//
//          columns 0 1   2 3   4 5   …  14 15
//   row 0       |lane 0|lane 1|lane 2|…|lane 7 |     register 1 of lane 10 = 0b01010: 00'0001 ^ 00'0100 ^ 01'0000
//   row 1       |lane 8|lane 9|lane10|…|lane 15|     = 01'0101: element (1, 5).
//
// Special cases elsewhere are algebra here. Slicing a dimension away clears its bits, a reshape changes only the shape,
// a transposition moves bits, a basis of zero is a replica. A conversion between two layouts is the solution of one
// equation (conversion.h). Swizzled shared memory is one more linear map (shared.h).
//
// A layout is **surjective** when the threads together hold every element (all layouts of values must be) and
// **injective** when they hold each once. Surplus threads hold replicas: FreeMask says which bits to test for zero
// to have every element once, as a store or a reduction must.
//
// A value: copy, compare and hash it. Thread-safe as values are. Offsets, registers, lanes and warps are numbers from
// 0; sizes are counts. Shapes are of powers of two with at most 2^48 elements; what breaks a precondition is a
// compiler bug and asserts. For clusters, a dimension of blocks would be one more value of In.
#ifndef TILE_CODEGEN_LAYOUT_LAYOUT_H_
#define TILE_CODEGEN_LAYOUT_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "codegen/layout/gf2.h"

namespace tile::codegen {

enum class In : uint8_t { kRegister, kLane, kWarp };
inline constexpr int kNumIns = 3;
inline constexpr In kIns[kNumIns] = {In::kRegister, In::kLane, In::kWarp};

using Shape = absl::InlinedVector<int64_t, 4>;

// Where an element is.
struct Place {
  uint32_t reg = 0;
  uint32_t lane = 0;
  uint32_t warp = 0;
  friend bool operator==(const Place& a, const Place& b) {
    return a.reg == b.reg && a.lane == b.lane && a.warp == b.warp;
  }
};

class Layout {
 public:
  // A tile of one element, in one register of one lane.
  Layout() = default;
  static Layout FromBases(Shape shape, Masks registers, Masks lanes, Masks warps);

  // A thread holds a block of elements[d] in dimension d (at most the tile's size), a warp's lanes tile lanes[d] such
  // blocks, the warps warps[d] of those. `order` lists the dimensions, the one in which neighbours come first. A
  // larger tile repeats the whole in further registers, a smaller one is replicated in the threads beyond it.
  static Layout Blocked(absl::Span<const int64_t> shape, absl::Span<const int64_t> elements,
                        absl::Span<const int64_t> lanes, absl::Span<const int64_t> warps, absl::Span<const int> order);
  // For row-major memory. A thread holds `vector` neighbours of the last dimension, or fewer if threads would otherwise
  // have no element. Lanes fill the last dimension first, warps the first dimensions. So neighbouring rows are in one
  // warp, and a row is in as few warps as possible.
  static Layout Default(absl::Span<const int64_t> shape, int num_warps, int vector);
  // Everything in every thread: what a scalar or a small table is.
  static Layout Replicated(absl::Span<const int64_t> shape, int num_warps);

  absl::Span<const int64_t> shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t elements() const { return int64_t{1} << offset_bits(); }
  // Bits of an offset, of a coordinate, and below a coordinate in the offset.
  int offset_bits() const;
  int dim_bits(int dim) const { return __builtin_ctzll(static_cast<uint64_t>(shape_[dim])); }
  int dim_shift(int dim) const;
  // The offset's bits that are those of the coordinate.
  Mask DimMask(int dim) const { return ((Mask{1} << dim_bits(dim)) - 1) << dim_shift(dim); }

  const Masks& bases(In in) const { return bases_[static_cast<int>(in)]; }
  int bits(In in) const { return static_cast<int>(bases(in).size()); }
  int registers() const { return 1 << bits(In::kRegister); }
  int lanes() const { return 1 << bits(In::kLane); }
  int warps() const { return 1 << bits(In::kWarp); }

  // The offset in the row-major tile.
  Mask Apply(uint32_t reg, uint32_t lane, uint32_t warp) const;
  Mask Apply(const Place& p) const { return Apply(p.reg, p.lane, p.warp); }
  absl::InlinedVector<int64_t, 4> Coordinates(Mask offset) const;
  Mask Offset(absl::Span<const int64_t> coordinates) const;

  // The layout as one map: the input's bits are those of the register, the lane, the warp, from the lowest.
  Gf2Map Map() const;
  Place Split(Mask input) const;
  Mask Join(const Place& place) const;

  // --- What operations do to a layout, without moving data. ---

  // Dimension `dim` reduced to size 1, or removed: bases lose its bits, and what differed in it only is replicated.
  Layout Collapse(int dim) const;
  Layout Slice(int dim) const;
  // A dimension of size 1 before dimension `dim`.
  Layout ExpandDim(int dim) const;
  // The same elements in row-major order: the bases stay.
  Layout Reshape(absl::Span<const int64_t> shape) const;
  // Dimension k of the result is dimension perm[k].
  Layout Permute(absl::Span<const int> perm) const;
  // Dimension perm[k] of the result is dimension k: what Permute(perm) makes this layout of.
  Layout PermuteBack(absl::Span<const int> perm) const;
  // Dimension `dim` grows `factor` times, by registers above the others: register i + k·registers() holds the element
  // of register i in the kth copy of the tile along `dim`. What a concatenation does.
  Layout Grow(int dim, int64_t factor) const;
  // Dimensions of size 1 grown by registers (the last dimension's are the lowest), so that a thread needs only
  // what it has. To have a given result instead, ask for Collapse of it as the source.
  Layout Broadcast(absl::Span<const int64_t> shape) const;
  // Without the register bits that FreeMask names. CanonicalRegisters lists the registers that stay, in order.
  Layout RemoveZeroRegisters() const;
  absl::InlinedVector<int, 16> CanonicalRegisters() const;
  Layout WithBases(In in, Masks bases) const;

  bool IsInjective() const { return Map().IsInjective(); }
  bool IsSurjective() const { return Map().IsSurjective(); }
  // Bits of the input that add no elements, given the bits below them (registers are below lanes, lanes below warps):
  // their basis is zero or a sum of others. The places in which all those bits are 0 hold each element once.
  Mask FreeMask(In in) const;

  // "4x16 registers (0,1) lanes (0,2) (0,4) (0,8) (1,0) (2,0) warps -": the coordinates of every basis.
  std::string ToString() const;
  // What ToString gives, as the layout that gave it; nullopt for any other text.
  static std::optional<Layout> Parse(absl::string_view text);

  friend bool operator==(const Layout& a, const Layout& b) {
    for (int i = 0; i < kNumIns; ++i) {
      if (a.bases_[i] != b.bases_[i]) return false;
    }
    return a.shape_ == b.shape_;
  }
  friend bool operator!=(const Layout& a, const Layout& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const Layout& l) {
    return H::combine(std::move(h), l.shape_, l.bases_[0], l.bases_[1], l.bases_[2]);
  }

 private:
  // The layout with dimension k of the result made of dimension from[k], or new and of size 1 where from[k] is -1.
  Layout MoveDims(absl::Span<const int> from) const;

  Shape shape_;
  Masks bases_[kNumIns];
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LAYOUT_LAYOUT_H_
