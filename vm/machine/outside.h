// What is said of accesses that leave the array that their pointer came from.
#ifndef TILE_VM_MACHINE_OUTSIDE_H_
#define TILE_VM_MACHINE_OUTSIDE_H_

#include <cstdint>
#include <string>

#include "vm/machine/homes.h"

namespace tile::vm {

// An element of a tile that is read or written through a pointer of these origins.
struct OutsideAccess {
  uintptr_t address = 0;
  uint64_t bytes = 0;
  bool writes = false;
  ir::Type tile;     // none: not said
  int64_t lane = 0;  // row-major
  int set = kAnywhere;
};

// Traps: the element is in no memory that its pointer may lead to.
const Instr* TrapOutside(BlockState& b, const Instr* in, const OutsideAccess& a);
// The element is outside of the array, or between its elements, but in the memory that the array is a part of: a warning, or false
// after a trap of full checks.
bool NoteAround(BlockState& b, const Instr* in, const OutsideAccess& a, const Around& around);

// "; 70000 * 40000 at k.py:3:7 does not fit i32 and becomes -1494967296" of the first of these operands of an operation in
// whose computation an integer wrapped; "" if none did. Element `lane` of tiles, and what makes the tensor of views.
std::string WrapText(BlockState& b, const ir::Op& op, int64_t lane);
inline constexpr char kWrapFix[] =
    "compute it in 64 bits: widen an operand first (exti to i64; `.to(tl.int64)` in Triton), or mask the element off";
inline constexpr char kAnyArrayFix[] =
    "check the index; if the pointer is meant to leave its array, allow that by --any-array, or TILEVM_ANY_ARRAY=1 in Python";
inline constexpr char kStridesFix[] =
    "multiply each index by the array's own stride, or pass a contiguous copy (`.contiguous()` of torch); if the gap is "
    "meant, allow it by --any-array, or TILEVM_ANY_ARRAY=1 in Python";

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_OUTSIDE_H_
