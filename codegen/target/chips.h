// GPUs as products, by what was measured on them: codegen/target/chips.def. For estimates: of `tilec --explain`, and of
// what ways to compile a kernel would cost (plan/resources/candidate.h).
//
//   const Chip* c = FindChip(target.sm, "H200");     // null: nothing was measured
//
// Immutable; safe from any thread.
#ifndef TILE_CODEGEN_TARGET_CHIPS_H_
#define TILE_CODEGEN_TARGET_CHIPS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tile::codegen {

struct Chip {
  const char* name;
  int sm;
  int multiprocessors;
  double mhz;
  double memory_gbs, l2_gbs;
  double launch_us;

  // Of a multiprocessor of this generation, in each cycle: warp instructions, results of special functions, bytes of shared memory, and
  // bytes from the L2.
  static constexpr double kIssue = 4, kSpecial = 16, kSharedBytes = 128, kL2Bytes = 64;
  // Multiplications in each cycle: by wgmma, of 16-bit operands; the part of that which mma.sync reaches (docs/notes/gpu-compiler.md); by fma.
  static constexpr double kF16Macs = 2048, kSyncShare = 0.55, kFmaMacs = 128;
};

// Of this compute capability; an empty name: the first one. Null: there is none.
const Chip* FindChip(int sm, absl::string_view name);
// "H100, H200", for messages.
std::string ChipNames();

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_TARGET_CHIPS_H_
