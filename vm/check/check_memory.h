// The shadow of memory, for --check=full: who accessed each byte last, and which bytes hold no specified value.
//
// A region stands for an allocation, cut into chunks of 4 KiB. A chunk tells its history as a few runs of bytes with the
// same one, which is what accesses of whole tiles leave behind. Where elements are accessed one by one it turns to one cell
// for each element of the smallest size: at most 8 bytes for one of memory, and one more where unspecified values are
// about.
//
// Not thread-safe.
#ifndef TILE_VM_CHECK_CHECK_MEMORY_H_
#define TILE_VM_CHECK_CHECK_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "vm/machine/code.h"

namespace tile::vm {

inline constexpr uint8_t kNeverWritten = 1;  // origin (check_poison.h) of bytes that the kernel has not written

// The last write and the reads since: a record, and a list of records (check_races.h). 0: none.
struct Cell {
  uint32_t write = 0, reads = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
};

class Chunk {
 public:
  static constexpr int kShift = 12;
  static constexpr uintptr_t kBytes = uintptr_t{1} << kShift;

  // Replaces the cells of [offset, offset + n): fn(old cell, offset of the first byte that has it) gives the new one for a
  // stretch of equal cells. `element_shift`: size of the elements, as a power of two; offset and n are multiples of it.
  template <class Fn>
  void Update(uintptr_t offset, uint64_t n, int element_shift, Fn&& fn) {
    if (cells_ != nullptr) return UpdateCells(offset, n, element_shift, fn);
    if (runs_.empty()) runs_.push_back({static_cast<uint32_t>(kBytes), {}});
    const uint64_t end = offset + n;
    size_t i = 0;
    while (runs_[i].end <= offset) ++i;
    if ((i == 0 ? 0 : runs_[i - 1].end) == offset && runs_[i].end == end) {
      runs_[i].cell = fn(runs_[i].cell, offset);
      return;
    }
    // Cut at both ends; what is between changes run by run.
    uint64_t begin = offset;
    if ((i == 0 ? 0 : runs_[i - 1].end) < offset) {
      runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(i), {static_cast<uint32_t>(offset), runs_[i].cell});
      ++i;
    }
    const size_t first = i;
    for (; begin < end; ++i) {
      if (runs_[i].end > end) {
        runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(i), {static_cast<uint32_t>(end), runs_[i].cell});
      }
      runs_[i].cell = fn(runs_[i].cell, begin);
      begin = runs_[i].end;
    }
    Join(first, i);
    if (runs_.size() > kMaxRuns) MakeCells(element_shift);
  }
  // The history of a byte.
  Cell At(uintptr_t offset) const;
  // fn(Cell&) once for every stretch or element.
  template <class Fn>
  void ForEachCell(Fn&& fn) {
    for (Run& r : runs_) fn(r.cell);
    for (size_t i = 0; cells_ != nullptr && i < kBytes >> granule_shift_; ++i) fn(cells_[i]);
  }

  // Origins of unspecified values, per byte. `initial`: what all bytes have at first.
  const uint8_t* origins() const { return origins_.get(); }  // null: all the same
  uint8_t OriginAt(uintptr_t offset, uint8_t initial) const {
    return origins_ != nullptr ? origins_[offset] : specified_ ? 0 : initial;
  }
  // null: the bytes have a specified value.
  void SetOrigins(uintptr_t offset, uint64_t n, const uint8_t* from, uint8_t initial);

 private:
  struct Run {
    uint32_t end;
    Cell cell;
  };
  static constexpr size_t kMaxRuns = 48;

  template <class Fn>
  void UpdateCells(uintptr_t offset, uint64_t n, int element_shift, Fn&& fn) {
    Refine(element_shift);
    Cell* cell = cells_.get() + (offset >> granule_shift_);
    Cell* const end = cell + (n >> granule_shift_);
    while (cell != end) {
      const Cell old = *cell;
      Cell* same = cell + 1;
      while (same != end && *same == old) ++same;
      std::fill(cell, same, fn(old, static_cast<uintptr_t>(cell - cells_.get()) << granule_shift_));
      cell = same;
    }
  }
  void Join(size_t first, size_t last);
  void MakeCells(int element_shift);
  void Refine(int element_shift);

  std::vector<Run> runs_;
  std::unique_ptr<Cell[]> cells_;
  std::unique_ptr<uint8_t[]> origins_;
  uint32_t unspecified_ = 0;  // bytes with an origin, if there are origins
  int granule_shift_ = 0;     // bytes of memory for a cell, as a power of two
  bool specified_ = false;    // without origins: all bytes have been written
};

struct Region {
  const Allocation* allocation = nullptr;
  uint8_t initial = 0;       // origin of every byte at first
  bool unspecified = false;  // some byte may have an origin
  bool strong = false;       // was accessed by more than weak accesses
  bool holds_input = false;  // elements of an `in` array are here (check_arrays.h)
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
  uint8_t OriginOf(uintptr_t address) const {
    return chunks[(address >> Chunk::kShift) - first_chunk()].OriginAt(address & (Chunk::kBytes - 1), initial);
  }
  // Whether some byte of a range may have one. Fast: looks at whole chunks.
  bool AnyOrigin(uintptr_t address, uint64_t bytes) const;
  // Copies origins of a range.
  void GetOrigins(uintptr_t address, uint64_t bytes, uint8_t* to);
  // Sets them; null: all bytes have a specified value now.
  void SetOrigins(uintptr_t address, uint64_t bytes, const uint8_t* from);
  // Bytes that somebody has written or not (vm::WrittenBytes), before a launch and after it.
  void SetWritten(uintptr_t address, uint64_t bytes, const uint8_t* written);
  void GetWritten(uintptr_t address, uint64_t bytes, uint8_t* written) const;
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

#endif  // TILE_VM_CHECK_CHECK_MEMORY_H_
