// cvt of pairs in inline PTX, for all inputs of 16 bits and those of 32 bits around them. The test computes each result by its definition:
// the nearest code, a power of two beside the number, or the neighbour that random bits select.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "ir/ttir/reader.h"
#include "ir/verify/verify.h"
#include "tests/harness/on_vm.h"

namespace tile::ops {
namespace {

constexpr uint32_t kBlock = 4096;
using Words = std::vector<uint32_t>;

// A kernel that computes `code` on three arrays of words, which are $1 to $3.
std::string KernelOf(const std::string& code) {
  std::string text = R"(module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %z: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %b = arith.constant 4096 : i32
    %p = tt.get_program_id x : i32
    %f = arith.muli %p, %b : i32
    %r = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %fs = tt.splat %f : i32 -> tensor<4096xi32>
    %i = arith.addi %fs, %r : tensor<4096xi32>
)";
  for (const char* name : {"x", "y", "z", "out"}) {
    absl::StrAppend(&text, "    %", name, "s = tt.splat %", name, " : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>\n    %",
                    name, "p = tt.addptr %", name, "s, %i : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>\n");
  }
  for (const char* name : {"x", "y", "z"})
    absl::StrAppend(&text, "    %", name, "v = tt.load %", name, "p : tensor<4096x!tt.ptr<i32>>\n");
  return absl::StrCat(text, "    %v = tt.elementwise_inline_asm \"", code,
                      "\" {constraints = \"=&r,r,r,r\", packed_element = 1 : i32, pure = true} %xv, %yv, %zv : "
                      "tensor<4096xi32>, tensor<4096xi32>, tensor<4096xi32> -> tensor<4096xi32>\n"
                      "    tt.store %outp, %v : tensor<4096x!tt.ptr<i32>>\n    tt.return\n  }\n}\n");
}

// What the kernel makes of words; their number is a multiple of kBlock.
Words Run(const std::string& code, const std::vector<Words>& inputs) {
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::ReadTtir(KernelOf(code), "k.ttir", &diagnostics);
  if (module != nullptr) ir::Verify(*module, &diagnostics);
  EXPECT_TRUE(module != nullptr && diagnostics.ok()) << code << ": " << diagnostics.ToString();
  if (!diagnostics.ok()) return {};
  Arguments arguments;
  arguments.grid[0] = static_cast<int64_t>(inputs[0].size() / kBlock);
  for (size_t k = 0; k < 4; ++k) {
    const Words& from = inputs[k < inputs.size() ? k : 0];
    tools::Array array = *tools::Array::Make(ir::Element::Number(ir::Elem::kI32), {static_cast<int64_t>(from.size())});
    std::memcpy(array.bytes.data(), from.data(), 4 * from.size());
    arguments.memories.push_back({absl::StrCat("m", k), std::move(array)});
    arguments.params.push_back({static_cast<int>(k)});
  }
  const Answer answer = OnVm(vm::CheckLevel::kBounds, 2)(*module, "k", &arguments);
  EXPECT_TRUE(answer.refused.ok() && answer.reports.empty()) << code;
  Words out(inputs[0].size());
  std::memcpy(out.data(), arguments.memories[3].array.bytes.data(), 4 * out.size());
  return out;
}

float FloatOf(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
uint32_t BitsOf(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}
double ValueOfF16(uint32_t h) {
  const int e = static_cast<int>(h >> 10 & 31), m = static_cast<int>(h & 1023);
  const double v = e == 31 ? (m != 0 ? NAN : INFINITY) : e == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, e - 25);
  return (h & 0x8000) != 0 ? -v : v;
}
double ValueOfBF16(uint32_t h) { return FloatOf(h << 16); }

// A float of few bits. `last` is the code of its largest number.
struct Format {
  const char* name;
  int exponent, mantissa;
  uint32_t last, nan;  // what NaN becomes
  double ValueOf(uint32_t code) const {
    const int m = static_cast<int>(code & ((1u << mantissa) - 1)), e = static_cast<int>(code >> mantissa);
    const int bias = (1 << (exponent - 1)) - 1;
    return e == 0 ? std::ldexp(m, 1 - bias - mantissa) : std::ldexp((1 << mantissa) + m, e - bias - mantissa);
  }
  // The nearest code, the even one of two.
  uint32_t CodeOf(double v, bool relu) const {
    if (std::isnan(v)) return nan;
    if (relu && v <= 0) return 0;
    const double a = std::min(std::fabs(v), ValueOf(last));
    uint32_t best = 0;
    for (uint32_t code = 1; code <= last; ++code) {
      const double now = std::fabs(ValueOf(code) - a), before = std::fabs(ValueOf(best) - a);
      if (now < before || (now == before && code % 2 == 0)) best = code;
    }
    return best | (std::signbit(v) ? 1u << (exponent + mantissa) : 0);
  }
};
constexpr Format kFormats[] = {{"e2m1", 2, 1, 7, 7},
                               {"e2m3", 2, 3, 31, 31},
                               {"e3m2", 3, 2, 31, 31},
                               {"e4m3", 4, 3, 0x7E, 0x7F},
                               {"e5m2", 5, 2, 0x7B, 0x7F}};

// All upper halves, with lower halves around those where rounding changes.
Words NumbersOfF32() {
  Words out;
  for (uint32_t low : {0u, 1u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) {
    for (uint32_t high = 0; high < 65536; ++high) out.push_back(high << 16 | low);
  }
  return out;
}
// All halves, each with another one above.
Words AllHalves() {
  Words out;
  for (uint32_t i = 0; i < 65536; ++i) out.push_back(i | ((i * 40503 + 12345) & 0xFFFF) << 16);
  return out;
}
// `code` writes t of `bits` bits. Copies of t fill the word.
std::string Filling(const std::string& code, int bits) {
  if (bits == 32) return absl::StrReplaceAll(code, {{" t,", " $0,"}});
  return absl::StrCat("{ .reg .b", bits, " t; ", code, " mov.b32 $0, ", bits == 8 ? "{t, t, t, t}" : "{t, t}", "; }");
}

using Half = std::function<uint32_t(uint32_t)>;  // what an input becomes
using Same = std::function<bool(uint32_t got, uint32_t expected)>;

bool Equal(uint32_t got, uint32_t expected) { return got == expected; }

// Compares pairs. Each half takes n bits. `low` and `high` compute what input i becomes.
void ExpectPairs(const std::string& code, int n, const std::vector<Words>& in, const Half& low, const Half& high,
                 const Same& same) {
  const Words out = Run(Filling(code, 2 * n), in);
  const uint32_t mask = (1u << n) - 1;
  int wrong = 0;
  for (uint32_t i = 0; i < out.size() && wrong < 5; ++i) {
    const uint32_t l = low(i), h = high(i);
    if (same(out[i] & mask, l) && same(out[i] >> n & mask, h)) continue;
    ++wrong;
    ADD_FAILURE() << code << " of " << std::hex << in[0][i] << ": " << out[i] << ", not " << h << " and " << l;
  }
}
// The instruction takes two f32, $1 and $2. The second one becomes the low half.
void ExpectOfWords(const std::string& code, int n, const std::function<uint32_t(double)>& half) {
  const Words x = NumbersOfF32(), y = Words(x.rbegin(), x.rend());
  ExpectPairs(
      code, n, {x, y}, [&](uint32_t i) { return half(FloatOf(y[i])); }, [&](uint32_t i) { return half(FloatOf(x[i])); },
      Equal);
}
// The instruction takes the pair in $1.
void ExpectOfPair(const std::string& code, int n, int from_bits, const Half& half, const Same& same) {
  const Words x = AllHalves();
  const uint32_t mask = (1u << from_bits) - 1;
  ExpectPairs(
      code, n, {x}, [&](uint32_t i) { return half(x[i] & mask); },
      [&](uint32_t i) { return half(x[i] >> from_bits & mask); }, same);
}
TEST(SmallPairs, BecomeTheNearestCode) {
  for (const Format& f : kFormats) {
    const int n = f.exponent + f.mantissa == 3 ? 4 : 8;
    const Same same = [&](uint32_t got, uint32_t expected) {  // NaN may have any sign
      return got == expected || (expected > f.last && expected < 128 && (got & 127) > f.last);
    };
    for (const bool relu : {false, true}) {
      const std::string start = absl::StrCat("cvt.rn.satfinite", relu ? ".relu." : ".", f.name, "x2.");
      ExpectOfPair(
          start + "bf16x2 t, $1;", n, 16, [&](uint32_t h) { return f.CodeOf(ValueOfBF16(h), relu); }, same);
      ExpectOfPair(
          start + "f16x2 t, $1;", n, 16, [&](uint32_t h) { return f.CodeOf(ValueOfF16(h), relu); }, same);
      if (f.nan == f.last) ExpectOfWords(start + "f32 t, $1, $2;", n, [&](double v) { return f.CodeOf(v, relu); });
    }
  }
}

TEST(SmallPairs, BecomeF16) {
  for (const Format& f : kFormats) {
    if (f.nan != f.last) continue;
    const int sign = f.exponent + f.mantissa, n = sign == 3 ? 4 : 8;
    for (const bool relu : {false, true}) {
      const std::string words = absl::StrCat("cvt.rn", relu ? ".relu" : "", ".f16x2.", f.name, "x2 t, s;");
      const std::string code =
          n == 4 ? "{ .reg .b8 s; mov.b32 {s, _, _, _}, $1; " : "{ .reg .b16 s; mov.b32 {s, _}, $1; ";
      const Half half = [&](uint32_t c) {
        const bool negative = (c >> sign & 1) != 0;
        const double v = f.ValueOf(c & ((1u << sign) - 1));
        for (uint32_t h = 0; h < 0x7C00; ++h) {
          if (ValueOfF16(h) == v) return relu && negative ? 0 : h | (negative ? 0x8000u : 0);
        }
        return ~0u;
      };
      ExpectOfPair(absl::StrCat(code, words, " }"), 16, n, half, Equal);
    }
  }
}

// A power of two not above |v|, or not below it.
uint32_t ScaleOf(double v, bool up, bool finite) {
  if (std::isnan(v)) return 255;
  const double a = std::fabs(v);
  uint32_t code = 0;
  if (up) {
    while (code < 255 && std::ldexp(1.0, static_cast<int>(code) - 127) < a) ++code;
  } else {
    while (code < 255 && std::ldexp(1.0, static_cast<int>(code) - 126) <= a) ++code;
  }
  return finite ? std::min(code, 254u) : code;
}

TEST(SmallPairs, BecomeScales) {
  for (const bool up : {false, true}) {
    for (const bool finite : {false, true}) {
      const std::string start = absl::StrCat("cvt.", up ? "rp" : "rz", finite ? ".satfinite" : "", ".ue8m0x2.");
      ExpectOfWords(start + "f32 t, $1, $2;", 8, [&](double v) { return ScaleOf(v, up, finite); });
      ExpectOfPair(
          start + "bf16x2 t, $1;", 8, 16, [&](uint32_t h) { return ScaleOf(ValueOfBF16(h), up, finite); }, Equal);
    }
  }
  const Half half = [](uint32_t c) {
    return c == 255 ? 0x7FFF : BitsOf(std::ldexp(1.0f, static_cast<int>(c) - 127)) >> 16;
  };
  ExpectOfPair("{ .reg .b16 s; mov.b32 {s, _}, $1; cvt.rn.bf16x2.ue8m0x2 t, s; }", 16, 8, half, Equal);
}

// The neighbour towards zero, or the other one if random bits and the distance, of which there are 65536, exceed it.
uint32_t Stochastic(float v, uint32_t random, bool finite, bool relu) {
  if (std::isnan(v)) return 0x7FFF;
  if (relu && v <= 0) return 0;
  const uint32_t sign = std::signbit(v) ? 0x8000 : 0;
  const double a = std::fabs(static_cast<double>(v)), most = 0x1.FEp127;
  if (std::isinf(v) || (finite && a > most)) return sign | (finite ? 0x7F7F : 0x7F80);
  int e = 0;
  std::frexp(a, &e);
  const double step = std::ldexp(1.0, std::max(e - 1, -126) - 7), below = std::floor(a / step) * step;
  const double rounded = (a - below) / step * 65536 + random >= 65536 ? below + step : below;
  return sign | (rounded > most ? 0x7F80 : BitsOf(static_cast<float>(rounded)) >> 16);
}

TEST(SmallPairs, RoundByRandomBits) {
  const Words x = NumbersOfF32(), y = Words(x.rbegin(), x.rend());
  Words random;
  for (uint32_t i = 0; i < x.size(); ++i) random.push_back(i % 7 == 0 ? (i % 2 == 0 ? 0 : ~0u) : i * 2654435761u);
  for (const bool finite : {false, true}) {
    for (const bool relu : {false, true}) {
      const std::string words =
          absl::StrCat("cvt.rs", relu ? ".relu" : "", finite ? ".satfinite" : "", ".bf16x2.f32 t, $1, $2, $3;");
      ExpectPairs(
          words, 16, {x, y, random},
          [&](uint32_t i) { return Stochastic(FloatOf(y[i]), random[i] & 0xFFFF, finite, relu); },
          [&](uint32_t i) { return Stochastic(FloatOf(x[i]), random[i] >> 16, finite, relu); }, Equal);
    }
  }
}

}  // namespace
}  // namespace tile::ops
