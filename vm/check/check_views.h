// Accesses between the elements of an array with strides, for --check=full: what lies there belongs to others, as the rest of each
// row of `x[:, :8]` does.
#ifndef TILE_VM_CHECK_CHECK_VIEWS_H_
#define TILE_VM_CHECK_CHECK_VIEWS_H_

#include "vm/machine/checker.h"

namespace tile::vm {

// Whether the places of an access that is inside of its array are elements of it; false after a trap.
bool CheckElementsOf(BlockState& b, const Instr* in, const Access& a);

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_VIEWS_H_
