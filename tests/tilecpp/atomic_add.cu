// Kernels of updates.h.
#define ATOMIC atomic_add
#define ORDER ct::memory_order_relaxed_t
#include "updates.h"

UPDATE(float)
UPDATE(double)
UPDATE(__half)
