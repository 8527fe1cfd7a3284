// The TMA descriptors that a kernel takes after its parameters, by the numbers that its loads and stores have
// (Decision::kTensorMap). They follow from the operations: a load's from how its stage lies, a store's from its box.
//
//   Decide<Decision::kTensorMap>(module, load, NumTensorMaps(*function));   // the next number
//   for (const TensorMap& map : TensorMapsOf(*function)) …                  // for the image
#ifndef TILE_CODEGEN_PLAN_TMA_TENSOR_MAPS_H_
#define TILE_CODEGEN_PLAN_TMA_TENSOR_MAPS_H_

#include <vector>

#include "codegen/plan/tma/tensor_map.h"

namespace tile::codegen {

// Whether TMA brings what a copy_ahead copies.
bool CopiesByTma(const ir::Op& copy);

// Of a copy_ahead: the tiles whose descriptors the kernel makes itself (plan/tma/device_tensor_map.h).
std::vector<StagedTile> DeviceTensorMapsOf(const ir::Op& copy);

int NumTensorMaps(const ir::Function& function);
// Stores have the layouts of their tiles by now.
std::vector<TensorMap> TensorMapsOf(const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_TMA_TENSOR_MAPS_H_
