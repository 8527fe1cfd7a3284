// atomic_compare_exchange: of every type, masked, by value representation, and under contention.
#include "tile.h"

constexpr ct::memory_order_relaxed_t relaxed;
constexpr ct::memory_order_acq_rel_t acq_rel;
constexpr ct::thread_scope_device_t device;

// old: what was compared.
template <class T>
__tile_global__ void exchange(T* p, const T* expected, const T* desired, T* old) {
  ct::store(Each<8>(old), ct::atomic_compare_exchange(Each<8>(p), ct::load(Each<8>(expected)), ct::load(Each<8>(desired)),
                                                      acq_rel, device));
}
#define EXCHANGE(T) template __tile_global__ void exchange(T*, const T*, const T*, T*);
EXCHANGE(int)
EXCHANGE(unsigned)
EXCHANGE(long long)
EXCHANGE(unsigned long long)
EXCHANGE(float)
EXCHANGE(double)

__tile_global__ void masked(int* p, const int* expected, const int* desired, const bool* mask, int* old) {
  const auto m = ct::load(Each<8>(mask));
  const auto far = p + (ct::iota<Tile<int, 8>>() + 1) * 100000000;
  ct::store(Each<8>(old), ct::atomic_compare_exchange_masked(ct::select(m, Each<8>(p), far), ct::load(Each<8>(expected)),
                                                             ct::load(Each<8>(desired)), m, acq_rel, device));
}
__tile_global__ void int_row_mask(int* p, const int* mask, int* old) {
  ct::store(Each<4, 2>(old), ct::atomic_compare_exchange_masked(Each<4, 2>(p), ct::full<Tile<int, 4, 2>>(0),
                                                                ct::iota<Tile<int, 4, 2>>() + 1, ct::load(Each<1, 2>(mask)),
                                                                relaxed));
}
// What is compared and stored takes the type of the memory.
__tile_global__ void widened(long long* p, const int* expected, const short* desired, long long* old) {
  ct::store(Each<4>(old), ct::atomic_compare_exchange(Each<4>(p), ct::load(Each<4>(expected)), ct::load(Each<4>(desired)),
                                                      relaxed));
}
__tile_global__ void widened_double(double* p, const float* expected, const __half* desired, double* old) {
  ct::store(Each<4>(old), ct::atomic_compare_exchange(Each<4>(p), ct::load(Each<4>(expected)), ct::load(Each<4>(desired)),
                                                      relaxed));
}

// Whether it took place: the bits of the result against those that were expected.
__tile_global__ void success(float* p, const float* expected, const float* desired, bool* done) {
  const auto e = ct::load(Each<8>(expected));
  const auto old = ct::atomic_compare_exchange(Each<8>(p), e, ct::load(Each<8>(desired)), relaxed, device);
  ct::store(Each<8>(done), ct::element_bitcast<int>(old) == ct::element_bitcast<int>(e));
}

// Every block adds to the same counters by compare-and-swap.
__tile_global__ void count(int* counters) {
  const auto p = Each<4>(counters);
  for (int i = 0; i < 4; ++i) {
    int seen = 0, before = -1;
    while (seen != before) {
      before = seen;
      seen = ct::atomic_compare_exchange(counters + i, before, before + 1 + i, acq_rel, device);
    }
  }
}
// One that fails is still a write of what is there: a plain load in another block races with it.
__tile_global__ void failed(int* p, int* out) {
  const int block = ct::bid().x;
  if (block == 0) {
    ct::atomic_compare_exchange(p, 100, 1, relaxed, device);
  } else {
    ct::store(out, ct::load(p));
  }
}
