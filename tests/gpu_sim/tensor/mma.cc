// Fragments, by the PTX ISA's tables: lane l has group g = l / 4 and place t = l % 4 in it. A word holds neighbours along K (of A, B)
// or N (of C, D: two registers). Words of A alternate between rows g and g + 8, then go on to the upper half of K.
#include "tests/gpu_sim/tensor/mma.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

constexpr int kM = 16, kN = 8, kMostK = 64;

struct Shape {
  absl::string_view name;
  int k;
  int bits;  // of an element
  bool floats, integers;
};

constexpr Shape kShapes[] = {
    {"m16n8k8", 8, 16, true, false},  {"m16n8k16", 16, 16, true, false}, {"m16n8k4", 4, 32, true, false},
    {"m16n8k8", 8, 32, true, false},  {"m16n8k16", 16, 8, false, true},  {"m16n8k32", 32, 8, true, true},
    {"m16n8k64", 64, 4, true, false},
};

// The words of .kind:: and .block_scale: how many scales a row has, and whether types of less than 8 bits are taken.
absl::Status ParseKind(OpcodeReader& reader, MmaKind* kind, bool* small, bool* packed) {
  *small = reader.Take("kind::f8f6f4");
  if (*small) return absl::OkStatus();
  *small = reader.Take("kind::mxf8f6f4");
  *packed = !*small && (reader.Take("kind::mxf4") || reader.Take("kind::mxf4nvf4"));
  if (!*small && !*packed) return absl::OkStatus();
  if (!reader.Take("block_scale")) return reader.Unknown("it has no `.block_scale`");
  kind->scales = *small ? 1 : 2;
  if (reader.Take("scale_vec::1X")) {
    kind->scales = 1;
  } else if (reader.Take("scale_vec::2X")) {
    kind->scales = 2;
  } else if (reader.Take("scale_vec::4X")) {
    kind->scales = 4;
  }
  return *small == (kind->scales == 1) ? absl::OkStatus() : reader.Unknown("this number of scales");
}

const Shape* ShapeOf(absl::string_view name, const OperandType& type) {
  for (const Shape& s : kShapes) {
    if (s.name == name && s.bits == type.bits && (type.is_float ? s.floats : s.integers)) return &s;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<MmaKind> ParseMma(Opcode opcode) {
  OpcodeReader reader(opcode);
  if (!reader.Take("mma") || !reader.Take("sync") || !reader.Take("aligned"))
    return reader.Unknown("it is no mma.sync.aligned");
  const absl::string_view shape_name = reader.Next();
  if (!reader.Take("row") || !reader.Take("col")) return reader.Unknown("A is .row and B .col");
  MmaKind kind;
  bool small = false, packed = false;
  if (absl::Status s = ParseKind(reader, &kind, &small, &packed); !s.ok()) return s;
  const absl::string_view d = reader.Next();
  const absl::string_view a_name = reader.Next(), b_name = reader.Next();
  std::optional<OperandType> a = OperandTypeOf(a_name), b = OperandTypeOf(b_name);
  const absl::string_view c = reader.Next();
  if (kind.scales != 0) {
    kind.power_of_two_scales = reader.Take("ue8m0");
    if (!kind.power_of_two_scales && (kind.scales != 4 || !reader.Take("ue4m3")))
      return reader.Unknown("its scales are .ue8m0, or .ue4m3 with .scale_vec::4X");
  }
  if (absl::Status s = reader.Finish(); !s.ok()) return s;
  if (!a || !b) return reader.Unknown(absl::StrCat("it does not multiply `", a_name, "` by `", b_name, "`"));
  if (packed && (a_name != "e2m1" || b_name != "e2m1")) return reader.Unknown("this kind multiplies e2m1");
  const auto is_small = [](const OperandType& t) { return t.is_float && InfoOf(t.format).bits < 8; };
  if (!small && !packed && (is_small(*a) || is_small(*b)))
    return reader.Unknown("types of less than 8 bits without `.kind::f8f6f4`");
  if (packed) a = b = PackedE2M1();
  const bool same = a_name == b_name || a->bits == 8;
  if (a->bits != b->bits || a->is_float != b->is_float || !same)
    return reader.Unknown("A and B have types that do not go together");
  if (d != (a->is_float ? "f32" : "s32") || c != d)
    return reader.Unknown("the sums are f32 of floats, s32 of integers");
  const Shape* shape = ShapeOf(shape_name, *a);
  if (shape == nullptr) return reader.Unknown(absl::StrCat("it has no `", shape_name, "` of these types"));
  kind.a = *a;
  kind.b = *b;
  kind.k = shape->k;
  kind.words_a = kM * kind.k * kind.a.bits / 32 / 32;
  kind.words_b = kN * kind.k * kind.b.bits / 32 / 32;
  return kind;
}

namespace {

// Of a row of A or a column of B, whose scales this lane has.
void Scale(const MmaKind& kind, const WarpWords& words, size_t lane, uint32_t byte, double* values) {
  const int run = kind.k / kind.scales;
  for (int k = 0; k < kind.k; ++k) {
    const uint32_t code = words[lane][0] >> (8 * (byte + static_cast<uint32_t>(k / run))) & 0xFF;
    values[k] *=
        kind.power_of_two_scales ? DecodeUE8M0(static_cast<uint8_t>(code)) : DecodeTable(Format::kE4M3)[code & 0x7F];
  }
}

}  // namespace

void RunMma(const MmaKind& kind, const WarpWords& a, const WarpWords& b, const WarpWords& c, WarpWords* d,
            const MmaScales& scales) {
  double rows[kM][kMostK], columns[kN][kMostK];
  const int in_word = kind.a.per_word();
  for (size_t lane = 0; lane < 32; ++lane) {
    const int g = static_cast<int>(lane / 4), t = static_cast<int>(lane % 4);
    for (int w = 0; w < kind.words_a; ++w) {
      for (int e = 0; e < in_word; ++e) {
        const int row = g + 8 * (w % 2), k = t * in_word + e + w / 2 * (4 * in_word);
        rows[row][k] = kind.a.Element(a[lane][static_cast<size_t>(w)], e);
      }
    }
    for (int w = 0; w < kind.words_b; ++w) {
      for (int e = 0; e < in_word; ++e) {
        columns[g][t * in_word + e + w * (4 * in_word)] = kind.b.Element(b[lane][static_cast<size_t>(w)], e);
      }
    }
  }
  if (kind.scales != 0) {
    for (size_t g = 0; g < kN; ++g) {
      Scale(kind, *scales.a, 4 * g + 2 * scales.thread_a, scales.byte_a, rows[g]);
      Scale(kind, *scales.a, 4 * g + 2 * scales.thread_a + 1, scales.byte_a, rows[g + 8]);
      Scale(kind, *scales.b, 4 * g + scales.thread_b, scales.byte_b, columns[g]);
    }
  }
  const auto depth = static_cast<size_t>(kind.k);
  for (size_t lane = 0; lane < 32; ++lane) {
    (*d)[lane].resize(static_cast<size_t>(kind.words_c));
    for (size_t i = 0; i < static_cast<size_t>(kind.words_c); ++i) {
      const size_t row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      (*d)[lane][i] = AddProducts(kind.a, c[lane][i], {rows[row], depth}, {columns[column], depth});
    }
  }
}

}  // namespace tile::gpu_sim
