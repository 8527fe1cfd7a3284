// A layout's values and what operations on tiles do to them. Making layouts is in make_layout.cc.
#include "codegen/layout/layout.h"

#include <cassert>

namespace tile::codegen {

Layout Layout::FromBases(Shape shape, Masks registers, Masks lanes, Masks warps) {
  Layout l;
  l.shape_ = std::move(shape);
  l.bases_[0] = std::move(registers);
  l.bases_[1] = std::move(lanes);
  l.bases_[2] = std::move(warps);
#ifndef NDEBUG
  for (int64_t size : l.shape_) assert(size > 0 && (size & (size - 1)) == 0);
  for (const Masks& bases : l.bases_) {
    for (Mask basis : bases) assert(basis >> l.offset_bits() == 0);
  }
#endif
  return l;
}

Layout Layout::WithBases(In in, Masks bases) const {
  Layout l = *this;
  l.bases_[static_cast<int>(in)] = std::move(bases);
  return l;
}

int Layout::offset_bits() const { return rank() == 0 ? 0 : dim_shift(0) + dim_bits(0); }

int Layout::dim_shift(int dim) const {
  int shift = 0;
  for (int d = rank() - 1; d > dim; --d) shift += dim_bits(d);
  return shift;
}

Mask Layout::Apply(uint32_t reg, uint32_t lane, uint32_t warp) const {
  return Combine(bases(In::kRegister), reg) ^ Combine(bases(In::kLane), lane) ^ Combine(bases(In::kWarp), warp);
}

absl::InlinedVector<int64_t, 4> Layout::Coordinates(Mask offset) const {
  absl::InlinedVector<int64_t, 4> coordinates(rank());
  for (int d = rank() - 1; d >= 0; --d) {
    coordinates[d] = static_cast<int64_t>(offset) & (shape_[d] - 1);
    offset >>= dim_bits(d);
  }
  return coordinates;
}

Mask Layout::Offset(absl::Span<const int64_t> coordinates) const {
  assert(static_cast<int>(coordinates.size()) == rank());
  Mask offset = 0;
  for (int d = 0; d < rank(); ++d) offset = offset << dim_bits(d) | static_cast<Mask>(coordinates[d]);
  return offset;
}

Gf2Map Layout::Map() const {
  Masks columns;
  for (const Masks& bases : bases_) columns.insert(columns.end(), bases.begin(), bases.end());
  return Gf2Map(std::move(columns), offset_bits());
}

Place Layout::Split(Mask input) const {
  Place p;
  p.reg = static_cast<uint32_t>(input) & (registers() - 1);
  input >>= bits(In::kRegister);
  p.lane = static_cast<uint32_t>(input) & (lanes() - 1);
  p.warp = static_cast<uint32_t>(input >> bits(In::kLane)) & (warps() - 1);
  return p;
}

Mask Layout::Join(const Place& place) const {
  return place.reg | Mask{place.lane} << bits(In::kRegister) |
         Mask{place.warp} << (bits(In::kRegister) + bits(In::kLane));
}

Layout Layout::MoveDims(absl::Span<const int> from) const {
  Layout l;
  for (int source : from) l.shape_.push_back(source < 0 ? 1 : shape_[source]);
  for (int i = 0; i < kNumIns; ++i) {
    for (Mask basis : bases_[i]) {
      Mask moved = 0;
      for (int d = 0; d < l.rank(); ++d) {
        if (from[d] >= 0) moved |= (basis & DimMask(from[d])) >> dim_shift(from[d]) << l.dim_shift(d);
      }
      l.bases_[i].push_back(moved);
    }
  }
  return l;
}

Layout Layout::Collapse(int dim) const { return Slice(dim).ExpandDim(dim); }

Layout Layout::Slice(int dim) const {
  absl::InlinedVector<int, 4> from;
  for (int d = 0; d < rank(); ++d) {
    if (d != dim) from.push_back(d);
  }
  return MoveDims(from);
}

Layout Layout::ExpandDim(int dim) const {
  Layout l = *this;
  l.shape_.insert(l.shape_.begin() + dim, 1);
  return l;
}

Layout Layout::Reshape(absl::Span<const int64_t> shape) const {
  Layout l = *this;
  l.shape_.assign(shape.begin(), shape.end());
  assert(l.offset_bits() == offset_bits());
  return l;
}

Layout Layout::Permute(absl::Span<const int> perm) const {
  assert(static_cast<int>(perm.size()) == rank());
  return MoveDims(perm);
}

Layout Layout::PermuteBack(absl::Span<const int> perm) const {
  absl::InlinedVector<int, 8> inverse(perm.size());
  for (size_t k = 0; k < perm.size(); ++k) inverse[static_cast<size_t>(perm[k])] = static_cast<int>(k);
  return Permute(inverse);
}

Layout Layout::Grow(int dim, int64_t factor) const {
  Layout l = *this;
  l.shape_[dim] *= factor;
  const int below = dim_shift(dim) + dim_bits(dim);  // the new bits come here; those above move up
  const int grown = l.dim_bits(dim) - dim_bits(dim);
  const Mask low = (Mask{1} << below) - 1;
  for (Masks& bases : l.bases_) {
    for (Mask& basis : bases) basis = (basis & low) | (basis & ~low) << grown;
  }
  for (int i = 0; i < grown; ++i) l.bases_[0].push_back(Mask{1} << (below + i));
  return l;
}

Layout Layout::Broadcast(absl::Span<const int64_t> shape) const {
  assert(static_cast<int>(shape.size()) == rank());
  Layout l = *this;
  for (int d = rank() - 1; d >= 0; --d) {
    if (shape[d] == shape_[d]) continue;
    assert(shape_[d] == 1);
    l = l.Grow(d, shape[d]);
  }
  return l;
}

Mask Layout::FreeMask(In in) const {
  Subspace below;
  Mask free = 0;
  for (int i = 0; i <= static_cast<int>(in); ++i) {
    free = 0;
    for (int b = 0; b < bits(kIns[i]); ++b) {
      if (!below.Insert(bases_[i][b])) free |= Mask{1} << b;
    }
  }
  return free;
}

Layout Layout::RemoveZeroRegisters() const { return WithBases(In::kRegister, Subspace(bases(In::kRegister)).basis()); }

absl::InlinedVector<int, 16> Layout::CanonicalRegisters() const {
  const Mask free = FreeMask(In::kRegister);
  absl::InlinedVector<int, 16> found;
  for (int r = 0; r < registers(); ++r) {
    if ((static_cast<Mask>(r) & free) == 0) found.push_back(r);
  }
  return found;
}

}  // namespace tile::codegen
