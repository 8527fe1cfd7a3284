#include "tests/gpu_sim/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

struct NamedType {
  absl::string_view name;
  CvtType type;
};

constexpr CvtType Integer(bool is_signed, int bits) { return {false, is_signed, false, bits, Format::kF32}; }
constexpr CvtType Float(Format format, int bits, bool pair = false) { return {true, false, pair, bits, format}; }

constexpr NamedType kTypes[] = {
    {"u8", Integer(false, 8)},
    {"u16", Integer(false, 16)},
    {"u32", Integer(false, 32)},
    {"u64", Integer(false, 64)},
    {"s8", Integer(true, 8)},
    {"s16", Integer(true, 16)},
    {"s32", Integer(true, 32)},
    {"s64", Integer(true, 64)},
    {"f16", Float(Format::kF16, 16)},
    {"bf16", Float(Format::kBF16, 16)},
    {"f32", Float(Format::kF32, 32)},
    {"f64", Float(Format::kF64, 64)},
    {"tf32", Float(Format::kTF32, 32)},
    {"f16x2", Float(Format::kF16, 32, true)},
    {"bf16x2", Float(Format::kBF16, 32, true)},
    {"e4m3x2", Float(Format::kE4M3, 16, true)},
    {"e5m2x2", Float(Format::kE5M2, 16, true)},
    {"e2m1x2", Float(Format::kE2M1, 8, true)},
};

struct NamedRounding {
  absl::string_view name;
  Rounding rounding;
  bool to_integral;
};

constexpr NamedRounding kRoundings[] = {
    {"rn", Rounding::kNearestEven, false},  {"rz", Rounding::kZero, false},
    {"rm", Rounding::kDown, false},         {"rp", Rounding::kUp, false},
    {"rna", Rounding::kNearestAway, false}, {"rni", Rounding::kNearestEven, true},
    {"rzi", Rounding::kZero, true},         {"rmi", Rounding::kDown, true},
    {"rpi", Rounding::kUp, true},
};

std::optional<CvtType> TypeOf(absl::string_view name) {
  for (const NamedType& t : kTypes) {
    if (t.name == name) return t.type;
  }
  return std::nullopt;
}

const NamedRounding* TakeRounding(OpcodeReader* reader) {
  for (const NamedRounding& r : kRoundings) {
    if (reader->Take(r.name)) return &r;
  }
  return nullptr;
}

// --- integers -------------------------------------------------------------------------------------------------------

using Wide = __int128;

Wide ValueOf(const CvtType& t, uint64_t bits) {
  const int unused = 64 - t.bits;
  return t.is_signed ? Wide{static_cast<int64_t>(bits << unused) >> unused} : Wide{bits << unused >> unused};
}
Wide Least(const CvtType& t) { return t.is_signed ? -(Wide{1} << (t.bits - 1)) : 0; }
Wide Most(const CvtType& t) { return (Wide{1} << (t.is_signed ? t.bits - 1 : t.bits)) - 1; }
// Extended by the type's sign.
uint64_t Register(const CvtType& t, uint64_t bits) { return static_cast<uint64_t>(ValueOf(t, bits)); }

uint64_t IntegerToInteger(const CvtKind& kind, uint64_t a) {
  Wide v = ValueOf(kind.from, a);
  if (kind.sat) v = std::clamp(v, Least(kind.to), Most(kind.to));
  return Register(kind.to, static_cast<uint64_t>(v));
}

uint64_t IntegerToFloat(const CvtKind& kind, uint64_t a) {
  const Wide v = ValueOf(kind.from, a);
  const uint64_t code = EncodeScaled(kind.to.format, v < 0, static_cast<uint64_t>(v < 0 ? -v : v), 0, kind.rounding);
  if (!kind.sat) return code;
  const double clamped = std::clamp(Decode(kind.to.format, code), 0.0, 1.0);
  return Encode(kind.to.format, clamped, Rounding::kNearestEven);
}

// --- floats ---------------------------------------------------------------------------------------------------------

bool IsSubnormalF32(double v) { return v != 0 && std::fabs(v) < std::numeric_limits<float>::min(); }

double Source(const CvtKind& kind, uint64_t code) {
  const double v = Decode(kind.from.format, code);
  return kind.ftz && kind.from.format == Format::kF32 && IsSubnormalF32(v) ? std::copysign(0.0, v) : v;
}

uint64_t FloatToInteger(const CvtKind& kind, uint64_t a) {
  const CvtType& to = kind.to;
  const double v = Source(kind, a);
  if (std::isnan(v)) {
    // PTX: zero, but from f64 and to 64 bits only the highest bit.
    const bool zero = kind.from.format != Format::kF64 && to.bits != 64;
    return zero ? 0 : Register(to, uint64_t{1} << (to.bits - 1));
  }
  const double whole = RoundToIntegral(v, kind.rounding);
  const double end = std::ldexp(1.0, to.is_signed ? to.bits - 1 : to.bits);  // the largest value plus one
  Wide i;
  if (whole >= end) {
    i = Most(to);
  } else if (whole <= (to.is_signed ? -end : 0.0)) {
    i = Least(to);
  } else {
    i = static_cast<Wide>(whole);
  }
  return Register(to, static_cast<uint64_t>(i));
}

uint64_t FloatToFloat(const CvtKind& kind, uint64_t a) {
  double v = Source(kind, a);
  const Format to = kind.to.format;
  if (kind.to_integral) v = RoundToIntegral(v, kind.rounding);
  if (kind.relu && v < 0) v = 0;
  if (kind.sat) v = std::isnan(v) ? 0 : std::clamp(v, 0.0, 1.0);
  if (v == 0 && (kind.sat || kind.relu)) v = 0;  // -0 is clamped, too
  const uint64_t code = Encode(to, v, kind.rounding, kind.satfinite ? Overflow::kSatfinite : Overflow::kInfinity);
  if (kind.ftz && to == Format::kF32 && IsSubnormalF32(Decode(to, code))) return code & 0x80000000;
  return code;
}

uint64_t ToPair(const CvtKind& kind, uint64_t a, uint64_t b) {
  const int bits = kind.to.bits / 2, source_bits = kind.from.bits / 2;
  if (kind.from.pair) {
    b = a & ((uint64_t{1} << source_bits) - 1);
    a >>= source_bits;
  }
  return FloatToFloat(kind, a) << bits | FloatToFloat(kind, b);
}

absl::Status Check(const CvtKind& kind, bool has_rounding, const OpcodeReader& reader) {
  const CvtType &to = kind.to, &from = kind.from;
  if (!to.is_float) {
    if (from.pair) return reader.Unknown("pairs become pairs only");
    if (from.is_float && !kind.to_integral) return reader.Unknown("floats become integers by .rni, .rzi, .rmi or .rpi");
    if (!from.is_float && has_rounding) return reader.Unknown("integers become integers without rounding");
    if (kind.satfinite || kind.relu) return reader.Unknown("integers have neither .satfinite nor .relu");
    return absl::OkStatus();
  }
  if (from.pair && !to.pair) return reader.Unknown("pairs become pairs only");
  if (to.pair && !from.pair && from.format != Format::kF32) return reader.Unknown("a pair is made of f32");
  if (!from.is_float && (to.pair || to.format == Format::kTF32)) return reader.Unknown("integers do not become this");
  const FormatInfo &f = InfoOf(to.format), &g = InfoOf(from.format);
  const bool exact = from.is_float && f.exponent_bits >= g.exponent_bits && f.mantissa_bits >= g.mantissa_bits;
  if (!exact && (!has_rounding || kind.to_integral)) return reader.Unknown("it rounds, and does not say how");
  const bool small = f.bits <= 8;
  if (small && !kind.satfinite) return reader.Unknown("this type needs .satfinite");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CvtKind> ParseCvt(Opcode opcode) {
  OpcodeReader reader(opcode);
  CvtKind kind;
  if (!reader.Take("cvt")) return reader.Unknown("it is no cvt");
  bool has_rounding = false;
  for (bool more = true; more;) {
    if (const NamedRounding* r = TakeRounding(&reader)) {
      if (has_rounding) return reader.Unknown("it rounds twice");
      has_rounding = true;
      kind.rounding = r->rounding;
      kind.to_integral = r->to_integral;
    } else if (reader.Take("ftz")) {
      kind.ftz = true;
    } else if (reader.Take("sat")) {
      kind.sat = true;
    } else if (reader.Take("satfinite")) {
      kind.satfinite = true;
    } else if (reader.Take("relu")) {
      kind.relu = true;
    } else {
      more = false;
    }
  }
  for (CvtType* type : {&kind.to, &kind.from}) {
    const absl::string_view name = reader.Next();
    const std::optional<CvtType> t = TypeOf(name);
    if (!t) return reader.Unknown(absl::StrCat("`", name, "` is no type that it knows"));
    *type = *t;
  }
  if (absl::Status s = reader.Finish(); !s.ok()) return s;
  if (absl::Status s = Check(kind, has_rounding, reader); !s.ok()) return s;
  kind.sources = kind.to.pair && !kind.from.pair ? 2 : 1;
  return kind;
}

uint64_t RunCvt(const CvtKind& kind, uint64_t a, uint64_t b) {
  if (kind.to.pair) return ToPair(kind, a, b);
  if (kind.to.is_float) return kind.from.is_float ? FloatToFloat(kind, a) : IntegerToFloat(kind, a);
  return kind.from.is_float ? FloatToInteger(kind, a) : IntegerToInteger(kind, a);
}

}  // namespace tile::gpu_sim
