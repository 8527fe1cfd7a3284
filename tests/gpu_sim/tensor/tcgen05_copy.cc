#include "tests/gpu_sim/tensor/tcgen05_copy.h"

#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

constexpr uint32_t kPiece = 16;

struct Row {
  absl::string_view shape, copies;
  Tcgen05Copy copy;
};
constexpr Row kRows[] = {{"128x256b", "", {1, 128, 32, CopyLanes::kEach}},
                         {"128x128b", "", {1, 128, 16, CopyLanes::kEach}},
                         {"32x128b", "warpx4", {1, 32, 16, CopyLanes::kAllQuarters}},
                         {"64x128b", "warpx2::02_13", {1, 64, 16, CopyLanes::kQuarters02And13}},
                         {"64x128b", "warpx2::01_23", {1, 64, 16, CopyLanes::kQuarters01And23}}};

// The lane of the copy `n` of a row; copies end with n = CopiesOf.
uint32_t CopiesOf(CopyLanes lanes) { return lanes == CopyLanes::kEach ? 1 : lanes == CopyLanes::kAllQuarters ? 4 : 2; }
uint32_t LaneOf(CopyLanes lanes, uint32_t row, uint32_t n) {
  switch (lanes) {
    case CopyLanes::kEach: return row;
    case CopyLanes::kAllQuarters: return row + 32 * n;
    case CopyLanes::kQuarters02And13: return row + 64 * n;
    case CopyLanes::kQuarters01And23: return row / 32 * 64 + row % 32 + 32 * n;
  }
  return row;
}

}  // namespace

absl::StatusOr<Tcgen05Copy> ParseTcgen05Copy(Opcode opcode) {
  OpcodeReader reader(opcode);
  if (!reader.Take("tcgen05") || !reader.Take("cp")) return reader.Unknown("it is no tcgen05.cp");
  const int group = reader.Take("cta_group::2") ? 2 : 1;
  if (group == 1 && !reader.Take("cta_group::1")) return reader.Unknown("it has no cta_group");
  absl::string_view shape = reader.Next(), copies = reader.Next();
  if (absl::StartsWith(shape, "warpx"))
    std::swap(shape, copies);  // ptxas takes them in either order, and Triton 3.6 writes them so
  if (absl::Status s = reader.Finish(); !s.ok()) return s;
  for (const Row& row : kRows) {
    if (row.shape != shape || row.copies != copies) continue;
    Tcgen05Copy copy = row.copy;
    copy.group = group;
    return copy;
  }
  return reader.Unknown("this shape");
}

absl::Status RunTcgen05Copy(const Tcgen05Copy& copy, uint32_t address, uint64_t descriptor, SharedRead read,
                            TensorMemory& memory) {
  const absl::StatusOr<OperandLayout> layout = DecodeOperand(descriptor, /*mn_major=*/false);
  if (!layout.ok()) return layout.status();
  const auto [first, column] = TensorAddressOf(address);
  if (first != 0) return absl::InvalidArgumentError(absl::StrCat("the copy begins in lane ", first, ", not in lane 0"));
  for (uint32_t row = 0; row < copy.rows; ++row) {
    for (uint32_t at = 0; at < copy.bytes; at += kPiece) {
      const absl::StatusOr<const uint8_t*> piece = read(PieceAddress(*layout, row, at), kPiece);
      if (!piece.ok()) return piece.status();
      for (uint32_t n = 0; n < CopiesOf(copy.lanes); ++n) {
        const absl::StatusOr<uint32_t*> cells = memory.Row(LaneOf(copy.lanes, row, n), column + at / 4, kPiece / 4);
        if (!cells.ok()) return cells.status();
        std::memcpy(*cells, *piece, kPiece);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RunTcgen05Shift(uint32_t address, TensorMemory& memory) {
  constexpr uint32_t kWords = 8, kLanes = 32;
  const auto [first, column] = TensorAddressOf(address);
  if (first % kLanes != 0)
    return absl::InvalidArgumentError(absl::StrCat("the shift begins in lane ", first, ", no multiple of 32"));
  for (uint32_t lane = first; lane + 1 < first + kLanes; ++lane) {
    const absl::StatusOr<uint32_t*> to = memory.Row(lane, column, kWords), from = memory.Row(lane + 1, column, kWords);
    if (!to.ok()) return to.status();
    if (!from.ok()) return from.status();
    std::memcpy(*to, *from, kWords * sizeof(uint32_t));
  }
  return absl::OkStatus();
}

}  // namespace tile::gpu_sim
