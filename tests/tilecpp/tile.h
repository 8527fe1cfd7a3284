// What the kernels of this folder share.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_tile.h>

namespace ct = cuda::tiles;

template <class T, int... n>
using Tile = ct::tile<T, ct::shape<n...>>;

// p + 0, p + 1, …: a tile of pointers to an array.
template <int... n, class T>
__tile__ auto Each(T* p) {
  return p + ct::iota<Tile<int, n...>>();
}
