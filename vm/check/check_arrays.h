// What a kernel does with its array arguments, for --check=full: `in` arrays must not be written to, and every element
// of an `out` array must be written, unless the launch rule gave it a value. Elements count, by shape and strides: what
// is between them is nobody's. An element that arrays of several directions share may be written, and need not be.
//
// Not thread-safe.
#ifndef TILE_VM_CHECK_CHECK_ARRAYS_H_
#define TILE_VM_CHECK_CHECK_ARRAYS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vm/check/check_memory.h"
#include "vm/machine/launch.h"

namespace tile::vm {

class Arrays {
 public:
  // Marks the elements of `out` arrays in the shadow as never written.
  Arrays(const Launch& launch, ShadowMemory& memory);

  // "`x`[2, 3]" if bytes that are stored belong to an `in` array. For regions with holds_input.
  std::optional<std::string> InputAt(const Region& region, uintptr_t address, uint64_t bytes) const;

  // An `out` array with elements that were never written.
  struct Unwritten {
    const ArrayArgument* array;
    int64_t count = 0, total = 0;
    std::string first;  // index, "[2, 3]"
  };
  std::vector<Unwritten> FindUnwritten(ShadowMemory& memory) const;

 private:
  struct Elements {
    const ArrayArgument* array;
    Region* region;
    int64_t bits;             // of an element
    uintptr_t begin, end;     // bytes from the first element to the last
    bool dense;               // row-major without gaps
    std::vector<bool> holds;  // unless dense: by distance from the first, in elements
    // Whether the byte belongs to an element.
    bool Holds(uintptr_t address) const;
    std::string IndexText(uintptr_t address) const;
  };
  bool IsShared(const Elements& own, uintptr_t address) const;

  std::vector<Elements> arrays_;
};

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_ARRAYS_H_
