#include <malloc.h>
#include <windows.h>

#include "python/ext/platform/platform.h"

void* allocate_aligned(size_t alignment, size_t bytes) { return _aligned_malloc(bytes < 1 ? 1 : bytes, alignment); }

void free_aligned(void* memory) { _aligned_free(memory); }

void wait_forever(void) {
  for (;;) Sleep(INFINITE);
}
