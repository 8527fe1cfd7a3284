// Values that a program reads although it gave them none (semantics 10.3): elements outside of a tensor loaded without
// padding, elements that a mask leaves out, old values of updates that are not made, fresh storage of a block.
//
// They are zero, as hardware gives them, unless Launch::unspecified says otherwise. What they are does not depend on
// the number of threads.
#ifndef TILE_VM_MACHINE_UNSPECIFIED_H_
#define TILE_VM_MACHINE_UNSPECIFIED_H_

#include <cstdint>

#include "ir/element.h"
#include "vm/machine/code.h"

namespace tile::vm {

// `elements` elements of a tile that `in` makes.
void FillUnspecified(const BlockState& b, const Instr* in, void* to, int64_t elements, ir::Elem elem);
// Fresh memory; `which` tells the allocations of a block apart.
void FillUnspecifiedMemory(const BlockState& b, uint64_t which, void* to, uint64_t bytes);

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_UNSPECIFIED_H_
