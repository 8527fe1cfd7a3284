// Fragments, by the PTX ISA's tables: lane l has group g = l / 4 and place t = l % 4 in it. A word holds neighbours along K (of A, B)
// or N (of C, D: two registers). Words of A alternate between rows g and g + 8, then go on to the upper half of K.
#include "tests/gpu_sim/tensor/mma.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

constexpr int kM = 16, kN = 8, kMostK = 32;

struct Shape {
  absl::string_view name;
  int k;
  int bits;  // of an element
  bool floats, integers;
};

constexpr Shape kShapes[] = {
    {"m16n8k8", 8, 16, true, false}, {"m16n8k16", 16, 16, true, false}, {"m16n8k4", 4, 32, true, false},
    {"m16n8k8", 8, 32, true, false}, {"m16n8k16", 16, 8, false, true},  {"m16n8k32", 32, 8, true, true},
};

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
  const absl::string_view d = reader.Next();
  const absl::string_view a_name = reader.Next(), b_name = reader.Next();
  const std::optional<OperandType> a = OperandTypeOf(a_name), b = OperandTypeOf(b_name);
  const absl::string_view c = reader.Next();
  if (absl::Status s = reader.Finish(); !s.ok()) return s;
  if (!a || !b) return reader.Unknown(absl::StrCat("it does not multiply `", a_name, "` by `", b_name, "`"));
  const bool same = a_name == b_name || a->bits == 8;
  if (a->bits != b->bits || a->is_float != b->is_float || !same)
    return reader.Unknown("A and B have types that do not go together");
  if (d != (a->is_float ? "f32" : "s32") || c != d)
    return reader.Unknown("the sums are f32 of floats, s32 of integers");
  const Shape* shape = ShapeOf(shape_name, *a);
  if (shape == nullptr) return reader.Unknown(absl::StrCat("it has no `", shape_name, "` of these types"));
  MmaKind kind;
  kind.a = *a;
  kind.b = *b;
  kind.k = shape->k;
  kind.words_a = kM * kind.k * kind.a.bits / 32 / 32;
  kind.words_b = kN * kind.k * kind.b.bits / 32 / 32;
  return kind;
}

void RunMma(const MmaKind& kind, const WarpWords& a, const WarpWords& b, const WarpWords& c, WarpWords* d) {
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
