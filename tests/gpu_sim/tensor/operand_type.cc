#include "tests/gpu_sim/tensor/operand_type.h"

#include <cstring>

namespace tile::gpu_sim {
namespace {

struct Named {
  absl::string_view name;
  OperandType type;
};

constexpr Named kTypes[] = {
    {"f16", {true, false, Format::kF16, 16}},   {"bf16", {true, false, Format::kBF16, 16}},
    {"tf32", {true, false, Format::kTF32, 32}}, {"e4m3", {true, false, Format::kE4M3, 8}},
    {"e5m2", {true, false, Format::kE5M2, 8}},  {"s8", {false, true, Format::kF16, 8}},
    {"u8", {false, false, Format::kF16, 8}},    {"e2m3", {true, false, Format::kE2M3, 8}},
    {"e3m2", {true, false, Format::kE3M2, 8}},  {"e2m1", {true, false, Format::kE2M1, 8, 2}},
};

}  // namespace

double OperandType::Element(uint32_t word, int i) const {
  if (bits == 32) return Decode(format, word);
  const uint32_t code = word >> (i * bits) & ((1u << bits) - 1);
  if (is_float) return DecodeTable(format)[code >> shift & ((1u << InfoOf(format).bits) - 1)];
  return is_signed ? static_cast<int8_t>(code) : static_cast<int>(code);
}

std::optional<OperandType> OperandTypeOf(absl::string_view name) {
  for (const Named& t : kTypes) {
    if (t.name == name) return t.type;
  }
  return std::nullopt;
}

OperandType PackedE2M1() { return {true, false, Format::kE2M1, 4}; }

uint32_t AddProducts(const OperandType& type, uint32_t sum, absl::Span<const double> a, absl::Span<const double> b) {
  double products = 0;
  for (size_t k = 0; k < a.size(); ++k) products += a[k] * b[k];
  if (!type.is_float) return sum + static_cast<uint32_t>(static_cast<int64_t>(products));
  float start;
  std::memcpy(&start, &sum, sizeof start);
  return static_cast<uint32_t>(Encode(Format::kF32, start + products, Rounding::kNearestEven));
}

}  // namespace tile::gpu_sim
