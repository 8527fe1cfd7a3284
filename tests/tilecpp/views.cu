// Views: tiles of an array by their number, whole and at its end, with every padding; strided views; atomic accesses.
#include "tile.h"

// n elements, in tiles of 4.
template <class T>
__tile__ auto Fours(T* p, int n) {
  return ct::partition_view{ct::tensor_span{p, ct::extents{n}}, ct::shape<4>{}};
}
// Rows of 6 elements, in tiles of 2 by 4.
template <class T>
__tile__ auto TwoByFour(T* p, int rows) {
  return ct::partition_view{ct::tensor_span{p, ct::extents<int, ct::dynamic_extent, 6>{rows}}, ct::shape<2, 4>{}};
}

__tile_global__ void whole(const int* x, int* out, int n) {
  const int i = ct::bid().x;
  Fours(out, n).store(Fours(x, n).load(i) * 2, i);
}
// The last tile reaches over the end: zero is read there, and nothing is written.
__tile_global__ void at_the_end(const float* x, float* out, int n) {
  const int i = ct::bid().x;
  Fours(out, n).store_masked(Fours(x, n).load_masked(i) + 1.0f, i);
}
__tile_global__ void two_dimensions(const int* x, int* out, int rows) {
  const int i = ct::bid().x / 2, j = ct::bid().x % 2;
  TwoByFour(out, rows).store_masked(TwoByFour(x, rows).load_masked(i, j) + 100, i, j);
}

// What a load of four elements gives of an array of two: out[4 i] and on.
__tile_global__ void paddings(const float* x, float* out) {
  const auto from = Fours(x, 2);
  const auto to = Fours(out, 20);
  to.store(from.load_masked(ct::view_padding_zero_t{}, 0), 0);
  to.store(from.load_masked(ct::view_padding_negative_zero_t{}, 0), 1);
  to.store(from.load_masked(ct::view_padding_positive_inf_t{}, 0), 2);
  to.store(from.load_masked(ct::view_padding_negative_inf_t{}, 0), 3);
  to.store(from.template load_masked<ct::view_padding::nan>(0), 4);
}

// Tiles of 4 that begin 2 elements after one another.
__tile_global__ void overlapping(const int* x, int* out) {
  const int i = ct::bid().x;
  const auto from = ct::strided_view{ct::tensor_span{x, ct::extents{16}}, ct::shape<4>{}, ct::strides<ct::uint32_t, 2>{}};
  Fours(out, 16).store(from.load(i), i);
}

__tile_global__ void atomic(const int* x, int* out, int n) {
  constexpr ct::thread_scope_device_t device;
  const int i = ct::bid().x;
  const auto loaded = Fours(x, n).atomic_load(ct::memory_order_acquire_t{}, device, i);
  Fours(out, n).atomic_store(loaded, ct::memory_order_release_t{}, device, i);
}
// All blocks add to the first tiles of out, up to its end.
__tile_global__ void sums(const int* x, int* out, int n) {
  const int i = ct::bid().x;
  Fours(out, 6).atomic_add_masked(Fours(x, n).load(i), ct::memory_order_relaxed_t{}, ct::thread_scope_device_t{}, i % 2);
}
__tile_global__ void maxima(const int* x, int* out, int n) {
  const int i = ct::bid().x;
  Fours(out, 8).atomic_max(Fours(x, n).load(i), ct::memory_order_relaxed_t{}, ct::thread_scope_device_t{}, i % 2);
}
__tile_global__ void hints(const int* x, int* out, int n) {
  const int i = ct::bid().x;
  Tile<int, 4> loaded;
  [[using cutile : hint(0, latency = 3, allow_tma = false)]] loaded = Fours(x, n).load(i);
  [[using cutile : hint(900, allow_tma = true)]] Fours(out, n).store(loaded, i);
}
