// Where a pointer comes from, so that an access through it is held to the array that was meant, not to any memory of the
// launch: `offset %x, %i` that leaves x is a mistake, also if another array lies there.
//
// The text of the program tells the origins of almost every pointer (prepare/origins.h): one parameter, mostly. An
// instruction that uses a pointer has the number of its set of origins; what memory that is follows at the launch (homes.h).
#ifndef TILE_VM_MACHINE_PROVENANCE_H_
#define TILE_VM_MACHINE_PROVENANCE_H_

#include <cstdint>
#include <vector>

#include "ir/module.h"
#include "vm/machine/memory.h"

namespace tile::vm {

struct PointerOrigin {
  enum class Kind : uint8_t {
    kParameter,
    kGlobal,
    kAlloca,  // what an alloca gives
    kMade,    // of a number that came from memory or from outside, as the pointers of a table: what it points into
  };
  Kind kind = Kind::kParameter;
  int param = -1;
  const ir::Global* global = nullptr;
  const ir::Op* op = nullptr;  // kAlloca, kMade
  bool carried = false;        // kMade: a loop may carry pointers that an earlier iteration made
};

// Origins by their place in Code::origins, ascending.
using OriginSet = std::vector<int>;
// The set of a pointer of which nothing is known: it may lead anywhere into the memory of the launch.
inline constexpr int kAnywhere = 0;

// Of one block: what the pointers that an operation made point into.
struct MadePointers {
  std::vector<const Allocation*> memory;
  bool anywhere = false;  // some point to no memory, or into too many pieces to tell
};

// What an origin is in one launch. Both are null if nothing is known.
struct Home {
  const Allocation* own = nullptr;     // the array that the caller named, or all of its memory
  const Allocation* memory = nullptr;  // the memory that it is in
};

// The same of a set of origins.
struct SetHome {
  const Allocation* first = nullptr;  // where an access is looked for when a block begins; null: nowhere
  const Allocation* only = nullptr;   // the one array that it leads to; null: there are others, or none is known
};

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_PROVENANCE_H_
