// Kernels of updates.h.
#define ATOMIC atomic_and
#define ORDER ct::memory_order_relaxed_t
#include "updates.h"
