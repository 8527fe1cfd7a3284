// Types of registers and operands, as suffixes name them.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_TYPE_H_
#define TILE_TESTS_GPU_SIM_MACHINE_TYPE_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"

namespace tile::gpu_sim {

enum class Type : uint8_t {
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBF16,
  kBF16x2,
  kF32,
  kF64
};

inline std::optional<Type> TypeOf(absl::string_view word) {
  static constexpr std::pair<absl::string_view, Type> kTypes[] = {
      {"pred", Type::kPred},     {"b8", Type::kB8},   {"b16", Type::kB16},     {"b32", Type::kB32},
      {"b64", Type::kB64},       {"u8", Type::kU8},   {"u16", Type::kU16},     {"u32", Type::kU32},
      {"u64", Type::kU64},       {"s8", Type::kS8},   {"s16", Type::kS16},     {"s32", Type::kS32},
      {"s64", Type::kS64},       {"f16", Type::kF16}, {"f16x2", Type::kF16x2}, {"bf16", Type::kBF16},
      {"bf16x2", Type::kBF16x2}, {"f32", Type::kF32}, {"f64", Type::kF64}};
  for (const auto& [name, type] : kTypes) {
    if (name == word) return type;
  }
  return std::nullopt;
}

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_TYPE_H_
