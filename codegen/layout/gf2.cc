// Gaussian elimination on machine words.
#include "codegen/layout/gf2.h"

#include <cassert>

namespace tile::codegen {
namespace {

Mask HighestBit(Mask m) { return Mask{1} << (63 - __builtin_clzll(m)); }

}  // namespace

Mask Combine(absl::Span<const Mask> vectors, Mask which) {
  Mask sum = 0;
  for (; which != 0; which &= which - 1) {
    const size_t i = static_cast<size_t>(__builtin_ctzll(which));
    assert(i < vectors.size());
    sum ^= vectors[i];
  }
  return sum;
}

std::pair<Mask, Mask> Subspace::Reduce(Mask v) const {
  Mask made_of = 0;
  for (const Row& row : rows_) {
    if (v & HighestBit(row.vector)) {
      v ^= row.vector;
      made_of ^= row.made_of;
    }
  }
  return {v, made_of};
}

bool Subspace::Insert(Mask v) {
  assert(inserted_ < 64);
  const Mask number = Mask{1} << inserted_++;
  auto [rest, made_of] = Reduce(v);
  if (rest == 0) return false;
  made_of ^= number;
  for (Row& row : rows_) {
    if (row.vector & HighestBit(rest)) {
      row.vector ^= rest;
      row.made_of ^= made_of;
    }
  }
  rows_.push_back({rest, made_of});
  basis_.push_back(v);
  return true;
}

std::optional<Mask> Subspace::Express(Mask v) const {
  const auto [rest, made_of] = Reduce(v);
  if (rest != 0) return std::nullopt;
  return made_of;
}

Masks Intersection(absl::Span<const Mask> a, absl::Span<const Mask> b) {
  // A vector of b that is a sum of vectors of a and of those of b before it gives one of the intersection: the part
  // made of a. Independent ones, because each is the first to use its vector of b.
  const Subspace independent_a(a);
  const Subspace independent_b(b);
  const Masks& from_a = independent_a.basis();
  Subspace both(from_a);
  const Mask in_a = from_a.empty() ? 0 : ~Mask{0} >> (64 - from_a.size());
  Masks found;
  for (Mask v : independent_b.basis()) {
    if (const std::optional<Mask> made_of = both.Express(v)) found.push_back(Combine(from_a, *made_of & in_a));
    both.Insert(v);
  }
  return found;
}

Masks Complement(absl::Span<const Mask> vectors, int bits) {
  Subspace space(vectors);
  Masks found;
  for (int i = 0; i < bits && space.dimension() < bits; ++i) {
    const Mask unit = Mask{1} << i;
    if (space.Contains(unit)) continue;
    space.Insert(unit);
    found.push_back(unit);
  }
  return found;
}

Gf2Map Gf2Map::Identity(int bits) {
  Masks columns;
  for (int i = 0; i < bits; ++i) columns.push_back(Mask{1} << i);
  return Gf2Map(std::move(columns), bits);
}

Masks Gf2Map::Kernel() const {
  Subspace image;
  Masks kernel;
  for (int i = 0; i < in_bits(); ++i) {
    if (const std::optional<Mask> same = image.Express(columns_[i])) kernel.push_back(*same | Mask{1} << i);
    image.Insert(columns_[i]);
  }
  return kernel;
}

Gf2Map Compose(const Gf2Map& outer, const Gf2Map& inner) {
  assert(outer.in_bits() == inner.out_bits());
  Masks columns;
  for (Mask column : inner.columns()) columns.push_back(outer.Apply(column));
  return Gf2Map(std::move(columns), outer.out_bits());
}

std::optional<Gf2Map> Solve(const Gf2Map& a, const Gf2Map& b) {
  assert(a.out_bits() == b.out_bits());
  const Subspace image(a.columns());
  Masks columns;
  for (Mask v : b.columns()) {
    const std::optional<Mask> x = image.Express(v);
    if (!x) return std::nullopt;
    columns.push_back(*x);
  }
  return Gf2Map(std::move(columns), a.in_bits());
}

std::optional<Gf2Map> Invert(const Gf2Map& map) { return Solve(map, Gf2Map::Identity(map.out_bits())); }

}  // namespace tile::codegen
