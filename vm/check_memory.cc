#include "vm/check_memory.h"

#include <cstring>

namespace tile::vm {

void Chunk::Refine(int element_shift) {
  if (cells != nullptr && granule_shift <= element_shift) return;
  auto finer = std::make_unique<Cell[]>(kBytes >> element_shift);
  if (cells != nullptr) {
    const int factor = granule_shift - element_shift;
    for (size_t i = 0; i < kBytes >> element_shift; ++i) finer[i] = cells[i >> factor];
  }
  cells = std::move(finer);
  granule_shift = element_shift;
}

uint8_t Region::OriginOf(uintptr_t address) const {
  const Chunk& c = chunks[(address >> Chunk::kShift) - first_chunk()];
  return c.origin != nullptr ? c.origin[address & (Chunk::kBytes - 1)] : initial;
}

void Region::GetOrigins(uintptr_t address, uint64_t bytes, uint8_t* to) {
  ForEachChunk(address, bytes, [&](const Chunk& c, uintptr_t offset, uint64_t n) {
    if (c.origin != nullptr) {
      std::memcpy(to, c.origin.get() + offset, n);
    } else {
      std::memset(to, initial, n);
    }
    to += n;
  });
}

void Region::SetOrigins(uintptr_t address, uint64_t bytes, const uint8_t* from) {
  unspecified = unspecified || from != nullptr;
  ForEachChunk(address, bytes, [&](Chunk& c, uintptr_t offset, uint64_t n) {
    if (c.origin == nullptr && (from != nullptr || initial != 0)) {
      c.origin = std::make_unique<uint8_t[]>(Chunk::kBytes);
      std::memset(c.origin.get(), initial, Chunk::kBytes);
    }
    if (c.origin == nullptr) return;
    if (from == nullptr) {
      std::memset(c.origin.get() + offset, 0, n);
    } else {
      std::memcpy(c.origin.get() + offset, from, n);
      from += n;
    }
  });
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
