// What passes may do to the kernel of one image beyond what holds for any launch (codegen/variants.def).
//
//   Permissions p = {May::kTakeDescriptors, May::kResizeK};
//   if (p.may(May::kResizeK)) …
#ifndef TILE_CODEGEN_TARGET_PERMISSIONS_H_
#define TILE_CODEGEN_TARGET_PERMISSIONS_H_

#include <cstdint>
#include <initializer_list>

namespace tile::codegen {

enum class May : uint8_t {
  kTakeDescriptors,  // take TMA descriptors after the kernel's parameters, which a runtime encodes (Compiled::maps)
  kResizeK,          // do the work of several iterations along K in one (passes/pipeline/resize_k.h)
  kAssumeAligned,    // take arrays for aligned (passes/canonical/assume_aligned.h)
  kCoarsen,          // do the work of neighbouring blocks in one (passes/grid/coarsen_blocks.h)
  kSplit,            // do the parts of one block in several (passes/grid/split_products.h)
  kUnpersist,        // give each tile of a persistent loop a block (passes/grid/unpersist_grid.h)
};

class Permissions {
 public:
  constexpr Permissions() = default;
  constexpr Permissions(std::initializer_list<May> all) {
    for (May m : all) Allow(m);
  }

  constexpr bool may(May m) const { return (bits_ & Bit(m)) != 0; }
  constexpr void Allow(May m, bool allowed = true) {
    bits_ = static_cast<uint8_t>(allowed ? bits_ | Bit(m) : bits_ & ~Bit(m));
  }

 private:
  static constexpr uint8_t Bit(May m) { return static_cast<uint8_t>(1u << static_cast<unsigned>(m)); }

  uint8_t bits_ = 0;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_TARGET_PERMISSIONS_H_
