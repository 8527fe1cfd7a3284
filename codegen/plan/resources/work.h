// What a kernel does, counted from the program as it is emitted: bytes, products, instructions, how often it waits for memory.
//
//   Work work = WorkOf(function, schedule, {.grid = {1024, 1, 1}, .params = {…}});
//   work.products[0].macs                       // of an average block
//   for (const std::string& what : work.unknown) …   // what the count had to assume
//
// Loops are counted by their bounds, evaluated for a sample of the grid's blocks. What cannot be known before a launch (values in memory,
// loops that end by a condition) is counted as once, and named in `unknown`. Elementwise operations are a warp instruction for each 32
// elements, more where an operation is known to take more. Caches are not modelled: `loaded` is what instructions ask for, `unique` what
// all blocks together touch. Pure functions.
#ifndef TILE_CODEGEN_PLAN_RESOURCES_WORK_H_
#define TILE_CODEGEN_PLAN_RESOURCES_WORK_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/schedule.h"
#include "ir/module.h"

namespace tile::codegen {

struct LaunchSizes {
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::vector<std::optional<int64_t>>
      params;  // integers, as the kernel's parameters; nullopt: an address, or not given
};

// Products by one instruction.
struct ProductWork {
  const MmaKind* kind = nullptr;
  int element_bits = 0;  // of the operands
  bool async = false;    // other instructions run beside them in the same warps
  double macs = 0;
};

// Of an average block, but `unique`.
struct Work {
  double loaded = 0, stored = 0;  // bytes between the block and the L2; what a cluster shares is counted in part
  double unique_loaded = 0, unique_stored = 0;  // bytes of all tensors whose size is known, once
  bool unique_known = true;
  std::vector<ProductWork> products;
  double instructions = 0;  // of warps
  double specials = 0;      // results of special functions
  double waits = 0;         // times that the block waits for memory with nothing else to do
  double atomics = 0;
  std::vector<std::string> unknown;  // "k.tile:3:4: for: how often it runs"
};

Work WorkOf(const ir::Function& function, const Schedule& schedule, const LaunchSizes& sizes);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_RESOURCES_WORK_H_
