#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "python/ext/platform/platform.h"

void* allocate_aligned(size_t alignment, size_t bytes) {
  void* memory = NULL;
  return posix_memalign(&memory, alignment, bytes < 1 ? 1 : bytes) == 0 ? memory : NULL;
}

void free_aligned(void* memory) { free(memory); }

void wait_forever(void) {
  for (;;) pause();
}
