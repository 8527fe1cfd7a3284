// Kernels of updates.h.
#define ATOMIC atomic_sub
#define ORDER ct::memory_order_acq_rel_t
#include "updates.h"

UPDATE(float)
UPDATE(double)
UPDATE(__half)
