// Kernels of updates.h.
#define ATOMIC atomic_max
#define ORDER ct::memory_order_acq_rel_t
#include "updates.h"
