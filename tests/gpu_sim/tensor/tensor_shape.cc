#include "tests/gpu_sim/tensor/tensor_shape.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tile::gpu_sim {
namespace {

struct PatternRow {
  absl::string_view name;
  TensorPattern pattern;
  uint32_t registers;  // of .x1
};
constexpr PatternRow kPatterns[] = {{"32x32b", TensorPattern::k32x32b, 1},
                                    {"16x64b", TensorPattern::k16x64b, 1},
                                    {"16x128b", TensorPattern::k16x128b, 2},
                                    {"16x256b", TensorPattern::k16x256b, 4},
                                    {"16x32bx2", TensorPattern::k16x32bx2, 1}};
constexpr uint32_t kMostRegisters = 128;

}  // namespace

absl::StatusOr<TensorShape> ParseTensorShape(Opcode opcode) {
  OpcodeReader reader(opcode);
  if (!reader.Take("tcgen05")) return reader.Unknown("it is no tcgen05.ld or .st");
  const bool load = reader.Take("ld");
  if ((!load && !reader.Take("st")) || !reader.Take("sync") || !reader.Take("aligned"))
    return reader.Unknown("it is no tcgen05.ld.sync.aligned or .st.sync.aligned");
  const absl::string_view name = reader.Next();
  absl::string_view repeat = reader.Next();
  const PatternRow* row = nullptr;
  for (const PatternRow& r : kPatterns) {
    if (r.name == name) row = &r;
  }
  uint32_t n = 0;
  if (row == nullptr || !absl::ConsumePrefix(&repeat, "x") || !absl::SimpleAtoi(repeat, &n) || n == 0 ||
      (n & (n - 1)) != 0 || n * row->registers > kMostRegisters) {
    return reader.Unknown("this shape");
  }
  TensorShape shape;
  shape.pattern = row->pattern;
  shape.registers = n * row->registers;
  shape.packed = reader.Take(load ? "pack::16b" : "unpack::16b");
  if (shape.packed && shape.pattern == TensorPattern::k16x32bx2)
    return reader.Unknown("pairs of 16 bits of this shape");
  if (!reader.Take("b32")) return reader.Unknown("its type is b32");
  if (absl::Status s = reader.Finish(); !s.ok()) return s;
  return shape;
}

TensorCell CellOf(const TensorShape& shape, uint32_t thread, uint32_t reg, uint32_t half) {
  TensorCell cell;
  switch (shape.pattern) {
    case TensorPattern::k32x32b: cell = {thread, reg}; break;
    case TensorPattern::k16x64b: cell = {thread / 4 + 8 * (thread % 2), 2 * reg + thread / 2 % 2}; break;
    case TensorPattern::k16x128b: cell = {thread / 4 + 8 * (reg % 2), reg / 2 * 4 + thread % 4}; break;
    case TensorPattern::k16x256b:
      cell = {thread / 4 + 8 * (reg / 2 % 2), reg / 4 * 8 + thread % 4 * 2 + reg % 2};
      break;
    case TensorPattern::k16x32bx2: cell = {thread % 16, reg + thread / 16 * shape.second_column}; break;
  }
  if (shape.packed) cell.column = 2 * cell.column + half;
  return cell;
}

}  // namespace tile::gpu_sim
