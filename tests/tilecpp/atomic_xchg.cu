// Kernels of updates.h.
#define ATOMIC atomic_xchg
#define ORDER ct::memory_order_acq_rel_t
#include "updates.h"

UPDATE(float)
UPDATE(double)

// contended, with the values before: which of them stays is not determined.
__tile_global__ void exchanged(int* p, const int* values, int* old) {
  const int block = ct::bid().x;
  const auto i = ct::iota<Tile<int, 16>>() + block * 16;
  ct::store(old + i, ct::ATOMIC(p + i % 2, ct::load(values + i), order, device));
}
