// What the language rejects: each line that ends with a comment `error` is a mistake, and no other line is.
#include "tile.h"

constexpr ct::memory_order_relaxed_t relaxed;
constexpr ct::memory_order_acquire_t acquire;
constexpr ct::memory_order_release_t release;
constexpr ct::memory_order_acq_rel_t acq_rel;

// Pointers that cannot be loaded or stored through.
__tile_global__ void pointers(void* v, volatile int* changing, const int* fixed, int* p, const void* cv) {
  ct::load(Tile<void*, 4>(v));                                       // error: void
  ct::load(Tile<const void*, 4>(cv));                                // error: void
  ct::load(Each<4>(changing));                                       // error: volatile
  ct::load(ct::iota<Tile<int, 4>>());                                // error: no pointers
  ct::store(Each<4>(changing), 1);                                   // error: volatile
  ct::store(Each<4>(fixed), ct::iota<Tile<int, 4>>());               // error: const
  ct::atomic_store(Each<4>(fixed), ct::iota<Tile<int, 4>>(), relaxed);  // error: const
  ct::atomic_add(Each<4>(fixed), ct::iota<Tile<int, 4>>(), relaxed);    // error: const
  ct::atomic_compare_exchange(fixed, 1, 2, relaxed);                 // error: const
  ct::load(Each<4>(fixed));
}

__tile_global__ void orders(int* p) {
  const auto v = ct::iota<Tile<int, 4>>();
  ct::atomic_load(Each<4>(p), release);               // error: not an order of reads
  ct::atomic_load(Each<4>(p), acq_rel);               // error: not an order of reads
  ct::atomic_load_masked(Each<4>(p), v < 2, release);     // error: not an order of reads
  ct::atomic_load_masked(Each<4>(p), v < 2, 1, acq_rel);  // error: not an order of reads
  ct::atomic_store(Each<4>(p), v, acquire);           // error: not an order of writes
  ct::atomic_store(Each<4>(p), v, acq_rel);           // error: not an order of writes
  ct::atomic_store_masked(Each<4>(p), v, v < 2, acquire);  // error: not an order of writes
  ct::atomic_load(Each<4>(p));                        // error: no order
  ct::atomic_store(Each<4>(p), v);                    // error: no order
  ct::atomic_add(Each<4>(p), v);                      // error: no order
}

__tile_global__ void shapes(int* p, float* f) {
  const auto v = ct::iota<Tile<int, 4>>();
  ct::load_masked(Each<4>(p), ct::iota<Tile<int, 2>>() < 1);         // error: shape of the mask
  ct::load_masked(Each<4>(p), v < 2, ct::iota<Tile<int, 2>>());      // error: shape of the padding
  ct::store(Each<4>(p), ct::iota<Tile<int, 2>>());                   // error: shape of the value
  ct::store_masked(Each<4>(p), v, ct::iota<Tile<int, 8>>() < 1);     // error: shape of the mask
  ct::atomic_add_masked(Each<4>(p), v, ct::iota<Tile<int, 2>>() < 1, relaxed);  // error: shape of the mask
  ct::load_masked(Each<4>(f), v < 2, Each<4>(p));                    // error: a pointer for a number
}

// Conversions that lose something.
__tile_global__ void narrowing(int* p, float* f, long long* q, double* d, __half* h, short* s) {
  const auto i = ct::load(Each<4>(p));
  const auto x = ct::load(Each<4>(f));
  const auto y = ct::load(Each<4>(d));
  const auto j = ct::load(Each<4>(q));
  ct::store(Each<4>(f), y);                                  // error: double to float
  ct::store(Each<4>(f), i);                                  // error: int to float
  ct::store(Each<4>(p), x);                                  // error: float to int
  ct::store(Each<4>(p), j);                                  // error: long long to int
  ct::store(Each<4>(h), x);                                  // error: float to half
  ct::store_masked(Each<4>(s), i, i < 1);                    // error: int to short
  ct::atomic_store(Each<4>(f), y, relaxed);                  // error: double to float
  ct::atomic_store_masked(Each<4>(p), j, i < 1, relaxed);    // error: long long to int
  ct::atomic_compare_exchange(Each<4>(p), j, i, relaxed);    // error: long long to int
  ct::atomic_compare_exchange(Each<4>(f), x, y, relaxed);    // error: double to float
  ct::atomic_compare_exchange_masked(Each<4>(p), i, j, i < 1, relaxed);  // error: long long to int
  ct::atomic_and(Each<4>(p), j, relaxed);                    // error: long long to int
  ct::atomic_or(Each<4>(p), j, relaxed);                     // error: long long to int
  ct::atomic_xor(Each<4>(p), j, relaxed);                    // error: long long to int
  ct::atomic_max(Each<4>(p), j, relaxed);                    // error: long long to int
  ct::atomic_min(Each<4>(p), j, relaxed);                    // error: long long to int
  ct::atomic_add(Each<4>(f), y, relaxed);                    // error: double to float
  ct::atomic_sub(Each<4>(p), x, relaxed);                    // error: float to int
  ct::atomic_xchg(Each<4>(f), i, relaxed);                   // error: int to float
  ct::atomic_and_masked(Each<4>(p), j, i < 1, relaxed);      // error: long long to int
  ct::atomic_or_masked(Each<4>(p), j, i < 1, relaxed);       // error: long long to int
  ct::atomic_xor_masked(Each<4>(p), j, i < 1, relaxed);      // error: long long to int
  ct::atomic_max_masked(Each<4>(p), j, i < 1, relaxed);      // error: long long to int
  ct::atomic_min_masked(Each<4>(p), j, i < 1, relaxed);      // error: long long to int
  ct::atomic_add_masked(Each<4>(p), j, i < 1, relaxed);      // error: long long to int
  ct::atomic_sub_masked(Each<4>(p), j, i < 1, relaxed);      // error: long long to int
  ct::atomic_xchg_masked(Each<4>(p), j, i < 1, relaxed);     // error: long long to int
}

// Types that an operation does not have.
__tile_global__ void types(float* f, double* d, __half* h, short* s, signed char* c, bool* b, __nv_bfloat16* n) {
  ct::atomic_compare_exchange(Each<4>(s), 0, 1, relaxed);                            // error: 16 bits
  ct::atomic_compare_exchange(Each<4>(c), ct::load(Each<4>(c)), ct::load(Each<4>(c)), relaxed);  // error: 8 bits
  ct::atomic_compare_exchange(Each<4>(h), ct::load(Each<4>(h)), ct::load(Each<4>(h)), relaxed);  // error: half
  ct::atomic_compare_exchange(Each<4>(n), ct::load(Each<4>(n)), ct::load(Each<4>(n)), relaxed);  // error: bfloat16
  ct::atomic_and(Each<4>(f), ct::load(Each<4>(f)), relaxed);    // error: float
  ct::atomic_and(Each<4>(s), ct::load(Each<4>(s)), relaxed);    // error: 16 bits
  ct::atomic_and(Each<4>(b), ct::load(Each<4>(b)), relaxed);    // error: bool
  ct::atomic_or(Each<4>(f), ct::load(Each<4>(f)), relaxed);     // error: float
  ct::atomic_or(Each<4>(c), ct::load(Each<4>(c)), relaxed);     // error: 8 bits
  ct::atomic_xor(Each<4>(d), ct::load(Each<4>(d)), relaxed);    // error: double
  ct::atomic_xor(Each<4>(s), ct::load(Each<4>(s)), relaxed);    // error: 16 bits
  ct::atomic_max(Each<4>(f), ct::load(Each<4>(f)), relaxed);    // error: float
  ct::atomic_max(Each<4>(s), ct::load(Each<4>(s)), relaxed);    // error: 16 bits
  ct::atomic_min(Each<4>(d), ct::load(Each<4>(d)), relaxed);    // error: double
  ct::atomic_min(Each<4>(c), ct::load(Each<4>(c)), relaxed);    // error: 8 bits
  ct::atomic_add(Each<4>(s), ct::load(Each<4>(s)), relaxed);    // error: 16 bits
  ct::atomic_add(Each<4>(b), ct::load(Each<4>(b)), relaxed);    // error: bool
  ct::atomic_sub(Each<4>(c), ct::load(Each<4>(c)), relaxed);    // error: 8 bits
  ct::atomic_sub(Each<4>(s), ct::load(Each<4>(s)), relaxed);    // error: 16 bits
  ct::atomic_xchg(Each<4>(h), ct::load(Each<4>(h)), relaxed);   // error: half
  ct::atomic_xchg(Each<4>(s), ct::load(Each<4>(s)), relaxed);   // error: 16 bits
}

// Of a padding the document asks for a conversion, whatever it loses; the header wants one that loses nothing.
__tile_global__ void paddings(float* f, short* s) {
  const auto i = ct::iota<Tile<int, 4>>();
  ct::load_masked(Each<4>(f), i < 2, 3);                             // error: int for float
  ct::load_masked(Each<4>(s), i < 2, i);                             // error: int for short
  ct::atomic_load_masked(Each<4>(f), i < 2, 0.5, relaxed);           // error: double for float
}
