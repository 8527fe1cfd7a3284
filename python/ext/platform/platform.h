/* What the extension asks of the system; one source file for each family of systems, of which build_wheel.py takes one. */
#ifndef TILE_PYTHON_EXT_PLATFORM_PLATFORM_H_
#define TILE_PYTHON_EXT_PLATFORM_PLATFORM_H_

#include <stddef.h>

/* At least one byte at a multiple of `alignment`, a power of two, 8 or more; NULL if there is no memory. Freed by free_aligned. */
void* allocate_aligned(size_t alignment, size_t bytes);
void free_aligned(void* memory);
/* Never returns. */
void wait_forever(void);

#endif /* TILE_PYTHON_EXT_PLATFORM_PLATFORM_H_ */
