// Of an operand in shared memory, rows of the contiguous dimension are S bytes long, the swizzle's span, and lie one after another,
// eight of them a group. "stride" is from group to group, "leading" from one piece of S bytes to the next along a contiguous M or N.
#include "tests/gpu_sim/tensor/wgmma.h"

#include <cstring>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tests/gpu_sim/tensor/swizzle.h"

namespace tile::gpu_sim {
namespace {

constexpr int kM = 64, kMostN = 256, kDepthBytes = 32, kMostK = 32, kNoSwizzle = 16;

// Hopper keeps 13 bits of the mantissa of sums of 8-bit floats: a program that needs more adds them up by itself, in time.
constexpr uint32_t kShortSum = ~((1u << (23 - 13)) - 1);

// "m64n128k16": N and K.
bool ParseShape(absl::string_view text, int* n, int* k) {
  if (!absl::ConsumePrefix(&text, "m64n")) return false;
  const size_t at = text.find('k');
  return at != absl::string_view::npos && absl::SimpleAtoi(text.substr(0, at), n) &&
         absl::SimpleAtoi(text.substr(at + 1), k) && *n >= 8 && *n <= kMostN && *n % 8 == 0;
}

// N of integers: 8, 16, 24, 32, and from there on multiples of 16.
bool TakesN(const OperandType& type, int n) { return type.is_float || n <= 32 || n % 16 == 0; }

// 32 bytes along K never leave a row.
uint32_t OffsetInOperand(const MatrixDescriptor& m, bool transposed, uint32_t mn, uint32_t k, uint32_t bytes) {
  const auto span = static_cast<uint32_t>(m.swizzle);
  const uint32_t along = (transposed ? mn : k) * bytes, across = transposed ? k : mn;
  return across / 8 * m.stride + across % 8 * span + along / span * m.leading + along % span;
}

absl::Status CheckDescriptor(const MatrixDescriptor& m, absl::string_view operand) {
  if (m.base_offset != 0) {
    return absl::UnimplementedError(
        absl::StrCat("wgmma: the descriptor of ", operand, " has a base offset, which the simulator does not know"));
  }
  if (m.swizzle == kNoSwizzle) {
    return absl::UnimplementedError(
        absl::StrCat("wgmma: ", operand, " is not swizzled, which the simulator does not know"));
  }
  if (SwizzleAddress(m.start, m.swizzle) != m.start) {
    return absl::InvalidArgumentError(absl::StrCat("wgmma: ", operand, " begins at ", m.start,
                                                   ", which is in no first row of eight that are swizzled by ",
                                                   m.swizzle, " bytes"));
  }
  return absl::OkStatus();
}

// Element (mn, k) of the operand to values[mn * kMostK + k].
absl::Status ReadShared(const OperandType& type, int rows, int depth, uint64_t descriptor, bool transposed,
                        absl::string_view operand, absl::Span<const uint8_t> shared, double* values) {
  const MatrixDescriptor m = DecodeMatrixDescriptor(descriptor);
  if (absl::Status s = CheckDescriptor(m, operand); !s.ok()) return s;
  const auto bytes = static_cast<uint32_t>(type.bits / 8);
  for (int mn = 0; mn < rows; ++mn) {
    for (int k = 0; k < depth; ++k) {
      const uint32_t offset =
          OffsetInOperand(m, transposed, static_cast<uint32_t>(mn), static_cast<uint32_t>(k), bytes);
      const uint32_t at = SwizzleAddress(m.start + offset, m.swizzle);
      if (at >= shared.size() || shared.size() - at < bytes) {
        return absl::OutOfRangeError(absl::StrCat("wgmma: element (", mn, ", ", k, ") of ", operand, " is at ", at,
                                                  ", outside of shared memory of ", shared.size(), " bytes"));
      }
      uint32_t code = 0;
      std::memcpy(&code, shared.data() + at, bytes);
      values[mn * kMostK + k] = type.Element(code, 0);
    }
  }
  return absl::OkStatus();
}

// As mma.sync has fragments, 16 rows a warp.
void ReadRegisters(const OperandType& type, const GroupWords& a, double* values) {
  const int in_word = type.per_word();
  for (size_t thread = 0; thread < a.size(); ++thread) {
    const int g = static_cast<int>(thread % 32 / 4), t = static_cast<int>(thread % 4);
    for (int w = 0; w < WgmmaKind::kWordsA; ++w) {
      for (int e = 0; e < in_word; ++e) {
        const int row = static_cast<int>(thread / 32) * 16 + g + 8 * (w % 2);
        const int k = t * in_word + e + w / 2 * (4 * in_word);
        values[row * kMostK + k] = type.Element(a[thread][static_cast<size_t>(w)], e);
      }
    }
  }
}

}  // namespace

MatrixDescriptor DecodeMatrixDescriptor(uint64_t bits) {
  const auto field = [bits](int from) { return static_cast<uint32_t>(bits >> from & 0x3FFF) << 4; };
  constexpr int kSpans[] = {kNoSwizzle, 128, 64, 32};
  MatrixDescriptor m;
  m.start = field(0);
  m.leading = field(16);
  m.stride = field(32);
  m.base_offset = static_cast<int>(bits >> 49 & 7);
  m.swizzle = kSpans[bits >> 62];
  return m;
}

absl::StatusOr<WgmmaKind> ParseWgmma(Opcode opcode) {
  OpcodeReader reader(opcode);
  if (!reader.Take("wgmma") || !reader.Take("mma_async") || !reader.Take("sync") || !reader.Take("aligned"))
    return reader.Unknown("it is no wgmma.mma_async.sync.aligned");
  WgmmaKind kind;
  const absl::string_view shape = reader.Next(), d = reader.Next(), a_name = reader.Next(), b_name = reader.Next();
  const std::optional<OperandType> a = OperandTypeOf(a_name), b = OperandTypeOf(b_name);
  if (absl::Status s = reader.Finish(); !s.ok()) return s;
  const auto is_small = [](const OperandType& t) { return t.is_float && InfoOf(t.format).bits < 8; };
  if (!a || !b || is_small(*a) || is_small(*b) || a->bits != b->bits || a->is_float != b->is_float ||
      (a->bits != 8 && a_name != b_name))
    return reader.Unknown(absl::StrCat("it does not multiply `", a_name, "` by `", b_name, "`"));
  if (d != (a->is_float ? "f32" : "s32")) return reader.Unknown("the sums are f32 of floats, s32 of integers");
  if (!ParseShape(shape, &kind.n, &kind.k) || kind.k * a->bits != 8 * kDepthBytes || !TakesN(*a, kind.n))
    return reader.Unknown(absl::StrCat("it has no `", shape, "` of these types"));
  kind.a = *a;
  kind.b = *b;
  kind.has_scales = a->is_float;
  kind.has_transposes = a->bits == 16;
  return kind;
}

absl::Status RunWgmma(const WgmmaKind& kind, const WgmmaInput& in, GroupWords* d) {
  if (!kind.has_transposes && (in.trans_a != 0 || in.trans_b != 0))
    return absl::InvalidArgumentError("wgmma: only 16-bit types are transposed");
  std::vector<double> a(kM * kMostK), b(static_cast<size_t>(kind.n) * kMostK);
  if (in.a != nullptr) {
    ReadRegisters(kind.a, *in.a, a.data());
  } else if (absl::Status s =
                 ReadShared(kind.a, kM, kind.k, in.a_descriptor, in.trans_a != 0, "A", in.shared, a.data());
             !s.ok()) {
    return s;
  }
  if (absl::Status s = ReadShared(kind.b, kind.n, kind.k, in.b_descriptor, in.trans_b != 0, "B", in.shared, b.data());
      !s.ok()) {
    return s;
  }
  if (in.scale_a * in.scale_b < 0) {
    for (double& v : a) v = -v;
  }
  const auto depth = static_cast<size_t>(kind.k);
  const uint32_t kept = kind.a.is_float && kind.a.bits == 8 ? kShortSum : ~0u;
  for (size_t thread = 0; thread < d->size(); ++thread) {
    auto& sums = (*d)[thread];
    sums.resize(static_cast<size_t>(kind.words_d()));
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2);
      const size_t column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      const absl::Span<const double> x(&a[row * kMostK], depth), y(&b[column * kMostK], depth);
      sums[i] = AddProducts(kind.a, in.scale_d ? sums[i] : 0, x, y) & kept;
    }
  }
  return absl::OkStatus();
}

}  // namespace tile::gpu_sim
