// Kernels of updates.h.
#define ATOMIC atomic_xor
#define ORDER ct::memory_order_release_t
#include "updates.h"
