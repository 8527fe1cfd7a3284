// Loads of pointer tiles: plain and masked, with and without padding; masks, paddings and elements of every type.
#include "tile.h"

// The worked example: r = x[(2 + 9 i) % 16].
__tile_global__ void worked(const int* x, int* out) {
  const auto at = (2 + 9 * ct::iota<Tile<int, 2, 2>>()) % 16;
  ct::store(Each<2, 2>(out), ct::load(x + at));
}

__tile_global__ void gather(const int* x, const int* at, int* out) {
  ct::store(Each<8>(out), ct::load(x + ct::load(Each<8>(at))));
}

// A single pointer is a tile, too.
__tile_global__ void single(const int* x, int* out) { ct::store(out, ct::load(x + 3)); }

// Masked elements stand nowhere; what is loaded for them is not looked at.
__tile_global__ void masked(const int* x, const bool* mask, int* out) {
  const auto m = ct::load(Each<4>(mask));
  const auto nowhere = ct::iota<Tile<int, 4>>() * 100000000;
  const auto loaded = ct::load_masked(ct::select(m, Each<4>(x), x + nowhere + 4096), m);
  ct::store(Each<4>(out), ct::select(m, loaded, ct::full<Tile<int, 4>>(-1)));
}

// The same, looked at: any value will do.
__tile_global__ void masked_used(const int* x, const bool* mask, int* out) {
  ct::store(Each<4>(out), ct::load_masked(Each<4>(x), ct::load(Each<4>(mask))));
}

__tile_global__ void padded(const int* x, const bool* mask, const int* pad, int* out) {
  const auto m = ct::load(Each<4>(mask));
  const auto nowhere = ct::iota<Tile<int, 4>>() * 100000000;
  ct::store(Each<4>(out), ct::load_masked(ct::select(m, Each<4>(x), x + nowhere + 4096), m, ct::load(Each<4>(pad))));
}

// A mask is whatever becomes a truth value, of a shape that broadcasts.
__tile_global__ void int_mask(const int* x, const int* mask, int* out) {
  ct::store(Each<8>(out), ct::load_masked(Each<8>(x), ct::load(Each<8>(mask)), -1));
}
__tile_global__ void float_mask(const int* x, const float* mask, int* out) {
  ct::store(Each<4>(out), ct::load_masked(Each<4>(x), ct::load(Each<4>(mask)), -1));
}
__tile_global__ void scalar_mask(const int* x, bool mask, int* out) {
  ct::store(Each<4>(out), ct::load_masked(Each<4>(x), mask, -1));
}
__tile_global__ void row_mask(const int* x, const bool* mask, int* out) {
  ct::store(Each<4, 2>(out), ct::load_masked(Each<4, 2>(x), ct::load(Each<1, 2>(mask)), -1));
}
__tile_global__ void column_mask(const int* x, const bool* mask, int* out) {
  ct::store(Each<4, 2>(out), ct::load_masked(Each<4, 2>(x), ct::load(Each<4, 1>(mask)), -1));
}

// A padding broadcasts, then converts.
__tile_global__ void row_padding(const double* x, const bool* mask, const float* pad, double* out) {
  ct::store(Each<4, 2>(out), ct::load_masked(Each<4, 2>(x), ct::load(Each<4, 2>(mask)), ct::load(Each<1, 2>(pad))));
}
__tile_global__ void wider_padding(const long long* x, const bool* mask, const short* pad, long long* out) {
  ct::store(Each<4>(out), ct::load_masked(Each<4>(x), ct::load(Each<4>(mask)), ct::load(Each<4>(pad))));
}

// The hint changes nothing but time.
__tile_global__ void latency(const int* x, const bool* mask, int* out) {
  Tile<int, 4> a, b;
  [[using cutile : hint(0, latency = 1)]] a = ct::load(Each<4>(x));
  [[using cutile : hint(900, latency = 10)]] b = ct::load_masked(Each<4>(x), ct::load(Each<4>(mask)), 7);
  ct::store(Each<4>(out), a * 100 + b);
}

// Elements of every type, from const and from plain memory.
template <class T>
__tile_global__ void copy(const T* x, T* y, T* out) {
  ct::store(Each<8>(out), ct::load(Each<8>(x)));
  ct::store(Each<8>(out + 8), ct::load(Each<8>(y)));
  static_assert(ct::same_as<decltype(ct::load(Each<8>(x))), Tile<T, 8>>);
}
#define COPY(T) template __tile_global__ void copy(const T*, T*, T*);
COPY(bool)
COPY(signed char)
COPY(unsigned char)
COPY(short)
COPY(unsigned)
COPY(long long)
COPY(__half)
COPY(__nv_bfloat16)
COPY(float)
COPY(double)
COPY(__nv_fp8_e4m3)
COPY(__nv_fp8_e5m2)

// What may be loaded and stored.
template <class T>
using Pointers = Tile<T*, 4>;
static_assert(ct::loadable_tile<Pointers<int>> && ct::loadable_tile<Pointers<const int>> && ct::loadable_tile<int*>);
static_assert(!ct::loadable_tile<Pointers<void>> && !ct::loadable_tile<Pointers<const void>>);
static_assert(!ct::loadable_tile<Pointers<volatile int>> && !ct::loadable_tile<Tile<int, 4>>);
static_assert(ct::storeable_tile<Pointers<int>> && !ct::storeable_tile<Pointers<const int>>);
static_assert(ct::same_as<ct::tile_load_t<Pointers<const int>>, Tile<int, 4>>);
static_assert(noexcept(ct::load(Pointers<int>())));
