#include "vm/kernels/elementwise_testing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/op_info.h"

namespace tile::vm {
namespace {

using ir::Elem;

std::vector<uint8_t> Store(Elem e, const Bits& bits) {
  const int bytes = ir::StorageBytes(e);
  std::vector<uint8_t> storage(bits.size() * bytes + 1);  // one more, so that data() is never null
  for (size_t i = 0; i < bits.size(); ++i) std::memcpy(&storage[i * bytes], &bits[i], bytes);  // little-endian
  return storage;
}

Bits Load(Elem e, const std::vector<uint8_t>& storage, size_t n) {
  const int bytes = ir::StorageBytes(e);
  Bits bits(n);
  for (size_t i = 0; i < n; ++i) std::memcpy(&bits[i], &storage[i * bytes], bytes);
  return bits;
}

Bits Run(const ElementwiseKey& key, ElementwiseFn fn, const std::vector<Bits>& operands, size_t n) {
  std::vector<std::vector<uint8_t>> stored;
  std::vector<const void*> pointers;
  for (size_t i = 0; i < operands.size(); ++i) {
    stored.push_back(Store(OperandElem(key, static_cast<int>(i)), operands[i]));
  }
  for (const auto& s : stored) pointers.push_back(s.data());
  std::vector<uint8_t> result(n * ir::StorageBytes(key.out) + 8, 0xA5);
  fn(result.data(), pointers.data(), static_cast<int64_t>(n));
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(result[n * ir::StorageBytes(key.out) + i], 0xA5) << "wrote past the end";
  }
  const Bits bits = Load(key.out, result, n);

  // In place, over each operand of the result's size.
  for (size_t i = 0; i < operands.size(); ++i) {
    if (ir::StorageBytes(OperandElem(key, static_cast<int>(i))) != ir::StorageBytes(key.out)) continue;
    if (key.splat_mask >> i & 1) continue;
    auto copy = stored;
    std::vector<const void*> in_place;
    for (const auto& s : copy) in_place.push_back(s.data());
    fn(copy[i].data(), in_place.data(), static_cast<int64_t>(n));
    EXPECT_EQ(Load(key.out, copy[i], n), bits) << "in place over operand " << i;
  }
  return bits;
}

}  // namespace

std::vector<Isa> SupportedIsas() {
  std::vector<Isa> isas;
  for (Isa isa : {Isa::kGeneric, Isa::kV2, Isa::kV3, Isa::kV4}) {
    if (IsaSupported(isa)) isas.push_back(isa);
  }
  return isas;
}

std::string Describe(const ElementwiseKey& k, Isa isa) {
  return absl::StrCat(ir::GetOp(k.op)->mnemonic, " ", ir::ElemInfoOf(k.in).spelling, " to ",
                      ir::ElemInfoOf(k.out).spelling, " ", IsaName(isa), " rounding ", ir::Keyword(k.rounding),
                      k.flush_to_zero ? " ftz" : "", k.propagate_nan ? " propagate_nan" : "", " ",
                      ir::Keyword(k.signedness), " ", ir::Keyword(k.predicate), " ", ir::Keyword(k.ordering), " splat ",
                      k.splat_mask);
}

Elem OperandElem(const ElementwiseKey& k, int operand) {
  switch (k.op) {
    case ir::Opcode::kSelect: return operand == 0 ? Elem::kI1 : k.in;
    case ir::Opcode::kOffset:
    case ir::Opcode::kFpowi:
    case ir::Opcode::kJn:
    case ir::Opcode::kYn: return operand == 0 ? k.out : k.in;
    default: return k.in;
  }
}

Bits RunEverywhere(const ElementwiseKey& key, const std::vector<Bits>& operands) {
  const size_t n = operands[0].size();
  Bits results;
  for (Isa isa : SupportedIsas()) {
    SCOPED_TRACE(Describe(key, isa));
    const ElementwiseFn fn = FindElementwise(key, isa);
    if (fn == nullptr) {
      ADD_FAILURE() << "no kernel";
      return results;
    }
    const Bits r = Run(key, fn, operands, n);
    if (results.empty()) results = r;
    for (size_t i = 0; i < n; ++i) {
      if (r[i] == results[i]) continue;
      ADD_FAILURE() << std::hex << "not equal on all instruction sets: " << r[i] << ", " << results[i] << " of "
                    << operands[0][i] << " " << (operands.size() > 1 ? operands[1][i] : 0);
      break;
    }
    for (size_t length : {0, 1, 3, 17, 515}) {
      if (length > n) continue;
      std::vector<Bits> part;
      for (const Bits& o : operands) part.emplace_back(o.begin(), o.begin() + length);
      EXPECT_EQ(Run(key, fn, part, length), Bits(r.begin(), r.begin() + length)) << "length " << length;
    }
    const size_t some = std::min<size_t>(n, 531);
    for (int mask = 1; mask + 1 < 1 << operands.size(); ++mask) {
      ElementwiseKey splat = key;
      splat.splat_mask = mask;
      const ElementwiseFn splat_fn = FindElementwise(splat, isa);
      const bool is_math = ir::GetOp(key.op)->family == ir::Family::kMath;
      EXPECT_EQ(splat_fn == nullptr, is_math) << Describe(splat, isa);
      if (splat_fn == nullptr) continue;
      for (size_t at : {size_t{0}, n / 2, n - 1}) {
        std::vector<Bits> full, short_form;
        for (size_t i = 0; i < operands.size(); ++i) {
          const bool is_splat = mask >> i & 1;
          const auto first = operands[i].begin();
          full.push_back(is_splat ? Bits(some, operands[i][at]) : Bits(first, first + some));
          short_form.push_back(is_splat ? Bits(1, operands[i][at]) : full.back());
        }
        EXPECT_EQ(Run(splat, splat_fn, short_form, some), Run(key, fn, full, some)) << Describe(splat, isa);
      }
    }
  }
  return results;
}

void Check(const ElementwiseKey& key, const std::vector<Bits>& operands,
           const std::function<uint64_t(const uint64_t*)>& expected) {
  const Bits results = RunEverywhere(key, operands);
  int failures = 0;
  for (size_t i = 0; i < results.size() && failures < 5; ++i) {
    uint64_t in[3] = {};
    for (size_t k = 0; k < operands.size(); ++k) in[k] = operands[k][i];
    const uint64_t want = expected(in);
    if (results[i] == want) continue;
    ++failures;
    ADD_FAILURE() << Describe(key, BestIsa()) << std::hex << ": got " << results[i] << ", expected " << want << " of "
                  << in[0] << " " << in[1] << " " << in[2];
  }
}

uint64_t MaskOf(Elem e) {
  const int bits = ir::ElemInfoOf(e).bits;
  return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

int64_t Signed(Elem e, uint64_t bits) {
  const int unused = 64 - ir::ElemInfoOf(e).bits;
  return static_cast<int64_t>(bits << unused) >> unused;
}

Bits EdgeValues(Elem e, int random) {
  const int width = ir::ElemInfoOf(e).bits;
  Bits values;
  if (width <= 8) {
    for (uint64_t v = 0; v <= MaskOf(e); ++v) values.push_back(v);
    return values;
  }
  std::mt19937_64 generator(static_cast<int>(e));
  if (!ir::IsFloat(e)) {
    for (uint64_t v : {0, 1, 2, 3, 5, 7, 100}) values.insert(values.end(), {v, 0 - v});
    for (int bit : {4, 7, 8, 15, 16, 24, 31, 32, 48, 53, 62, 63}) {
      for (int d : {-1, 0, 1}) values.insert(values.end(), {(uint64_t{1} << bit) + d, 0 - (uint64_t{1} << bit) + d});
    }
    for (int v : {width - 1, width, width + 1}) values.push_back(v);
    for (int i = 0; i < random; ++i) values.push_back(generator() >> generator() % 64);
    for (uint64_t& v : values) v &= MaskOf(e);
    return values;
  }
  const ir::FloatFormat& f = ir::FloatFormatOf(e);
  const auto add = [&](uint64_t magnitude) {
    values.push_back(magnitude << f.unused);
    values.push_back((magnitude | uint64_t{1} << f.magnitude_bits()) << f.unused);
  };
  const uint64_t one = static_cast<uint64_t>(f.bias) << f.mantissa_bits;
  const uint64_t normal = uint64_t{1} << f.mantissa_bits;
  // Zero, subnormals, the smallest normal, infinity and the largest below it, NaNs of both kinds.
  const uint64_t inf = f.infinity();
  for (uint64_t m : {uint64_t{0}, uint64_t{1}, uint64_t{2}, normal / 2, normal - 1, normal, normal + 1, inf - 1, inf,
                     inf + 1, inf + normal / 2, inf + normal / 2 + 1}) {
    add(m);
  }
  // Around 1, 1.5, 2, 3, 4, 0.5, integers whose halves are ties, and the borders of integer types.
  for (uint64_t m : {one - normal, one - 1, one, one + 1, one + normal / 2, one + normal, one + normal * 3 / 2,
                     one + 2 * normal, one + (f.mantissa_bits - 1) * normal + 1, one + f.mantissa_bits * normal + 1,
                     one + 7 * normal, one + 8 * normal - 1, one + 8 * normal, one + 15 * normal - 1}) {
    add(m);
  }
  if (f.exponent_bits > 5) {
    for (int exponent : {15, 16, 30, 31, 32, 62, 63, 64, 125, 126}) {
      for (int d : {-1, 0, 1}) add(one + exponent * normal + d);
    }
    add(one - 127 * normal * (f.exponent_bits > 8));
  }
  for (int i = 0; i < random; ++i) {
    const uint64_t mantissa = generator() & (normal - 1);
    add(mantissa);
    add(one + (generator() % 24 << f.mantissa_bits) - 12 * normal + mantissa);
    add((generator() & f.magnitude_mask()));
  }
  for (uint64_t& v : values) v &= f.unused ? 0xFFFFE000u : MaskOf(e);
  return values;
}

std::vector<Bits> Pairs(const Bits& a, const Bits& b) {
  std::vector<Bits> operands(2);
  for (uint64_t x : a) {
    for (uint64_t y : b) {
      operands[0].push_back(x);
      operands[1].push_back(y);
    }
  }
  return operands;
}

std::vector<Bits> Triples(const Bits& a, const Bits& b, const Bits& c) {
  std::vector<Bits> operands(3);
  for (uint64_t x : a) {
    for (uint64_t y : b) {
      for (uint64_t z : c) {
        operands[0].push_back(x);
        operands[1].push_back(y);
        operands[2].push_back(z);
      }
    }
  }
  return operands;
}

uint64_t RoundTo(Elem e, mpfr_srcptr x, ir::Rounding rounding, bool inexact) {
  const ir::FloatFormat& f = ir::FloatFormatOf(e);
  if (mpfr_nan_p(x)) return ir::CanonicalNan(e);
  const bool negative = mpfr_signbit(x);
  const uint64_t sign = (negative ? uint64_t{1} << f.magnitude_bits() : 0) << f.unused;
  if (mpfr_inf_p(x)) return sign | f.infinity() << f.unused;
  if (mpfr_zero_p(x)) return sign;

  const int lowest = 1 - f.bias - f.mantissa_bits;  // exponent of the last place of subnormals
  // An exponent above all others is as good as any that is.
  const int exponent = static_cast<int>(std::clamp<int64_t>(mpfr_get_exp(x), -1000000, f.bias + 3));
  const int last = std::max(exponent - 1 - f.mantissa_bits, lowest);
  mpfr_t scaled;
  mpfr_init2(scaled, mpfr_get_prec(x) + 2);
  mpfr_set(scaled, x, MPFR_RNDN);
  if (inexact) negative ? mpfr_nextbelow(scaled) : mpfr_nextabove(scaled);
  mpfr_mul_2si(scaled, scaled, -last, MPFR_RNDN);
  switch (rounding) {
    case ir::Rounding::kZero: mpfr_rint(scaled, scaled, MPFR_RNDZ); break;
    case ir::Rounding::kNegativeInf: mpfr_rint(scaled, scaled, MPFR_RNDD); break;
    case ir::Rounding::kPositiveInf: mpfr_rint(scaled, scaled, MPFR_RNDU); break;
    default: mpfr_roundeven(scaled, scaled); break;
  }
  mpfr_abs(scaled, scaled, MPFR_RNDN);
  const uint64_t kept = mpfr_cmp_ui_2exp(scaled, 1, 60) > 0 ? 0 : mpfr_get_ui(scaled, MPFR_RNDZ);
  uint64_t code = (static_cast<uint64_t>(last - lowest) << f.mantissa_bits) + kept;
  mpfr_clear(scaled);
  if (code >= f.infinity()) {
    const bool away = rounding == ir::Rounding::kNearestEven ||
                      rounding == (negative ? ir::Rounding::kNegativeInf : ir::Rounding::kPositiveInf);
    code = away ? f.infinity() : f.largest();
  }
  return sign | code << f.unused;
}

}  // namespace tile::vm
