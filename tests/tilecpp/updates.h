// The kernels of atomic_add.cu to atomic_xor.cu: of every type, masked, and from many blocks at once. A file says which operation
// (ATOMIC) in which ORDER and, by UPDATE, of which types besides integers.
#pragma once
#include "tile.h"

#define MASKED_OF(name) name##_masked
#define MASKED(name) MASKED_OF(name)

constexpr ORDER order;
constexpr ct::thread_scope_device_t device;

// old: the values before.
template <class T>
__tile_global__ void update(T* p, const T* values, T* old) {
  ct::store(Each<8>(old), ct::ATOMIC(Each<8>(p), ct::load(Each<8>(values)), order, device));
}
#define UPDATE(T) template __tile_global__ void update(T*, const T*, T*);
UPDATE(int)
UPDATE(unsigned)
UPDATE(long long)
UPDATE(unsigned long long)

// Masked elements may stand nowhere, and give any value.
__tile_global__ void masked(int* p, const int* values, const bool* mask, int* old) {
  const auto m = ct::load(Each<8>(mask));
  const auto far = p + (ct::iota<Tile<int, 8>>() + 1) * 100000000;
  const auto k = ct::MASKED(ATOMIC)(ct::select(m, Each<8>(p), far), ct::load(Each<8>(values)), m, order, device);
  ct::store(Each<8>(old), ct::select(m, k, ct::full<Tile<int, 8>>(-1)));
}
__tile_global__ void row_mask(int* p, const int* mask) {
  ct::MASKED(ATOMIC)(Each<4, 2>(p), ct::iota<Tile<int, 4, 2>>() * 3, ct::load(Each<1, 2>(mask)), order);
}

// Values take the type of the memory.
__tile_global__ void widened(long long* p, const short* values, long long* old) {
  ct::store(Each<4>(old), ct::ATOMIC(Each<4>(p), ct::load(Each<4>(values)), order));
}

// Blocks and elements meet in the same place.
__tile_global__ void contended(int* p, const int* values) {
  const int block = ct::bid().x;
  const auto i = ct::iota<Tile<int, 16>>() + block * 16;
  ct::ATOMIC(p + i % 2, ct::load(values + i), order, device);
}
