// Arrays made up on the spot, the same on every machine, compiler and number of threads.
//
//   zeros ones full   one value; full takes it as text, as ParseElement does
//   arange            0, 1, 2, …; an error if the last one does not fit
//   rand              floats: uniform in [0, 1), every multiple of 2^-p that a significand of p bits holds there is
//                     equally likely; integers: all values equally likely; with bounds: uniform in [low, high)
//   normal            floats only: mean 0, standard deviation 1
//
// Random element i is a function of (seed, stream, i) alone: its 64-bit words come from SplitMix64 (Steele, Lea, Flood
// 2014) used as a counter: word j of element i is mix(key(seed, stream) + (i * 2^6 + j + 1) * 0x9E3779B97F4A7C15), with
// mix the published finaliser. Normal values are made by the ziggurat method (Marsaglia, Tsang 2000) with 128 layers,
// in IEEE additions, multiplications and square roots only, since libraries' log and cos differ.
//
// Pure and thread-safe.
#ifndef TILE_TOOLS_DATA_GENERATE_H_
#define TILE_TOOLS_DATA_GENERATE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tools/data/array.h"

namespace tile::tools {

struct Generator {
  enum class Kind : uint8_t { kFull, kArange, kRand, kNormal };

  Kind kind = Kind::kFull;
  ir::Element element;
  std::vector<int64_t> shape;
  bool is_unsigned = false;
  uint64_t fill = 0;        // kFull: the bits of each element
  bool has_bounds = false;  // kRand
  double low = 0, high = 0;
  uint64_t seed = 0, stream = 0;

  // An error if the parts do not fit each other: normal of integers, arange past the type's largest value, bounds that
  // are empty or that the type cannot hold. Fill and Make want a checked generator.
  absl::Status Check() const;
  // All elements, into memory of BytesOf(element, count) bytes.
  // `made` counts them as they are made.
  void Fill(absl::Span<uint8_t> bytes, std::atomic<int64_t>* made = nullptr) const;
  absl::StatusOr<Array> Make(std::atomic<int64_t>* made = nullptr) const;
};

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_GENERATE_H_
