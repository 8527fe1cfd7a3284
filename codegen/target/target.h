// What a GPU can do, as data: a row per sm in codegen/target/targets.def. Nothing else compares sm numbers.
//
//   const Target* t = FindTarget(90);      // null: unknown; TargetNames() for the message
//   if (t->has(kCpAsync)) …
//
// Immutable; safe from any thread.
#ifndef TILE_CODEGEN_TARGET_TARGET_H_
#define TILE_CODEGEN_TARGET_TARGET_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace tile::codegen {

enum Feature : uint32_t {
  kMma1688 = 1 << 0,  // mma.sync m16n8k8 of f16
  kLdmatrix = 1 << 1,
  kMma16816 = 1 << 2,  // mma.sync m16n8k16 of f16 and bf16, m16n8k8 of tf32, m16n8k32 of i8, m8n8k4 of f64
  kCpAsync = 1 << 3,
  kBf16Fma = 1 << 4,
  kF8Convert = 1 << 5,  // cvt to and from 8-bit floats
  kF8Mma = 1 << 6,      // mma.sync m16n8k32 of e4m3 and e5m2
  kBf16Arith = 1 << 7,  // add, sub, mul of bf16
  kBf16Atomics = 1 << 8,
  kVectorRed = 1 << 9,  // red and atom of vectors
  kCluster = 1 << 10,
  kTma = 1 << 11,
  kWgmma = 1 << 12,
  kTf32Convert = 1 << 13,  // cvt to tf32 to the nearest even, and toward zero
};

struct Target {
  int sm;
  const char* arch;
  int ptx;
  uint32_t shared_bytes;
  uint32_t features;

  bool has(Feature f) const { return (features & f) == f; }
};

absl::Span<const Target> AllTargets();
const Target* FindTarget(int sm);
// The targets with this feature, for messages: "sm_90, sm_100".
std::string TargetsWith(Feature f);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_TARGET_TARGET_H_
