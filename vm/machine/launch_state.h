// What all blocks of one launch share.
#ifndef TILE_VM_MACHINE_LAUNCH_STATE_H_
#define TILE_VM_MACHINE_LAUNCH_STATE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "vm/machine/code.h"
#include "vm/machine/launch.h"
#include "vm/machine/memory.h"

namespace tile::vm {

// A warning, by operation and code.
struct Warning {
  int64_t block = 0;  // the first in linear order
  int64_t count = 0;
  Report report;
};

struct LaunchState {
  const Launch* launch = nullptr;
  const Code* code = nullptr;
  Memory memory;
  // Few of each, which take no memory of their own: small launches are many.
  absl::InlinedVector<Home, 8> homes;               // by origin (homes.h)
  absl::InlinedVector<SetHome, 8> set_homes;        // by set of origins
  std::vector<std::unique_ptr<Allocation>> arrays;  // that homes refer to and that are not all of their memory
  // The integer operation that wrapped on the way to element `lane` of an operand, as messages say it; "" if none is found. May be
  // null (check/find_wrap.h).
  std::string (*find_wrap)(BlockState& b, const ir::Op& user, const ir::Value* operand, int64_t lane) = nullptr;
  Outcome* outcome = nullptr;
  StartOrder order;
  // A run that only looks for mistakes: it ends without a result when work_clock shows this, or if no memory is left to start
  // blocks.
  std::optional<int64_t> give_up_at;
  std::atomic<bool> gave_up{false};
  std::atomic<bool> no_memory{false};  // an allocation failed
  // A checked launch interrupts blocks after atomic updates and other accesses that are more than weak. Where, the numbers of
  // Draw decide: the same in every run of one order.
  bool interrupts = false;
  uint64_t draws = 0;
  uint64_t Draw() { return Mix(Mix(order.seed) + ++draws); }
  // How often a checked launch has tried whether the body of a reduce or scan is associative.
  std::map<const ir::Op*, uint64_t> folds_tried;
  // Counts changes of memory that waiting blocks may be waiting for.
  std::atomic<int64_t> effects{0};
  std::atomic<bool> stop{false};  // a block trapped
  std::mutex mutex;               // guards outcome->reports, warnings and printing
  std::map<std::pair<const ir::Op*, std::string>, Warning> warnings;

  // Asks Launch::interrupted if this is the thread that launched and it has not been asked for a while. Cheap enough for
  // every block.
  void Poll() {
    if (!launch->interrupted || std::this_thread::get_id() != launcher || interrupted) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_poll) return;
    next_poll = now + kPollInterval;
    if (!launch->interrupted()) return;
    interrupted = true;
    stop.store(true, std::memory_order_relaxed);
  }
  static constexpr std::chrono::milliseconds kPollInterval{20};
  const std::thread::id launcher = std::this_thread::get_id();
  std::chrono::steady_clock::time_point next_poll = std::chrono::steady_clock::now() + kPollInterval;
  bool interrupted = false;
};

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_LAUNCH_STATE_H_
