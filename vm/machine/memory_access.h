// Checked access to memory, for the eval files.
#ifndef TILE_VM_MACHINE_MEMORY_ACCESS_H_
#define TILE_VM_MACHINE_MEMORY_ACCESS_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "vm/machine/checker.h"
#include "vm/machine/homes.h"
#include "vm/machine/launch_state.h"

namespace tile::vm {

// The allocation of this block or the launch that holds the bytes, or null.
const Allocation* FindAllocation(BlockState& b, uintptr_t address, uint64_t bytes);
// The same of this block alone.
const Allocation* FindPrivate(const BlockState& b, uintptr_t address, uint64_t bytes);
// Adds one to those of the block.
void AddPrivate(BlockState& b, const Allocation* a);
const Instr* TrapMisaligned(BlockState& b, const Instr* in, uintptr_t address, int bytes, ir::Type tile, int64_t lane);
const Instr* TrapReadOnly(BlockState& b, const Instr* in, const Allocation& a);
// Checks a run that is in no allocation as a whole, element by element; false after a trap.
bool CheckElements(BlockState& b, const Instr* in, const Access& a, ir::Type tile, int set);
// "`x` (f32[8,8], 256 bytes)", as messages name memory.
std::string Describe(const Allocation& a);
// "[1, 2]" of an element of a tile.
std::string LaneText(ir::Type tile, int64_t lane);

// Checks a run of elements against what the origins of its pointers allow; false after a trap.
inline bool CheckRun(BlockState& b, const Instr* in, Access& a, ir::Type tile, int set) {
  if (!b.checked) return true;
  const uint64_t bytes = static_cast<uint64_t>(a.elements) * static_cast<uint64_t>(a.element_bytes);
  const Allocation*& home = b.homes[static_cast<size_t>(set)];
  if (home == nullptr || !home->Contains(a.address, bytes)) {
    const Allocation* other = FindHome(b, set, a.address, bytes);
    if (other == nullptr) return CheckElements(b, in, a, tile, set);
    home = other;
  }
  const Allocation* found = home;
  if ((a.address & static_cast<uintptr_t>(a.element_bytes - 1)) != 0) {
    TrapMisaligned(b, in, a.address, a.element_bytes, tile, a.lane);
    return false;
  }
  if (a.writes && found->read_only) {
    TrapReadOnly(b, in, *found);
    return false;
  }
  if (b.checker == nullptr) return true;
  a.home = found;
  return b.checker->OnAccess(b, in, a);
}

// --- strong accesses, element by element ----------------------------------------------------------------------------

inline int LoadOrder(ir::MemoryOrdering o) {
  return o == ir::MemoryOrdering::kRelaxed ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
}
inline int StoreOrder(ir::MemoryOrdering o) {
  return o == ir::MemoryOrdering::kRelaxed ? __ATOMIC_RELAXED : __ATOMIC_RELEASE;
}
inline int RmwOrder(ir::MemoryOrdering o) {
  switch (o) {
    case ir::MemoryOrdering::kRelaxed: return __ATOMIC_RELAXED;
    case ir::MemoryOrdering::kAcquire: return __ATOMIC_ACQUIRE;
    case ir::MemoryOrdering::kRelease: return __ATOMIC_RELEASE;
    default: return __ATOMIC_ACQ_REL;
  }
}

// Calls fn with a value of the unsigned type of this size.
template <class Fn>
auto WithWord(int bytes, Fn&& fn) {
  switch (bytes) {
    case 1: return fn(uint8_t{});
    case 2: return fn(uint16_t{});
    case 4: return fn(uint32_t{});
    default: return fn(uint64_t{});
  }
}

inline void LoadElements(void* to, uintptr_t from, int64_t n, int bytes, ir::MemoryOrdering ordering) {
  if (ordering == ir::MemoryOrdering::kWeak) {
    std::memcpy(to, reinterpret_cast<const void*>(from), static_cast<size_t>(n * bytes));
    return;
  }
  const int order = LoadOrder(ordering);
  WithWord(bytes, [&](auto word) {
    using T = decltype(word);
    for (int64_t i = 0; i < n; ++i)
      static_cast<T*>(to)[i] = __atomic_load_n(reinterpret_cast<const T*>(from) + i, order);
  });
}

inline void StoreElements(uintptr_t to, const void* from, int64_t n, int bytes, ir::MemoryOrdering ordering) {
  if (ordering == ir::MemoryOrdering::kWeak) {
    std::memcpy(reinterpret_cast<void*>(to), from, static_cast<size_t>(n * bytes));
    return;
  }
  const int order = StoreOrder(ordering);
  WithWord(bytes, [&](auto word) {
    using T = decltype(word);
    for (int64_t i = 0; i < n; ++i)
      __atomic_store_n(reinterpret_cast<T*>(to) + i, static_cast<const T*>(from)[i], order);
  });
}

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_MEMORY_ACCESS_H_
