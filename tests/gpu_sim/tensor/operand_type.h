// Types of the elements that matrix instructions multiply, and the sums of their products.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_OPERAND_TYPE_H_
#define TILE_TESTS_GPU_SIM_TENSOR_OPERAND_TYPE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {

struct OperandType {
  bool is_float = true;
  bool is_signed = false;        // of integers, which have 8 bits
  Format format = Format::kF16;  // of floats
  int bits = 16;                 // of an element's place
  int shift = 0;                 // in its place, of which the rest is not looked at

  int per_word() const { return 32 / bits; }
  // The value of element `i` of the word.
  double Element(uint32_t word, int i) const;
};

// "f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"; in places of 8 bits "e2m3", "e3m2", "e2m1".
std::optional<OperandType> OperandTypeOf(absl::string_view name);
// "e2m1" without room between.
OperandType PackedE2M1();

// The sum of a and the products, as a register holds it: a float rounded once from an exact sum, or an integer that wraps.
uint32_t AddProducts(const OperandType& type, uint32_t sum, absl::Span<const double> a, absl::Span<const double> b);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_OPERAND_TYPE_H_
