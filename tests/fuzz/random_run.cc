// What a random program is launched with, and what must be equal afterwards.
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "ir/float.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/random_program.h"
#include "tools/data/element_text.h"

namespace tile::fuzz {
namespace {

using ir::Elem;

uint64_t RandomBits(Random& r, Elem e, Fill fill) {
  const int bits = ir::ElemInfoOf(e).bits;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (fill == Fill::kZero) return 0;
  if (fill == Fill::kTiny && ir::IsInt(e)) return static_cast<uint64_t>(r.In(-2, 2)) & mask;
  if (fill == Fill::kTiny) return ir::FromDouble(e, static_cast<double>(r.In(-2, 2)));
  if (fill == Fill::kScale) return ir::FromDouble(e, r.Of({1.0, 2.0, 4.0}));
  if (fill == Fill::kSmall) return ir::FromDouble(e, static_cast<double>(r.In(-4, 4)));
  if (e == Elem::kTF32)
    return (r.Percent(50) ? r.Next() : ir::FromDouble(e, static_cast<double>(r.In(-9, 9)) / 4)) & 0xFFFFE000;
  if (ir::IsInt(e)) {
    const uint64_t minimum = uint64_t{1} << (bits - 1);
    if (r.Percent(20)) return r.Of({minimum, minimum - 1, minimum + 1, mask, uint64_t{0}}) & mask;
    return (r.Percent(50) ? r.Next() : static_cast<uint64_t>(r.In(-9, 20))) & mask;
  }
  if (r.Percent(40)) return r.Next() & mask;
  if (r.Percent(70)) return ir::FromDouble(e, static_cast<double>(r.In(-1000, 1000)) / 16);
  const double edges[] = {0.0,   -0.0, 1.0,   HUGE_VAL, -HUGE_VAL, std::nan(""),
                          1e-45, 6e-8, 65504, 3e38,     1e-310,    2147483648.0};
  return ir::FromDouble(e, edges[r.Below(12)]);
}

// ‖a − b‖ / ‖b‖; infinite where one is NaN or infinite and the other is not the same.
double NormError(Elem e, const uint8_t* a, const uint8_t* b, int64_t n) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double x = ir::ToDouble(e, tools::LoadBits(e, a, i)), y = ir::ToDouble(e, tools::LoadBits(e, b, i));
    if ((std::isnan(x) && std::isnan(y)) || (x == y && std::isinf(y))) continue;
    if (!std::isfinite(x) || !std::isfinite(y)) return HUGE_VAL;
    difference += (x - y) * (x - y);
    norm += y * y;
  }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

// Of bools the byte: any but 0 is true, but the kernel writes 0 or 1.
uint64_t StoredBits(Elem e, const uint8_t* bytes, int64_t i) {
  return e == Elem::kI1 ? bytes[i] : tools::LoadBits(e, bytes, i);
}

}  // namespace

ops::Arguments MakeArguments(const RandomProgram& program, Bools bools) {
  ops::Arguments arguments;
  Random r(program.seed + 0x5eed), odd(program.seed + 0xb001);
  for (int d = 0; d < 3; ++d) arguments.grid[d] = program.grid[d];
  for (const RandomArray& a : program.arrays) {
    ops::Memory m;
    m.name = a.name;
    m.array = *tools::Array::Make(ir::Element::Number(a.elem), {a.count});
    m.initialized = a.fill != Fill::kUnwritten;
    // A pattern that is a number of every type.
    std::memset(m.array.bytes.data(), 0x25, m.array.bytes.size());
    for (int64_t i = 0; m.initialized && i < a.count; ++i) {
      tools::StoreBits(a.elem, m.array.bytes.data(), i, RandomBits(r, a.elem, a.fill));
    }
    if (a.elem == Elem::kI1 && m.initialized && bools == Bools::kBytes) {
      for (uint8_t& byte : m.array.bytes.span()) {
        if (byte == 1 && odd.Percent(30)) byte = static_cast<uint8_t>(odd.Of({2, 3, 16, 128, 254, 255}));
      }
    }
    arguments.params.push_back({static_cast<int>(arguments.memories.size()), 0});
    arguments.memories.push_back(std::move(m));
  }
  for (const uint64_t bits : program.scalars) arguments.params.push_back({-1, bits});
  return arguments;
}

void SettleBools(const RandomProgram& program, ops::Arguments* arguments) {
  const ops::Arguments given = MakeArguments(program);
  for (size_t k = 0; k < program.arrays.size(); ++k) {
    if (program.arrays[k].elem != Elem::kI1 || program.arrays[k].fill == Fill::kUnwritten) continue;
    const absl::Span<uint8_t> bytes = arguments->memories[k].array.bytes.span();
    const absl::Span<const uint8_t> before = given.memories[k].array.bytes.span();
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] > 1 && bytes[i] == before[i]) bytes[i] = 1;
    }
  }
}

std::string Difference(const RandomProgram& program, const ops::Arguments& expected, const ops::Arguments& actual) {
  std::string text;
  for (size_t k = 0; k < program.arrays.size(); ++k) {
    const RandomArray& a = program.arrays[k];
    const uint8_t* x = expected.memories[k].array.bytes.data();
    const uint8_t* y = actual.memories[k].array.bytes.data();
    if (a.tolerance > 0) {
      const double error = NormError(a.elem, y, x, a.count);
      if (error > a.tolerance) absl::StrAppend(&text, a.name, " has an error of ", error, " of its norm; ");
      continue;
    }
    int64_t differing = 0, first = -1;
    for (int64_t i = 0; i < a.count; ++i) {
      const uint64_t p = StoredBits(a.elem, x, i), q = StoredBits(a.elem, y, i);
      if (p == q || (ir::IsFloat(a.elem) && ir::IsNanBits(a.elem, p) && ir::IsNanBits(a.elem, q))) continue;
      if (++differing == 1) first = i;
    }
    if (differing == 0) continue;
    const uint64_t p = StoredBits(a.elem, x, first), q = StoredBits(a.elem, y, first);
    absl::StrAppend(&text, a.name, "[", first, "] is ", tools::FormatElement(a.elem, q), " (0x", absl::Hex(q),
                    "), expected ", tools::FormatElement(a.elem, p), " (0x", absl::Hex(p), "), ", differing, " of ",
                    a.count, " differ; ");
  }
  return text;
}

}  // namespace tile::fuzz
