#include <malloc.h>
#include <windows.h>

#include <algorithm>

#include "ir/platform/memory.h"

namespace tile::platform {

void* MapPages(size_t bytes) { return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }

void UnmapPages(void* pages, size_t /*bytes*/) { VirtualFree(pages, 0, MEM_RELEASE); }

void* AllocateAligned(size_t alignment, size_t bytes) { return _aligned_malloc(std::max<size_t>(bytes, 1), alignment); }

void FreeAligned(void* memory) { _aligned_free(memory); }

uint64_t PhysicalMemory() {
  MEMORYSTATUSEX status;
  status.dwLength = sizeof(status);
  return GlobalMemoryStatusEx(&status) != 0 ? status.ullTotalPhys : 0;
}

}  // namespace tile::platform
