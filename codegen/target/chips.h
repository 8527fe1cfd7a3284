// GPUs as products, by what was measured on them: codegen/target/chips.def. For the estimates of `tilec --explain`. What a multiprocessor does in a
// cycle is in codegen/target/machine.h.
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
};

// Of this compute capability; an empty name: the first one. Null: there is none.
const Chip* FindChip(int sm, absl::string_view name);
// "H100, H200", for messages.
std::string ChipNames();

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_TARGET_CHIPS_H_
