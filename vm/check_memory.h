// The shadow of memory, for --check=full: who accessed each element last, and which bytes hold no specified value.
//
// A region stands for an allocation, cut into chunks of 4 KiB that are made when they are touched first. A chunk has one
// cell of 8 bytes for each element of the smallest size with which it was accessed: at most 8 bytes for one of memory,
// and one more byte where unspecified values are about.
//
// Not thread-safe.
#ifndef TILE_VM_CHECK_MEMORY_H_
#define TILE_VM_CHECK_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "vm/code.h"

namespace tile::vm {

inline constexpr uint8_t kNeverWritten = 1;  // origin (check_poison.h) of bytes that the kernel has not written

// The last write and the reads since: a record, and a list of records (check_races.h). 0: none.
struct Cell {
  uint32_t write = 0, reads = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
};

struct Chunk {
  static constexpr int kShift = 12;
  static constexpr uintptr_t kBytes = uintptr_t{1} << kShift;

  std::unique_ptr<Cell[]> cells;
  std::unique_ptr<uint8_t[]> origin;  // per byte; null: as the region began
  int granule_shift = 0;              // bytes of memory for a cell, as a power of two
  int num_cells() const { return static_cast<int>(kBytes >> granule_shift); }
  // Makes cells for elements of this size, or makes them finer.
  void Refine(int element_shift);
};

struct Region {
  const Allocation* allocation = nullptr;
  uint8_t initial = 0;       // origin of every byte at first
  bool unspecified = false;  // some byte may have an origin
  bool strong = false;       // was accessed by more than weak accesses
  std::vector<Chunk> chunks;

  uintptr_t first_chunk() const { return allocation->begin >> Chunk::kShift; }

  // Calls fn(chunk, offset of the first byte in it, number of bytes) for each chunk of a range.
  template <class Fn>
  void ForEachChunk(uintptr_t address, uint64_t bytes, Fn&& fn) {
    while (bytes > 0) {
      const uintptr_t offset = address & (Chunk::kBytes - 1);
      const uint64_t n = std::min<uint64_t>(bytes, Chunk::kBytes - offset);
      fn(chunks[(address >> Chunk::kShift) - first_chunk()], offset, n);
      address += n;
      bytes -= n;
    }
  }

  // The origin of a byte.
  uint8_t OriginOf(uintptr_t address) const;
  // Copies origins of a range.
  void GetOrigins(uintptr_t address, uint64_t bytes, uint8_t* to);
  // Sets them; null: all bytes have a specified value now.
  void SetOrigins(uintptr_t address, uint64_t bytes, const uint8_t* from);
};

class ShadowMemory {
 public:
  void Add(const Allocation& a);
  void Remove(const Allocation& a);
  // The region that holds all of the range; null if none does.
  Region* Find(uintptr_t address, uint64_t bytes) {
    if (last_ == nullptr || !last_->allocation->Contains(address, bytes)) last_ = Search(address, bytes);
    return last_;
  }
  std::map<uintptr_t, std::unique_ptr<Region>>& regions() { return regions_; }

 private:
  Region* Search(uintptr_t address, uint64_t bytes);
  std::map<uintptr_t, std::unique_ptr<Region>> regions_;  // by address
  Region* last_ = nullptr;
};

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_MEMORY_H_
