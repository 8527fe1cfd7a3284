#include "tests/gpu_sim/tensor/ldmatrix.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

constexpr size_t kRows = 8, kRowBytes = 16;

using Matrix = uint16_t[kRows][kRowBytes / 2];

absl::Status CheckRow(const LdMatrixKind& kind, size_t lane, uint32_t at, size_t size) {
  if (at % kRowBytes == 0 && at <= size && size - at >= kRowBytes) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat(kind.stores ? "stmatrix" : "ldmatrix", ": lane ", lane, " has the address ", at,
                   at % kRowBytes != 0 ? ", which is no multiple of 16" : ", outside of shared memory"));
}

// Lane l has the elements 2 * (l % 4) and the next of row l / 4; of column l / 4 if it transposes.
uint16_t& ElementOf(Matrix& m, bool trans, size_t lane, size_t half) {
  const size_t i = lane / 4, j = lane % 4 * 2 + half;
  return trans ? m[j][i] : m[i][j];
}

}  // namespace

absl::StatusOr<LdMatrixKind> ParseLdMatrix(Opcode opcode) {
  OpcodeReader reader(opcode);
  LdMatrixKind kind;
  kind.stores = reader.Take("stmatrix");
  if ((!kind.stores && !reader.Take("ldmatrix")) || !reader.Take("sync") || !reader.Take("aligned") ||
      !reader.Take("m8n8"))
    return reader.Unknown("it is no ldmatrix or stmatrix.sync.aligned.m8n8");
  if (reader.Take("x1")) {
    kind.matrices = 1;
  } else if (reader.Take("x2")) {
    kind.matrices = 2;
  } else if (reader.Take("x4")) {
    kind.matrices = 4;
  } else {
    return reader.Unknown("it moves .x1, .x2 or .x4");
  }
  kind.trans = reader.Take("trans");
  if (!reader.Take("shared") && !reader.Take("shared::cta")) return reader.Unknown("its memory is .shared");
  if (!reader.Take("b16")) return reader.Unknown("elements are .b16");
  if (absl::Status s = reader.Finish(); !s.ok()) return s;
  return kind;
}

absl::Status RunLdMatrix(const LdMatrixKind& kind, absl::Span<const uint8_t> shared,
                         const std::array<uint32_t, 32>& addresses, WarpWords* d) {
  const auto matrices = static_cast<size_t>(kind.matrices);
  for (auto& words : *d) words.resize(matrices);
  for (size_t m = 0; m < matrices; ++m) {
    Matrix elements;
    for (size_t row = 0; row < kRows; ++row) {
      const size_t lane = m * kRows + row;
      if (absl::Status s = CheckRow(kind, lane, addresses[lane], shared.size()); !s.ok()) return s;
      std::memcpy(elements[row], shared.data() + addresses[lane], kRowBytes);
    }
    for (size_t lane = 0; lane < 32; ++lane) {
      (*d)[lane][m] = ElementOf(elements, kind.trans, lane, 0) |
                      static_cast<uint32_t>(ElementOf(elements, kind.trans, lane, 1)) << 16;
    }
  }
  return absl::OkStatus();
}

absl::Status RunStMatrix(const LdMatrixKind& kind, const WarpWords& d, const std::array<uint32_t, 32>& addresses,
                         absl::Span<uint8_t> shared) {
  for (size_t m = 0; m < static_cast<size_t>(kind.matrices); ++m) {
    Matrix elements;
    for (size_t lane = 0; lane < 32; ++lane) {
      ElementOf(elements, kind.trans, lane, 0) = static_cast<uint16_t>(d[lane][m]);
      ElementOf(elements, kind.trans, lane, 1) = static_cast<uint16_t>(d[lane][m] >> 16);
    }
    for (size_t row = 0; row < kRows; ++row) {
      const size_t lane = m * kRows + row;
      if (absl::Status s = CheckRow(kind, lane, addresses[lane], shared.size()); !s.ok()) return s;
      std::memcpy(shared.data() + addresses[lane], elements[row], kRowBytes);
    }
  }
  return absl::OkStatus();
}

}  // namespace tile::gpu_sim
