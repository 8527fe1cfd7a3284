// Memory as each system gives it. One source file for each system or family of systems implements this header.
//
//   void* pages = platform::MapPages(bytes);           // zeros; null if the system has none left
//   platform::UnmapPages(pages, bytes);
//   void* row = platform::AllocateAligned(256, bytes);
//   platform::FreeAligned(row);                        // not std::free
#ifndef TILE_IR_PLATFORM_MEMORY_H_
#define TILE_IR_PLATFORM_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace tile::platform {

// Fresh pages that are zero, or null. A large request that fails does not end the process.
void* MapPages(size_t bytes);
// All of what MapPages gave for so many bytes.
void UnmapPages(void* pages, size_t bytes);

// At least one byte, or null. The alignment is a power of two.
void* AllocateAligned(size_t alignment, size_t bytes);
// Null is nothing to free.
void FreeAligned(void* memory);

// Asks for large pages below these bytes, where the system lets a program ask. Nothing but speed depends on it.
void PreferLargePages(void* memory, size_t bytes);

// Bytes of this machine's memory.
uint64_t PhysicalMemory();

}  // namespace tile::platform

#endif  // TILE_IR_PLATFORM_MEMORY_H_
