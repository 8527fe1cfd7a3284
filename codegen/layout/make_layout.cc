// Making layouts: a counter per dimension hands out its bits, from the lowest.
#include <algorithm>
#include <cassert>

#include "codegen/layout/layout.h"

namespace tile::codegen {
namespace {

int Log2(int64_t size) {
  assert(size > 0 && (size & (size - 1)) == 0);
  return __builtin_ctzll(static_cast<uint64_t>(size));
}

// Hands out the bits of a tile's coordinates.
class Bits {
 public:
  explicit Bits(absl::Span<const int64_t> shape) : shape_(shape.begin(), shape.end()), used_(shape.size(), 0) {
    shift_.resize(shape.size());
    for (int d = static_cast<int>(shape.size()) - 1, shift = 0; d >= 0; --d) {
      shift_[d] = shift;
      shift += Log2(shape[d]);
    }
  }
  int Left(int dim) const { return Log2(shape_[dim]) - used_[dim]; }
  Mask Take(int dim) { return Mask{1} << (shift_[dim] + used_[dim]++); }
  // Appends `count` bits of the dimension. Those that it does not have are zero.
  void Append(Masks& bases, int dim, int count) {
    for (int i = 0; i < count; ++i) bases.push_back(Left(dim) > 0 ? Take(dim) : 0);
  }
  const Shape& shape() const { return shape_; }

 private:
  Shape shape_;
  absl::InlinedVector<int, 4> used_;
  absl::InlinedVector<int, 4> shift_;
};

}  // namespace

Layout Layout::Blocked(absl::Span<const int64_t> shape, absl::Span<const int64_t> elements,
                       absl::Span<const int64_t> lanes, absl::Span<const int64_t> warps, absl::Span<const int> order) {
  assert(elements.size() == shape.size() && lanes.size() == shape.size() && warps.size() == shape.size() &&
         order.size() == shape.size());
  Bits bits(shape);
  Masks reg, lane, warp;
  for (int d : order) bits.Append(reg, d, std::min(Log2(elements[d]), bits.Left(d)));
  for (int d : order) bits.Append(lane, d, Log2(lanes[d]));
  for (int d : order) bits.Append(warp, d, Log2(warps[d]));
  for (int d : order) bits.Append(reg, d, bits.Left(d));
  return FromBases(bits.shape(), std::move(reg), std::move(lane), std::move(warp));
}

Layout Layout::Default(absl::Span<const int64_t> shape, int num_warps, int vector) {
  const int rank = static_cast<int>(shape.size());
  const int lane_bits = 5;
  const int warp_bits = Log2(num_warps);
  int total = 0;
  for (int64_t size : shape) total += Log2(size);

  Bits bits(shape);
  Masks reg, lane, warp;
  if (rank > 0) {
    const int each = std::max(0, total - lane_bits - warp_bits);
    bits.Append(reg, rank - 1, std::min({Log2(vector), bits.Left(rank - 1), each}));
  }
  for (int d = rank - 1; d >= 0; --d) {
    bits.Append(lane, d, std::min(bits.Left(d), lane_bits - static_cast<int>(lane.size())));
  }
  for (int d = 0; d < rank; ++d) {
    bits.Append(warp, d, std::min(bits.Left(d), warp_bits - static_cast<int>(warp.size())));
  }
  lane.resize(lane_bits, 0);
  warp.resize(warp_bits, 0);
  for (int d = rank - 1; d >= 0; --d) bits.Append(reg, d, bits.Left(d));
  return FromBases(bits.shape(), std::move(reg), std::move(lane), std::move(warp));
}

Layout Layout::Replicated(absl::Span<const int64_t> shape, int num_warps) {
  Bits bits(shape);
  Masks reg;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) bits.Append(reg, d, bits.Left(d));
  return FromBases(bits.shape(), std::move(reg), Masks(5, 0), Masks(Log2(num_warps), 0));
}

}  // namespace tile::codegen
