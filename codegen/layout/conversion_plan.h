// The solution behind conversion.h, as linear maps. Internal to this library.
//
// The equation src(r', l', w) = dst(r, l, w) is solved bit by bit, then made fit for shuffles. Names:
//
//   l' = A r + B l + C w        what the destination wants, as maps over the registers k of the result that are
//   r' = E r + F l + G w        independent of each other, the lanes and the warps.
//
// In round k lane l takes register k + P l of the result from lane A k + Q l + C w, where Q = A P + B. A lane can offer
// but one register in a round, so lanes that ask the same lane must want the same register: where Q l = 0, so must
// (E P + F) l be. P and the freedom in B are chosen so. With T Q = E P + F, the register offered is
// (E + T A) k + T l' + (T C + G) w: an exchange by T and T C + G, then a register that only the round determines.
#ifndef TILE_CODEGEN_LAYOUT_CONVERSION_PLAN_H_
#define TILE_CODEGEN_LAYOUT_CONVERSION_PLAN_H_

#include <optional>

#include "absl/container/inlined_vector.h"
#include "codegen/layout/gf2.h"

namespace tile::codegen {

// A register and a lane of the source. Sums of such are sums of both.
struct From {
  Mask reg = 0;
  Mask lane = 0;
  friend From operator^(From a, From b) { return {a.reg ^ b.reg, a.lane ^ b.lane}; }
};
using Froms = absl::InlinedVector<From, 16>;

inline From Sum(absl::Span<const From> all, Mask which) {
  From sum;
  for (; which != 0; which &= which - 1) sum = sum ^ all[static_cast<size_t>(__builtin_ctzll(which))];
  return sum;
}

// Bases of both layouts without the register bits that travel packed.
struct ConversionProblem {
  Masks src_reg, src_lane, src_warp;
  Masks dst_reg, dst_lane, dst_warp;
};

// The maps above, by their columns.
struct ConversionPlan {
  Froms keys;     // per bit of k: A and E
  Masks result;   // per register bit of the result: its k
  Masks q, p, t;  // per lane bit
  Masks c, g;     // per warp bit
};

// Values that stay in their thread, or in their warp; nullopt when some do not.
std::optional<ConversionPlan> PlanInThread(const ConversionProblem& problem);
std::optional<ConversionPlan> PlanInWarp(const ConversionProblem& problem);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LAYOUT_CONVERSION_PLAN_H_
