#include "vm/check/check_memory.h"

#include <bit>
#include <cstring>

#include "vm/kernels/find.h"

namespace tile::vm {

void Chunk::Join(size_t first, size_t last) {
  // Runs [first, last) are new; their neighbours may be equal to them.
  size_t to = first == 0 ? 0 : first - 1;
  const size_t end = std::min(last + 1, runs_.size());
  for (size_t i = to + 1; i < end; ++i) {
    if (runs_[i].cell == runs_[to].cell) {
      runs_[to].end = runs_[i].end;
    } else {
      runs_[++to] = runs_[i];
    }
  }
  runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(to + 1), runs_.begin() + static_cast<std::ptrdiff_t>(end));
}

void Chunk::MakeCells(int element_shift) {
  granule_shift_ = element_shift;
  for (const Run& r : runs_) granule_shift_ = std::min(granule_shift_, std::countr_zero(r.end));
  cells_ = std::make_unique<Cell[]>(kBytes >> granule_shift_);
  uint32_t begin = 0;
  for (const Run& r : runs_) {
    std::fill(cells_.get() + (begin >> granule_shift_), cells_.get() + (r.end >> granule_shift_), r.cell);
    begin = r.end;
  }
  runs_ = {};
}

void Chunk::Refine(int element_shift) {
  if (granule_shift_ <= element_shift) return;
  auto finer = std::make_unique<Cell[]>(kBytes >> element_shift);
  const int factor = granule_shift_ - element_shift;
  for (size_t i = 0; i < kBytes >> element_shift; ++i) finer[i] = cells_[i >> factor];
  cells_ = std::move(finer);
  granule_shift_ = element_shift;
}

Cell Chunk::At(uintptr_t offset) const {
  if (cells_ != nullptr) return cells_[offset >> granule_shift_];
  for (const Run& r : runs_) {
    if (offset < r.end) return r.cell;
  }
  return {};
}

void Chunk::SetOrigins(uintptr_t offset, uint64_t n, const uint8_t* from, uint8_t initial) {
  if (origins_ == nullptr) {
    if (from == nullptr && (specified_ || initial == 0)) return;
    if (from == nullptr && n == kBytes) {
      specified_ = true;
      return;
    }
    origins_ = std::make_unique<uint8_t[]>(kBytes);
    if (!specified_ && initial != 0) {
      std::memset(origins_.get(), initial, kBytes);
      unspecified_ = kBytes;
    }
  }
  uint8_t* to = origins_.get() + offset;
  const auto count = [&] {
    return static_cast<uint32_t>(n - static_cast<uint64_t>(CountZeros(to, static_cast<int64_t>(n))));
  };
  unspecified_ -= count();
  if (from != nullptr) {
    std::memcpy(to, from, n);
    unspecified_ += count();
    return;
  }
  std::memset(to, 0, n);
  if (unspecified_ > 0) return;
  origins_ = nullptr;
  specified_ = true;
}

bool Region::AnyOrigin(uintptr_t address, uint64_t bytes) const {
  if (bytes == 0) return false;
  const size_t first = (address >> Chunk::kShift) - first_chunk();
  const size_t last = ((address + bytes - 1) >> Chunk::kShift) - first_chunk();
  for (size_t i = first; i <= last; ++i) {
    if (chunks[i].origins() != nullptr || chunks[i].OriginAt(0, initial) != 0) return true;
  }
  return false;
}

void Region::GetOrigins(uintptr_t address, uint64_t bytes, uint8_t* to) {
  ForEachChunk(address, bytes, [&](const Chunk& c, uintptr_t offset, uint64_t n) {
    if (c.origins() != nullptr) {
      std::memcpy(to, c.origins() + offset, n);
    } else {
      std::memset(to, c.OriginAt(offset, initial), n);
    }
    to += n;
  });
}

void Region::SetOrigins(uintptr_t address, uint64_t bytes, const uint8_t* from) {
  unspecified = unspecified || from != nullptr;
  ForEachChunk(address, bytes, [&](Chunk& c, uintptr_t offset, uint64_t n) {
    c.SetOrigins(offset, n, from, initial);
    if (from != nullptr) from += n;
  });
}

void Region::SetWritten(uintptr_t address, uint64_t bytes, const uint8_t* written) {
  const auto none = std::count(written, written + bytes, 0);
  if (none == 0) return;
  unspecified = true;
  if (static_cast<uint64_t>(none) == bytes && address == allocation->begin && bytes == allocation->bytes) {
    initial = kNeverWritten;
    return;
  }
  std::vector<uint8_t> origins(bytes);
  GetOrigins(address, bytes, origins.data());
  for (uint64_t i = 0; i < bytes; ++i) {
    if (written[i] == 0) origins[i] = kNeverWritten;
  }
  SetOrigins(address, bytes, origins.data());
}

void Region::GetWritten(uintptr_t address, uint64_t bytes, uint8_t* written) const {
  for (uint64_t i = 0; i < bytes; ++i) {
    if (OriginOf(address + i) != kNeverWritten) written[i] = 1;
  }
}

void ShadowMemory::Add(const Allocation& a) {
  if (a.bytes == 0) return;
  auto region = std::make_unique<Region>();
  region->allocation = &a;
  region->initial = a.initialized ? 0 : kNeverWritten;
  region->unspecified = !a.initialized;
  region->chunks.resize(((a.end() - 1) >> Chunk::kShift) - region->first_chunk() + 1);
  last_ = nullptr;
  regions_[a.begin] = std::move(region);
}

void ShadowMemory::Remove(const Allocation& a) {
  const auto it = regions_.find(a.begin);
  if (it == regions_.end() || it->second->allocation != &a) return;
  last_ = nullptr;
  regions_.erase(it);
}

Region* ShadowMemory::Search(uintptr_t address, uint64_t bytes) {
  auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return nullptr;
  Region* region = std::prev(after)->second.get();
  return region->allocation->Contains(address, bytes) ? region : nullptr;
}

}  // namespace tile::vm
