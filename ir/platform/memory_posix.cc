#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "ir/platform/memory.h"

namespace tile::platform {

void* MapPages(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

void UnmapPages(void* pages, size_t bytes) { munmap(pages, bytes); }

void* AllocateAligned(size_t alignment, size_t bytes) {
  void* p = nullptr;
  return posix_memalign(&p, std::max(alignment, sizeof(void*)), std::max<size_t>(bytes, 1)) == 0 ? p : nullptr;
}

void FreeAligned(void* memory) { std::free(memory); }

uint64_t PhysicalMemory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace tile::platform
