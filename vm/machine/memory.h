// The memory a launch may touch: the buffers that the caller bound, the module's globals, and what blocks allocate. Every
// access of a kernel is checked against it (unless --check=none), because pointers are plain addresses of this process.
//
// The table is filled before the launch; while blocks run only Publish/Retire change it, behind a lock.
#ifndef TILE_VM_MACHINE_MEMORY_H_
#define TILE_VM_MACHINE_MEMORY_H_

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "ir/element.h"

namespace tile::ir {
class Op;
}

namespace tile::vm {

// A contiguous piece of memory with a name for messages: all that was allocated, or an array inside of that (homes.h).
struct Allocation {
  enum class Kind : uint8_t { kBuffer, kGlobal, kAlloca, kShared };
  uintptr_t begin = 0;
  uint64_t bytes = 0;
  std::string name;  // of the argument or the global
  Kind kind = Kind::kBuffer;
  ir::Element element;              // of the argument, for messages
  std::vector<int64_t> shape;       // of the argument; may be empty
  bool read_only = false;           // a constant global
  bool initialized = true;          // contents are defined before the launch (--check=full)
  const ir::Op* made_by = nullptr;  // of a kAlloca
  // Of an array: the address of its first element, if that is not `begin`, and which places between begin and end are elements: in
  // elements, the largest stride first; empty: all.
  struct Step {
    int64_t stride = 0, size = 0;
  };
  uintptr_t first = 0;
  std::vector<Step> grid;

  uintptr_t end() const { return begin + bytes; }
  bool Contains(uintptr_t address, uint64_t size) const {
    return address >= begin && size <= bytes && address - begin <= bytes - size;
  }
};

class Memory {
 public:
  // Before the launch. Allocations must not overlap.
  void Add(Allocation a);
  // The allocation that holds [address, address + size), or null. Thread-safe during the launch.
  const Allocation* Find(uintptr_t address, uint64_t size) const;
  // The allocation that holds this address or the nearest one below it, for messages; may be null.
  const Allocation* Nearest(uintptr_t address) const;

  // An allocation that other blocks may use, while the launch runs.
  const Allocation* Publish(Allocation a);
  void Retire(const Allocation* a);
  bool IsPublished(const Allocation* a) const;

  const std::deque<Allocation>& all() const { return allocations_; }

 private:
  std::deque<Allocation> allocations_;     // stable addresses
  std::vector<const Allocation*> sorted_;  // by begin
  mutable std::mutex mutex_;
  std::deque<Allocation> published_ ABSL_GUARDED_BY(mutex_);
  std::map<uintptr_t, Allocation*> published_at_ ABSL_GUARDED_BY(mutex_);  // by begin
};

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_MEMORY_H_
