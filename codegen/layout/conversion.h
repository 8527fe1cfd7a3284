// Conversions between two layouts of a tile: the cheapest way, and for all but shared memory the whole plan.
//
// The value that register r of lane l of warp w must hold, dst(r, l, w), lies where src(r', l', w) is the same; the
// solution of that equation is a linear map (r, l, w) → (r', l'). Three steps carry it out within a warp:
//
//   1. `before`: exchanges. Where a parity of bits of the lane and warp number is odd, register i takes the
//      value of register i ^ with. Afterwards every lane offers the right value in every round.
//   2. `rounds`: one shfl.sync.idx each (or none, when lanes keep their values). All lanes offer register `from` and
//      take what the lane `lane_xor ^ lane_map(lane) ^ warp_map(warp)` offers, into slot `to`. Elements narrower than
//      32 bits travel packed: from[i] and to[i] are then several values that one shuffle moves.
//   3. `after`: exchanges of slots; then register r of the result is slot result[r].
//
// There is a round for each register of the result that is no copy of others. Only where lanes need what one lane has
// in several registers, and the source has no replicas and the result no further registers to tell them apart, there
// are two, four, … times as many.
//
// Example:
//   Conversion c = Convert(src, dst, 16);
//   if (c.kind == ConversionKind::kShared) …ChooseShared(src, dst, 16) of shared.h…
//   else for (const Exchange& x : c.before) …
//
// Both layouts are surjective, with the same shape and numbers of lanes and warps. Thread-safe.
#ifndef TILE_CODEGEN_LAYOUT_CONVERSION_H_
#define TILE_CODEGEN_LAYOUT_CONVERSION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "codegen/layout/layout.h"

namespace tile::codegen {

enum class ConversionKind : uint8_t {
  kNone,       // register r of the result is register r
  kRegisters,  // other registers of the same thread, the same ones in each
  kSelect,     // registers of the same thread, which ones depends on the lane or warp
  kShuffle,    // between the lanes of a warp
  kShared,     // through shared memory
};

// Where the parity of (lane & lane_mask) and (warp & warp_mask) together is odd: value[i] = value[i ^ with], for all i.
struct Exchange {
  Mask lane_mask = 0;
  Mask warp_mask = 0;
  uint32_t with = 0;
  bool Applies(uint32_t lane, uint32_t warp) const { return Parity(lane & lane_mask) ^ Parity(warp & warp_mask); }
};

struct Round {
  absl::InlinedVector<int, 4> from;  // registers of the source
  absl::InlinedVector<int, 4> to;    // slots
  uint32_t lane_xor = 0;
};

struct Conversion {
  ConversionKind kind = ConversionKind::kNone;
  // Values go from one warp to another: a barrier of the block, not of the warp. Implies kShared.
  bool crosses_warps = false;
  // The plan; empty for kShared.
  std::vector<Exchange> before;
  std::vector<Round> rounds;
  Masks lane_map;
  Masks warp_map;
  int slots = 0;
  std::vector<Exchange> after;
  std::vector<int> result;
  // What it costs a warp: shuffles of 32 bits, selects of 32 bits.
  int shuffles = 0;
  int selects = 0;

  uint32_t SourceLane(const Round& round, uint32_t lane, uint32_t warp) const {
    return round.lane_xor ^ static_cast<uint32_t>(Combine(lane_map, lane) ^ Combine(warp_map, warp));
  }
};

// The cheapest way. Elements of 32 bits and more are not packed; 64 bits are two shuffles.
Conversion Convert(const Layout& src, const Layout& dst, int element_bits);
// The way within threads and warps, whatever it costs; nullopt when values must cross warps.
std::optional<Conversion> ConvertInWarp(const Layout& src, const Layout& dst, int element_bits);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LAYOUT_CONVERSION_H_
