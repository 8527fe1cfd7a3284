#include "vm/machine/start_order.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tile::vm {
namespace {

constexpr int kRounds = 4;

}  // namespace

// The finalizer of splitmix64.
uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

absl::StatusOr<StartOrder> ParseStartOrder(absl::string_view text) {
  StartOrder order;
  if (text == "linear") return order;
  order.kind = StartOrder::Kind::kReverse;
  if (text == "reverse") return order;
  order.kind = StartOrder::Kind::kRandom;
  absl::string_view seed = text;
  if (text == "random" || (absl::ConsumePrefix(&seed, "random:") && absl::SimpleAtoi(seed, &order.seed))) return order;
  return absl::InvalidArgumentError(absl::StrCat("`", text, "`: expected linear, reverse, random or random:SEED"));
}

std::string ToString(const StartOrder& order) {
  switch (order.kind) {
    case StartOrder::Kind::kLinear: return "linear";
    case StartOrder::Kind::kReverse: return "reverse";
    case StartOrder::Kind::kRandom: return absl::StrCat("random:", order.seed);
  }
  return "";
}

BlockSequence::BlockSequence(const StartOrder& order, int64_t total) : order_(order), total_(total) {
  while (half_bits_ < 32 && (uint64_t{1} << (2 * half_bits_)) < static_cast<uint64_t>(total)) ++half_bits_;
}

// A Feistel network: a permutation of all numbers of 2 * half_bits_ bits.
uint64_t BlockSequence::Shuffle(uint64_t n) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t left = n >> half_bits_, right = n & mask;
  for (uint64_t round = 0; round < kRounds; ++round) {
    const uint64_t next = left ^ (Mix(Mix(order_.seed * kRounds + round) ^ right) & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

int64_t BlockSequence::operator[](int64_t n) const {
  if (order_.kind == StartOrder::Kind::kLinear) return n;
  if (order_.kind == StartOrder::Kind::kReverse) return total_ - 1 - n;
  // Numbers beyond the grid are shuffled on until one is inside; at most 4 in a row on average.
  auto at = static_cast<uint64_t>(n);
  do {
    at = Shuffle(at);
  } while (at >= static_cast<uint64_t>(total_));
  return static_cast<int64_t>(at);
}

}  // namespace tile::vm
