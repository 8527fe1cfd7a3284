#include "tests/gpu_sim/tensor/tcgen05_kind.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {
namespace {

template <Format format>
double ValueOf(uint32_t code) {
  if constexpr (format == Format::kTF32) return Decode(format, code);
  return DecodeTable(format)[code];
}
double Unsigned(uint32_t code) { return code; }
double Signed(uint32_t code) { return static_cast<int8_t>(code); }

constexpr int kDepthBits = 256;  // an instruction multiplies 32 bytes of K; of types that lie in bytes 32 elements

struct TypeRow {
  Tcgen05Types types;
  uint32_t code;  // in the descriptor
  OperandFormat format;
};
constexpr TypeRow kTypes[] = {
    {Tcgen05Types::kF16, 0, {16, false, &ValueOf<Format::kF16>}},
    {Tcgen05Types::kF16, 1, {16, false, &ValueOf<Format::kBF16>}},
    {Tcgen05Types::kTF32, 2, {32, false, &ValueOf<Format::kTF32>}},
    {Tcgen05Types::kF8F6F4, 0, {8, false, &ValueOf<Format::kE4M3>}},
    {Tcgen05Types::kF8F6F4, 1, {8, false, &ValueOf<Format::kE5M2>}},
    {Tcgen05Types::kF8F6F4, 3, {6, true, &ValueOf<Format::kE2M3>}},
    {Tcgen05Types::kF8F6F4, 4, {6, true, &ValueOf<Format::kE3M2>}},
    {Tcgen05Types::kF8F6F4, 5, {4, true, &ValueOf<Format::kE2M1>}},
    {Tcgen05Types::kI8, 0, {8, false, &Unsigned}},
    {Tcgen05Types::kI8, 1, {8, false, &Signed}},
    {Tcgen05Types::kMxF4, 1, {4, false, &ValueOf<Format::kE2M1>}},
};

struct KindRow {
  absl::string_view name;
  Tcgen05Types types;
  int block32, block16;  // scales of a row by .block32 and .block16; 0: there is none
};
constexpr KindRow kKinds[] = {{"f16", Tcgen05Types::kF16, 0, 0},           {"tf32", Tcgen05Types::kTF32, 0, 0},
                              {"f8f6f4", Tcgen05Types::kF8F6F4, 0, 0},     {"i8", Tcgen05Types::kI8, 0, 0},
                              {"mxf8f6f4", Tcgen05Types::kMxF8F6F4, 1, 0}, {"mxf4", Tcgen05Types::kMxF4, 2, 0},
                              {"mxf4nvf4", Tcgen05Types::kMxF4NvF4, 2, 4}};

const OperandFormat* FormatOf(Tcgen05Types types, uint32_t code) {
  if (types == Tcgen05Types::kMxF8F6F4) types = Tcgen05Types::kF8F6F4;
  if (types == Tcgen05Types::kMxF4NvF4) types = Tcgen05Types::kMxF4;
  for (const TypeRow& row : kTypes) {
    if (row.types == types && row.code == code) return &row.format;
  }
  return nullptr;
}

// The scales of a row by the words of the opcode; -1: the kind has no such word.
int TakeScales(OpcodeReader& reader, const KindRow& row) {
  const absl::string_view word = reader.Next();
  int scales = -1;
  if (word == "block32" && row.block32 != 0) scales = row.block32;
  if (word == "block16" && row.block16 != 0) scales = row.block16;
  if (word == "scale_vec::1X" && row.block32 == 1) scales = 1;
  if (word == "scale_vec::2X" && row.block32 == 2) scales = 2;
  if (word == "scale_vec::4X" && row.block16 == 4) scales = 4;
  return scales;
}

// PTX ISA, table 39; M of 128 takes N by 16, as CUTLASS asserts.
bool TakesShape(const Tcgen05Kind& kind, const Tcgen05Product& p) {
  const auto by = [&](int step) { return p.n >= step && p.n <= 256 && p.n % step == 0; };
  if (kind.weight_stationary) return (p.m == 32 || p.m == 64 || p.m == 128) && (p.n == 64 || p.n == 128 || p.n == 256);
  const bool integers = kind.types == Tcgen05Types::kI8;
  if (kind.group == 2) {
    if (integers) return (p.m == 128 || p.m == 256) && by(32);
    return (p.m == 256 || (p.m == 128 && !kind.has_scales())) && by(16);
  }
  if (kind.has_scales()) return p.m == 128 && by(8);
  if (p.m == 64) return by(8) && (!integers || p.n <= 32 || p.n % 16 == 0);
  return p.m == 128 && by(16);
}

// Bits that no instruction of the kind has.
uint32_t ReservedBits(const Tcgen05Kind& kind) {
  if (kind.has_scales()) return 1u << 3 | 1u << 6;
  return 1u << 6 | 1u << 23 | 1u << 29 | (kind.weight_stationary ? 0 : 3u << 30) |
         (kind.types == Tcgen05Types::kI8 ? 0 : 1u << 3);
}

}  // namespace

absl::StatusOr<Tcgen05Kind> ParseTcgen05Mma(Opcode opcode) {
  OpcodeReader reader(opcode);
  if (!reader.Take("tcgen05") || !reader.Take("mma")) return reader.Unknown("it is no tcgen05.mma");
  Tcgen05Kind kind;
  kind.weight_stationary = reader.Take("ws");
  if (reader.Take("sp")) return reader.Unknown("sparse operands");
  kind.group = reader.Take("cta_group::2") ? 2 : 1;
  if (kind.group == 1 && !reader.Take("cta_group::1")) return reader.Unknown("it has no cta_group");
  if (kind.weight_stationary && kind.group == 2) return reader.Unknown(".ws has no pairs");
  absl::string_view name = reader.Next();
  const KindRow* row = nullptr;
  for (const KindRow& r : kKinds) {
    if (absl::StartsWith(name, "kind::") && r.name == absl::StripPrefix(name, "kind::")) row = &r;
  }
  if (row == nullptr) return reader.Unknown(absl::StrCat("`.", name, "`"));
  kind.types = row->types;
  if (row->block32 != 0) {
    if (!reader.Take("block_scale")) return reader.Unknown("it has no `.block_scale`");
    // Without a word of its own mxf8f6f4 and mxf4 have one scale for 32 elements.
    const bool implied = reader.done() || absl::StartsWith(reader.Peek(), "collector");
    kind.scales = implied ? row->block32 : TakeScales(reader, *row);
    if (kind.scales < 0 || (implied && row->block16 != 0)) return reader.Unknown("this size of scale blocks");
  }
  // Hints how long an operand stays in the tensor core's buffer.
  while (absl::StartsWith(reader.Peek(), "collector::")) reader.Next();
  if (absl::Status s = reader.Finish(); !s.ok()) return s;
  return kind;
}

absl::StatusOr<Tcgen05Product> DecodeProduct(const Tcgen05Kind& kind, uint32_t bits) {
  const auto bad = [bits](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("the instruction descriptor 0x", absl::Hex(bits, absl::kZeroPad8), " ", what));
  };
  const auto field = [bits](int at, int n) { return bits >> at & ((1u << n) - 1); };
  if (field(2, 1) != 0)
    return absl::UnimplementedError("the descriptor says that A is sparse, which the simulator does not know");
  if ((bits & ReservedBits(kind)) != 0) return bad("has ones in bits that the kind leaves zero");
  Tcgen05Product p;
  p.m = static_cast<int>(field(24, 5)) * 16, p.n = static_cast<int>(field(17, 6)) * 8;
  const OperandFormat *a = FormatOf(kind.types, field(7, 3)), *b = FormatOf(kind.types, field(10, 3));
  if (a == nullptr || b == nullptr)
    return bad(absl::StrCat("has types ", field(7, 3), " and ", field(10, 3), ", which the kind does not multiply"));
  if (kind.types == Tcgen05Types::kF16 && a->value != b->value) return bad("multiplies f16 by bf16");
  p.a = *a, p.b = *b;
  p.k = kDepthBits / (a->unpacked ? 8 : a->bits);
  p.negate_a = field(13, 1) != 0, p.negate_b = field(14, 1) != 0;
  p.a_mn_major = field(15, 1) != 0, p.b_mn_major = field(16, 1) != 0;
  if ((p.a_mn_major && a->bits < 8) || (p.b_mn_major && b->bits < 8))
    return bad("has elements of less than 8 bits whose K is not contiguous");
  if (kind.types == Tcgen05Types::kI8 && (p.negate_a || p.negate_b)) return bad("negates integers");
  if (!TakesShape(kind, p))
    return bad(absl::StrCat("has M = ", p.m, ", N = ", p.n, ", which cta_group::", kind.group, " does not multiply"));
  if (!kind.has_scales()) {
    p.saturate = field(3, 1) != 0;
    const uint32_t sum = field(4, 2);
    const bool fits =
        kind.types == Tcgen05Types::kI8 ? sum == 2 : sum == 1 || (sum == 0 && kind.types != Tcgen05Types::kTF32);
    if (!fits) return bad(absl::StrCat("has sums of type ", sum, ", which the kind has not"));
    p.sum = static_cast<SumType>(sum);
    return p;
  }
  if (field(31, 1) != 0)
    return absl::UnimplementedError("the descriptor says K = 96 (bit 31), which the simulator does not know");
  p.power_of_two_scales = field(23, 1) != 0;
  if (!p.power_of_two_scales && kind.types != Tcgen05Types::kMxF4NvF4)
    return bad("has scales of type ue4m3, which the kind has not");
  if (!p.power_of_two_scales && kind.scales != 4) return bad("has scales of type ue4m3 for 32 elements");
  p.scale_byte_b = static_cast<int>(field(4, 2)), p.scale_byte_a = static_cast<int>(field(29, 2));
  if (p.scale_byte_a % kind.scales != 0 || p.scale_byte_b % kind.scales != 0) {
    return bad(absl::StrCat("has scale ids ", p.scale_byte_a, " and ", p.scale_byte_b, ": they are multiples of ",
                            kind.scales));
  }
  return p;
}

}  // namespace tile::gpu_sim
