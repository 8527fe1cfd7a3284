#include <sys/mman.h>

#include "ir/platform/memory.h"

namespace tile::platform {

void PreferLargePages(void* memory, size_t bytes) { madvise(memory, bytes, MADV_HUGEPAGE); }

}  // namespace tile::platform
