// Canonical layouts of CUTLASS (include/cute/arch/mma_sm100_desc.hpp). Rows of the swizzle's span lie one after another, eight of them a
// group (four where pieces have 32 bytes). "stride" is from group to group, "leading" from one piece of a row to the next.
#include "tests/gpu_sim/tensor/tcgen05_operand.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/tensor/swizzle.h"

namespace tile::gpu_sim {
namespace {

constexpr uint32_t kPiece = 16;
constexpr uint32_t kVersion = 1;  // of descriptors of sm_100

// The code of element `e` of a piece.
uint32_t CodeIn(const uint8_t* piece, const OperandFormat& format, uint32_t e) {
  const uint32_t bit = e * static_cast<uint32_t>(format.bits);
  uint32_t word = 0;
  std::memcpy(&word, piece + bit / 8, bit / 8 + 4 <= kPiece ? 4 : kPiece - bit / 8);
  word >>= bit % 8;
  return format.bits == 32 ? word : word & ((1u << format.bits) - 1);
}

}  // namespace

absl::StatusOr<OperandLayout> DecodeOperand(uint64_t bits, bool mn_major) {
  const auto bad = [bits](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("the shared memory descriptor 0x", absl::Hex(bits, absl::kZeroPad16), " ", what));
  };
  const auto field = [bits](int from) { return static_cast<uint32_t>(bits >> from & 0x3FFF) << 4; };
  OperandLayout layout;
  layout.start = field(0);
  layout.leading = field(16);
  layout.stride = field(32);
  layout.mn_major = mn_major;
  if ((bits >> 46 & 7) != kVersion) return bad("has no 0b001 in bits 46-48, as descriptors of wgmma");
  if ((bits >> 52 & 1) != 0)
    return absl::UnimplementedError(
        "a descriptor with an absolute leading address (bit 52), which the simulator does not know");
  if ((bits >> 53 & 0xFF) != 0) return bad("has ones in bits 53-60");
  switch (bits >> 61) {
    case 0: layout.span = 16; break;
    case 1: layout.span = 128, layout.wide_pieces = true; break;
    case 2: layout.span = 128; break;
    case 4: layout.span = 64; break;
    case 6: layout.span = 32; break;
    default: return bad(absl::StrCat("has swizzle mode ", bits >> 61, ", which does not exist"));
  }
  if (layout.wide_pieces && !mn_major) return bad("has pieces of 32 bytes (mode 1) where K is contiguous");
  if ((bits >> 49 & 7) != 0 && layout.span != 16) {
    return absl::UnimplementedError("a descriptor with a base offset, which the simulator does not know");
  }
  return layout;
}

uint32_t PieceAddress(const OperandLayout& l, uint32_t across, uint32_t along) {
  if (l.span == kPiece) {
    // Groups of eight pieces of 16 bytes.
    const uint32_t group = l.mn_major ? l.leading : l.stride, next = l.mn_major ? l.stride : l.leading;
    return l.start + across / 8 * group + across % 8 * kPiece + along / kPiece * next;
  }
  const uint32_t rows = l.wide_pieces ? 4 : 8;
  const uint32_t next = l.mn_major ? along / l.span * l.leading : along / l.span * l.span;
  const uint32_t at = l.start + across / rows * l.stride + across % rows * l.span + next + along % l.span;
  return l.wide_pieces ? SwizzleWideAddress(at) : SwizzleAddress(at, static_cast<int>(l.span));
}

absl::Status ReadOperand(const OperandLayout& layout, const OperandFormat& format, int rows, int depth, SharedRead read,
                         absl::Span<double> values) {
  const auto bits = static_cast<uint32_t>(format.unpacked ? 8 : format.bits);
  const uint32_t in_piece = kPiece * 8 / bits;
  const auto n = static_cast<uint32_t>(layout.mn_major ? rows : depth),
             across = static_cast<uint32_t>(layout.mn_major ? depth : rows);
  for (uint32_t c = 0; c < across; ++c) {
    for (uint32_t first = 0; first < n; first += in_piece) {
      const absl::StatusOr<const uint8_t*> piece = read(PieceAddress(layout, c, first * bits / 8), kPiece);
      if (!piece.ok()) return piece.status();
      for (uint32_t e = 0; e < in_piece && first + e < n; ++e) {
        const double v = format.value(CodeIn(*piece, format, e));
        const uint32_t mn = layout.mn_major ? first + e : c, k = layout.mn_major ? c : first + e;
        values[mn * static_cast<uint32_t>(depth) + k] = v;
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace tile::gpu_sim
