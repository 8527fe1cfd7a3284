#include "tests/gpu_sim/tensor/ldmatrix.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

constexpr size_t kRows = 8, kRowBytes = 16;

}  // namespace

namespace {

absl::StatusOr<LdMatrixKind> Parse(Opcode opcode, absl::string_view name) {
  OpcodeReader reader(opcode);
  LdMatrixKind kind;
  if (!reader.Take(name) || !reader.Take("sync") || !reader.Take("aligned") || !reader.Take("m8n8"))
    return reader.Unknown(absl::StrCat("it is no ", name, ".sync.aligned.m8n8"));
  if (reader.Take("x1")) {
    kind.matrices = 1;
  } else if (reader.Take("x2")) {
    kind.matrices = 2;
  } else if (reader.Take("x4")) {
    kind.matrices = 4;
  } else {
    return reader.Unknown("it has .x1, .x2 or .x4");
  }
  kind.trans = reader.Take("trans");
  if (!reader.Take("shared") && !reader.Take("shared::cta")) return reader.Unknown("its matrices are in .shared");
  if (!reader.Take("b16")) return reader.Unknown("elements are .b16");
  if (absl::Status s = reader.Finish(); !s.ok()) return s;
  return kind;
}

}  // namespace

absl::StatusOr<LdMatrixKind> ParseLdMatrix(Opcode opcode) { return Parse(opcode, "ldmatrix"); }
absl::StatusOr<LdMatrixKind> ParseStMatrix(Opcode opcode) { return Parse(opcode, "stmatrix"); }

void StMatrixRow(const LdMatrixKind& kind, const WarpWords& words, size_t matrix, size_t row, uint8_t* bytes) {
  for (size_t column = 0; column < kRowBytes / 2; ++column) {
    // Lane l has the elements 2 * (l % 4) and the next of row l / 4; of column l / 4 if it transposes.
    const size_t i = kind.trans ? column : row, j = kind.trans ? row : column;
    const auto element = static_cast<uint16_t>(words[i * 4 + j / 2][matrix] >> (16 * (j % 2)));
    std::memcpy(bytes + 2 * column, &element, sizeof element);
  }
}

absl::Status RunLdMatrix(const LdMatrixKind& kind, absl::Span<const uint8_t> shared,
                         const std::array<uint32_t, 32>& addresses, WarpWords* d) {
  const auto matrices = static_cast<size_t>(kind.matrices);
  for (auto& words : *d) words.resize(matrices);
  for (size_t m = 0; m < matrices; ++m) {
    uint16_t elements[kRows][kRowBytes / 2];
    for (size_t row = 0; row < kRows; ++row) {
      const uint32_t at = addresses[m * kRows + row];
      if (at % kRowBytes != 0 || at > shared.size() || shared.size() - at < kRowBytes) {
        return absl::OutOfRangeError(
            absl::StrCat("ldmatrix: lane ", m * kRows + row, " has the address ", at,
                         at % kRowBytes != 0 ? ", which is no multiple of 16" : ", outside of shared memory"));
      }
      std::memcpy(elements[row], shared.data() + at, kRowBytes);
    }
    // Lane l gets the elements 2 * (l % 4) and the next of row l / 4; of column l / 4 if it transposes.
    for (size_t lane = 0; lane < 32; ++lane) {
      const size_t i = lane / 4, j = lane % 4 * 2;
      const uint16_t low = kind.trans ? elements[j][i] : elements[i][j];
      const uint16_t high = kind.trans ? elements[j + 1][i] : elements[i][j + 1];
      (*d)[lane][m] = low | static_cast<uint32_t>(high) << 16;
    }
  }
  return absl::OkStatus();
}

}  // namespace tile::gpu_sim
