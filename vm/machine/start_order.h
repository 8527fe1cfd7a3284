// The order in which the blocks of a grid start. Programs must not depend on it; linear is what hardware does, roughly.
//
//   absl::StatusOr<StartOrder> order = ParseStartOrder("random:7");
//   BlockSequence sequence(*order, 1000);
//   sequence[0]                                // the block that starts first, by its number in linear order
//
// Pure values; thread-safe.
#ifndef TILE_VM_MACHINE_START_ORDER_H_
#define TILE_VM_MACHINE_START_ORDER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tile::vm {

struct StartOrder {
  enum class Kind : uint8_t { kLinear, kReverse, kRandom };
  Kind kind = Kind::kLinear;
  uint64_t seed = 0;  // kRandom: equal seeds give equal orders
  friend bool operator==(const StartOrder&, const StartOrder&) = default;
};

// "linear", "reverse", "random" (with seed 0) or "random:SEED". InvalidArgument otherwise.
absl::StatusOr<StartOrder> ParseStartOrder(absl::string_view text);
// As ParseStartOrder reads it.
std::string ToString(const StartOrder& order);

// Spreads every bit of x over all bits: numbers that look random, the same on every machine.
uint64_t Mix(uint64_t x);

// A permutation of 0, 1, … total - 1, computed element by element: no memory, any size.
class BlockSequence {
 public:
  BlockSequence(const StartOrder& order, int64_t total);
  int64_t operator[](int64_t n) const;

 private:
  uint64_t Shuffle(uint64_t n) const;

  StartOrder order_;
  int64_t total_;
  int half_bits_ = 1;  // kRandom: of the halves of the numbers that are shuffled
};

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_START_ORDER_H_
