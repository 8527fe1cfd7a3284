// Stores through pointer tiles: plain, masked, atomic; conversions of what is stored.
#include "tile.h"

__tile_global__ void scatter(const int* value, const int* at, int* out) {
  ct::store(out + ct::load(Each<8>(at)), ct::load(Each<8>(value)));
}
__tile_global__ void single(int value, int* out) { ct::store(out + 2, value); }

// The worked example: -1 where the mask is true.
__tile_global__ void masked(const bool* mask, int* out) {
  ct::store_masked(Each<4>(out), ct::full<Tile<int, 4>>(-1), ct::load(Each<4>(mask)));
}
__tile_global__ void atomic_masked(const bool* mask, int* out) {
  ct::atomic_store_masked(Each<4>(out), ct::full<Tile<int, 4>>(-1), ct::load(Each<4>(mask)), ct::memory_order_relaxed_t{},
                          ct::thread_scope_device_t{});
}
// Masked elements may stand nowhere.
__tile_global__ void masked_nowhere(const bool* mask, int* out) {
  const auto m = ct::load(Each<4>(mask));
  const auto far = out + (ct::iota<Tile<int, 4>>() + 1) * 100000000;
  ct::store_masked(ct::select(m, Each<4>(out), far), ct::iota<Tile<int, 4>>(), m);
}
__tile_global__ void int_mask(const int* mask, int* out) {
  ct::store_masked(Each<4>(out), ct::iota<Tile<int, 4>>(), ct::load(Each<4>(mask)));
}
__tile_global__ void row_mask(const bool* mask, int* out) {
  ct::store_masked(Each<4, 2>(out), ct::iota<Tile<int, 4, 2>>(), ct::load(Each<1, 2>(mask)));
}
__tile_global__ void scalar_mask(bool mask, int* out) { ct::store_masked(Each<4>(out), ct::iota<Tile<int, 4>>(), mask); }

// What is stored takes the type of the memory.
template <class From, class To>
__tile_global__ void widen(const From* x, To* out) {
  ct::store(Each<4>(out), ct::load(Each<4>(x)));
}
#define WIDEN(From, To) template __tile_global__ void widen(const From*, To*);
WIDEN(int, long long)
WIDEN(unsigned char, short)
WIDEN(bool, int)
WIDEN(__half, float)
WIDEN(__nv_bfloat16, double)
WIDEN(float, double)
WIDEN(__nv_fp8_e4m3, __half)

__tile_global__ void atomic_widen(const short* x, int* out) {
  ct::atomic_store(Each<4>(out), ct::load(Each<4>(x)), ct::memory_order_relaxed_t{});
}

// Two elements for one place: a mistake, but for atomic stores, of which one wins.
__tile_global__ void twice(int* out) { ct::store(out + ct::iota<Tile<int, 4>>() / 2, ct::iota<Tile<int, 4>>()); }
__tile_global__ void atomic_twice(int* out) {
  ct::atomic_store(out + ct::iota<Tile<int, 4>>() / 2, ct::iota<Tile<int, 4>>(), ct::memory_order_relaxed_t{});
}

__tile_global__ void latency(const bool* mask, int* out) {
  const Tile<int, 4> value = ct::iota<Tile<int, 4>>() + 5;
  [[using cutile : hint(0, latency = 3)]] ct::store(Each<4>(out), value);
  [[using cutile : hint(0, latency = 10)]] ct::store_masked(Each<4>(out + 4), value, ct::load(Each<4>(mask)));
}

// Masks say what is touched: two blocks share an array, each with half of it.
__tile_global__ void halves(int* data) {
  const int block = ct::bid().x;
  const auto mine = ct::iota<Tile<int, 8>>() % 2 == block;
  const auto value = ct::load_masked(Each<8>(data), mine, 0);
  ct::store_masked(Each<8>(data), value + 10, mine);
}
// And here both take element 0.
__tile_global__ void overlap(int* data) {
  const int block = ct::bid().x;
  const auto i = ct::iota<Tile<int, 8>>();
  ct::store_masked(Each<8>(data), i, (i % 2 == block) | (i == 0));
}
