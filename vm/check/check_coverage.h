// Coverage of a kernel's choices while it runs with --check=full: which sides of branches, loops, masks, selects and comparisons were
// seen, and how far a comparison was from its other side.
//
// Once both sides of an operation were seen, nothing more is looked at. Not thread-safe.
#ifndef TILE_VM_CHECK_CHECK_COVERAGE_H_
#define TILE_VM_CHECK_CHECK_COVERAGE_H_

#include <cstdint>
#include <vector>

#include "vm/machine/code.h"
#include "vm/machine/coverage.h"

namespace tile::vm {

class Choices {
 public:
  explicit Choices(const Code& code);

  // Before and after an instruction, by its number.
  void Before(const BlockState& b, size_t instr);
  void After(const BlockState& b, size_t instr);
  // Between these: the instruction reads or writes `elements` elements.
  void OnAccess(int64_t elements) { accessed_ += elements; }
  // In the order of the text. Operations that never ran have no sides.
  std::vector<Coverage> Take();

 private:
  struct Part {
    int32_t choice = -1;   // in seen_; -1: nothing to look at
    int32_t operand = -1;  // the condition or mask; -1: none
    int64_t elements = 0;  // of the tile of an access through a view
  };

  void SeeElements(const BlockState& b, const Place& p, Coverage* seen);
  void SeeLoop(const BlockState& b, const OpPlaces& o, Coverage* seen);
  void SeeComparison(const BlockState& b, const OpPlaces& o, Coverage* seen);

  const Code& code_;
  std::vector<Part> parts_;  // by instruction
  std::vector<Coverage> seen_;
  int64_t accessed_ = 0;  // by the instruction that runs
};

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_COVERAGE_H_
