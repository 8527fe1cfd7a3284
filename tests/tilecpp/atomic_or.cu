// Kernels of updates.h.
#define ATOMIC atomic_or
#define ORDER ct::memory_order_acquire_t
#include "updates.h"
