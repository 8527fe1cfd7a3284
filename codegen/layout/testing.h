// What the tests of layouts enumerate.
#ifndef TILE_CODEGEN_LAYOUT_TESTING_H_
#define TILE_CODEGEN_LAYOUT_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "codegen/layout/layout.h"

namespace tile::codegen::testing {

using Sizes = std::vector<int64_t>;

// Every way to write 2^bits as a product of `rank` powers of two.
inline std::vector<Sizes> Factors(int rank, int bits) {
  if (rank == 0) return bits == 0 ? std::vector<Sizes>{{}} : std::vector<Sizes>{};
  std::vector<Sizes> all;
  for (int first = 0; first <= bits; ++first) {
    for (Sizes rest : Factors(rank - 1, bits - first)) {
      rest.insert(rest.begin(), int64_t{1} << first);
      all.push_back(rest);
    }
  }
  return all;
}

// A surjective layout, mostly of single bits, with some sums and zeros. The bits suffice for the tile.
inline Layout RandomLayout(std::mt19937& rng, const Sizes& shape, int reg_bits, int lane_bits, int warp_bits) {
  Layout l = Layout::FromBases(Shape(shape.begin(), shape.end()), {}, {}, {});
  const int in = reg_bits + lane_bits + warp_bits;
  const int out = l.offset_bits();
  Masks columns(in, 0);
  do {
    for (Mask& c : columns) {
      c = 0;
      // Mostly single bits, as real layouts have.
      const int terms = rng() % 4 == 0 ? static_cast<int>(rng() % 3) : 1;
      for (int i = 0; i < terms && out > 0; ++i) c ^= Mask{1} << rng() % static_cast<unsigned>(out);
    }
    // Make it surjective by putting what is missing over redundant columns.
    Subspace space;
    std::vector<int> redundant;
    for (int i = 0; i < in; ++i) {
      if (!space.Insert(columns[i])) redundant.push_back(i);
    }
    std::shuffle(redundant.begin(), redundant.end(), rng);
    for (Mask missing : Complement(columns, out)) {
      if (redundant.empty()) break;
      columns[redundant.back()] = missing;
      redundant.pop_back();
    }
  } while (Subspace(columns).dimension() != out);
  const auto at = columns.begin();
  return Layout::FromBases(Shape(shape.begin(), shape.end()), Masks(at, at + reg_bits),
                           Masks(at + reg_bits, at + reg_bits + lane_bits), Masks(at + reg_bits + lane_bits, at + in));
}

inline void ForEachPlace(const Layout& l, const std::function<void(const Place&)>& f) {
  for (int w = 0; w < l.warps(); ++w) {
    for (int lane = 0; lane < l.lanes(); ++lane) {
      for (int r = 0; r < l.registers(); ++r) {
        f(Place{static_cast<uint32_t>(r), static_cast<uint32_t>(lane), static_cast<uint32_t>(w)});
      }
    }
  }
}

}  // namespace tile::codegen::testing

#endif  // TILE_CODEGEN_LAYOUT_TESTING_H_
