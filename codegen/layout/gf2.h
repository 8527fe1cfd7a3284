// Linear algebra over GF(2), the field of two elements: a vector is the bits of a uint64_t, its sum is XOR, and a
// linear map is the list of the images of the unit vectors. Everything that the layouts answer rests on these few
// functions; a call costs at most 64 × 64 word operations.
//
// Values, thread-safe as values are. Example:
//   Gf2Map swap({2, 1}, 2);      // bit 0 → bit 1, bit 1 → bit 0
//   swap.Apply(1);               // 2
//   Subspace s;
//   s.Insert(0b011);             // true: independent
//   s.Insert(0b110);             // true
//   s.Express(0b101);            // 0b11: the sum of the vectors inserted 0th and 1st
//   s.Express(0b001);            // nullopt: outside
#ifndef TILE_CODEGEN_LAYOUT_GF2_H_
#define TILE_CODEGEN_LAYOUT_GF2_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace tile::codegen {

using Mask = uint64_t;                        // a vector over GF(2)
using Masks = absl::InlinedVector<Mask, 16>;  // some vectors, or the columns of a map

// The sum of the vectors whose bit is set in `which`.
Mask Combine(absl::Span<const Mask> vectors, Mask which);
// The sum of the bits: 0 or 1.
inline int Parity(Mask m) { return __builtin_parityll(m); }

// A subspace that grows, and how each of its vectors is made of those inserted.
class Subspace {
 public:
  Subspace() = default;
  explicit Subspace(absl::Span<const Mask> vectors) {
    for (Mask v : vectors) Insert(v);
  }

  // True when the vector was outside, and is in from now on. Counts the vector in either case. At most 64 calls.
  bool Insert(Mask v);
  bool Contains(Mask v) const { return Reduce(v).first == 0; }
  // The vectors, by the order of their insertion, whose sum is v; nullopt when v is outside. Only vectors count that
  // were independent of those before them, so the solution is unique, and the lowest as a number.
  std::optional<Mask> Express(Mask v) const;
  int dimension() const { return static_cast<int>(rows_.size()); }
  // Independent vectors that span the subspace: those inserted that were outside, in order.
  const Masks& basis() const { return basis_; }

 private:
  struct Row {
    Mask vector;  // its highest bit is in no other row
    Mask made_of;
  };
  // What is left of v, and the vectors added to it.
  std::pair<Mask, Mask> Reduce(Mask v) const;

  absl::InlinedVector<Row, 16> rows_;
  Masks basis_;
  int inserted_ = 0;
};

// Vectors in both of the spans, independent.
Masks Intersection(absl::Span<const Mask> a, absl::Span<const Mask> b);
// The unit vectors, of the lowest `bits` bits and in order, that complete the span to the whole space.
Masks Complement(absl::Span<const Mask> vectors, int bits);

// A linear map: the image of bit i of the input is column i.
class Gf2Map {
 public:
  Gf2Map() = default;
  Gf2Map(Masks columns, int out_bits) : columns_(std::move(columns)), out_bits_(out_bits) {}
  Gf2Map(std::initializer_list<Mask> columns, int out_bits) : columns_(columns), out_bits_(out_bits) {}
  static Gf2Map Identity(int bits);

  int in_bits() const { return static_cast<int>(columns_.size()); }
  int out_bits() const { return out_bits_; }
  const Masks& columns() const { return columns_; }
  Mask Apply(Mask in) const { return Combine(columns_, in); }
  int Rank() const { return Subspace(columns_).dimension(); }
  bool IsInjective() const { return Rank() == in_bits(); }
  bool IsSurjective() const { return Rank() == out_bits(); }
  // Inputs, independent, that span those which map to 0.
  Masks Kernel() const;

  friend bool operator==(const Gf2Map& a, const Gf2Map& b) {
    return a.out_bits_ == b.out_bits_ && a.columns_ == b.columns_;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Gf2Map& m) {
    return H::combine(std::move(h), m.columns_, m.out_bits_);
  }

 private:
  Masks columns_;
  int out_bits_ = 0;
};

// x → outer(inner(x)). The outer map takes as many bits as the inner one gives.
Gf2Map Compose(const Gf2Map& outer, const Gf2Map& inner);
// The lowest input for each output, which is linear too: Compose(map, Invert(map)) is the identity. nullopt when the
// map is not surjective.
std::optional<Gf2Map> Invert(const Gf2Map& map);
// A map x with Compose(a, x) == b, the lowest one; nullopt when some image of b is outside that of a.
std::optional<Gf2Map> Solve(const Gf2Map& a, const Gf2Map& b);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LAYOUT_GF2_H_
