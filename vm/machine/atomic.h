// One indivisible update of one element in memory (semantics 8.1), for the eval files.
#ifndef TILE_VM_MACHINE_ATOMIC_H_
#define TILE_VM_MACHINE_ATOMIC_H_

#include <cstdint>

#include "ir/element.h"

namespace tile::vm {

// Updates the element at `address` and returns its old bits. `order`: __ATOMIC_…; sets *changed if memory has new bits.
using RmwFn = uint64_t (*)(void* address, uint64_t value, int order, bool* changed);
// Null if the mode is not defined on this element type (semantics 8.1).
RmwFn FindRmw(ir::RmwMode mode, ir::Elem elem);

// Stores `value` if the element's bits are `expected`; returns the old bits.
using CasFn = uint64_t (*)(void* address, uint64_t expected, uint64_t value, int order, bool* changed);
CasFn FindCas(int element_bytes);

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_ATOMIC_H_
