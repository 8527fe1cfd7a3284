// SplitMix64: the same numbers from the same seed everywhere.
#ifndef TILE_TESTS_FUZZ_RANDOM_H_
#define TILE_TESTS_FUZZ_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace tile::fuzz {

class Random {
 public:
  // Mixed, because the state counts: of neighbouring seeds one would give the numbers of the other, one place on.
  explicit Random(uint64_t seed) : state_(Mixed(seed + 0x9e3779b97f4a7c15)) {}

  uint64_t Next() { return Mixed(state_ += 0x9e3779b97f4a7c15); }
  // 0 … n-1; n > 0.
  int64_t Below(int64_t n) { return static_cast<int64_t>(Next() % static_cast<uint64_t>(n)); }
  // lo … hi
  int64_t In(int64_t lo, int64_t hi) { return lo + Below(hi - lo + 1); }
  bool Percent(int p) { return Below(100) < p; }
  template <class T>
  T Of(std::initializer_list<T> list) {
    return list.begin()[Below(static_cast<int64_t>(list.size()))];
  }
  template <class T>
  const T& Of(const std::vector<T>& list) {
    return list[static_cast<size_t>(Below(static_cast<int64_t>(list.size())))];
  }

 private:
  static uint64_t Mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace tile::fuzz

#endif  // TILE_TESTS_FUZZ_RANDOM_H_
