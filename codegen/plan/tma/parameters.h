// How many bytes the parameters of a kernel's machine code take: its own, TMA descriptors, and those of runtime/cuda/kernel_abi.h.
//
//   if (ParameterBytes(function) > kMostParameterBytes) …   // no GPU takes so many
//
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_TMA_PARAMETERS_H_
#define TILE_CODEGEN_PLAN_TMA_PARAMETERS_H_

#include <cstdint>

#include "ir/module.h"

namespace tile::codegen {

// Of a kernel for any driver; and of one in PTX 8.1 or later, for drivers of CUDA 12.1 or later.
inline constexpr int64_t kOldParameterBytes = 4096, kMostParameterBytes = 32764;
inline constexpr int kPtxOfManyParameters = 81, kCudaOfManyParameters = 12010;

int64_t ParameterBytes(const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_TMA_PARAMETERS_H_
