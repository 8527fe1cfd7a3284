// Integer additions to memory whose old values nobody looks at, added up before they get there.
//
// A histogram adds to few places from many lanes. One indivisible addition for each lane is slow, and slower still when
// threads do it to the same places. The order of such additions is open and nobody sees what is between them
// (semantics 8.5), so they are added up in a table of this thread first, and each place gets one addition:
//
//   Additions a{values, /*one_value=*/false, lanes, /*bytes=*/4};
//   if (!pending.AddAtAddresses(place, pointers, mask, a)) …           // does not pay: one by one
//   pending.Flush();                                                   // now memory has them
//
// What is pending goes to memory before the thread does anything that could see the difference: whoever adds knows
// whether that is at once, or may be after the next blocks (BlockState::pending). Used by one thread at a time.
#ifndef TILE_VM_MACHINE_COMBINE_H_
#define TILE_VM_MACHINE_COMBINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vm/kernels/bins.h"

namespace tile::vm {

// Values to add, one per lane or one for all; wrapping integers of 4 or 8 bytes.
struct Additions {
  const void* values;
  bool one_value;
  int64_t n;
  int bytes;
};

// Elements in memory to which lanes add.
struct BinPlace {
  uint8_t* base;
  int64_t size;     // elements
  bool is_private;  // no other thread sees it: plain additions will do
};

class PendingAdds {
 public:
  // Lane i adds to element indices[i], signed numbers of `index_bytes`; if there is none, nothing where `skip_outside`.
  // False: nothing was done: so few lanes on so many elements gain nothing, or a lane is outside that must not be.
  bool AddAtIndices(const BinPlace& place, const void* indices, int index_bytes, bool skip_outside, const Additions& a);
  // The same for aligned addresses of elements of the place; `mask` may be null.
  bool AddAtAddresses(const BinPlace& place, const uint64_t* addresses, const uint8_t* mask, const Additions& a);
  // Brings to memory what is pending.
  void Flush();

 private:
  static constexpr int64_t kLanes = 2048;  // at a time
  struct Room {
    alignas(64) Bin bins[kLanes];
    alignas(64) std::byte tables[(kMaxBins + 16 * kCopies) * 8];
  };
  bool Open(const BinPlace& place, const Additions& a);
  void Add(const Bin* bins, const Additions& a, int64_t first, int64_t n);

  BinPlace place_{nullptr, 0, false};  // what the tables are for; size 0: nothing is pending
  int bytes_ = 0, copies_ = 1;
  std::unique_ptr<Room> room_;  // outside of what is pending, its tables are zeros
};

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_COMBINE_H_
