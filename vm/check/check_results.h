// Results that depend on the order of blocks: what one order left in memory against what the linear order left there.
//
//   the same values in other places   a warning: positions that blocks take from a counter
//   floats that differ by rounding    a warning: atomic additions in another order
//   what a block found, or left by an exchange or a store that is not weak
//                                     a warning: the program leaves it open
//   anything else                     vm.order is an error
//
// An element has the type of the operation that wrote it last. Pointers are not compared: they differ from launch to
// launch. Not thread-safe.
#ifndef TILE_VM_CHECK_CHECK_RESULTS_H_
#define TILE_VM_CHECK_CHECK_RESULTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "vm/check/check_memory.h"
#include "vm/machine/checker.h"
#include "vm/machine/launch_state.h"

namespace tile::vm {

class Results {
 public:
  // Who wrote an element last in this run; null op: nobody.
  struct Writer {
    const ir::Op* op = nullptr;
    int64_t block = 0;
    ir::Element element;
    const ir::Value* stored = nullptr;
  };
  using FindWriter = absl::FunctionRef<Writer(Region& region, uintptr_t address)>;

  Results(LaunchState& state, ShadowMemory& memory) : state_(state), memory_(memory) {}

  // Before an update of floats runs: by how much its rounding can differ depends on its operands.
  void SeeFloats(const BlockState& b, const Place& operand, ir::Elem elem);
  // After the launch. `linear`: the same memory after the linear order.
  void Compare(absl::Span<const KeptMemory> linear, FindWriter writer);

 private:
  struct Difference {
    uintptr_t address = 0;
    uint64_t linear = 0, now = 0;
    Writer writer;
  };
  // Of one region.
  struct Differences {
    int64_t count = 0;
    Difference first, farthest_at;
    double farthest = 0;  // of floats, in tolerances of their type; infinite for others
    double scale = 0;     // the largest float of the array
    bool same_values = true;
    std::vector<uint64_t> linear, now;  // of all, as long as they may be the same values
  };
  void Add(const Difference& d, Differences* all) const;
  void Report(const Region& region, const Differences& all);
  std::string Causes(bool floats, const ir::Op* writer) const;

  LaunchState& state_;
  ShadowMemory& memory_;
  double largest_ = 0;  // operand of an update of floats
};

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_RESULTS_H_
