#include "codegen/layout/algebra.h"

#include <cassert>

namespace tile::codegen {
namespace {

// The offset in a tile of shape `to` of the element of a tile of shape `from` whose coordinates are scaled by
// 2^scale[d].
Mask Embed(const Layout& from, const Layout& to, absl::Span<const int> scale, Mask offset) {
  Mask moved = 0;
  for (int d = 0; d < from.rank(); ++d) {
    moved |= (offset & from.DimMask(d)) >> from.dim_shift(d) << (to.dim_shift(d) + scale[d]);
  }
  return moved;
}

}  // namespace

Layout Product(const Layout& inner, const Layout& outer) {
  assert(inner.rank() == outer.rank());
  Shape shape(inner.shape().begin(), inner.shape().end());
  absl::InlinedVector<int, 4> none(shape.size(), 0), scale;
  for (int d = 0; d < inner.rank(); ++d) {
    shape[d] *= outer.shape()[d];
    scale.push_back(inner.dim_bits(d));
  }
  Layout l = Layout::FromBases(std::move(shape), {}, {}, {});
  for (In in : kIns) {
    Masks bases;
    for (Mask basis : inner.bases(in)) bases.push_back(Embed(inner, l, none, basis));
    for (Mask basis : outer.bases(in)) bases.push_back(Embed(outer, l, scale, basis));
    l = l.WithBases(in, std::move(bases));
  }
  return l;
}

std::optional<Layout> Quotient(const Layout& l, const Layout& inner) {
  if (l.rank() != inner.rank()) return std::nullopt;
  Shape shape;
  for (int d = 0; d < l.rank(); ++d) {
    if (l.shape()[d] < inner.shape()[d]) return std::nullopt;
    shape.push_back(l.shape()[d] / inner.shape()[d]);
  }
  Layout q = Layout::FromBases(shape, {}, {}, {});
  for (In in : kIns) {
    if (l.bits(in) < inner.bits(in)) return std::nullopt;
    Masks bases;
    for (int b = inner.bits(in); b < l.bits(in); ++b) {
      Mask moved = 0;
      for (int d = 0; d < l.rank(); ++d) {
        const Mask coordinate = (l.bases(in)[b] & l.DimMask(d)) >> l.dim_shift(d);
        moved |= coordinate >> inner.dim_bits(d) << q.dim_shift(d);
      }
      bases.push_back(moved);
    }
    q = q.WithBases(in, std::move(bases));
  }
  if (Product(inner, q) != l) return std::nullopt;
  return q;
}

Gf2Map Invert(const Layout& l) {
  std::optional<Gf2Map> inverse = Invert(l.Map());
  assert(inverse.has_value());
  return *std::move(inverse);
}

Place PlaceOf(const Layout& l, Mask offset) {
  const Gf2Map map = l.Map();
  const std::optional<Mask> input = Subspace(map.columns()).Express(offset);
  assert(input.has_value());
  return l.Split(*input);
}

Layout Compose(const Gf2Map& renumber, const Layout& l) {
  assert(renumber.in_bits() == l.offset_bits());
  Masks bases[kNumIns];
  for (int i = 0; i < kNumIns; ++i) {
    for (Mask basis : l.bases(kIns[i])) bases[i].push_back(renumber.Apply(basis));
  }
  return Layout::FromBases({int64_t{1} << renumber.out_bits()}, std::move(bases[0]), std::move(bases[1]),
                           std::move(bases[2]));
}

std::optional<Layout> OfPairs(const Layout& layout, Mask bit) {
  if (layout.bases(In::kRegister).empty() || layout.bases(In::kRegister)[0] != bit) return std::nullopt;
  Masks kept[std::size(kIns)];
  for (const In in : kIns) {
    const Masks& bases = layout.bases(in);
    for (size_t i = in == In::kRegister ? 1 : 0; i < bases.size(); ++i) {
      if ((bases[i] & bit) != 0) return std::nullopt;
      kept[static_cast<size_t>(in)].push_back((bases[i] & (bit - 1)) | (bases[i] & ~(bit - 1)) >> 1);
    }
  }
  Shape shape(layout.shape().begin(), layout.shape().end());
  for (int d = 0; d < layout.rank(); ++d) {
    if ((layout.DimMask(d) & bit) != 0) shape[static_cast<size_t>(d)] /= 2;
  }
  const auto of = [&](In in) { return kept[static_cast<size_t>(in)]; };
  return Layout::FromBases(shape, of(In::kRegister), of(In::kLane), of(In::kWarp));
}

bool Covers(const Layout& a, const Layout& b) {
  if (a.shape() != b.shape() || a.bases(In::kLane) != b.bases(In::kLane) || a.bases(In::kWarp) != b.bases(In::kWarp)) {
    return false;
  }
  if (a.bits(In::kRegister) < b.bits(In::kRegister)) return false;
  for (int r = 0; r < b.bits(In::kRegister); ++r) {
    if (a.bases(In::kRegister)[r] != b.bases(In::kRegister)[r]) return false;
  }
  return true;
}

}  // namespace tile::codegen
