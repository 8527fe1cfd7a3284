// y = a x + y in CUDA Tile C++. `nvcc --enable-tile --tilebc` makes Tile IR bytecode of it.
#include <cuda_tile.h>

#include "saxpy.h"

namespace ct = cuda::tiles;

__tile_global__ void saxpy(float a, const float* x, float* y, int n) {
  using Index = ct::tile<int, ct::shape<kSaxpyTile>>;
  const auto i = ct::iota<Index>() + static_cast<int>(ct::bid().x) * kSaxpyTile;
  const auto inside = i < n;
  ct::store_masked(y + i, a * ct::load_masked(x + i, inside, 0.0f) + ct::load_masked(y + i, inside, 0.0f), inside);
}
static_assert(ct::same_as<decltype(saxpy), Saxpy>);
