// What a GPU can do and has, as data: a row per GPU in codegen/target/targets.def. Nothing else compares sm numbers. By which figures
// codegen chooses is in codegen/target/tuning.h.
//
//   const Target* t = FindTarget("90");    // null: unknown; TargetNames() for the message
//   if (t->has(kCpAsync)) …
//
// Immutable; safe from any thread.
#ifndef TILE_CODEGEN_TARGET_TARGET_H_
#define TILE_CODEGEN_TARGET_TARGET_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
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
  kTf32Convert = 1 << 13,    // cvt to tf32 to the nearest even, and toward zero
  kMaxOfThree = 1 << 14,     // of integers in one instruction, of floats in two
  kTcgen05 = 1 << 15,        // products with sums in tensor memory
  kTcgen05I8 = 1 << 16,      // of 8-bit integers, too
  kF32Pairs = 1 << 17,       // add, sub, mul and fma of two f32 in one instruction
  kBlockScaleMma = 1 << 18,  // mma.sync with scales of blocks along K
};

// Each has what the one before has. What only GPUs of one generation have, as wgmma, comes with their row.
inline constexpr uint32_t kTuring = kMma1688 | kLdmatrix;
inline constexpr uint32_t kAmpere = kTuring | kMma16816 | kCpAsync | kBf16Fma;
inline constexpr uint32_t kAda = kAmpere | kF8Convert | kF8Mma;
inline constexpr uint32_t kBlackwell = kAda | kBf16Arith | kBf16Atomics | kVectorRed | kCluster | kTma | kTf32Convert;
inline constexpr uint32_t kHopper = kBlackwell | kWgmma | kMaxOfThree;

struct Target {
  int sm;
  const char* arch;
  int ptx;
  uint32_t shared_bytes;
  uint32_t block_reserve;
  uint32_t features;

  // Of every GPU so far.
  static constexpr int kRegisters = 65536;  // of a multiprocessor, of 32 bits
  // Of every GPU with tensor memory: columns of a multiprocessor, and the fewest that a block takes.
  static constexpr int kColumns = 512, kLeastColumns = 32;
  static constexpr int kThreadRegisters = 255;
  static constexpr int kRegisterUnit = 8;  // that a thread is given at a time

  bool has(Feature f) const { return (features & f) == f; }
  // Shared memory of a block, where so many are to be resident on a multiprocessor.
  int64_t shared_bytes_of(int blocks) const {
    return (int64_t{shared_bytes} + block_reserve) / blocks - int64_t{block_reserve};
  }
  // What users write: "90" for sm_90a, "100f" for sm_100f.
  std::string name() const;
  bool is_family() const;
};

absl::Span<const Target> AllTargets();
// The row of the GPU itself.
const Target* FindTarget(int sm);
// By what users write: "90", "90a", "sm_90", "sm_90a", "100f".
const Target* FindTarget(absl::string_view name);
// Whose machine code runs on a GPU of compute capability sm / 10 . sm % 10; null: none's.
const Target* TargetOfGpu(int sm);
// "75, 80, 86".
std::string TargetNames();
// The targets with this feature, for messages: "sm_90, sm_100".
std::string TargetsWith(Feature f);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_TARGET_TARGET_H_
