#include "tools/data/generate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/float.h"
#include "tools/data/element_text.h"

namespace tile::tools {
namespace {

using ir::Elem;

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// The words of one element. Six bits of the counter are for the words that a rejection needs beyond the first.
class Words {
 public:
  Words(uint64_t key, int64_t i) : state_(key + (static_cast<uint64_t>(i) << 6) * kGolden) {}
  uint64_t Next() { return Mix(state_ += kGolden); }

 private:
  uint64_t state_;
};

// Signed integers convert faster.
double Unit(uint64_t word) { return static_cast<double>(static_cast<int64_t>(word >> 11)) * 0x1p-53; }

// ln x for x > 0, normal. 2^k m with m in [0.7, 1.42): ln m = 2 atanh((m - 1) / (m + 1)), whose series is short there.
double Log(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int k = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1023} << 52));
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++k;
  }
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * s2 + 1.0 / n;
  return 2 * s * sum + k * 0.6931471805599453;
}

// The area under exp(-x²/2), x >= 0, cut into layers of equal area v. Layer i > 0 is the rectangle from 0 to x[i]
// between the heights f[i] and f[i + 1]; layer 0 has the tail beyond r. Constants of the 128-layer table: r solves
// "the last layer ends at height 1".
struct Ziggurat {
  static constexpr int kLayers = 128;
  static constexpr double kR = 3.442619855899, kV = 9.91256303526217e-3, kFr = 0.002669629083880923;  // exp(-r²/2)
  double x[kLayers + 1], f[kLayers + 1];

  Ziggurat() {
    x[0] = kV / kFr;  // as wide as layer 0 would be if it had no tail
    f[0] = 0;
    x[1] = kR;
    f[1] = kFr;
    for (int i = 2; i < kLayers; ++i) {
      f[i] = f[i - 1] + kV / x[i - 1];
      x[i] = std::sqrt(-2 * Log(f[i]));
    }
    x[kLayers] = 0;
    f[kLayers] = 1;
  }

  double Sample(Words words) const {
    for (int tries = 0; tries < 20; ++tries) {  // three words each at most; all failing has probability 1e-35
      const uint64_t w = words.Next();
      const int layer = static_cast<int>(w & 127);
      const double sign = w & 128 ? -1.0 : 1.0;
      const double u = Unit(w) * x[layer];
      if (u < x[layer + 1]) return sign * u;
      if (layer == 0) {
        const double t = -Log(Unit(words.Next()) + 0x1p-54) / kR, y = -Log(Unit(words.Next()) + 0x1p-54);
        if (y + y > t * t) return sign * (kR + t);
      } else {
        const double y = f[layer] + Unit(words.Next()) * (f[layer + 1] - f[layer]);
        if (Log(y) < -0.5 * u * u) return sign * u;
      }
    }
    return 0;
  }
};

// Values of [0, 1) come on a grid that the type holds exactly, so that rounding never gives 1.
int GridBits(Elem elem) { return ir::FloatFormatOf(elem).mantissa_bits + 1; }

uint64_t LargestInt(Elem elem) { return ~uint64_t{0} >> (64 - ir::ElemInfoOf(elem).bits); }

// How far a Fill is.
constexpr int64_t kStep = int64_t{1} << 20;
void Count(std::atomic<int64_t>* made, int64_t n) {
  if (made != nullptr) made->fetch_add(n, std::memory_order_relaxed);
}

struct Out {
  absl::Span<uint8_t> bytes;
  int64_t count;
  std::atomic<int64_t>* made;
};

// Stores value(i) for every element, with the width known at compile time.
template <class T, class F>
void Each(const Out& out, F value) {
  uint8_t* bytes = out.bytes.data();
  for (int64_t begin = 0; begin < out.count; begin += kStep) {
    const int64_t end = std::min(begin + kStep, out.count);
    for (int64_t i = begin; i < end; ++i) {
      const T v = static_cast<T>(value(i));
      std::memcpy(bytes + i * sizeof(T), &v, sizeof(T));
    }
    Count(out.made, end - begin);
  }
}

template <class F>
void EachBits(Elem elem, const Out& out, F value) {
  switch (ir::MemoryBits(elem)) {
    case 8: return Each<uint8_t>(out, value);
    case 16: return Each<uint16_t>(out, value);
    case 32: return Each<uint32_t>(out, value);
    case 64: return Each<uint64_t>(out, value);
    default:
      std::fill(out.bytes.begin(), out.bytes.end(), uint8_t{0});
      for (int64_t i = 0; i < out.count; ++i) StoreBits(elem, out.bytes.data(), i, value(i));
      Count(out.made, out.count);
  }
}

}  // namespace

absl::Status Generator::Check() const {
  const Elem elem = element.kind;
  const char* spelling = ir::ElemInfoOf(elem).spelling;
  const absl::StatusOr<int64_t> count = CountElements(shape);
  if (!count.ok()) return count.status();
  if (absl::StatusOr<int64_t> size = BytesOf(element, *count); !size.ok()) return size.status();
  if (kind == Kind::kNormal && (!ir::IsFloat(elem) || !ir::FloatFormatOf(elem).has_sign)) {
    return absl::InvalidArgumentError(
        absl::StrCat("normal: ", spelling, " has no such values; a signed float type has"));
  }
  if (kind == Kind::kArange && *count > 0) {
    const absl::StatusOr<uint64_t> last = ParseElement(elem, absl::StrCat(*count - 1));
    if (!last.ok()) return absl::InvalidArgumentError(absl::StrCat("arange: ", last.status().message()));
    if (absl::StatusOr<uint64_t> first = ParseElement(elem, "0"); !first.ok()) return first.status();
  }
  if (kind == Kind::kRand && has_bounds) {
    if (!(low < high) || !std::isfinite(high - low)) {
      return absl::InvalidArgumentError(absl::StrCat("rand: no number is from ", low, " to below ", high));
    }
    const double most = ir::IsFloat(elem)
                            ? ir::ToDouble(elem, ir::FloatFormatOf(elem).largest() << ir::FloatFormatOf(elem).unused)
                            : static_cast<double>(LargestInt(elem)) + 1;
    const double least = ir::IsFloat(elem)   ? (ir::FloatFormatOf(elem).has_sign ? -most : 0)
                         : elem == Elem::kI1 ? 0
                                             : -std::ldexp(1, ir::ElemInfoOf(elem).bits - 1);
    if (low < least || high > most) {
      return absl::InvalidArgumentError(absl::StrCat("rand: ", low, "..", high, " does not fit ", spelling));
    }
    // Whole numbers of a double are exact to 2^53.
    if (!ir::IsFloat(elem) && (std::trunc(low) != low || std::trunc(high) != high || high - low > 0x1p53)) {
      return absl::InvalidArgumentError("rand: bounds of integers are whole numbers less than 2^53 apart");
    }
  }
  return absl::OkStatus();
}

void Generator::Fill(absl::Span<uint8_t> bytes, std::atomic<int64_t>* made) const {
  const Elem elem = element.kind;
  const Out out = {bytes, *CountElements(shape), made};
  const uint64_t key = Mix(Mix(seed + kGolden) ^ Mix(stream * kGolden + 0x632BE59BD9B4E019));
  switch (kind) {
    case Kind::kFull: return EachBits(elem, out, [v = fill](int64_t) { return v; });
    case Kind::kArange:
      if (elem == Elem::kF32) {
        return Each<uint32_t>(out, [](int64_t i) { return std::bit_cast<uint32_t>(static_cast<float>(i)); });
      }
      if (!ir::IsFloat(elem)) return EachBits(elem, out, [](int64_t i) { return static_cast<uint64_t>(i); });
      return EachBits(elem, out, [elem](int64_t i) { return ir::FromDouble(elem, static_cast<double>(i)); });
    case Kind::kRand:
      if (!ir::IsFloat(elem)) {
        if (!has_bounds) {
          const uint64_t mask = LargestInt(elem);
          return EachBits(elem, out, [=](int64_t i) { return Words(key, i).Next() & mask; });
        }
        const uint64_t range = static_cast<uint64_t>(high - low);
        const uint64_t base = low < 0 ? static_cast<uint64_t>(static_cast<int64_t>(low)) : static_cast<uint64_t>(low);
        const uint64_t mask = LargestInt(elem);
        return EachBits(elem, out, [=](int64_t i) {  // the high word of a product; bias below 2^-11
          return (base + static_cast<uint64_t>(static_cast<unsigned __int128>(Words(key, i).Next()) * range >> 64)) &
                 mask;
        });
      }
      if (has_bounds) {
        return EachBits(elem, out, [=, this](int64_t i) {
          const double v = low + Unit(Words(key, i).Next()) * (high - low);
          uint64_t bits = ir::FromDouble(elem, v);
          if (ir::ToDouble(elem, bits) >= high) bits = ir::FromDouble(elem, v, ir::Rounding::kNegativeInf);
          return bits;
        });
      }
      if (elem == Elem::kF32) {
        return Each<uint32_t>(out, [key](int64_t i) {
          return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(Words(key, i).Next() >> 40)) *
                                         0x1p-24f);
        });
      }
      {
        const int p = GridBits(elem);
        const auto code = [=](uint64_t k) {
          return ir::FromDouble(elem, std::ldexp(static_cast<double>(k), -p), ir::Rounding::kZero);
        };
        if (p > 11) {  // f64
          return EachBits(elem, out, [&](int64_t i) { return code(Words(key, i).Next() >> (64 - p)); });
        }
        std::vector<uint32_t> codes(size_t{1} << p);
        for (size_t k = 0; k < codes.size(); ++k) codes[k] = static_cast<uint32_t>(code(k));
        return EachBits(elem, out, [&](int64_t i) { return codes[Words(key, i).Next() >> (64 - p)]; });
      }
    case Kind::kNormal: {
      static const Ziggurat& ziggurat = *new Ziggurat;
      if (elem == Elem::kF32) {
        return Each<uint32_t>(out, [key](int64_t i) {
          return std::bit_cast<uint32_t>(static_cast<float>(ziggurat.Sample(Words(key, i))));
        });
      }
      return EachBits(elem, out, [=](int64_t i) { return ir::FromDouble(elem, ziggurat.Sample(Words(key, i))); });
    }
  }
}

absl::StatusOr<Array> Generator::Make(std::atomic<int64_t>* made) const {
  if (absl::Status s = Check(); !s.ok()) return s;
  absl::StatusOr<Array> array = Array::Make(element, shape);
  if (!array.ok()) return array;
  array->is_unsigned = is_unsigned;
  const bool zeros = kind == Kind::kFull && fill == 0;
  if (zeros) {  // fresh pages are zero: nothing is touched
    absl::StatusOr<AlignedBuffer> zeroed = AlignedBuffer::Zeroed(array->bytes.size());
    if (!zeroed.ok()) return zeroed.status();
    array->bytes = *std::move(zeroed);
  } else {
    Fill(array->bytes.span(), made);
  }
  return array;
}

}  // namespace tile::tools
