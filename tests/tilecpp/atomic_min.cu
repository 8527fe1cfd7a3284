// Kernels of updates.h.
#define ATOMIC atomic_min
#define ORDER ct::memory_order_relaxed_t
#include "updates.h"
