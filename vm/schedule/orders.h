// One launch in one order of its blocks, or in several: a race shows only where a block runs that happens to come later
// in the linear order.
//
// RunInOrders runs the linear order, then the reverse one, then random ones, each from the memory as it was before the
// first. It stops at the first mistake. Which orders there are depends on the processor time that they take:
//
//   * the reverse order always, if there is more than one block;
//   * random:1, random:2, … as long as all together take at most 2 s, or 2.5 times what the first took; at most 8 in
//   all;
//   * an order that takes more than 1 s longer than four times the first is given up and does not count. The same
//     holds if blocks wait for others that its limits on memory keep from starting.
//
// Memory: two copies of what the kernel may write (buffers that hold `in` arrays alone are not copied), and while an
// order runs its shadow (check_full.h). Without memory for the copies there is one order.
#ifndef TILE_VM_SCHEDULE_ORDERS_H_
#define TILE_VM_SCHEDULE_ORDERS_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "vm/machine/checker.h"
#include "vm/machine/code.h"
#include "vm/machine/launch.h"

namespace tile::vm {

struct OneRun {
  Outcome outcome;
  bool gave_up = false;
};

// `launch` is sound. `give_up_at`: see LaunchState; none: the launch runs to its end. `linear`: what the linear order left in
// memory, which the result of a checked launch is compared with; empty: nothing to compare.
OneRun RunOnce(const Code& code, const Launch& launch, const StartOrder& order, std::optional<int64_t> give_up_at,
               absl::Span<const KeptMemory> linear);

// The outcome and the memory are those of the linear order, with the report of another one if only that found a
// mistake.
Outcome RunInOrders(const Code& code, const Launch& launch);

}  // namespace tile::vm

#endif  // TILE_VM_SCHEDULE_ORDERS_H_
