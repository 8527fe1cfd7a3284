#include "codegen/plan/tma/parameters.h"

#include <algorithm>

#include "codegen/plan/tma/tensor_maps.h"
#include "runtime/cuda/kernel_abi.h"

namespace tile::codegen {
namespace {

constexpr int64_t kMapBytes = 128, kMapAlignment = 64;

int64_t BytesOf(ir::Element e) { return e.is_pointer() ? 8 : std::max(1, ir::StorageBytes(e.kind)); }

}  // namespace

int64_t ParameterBytes(const ir::Function& function) {
  int64_t end = 0;
  // Each is at its natural alignment.
  const auto add = [&end](int64_t bytes, int64_t alignment) {
    end = (end + alignment - 1) / alignment * alignment + bytes;
  };
  for (int i = 0; i < function.num_params(); ++i) {
    const int64_t bytes = BytesOf(function.param(i)->type().element());
    add(bytes, bytes);
  }
  for (int i = NumTensorMaps(function); i > 0; --i) add(kMapBytes, kMapAlignment);
  for (int i = 0; i < TILE_ABI_EXTRA_PARAMS; ++i) {
    const bool is_size = i == TILE_ABI_PARAM_GRID_X || i == TILE_ABI_PARAM_GRID_Y || i == TILE_ABI_PARAM_GRID_Z;
    add(is_size ? 4 : 8, is_size ? 4 : 8);
  }
  return end;
}

}  // namespace tile::codegen
