// The sides that a kernel's branches, loops, masks, selects and comparisons took, for whoever looks for inputs that show more: a branch
// that was never taken, a mask that was never false.
#ifndef TILE_VM_MACHINE_COVERAGE_H_
#define TILE_VM_MACHINE_COVERAGE_H_

#include <cstdint>
#include <string>

namespace tile::vm {

enum class Choice : uint8_t { kBranch, kLoop, kMask, kSelect, kComparison };

// Sides of a choice; a loop has kFalse where it made no round, kTrue where it made one.
inline constexpr uint32_t kSeenFalse = 1, kSeenTrue = 2, kSeenSeveral = 4;

struct Interval {
  double least, most;
};

// What one operation showed in one run.
struct Coverage {
  Choice choice = Choice::kBranch;
  uint32_t sides = 0;
  std::string kernel, where, op;  // where: file:line:col; op: mnemonic
  // Comparisons have a predicate, by its name; others have "". As long as a comparison showed one side alone, intervals hold its operands, and left minus
  // right in one element. Intervals are empty (least above most) where nothing is known.
  std::string predicate;
  Interval left = {1, 0}, right = {1, 0}, gap = {1, 0};
};

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_COVERAGE_H_
