// A box lies densely in shared memory, row after row; each 16 bytes of it go where the swizzle says.
#include "tests/gpu_sim/tensor/tensor_copy.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tests/gpu_sim/tensor/formats.h"
#include "tests/gpu_sim/tensor/swizzle.h"

namespace tile::gpu_sim {
namespace {

constexpr uint32_t kPiece = 16, kSharedAlignment = 128;

// A row of the box: bytes [begin, end) of it are inside of the tensor, those from `address` on.
struct Row {
  uint32_t in_box = 0;  // bytes from the box's start
  int64_t begin = 0, end = 0;
  uint64_t address = 0;
};

absl::Status Check(const TensorMap& map, absl::Span<const int32_t> coordinates, uint32_t offset, size_t shared_size) {
  if (coordinates.size() != static_cast<size_t>(map.rank)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a copy of ", coordinates.size(), " dimensions by a map of ", map.rank));
  }
  // The hardware says "illegal instruction" of a load.
  if (int64_t{coordinates[0]} * map.element_bytes() % kPiece != 0)
    return absl::InvalidArgumentError(
        absl::StrCat("a box at column ", coordinates[0], ", not at a multiple of 16 bytes"));
  if (offset % kSharedAlignment != 0)
    return absl::InvalidArgumentError(absl::StrCat("a box at ", offset, " in shared memory, no multiple of 128"));
  if (offset > shared_size || shared_size - offset < map.box_bytes()) {
    return absl::OutOfRangeError(absl::StrCat("a box of ", map.box_bytes(), " bytes at ", offset,
                                              " in shared memory of ", shared_size, " bytes"));
  }
  return absl::OkStatus();
}

void RoundToTf32(std::vector<uint8_t>& words) {
  for (size_t at = 0; at < words.size(); at += sizeof(uint32_t)) {
    uint32_t bits;
    std::memcpy(&bits, words.data() + at, sizeof bits);
    bits = static_cast<uint32_t>(Encode(Format::kTF32, Decode(Format::kF32, bits), Rounding::kNearestEven));
    std::memcpy(words.data() + at, &bits, sizeof bits);
  }
}

std::vector<Row> RowsOf(const TensorMap& map, absl::Span<const int32_t> coordinates) {
  const auto rank = static_cast<size_t>(map.rank);
  const int64_t bytes = map.element_bytes(), columns = map.box[0];
  const int64_t size = static_cast<int64_t>(map.sizes[0]), first = coordinates[0];
  // Of each row the same elements are inside, if any.
  const int64_t begin = std::clamp<int64_t>(-first, 0, columns),
                end = std::clamp<int64_t>(size - first, begin, columns);
  uint32_t count = 1;
  for (size_t d = 1; d < rank; ++d) count *= map.box[d];
  std::vector<Row> rows(count);
  for (uint32_t r = 0; r < count; ++r) {
    Row& row = rows[r];
    row.in_box = r * static_cast<uint32_t>(columns * bytes);
    row.address = map.address + static_cast<uint64_t>((first + begin) * bytes);
    bool inside = true;
    uint32_t rest = r;
    for (size_t d = 1; d < rank; ++d) {
      const int64_t at = int64_t{coordinates[d]} + rest % map.box[d];
      rest /= map.box[d];
      inside = inside && at >= 0 && at < static_cast<int64_t>(map.sizes[d]);
      row.address += static_cast<uint64_t>(at) * map.strides[d - 1];
    }
    if (!inside || begin == end) continue;
    row.begin = begin * bytes;
    row.end = end * bytes;
  }
  return rows;
}

}  // namespace

absl::StatusOr<TensorCopyKind> ParseTensorCopy(Opcode opcode) {
  OpcodeReader reader(opcode);
  TensorCopyKind kind;
  if (!reader.Take("cp") || !reader.Take("async") || !reader.Take("bulk") || !reader.Take("tensor"))
    return reader.Unknown("it is no cp.async.bulk.tensor");
  absl::string_view rank = reader.Next();
  if (!absl::ConsumeSuffix(&rank, "d") || !absl::SimpleAtoi(rank, &kind.rank) || kind.rank < 1 || kind.rank > 5)
    return reader.Unknown("it has 1 to 5 dimensions");
  kind.to_shared = reader.Take("shared::cluster") || reader.Take("shared::cta");
  if (!reader.Take("global") || (!kind.to_shared && !reader.Take("shared::cta")))
    return reader.Unknown("it copies between .global and .shared::cta or .shared::cluster");
  reader.Take("tile");
  if (!reader.Take(kind.to_shared ? "mbarrier::complete_tx::bytes" : "bulk_group"))
    return reader.Unknown("it ends by a barrier if to shared memory, by its group if from there");
  kind.multicast = kind.to_shared && reader.Take("multicast::cluster");
  // In either order: the ISA has the pair first, CuTe DSL the hint.
  for (int k = 0; k < 2; ++k) {
    kind.has_hint = kind.has_hint || reader.Take("L2::cache_hint");
    if (!kind.to_shared || reader.Take("cta_group::1")) continue;
    kind.of_pair = kind.of_pair || reader.Take("cta_group::2");
  }
  if (absl::Status s = reader.Finish(); !s.ok()) return s;
  return kind;
}

absl::Status LoadBox(const TensorMap& map, absl::Span<const int32_t> coordinates, uint32_t offset,
                     absl::Span<uint8_t> shared, GlobalAccess global) {
  if (absl::Status s = Check(map, coordinates, offset, shared.size()); !s.ok()) return s;
  std::vector<uint8_t> bytes(map.box[0] * static_cast<uint32_t>(map.element_bytes()));
  for (const Row& row : RowsOf(map, coordinates)) {
    std::fill(bytes.begin(), bytes.end(), uint8_t{0});
    if (row.begin < row.end) {
      const auto length = static_cast<uint64_t>(row.end - row.begin);
      const absl::StatusOr<uint8_t*> memory = global(row.address, length);
      if (!memory.ok()) return memory.status();
      std::memcpy(bytes.data() + row.begin, *memory, length);
      if (map.rounds_to_tf32()) RoundToTf32(bytes);
    }
    for (uint32_t at = 0; at < bytes.size(); at += kPiece) {
      std::memcpy(shared.data() + SwizzleAddress(offset + row.in_box + at, map.swizzle_bytes()), bytes.data() + at,
                  kPiece);
    }
  }
  return absl::OkStatus();
}

absl::Status StoreBox(const TensorMap& map, absl::Span<const int32_t> coordinates, uint32_t offset,
                      absl::Span<const uint8_t> shared, GlobalAccess global) {
  if (absl::Status s = Check(map, coordinates, offset, shared.size()); !s.ok()) return s;
  for (const Row& row : RowsOf(map, coordinates)) {
    if (row.begin == row.end) continue;
    const int64_t begin = row.begin / kPiece * kPiece, end = (row.end + kPiece - 1) / kPiece * kPiece;
    const absl::StatusOr<uint8_t*> memory =
        global(row.address - static_cast<uint64_t>(row.begin - begin), static_cast<uint64_t>(end - begin));
    if (!memory.ok()) return memory.status();
    for (int64_t at = begin; at < end; at += kPiece) {
      const uint32_t from = SwizzleAddress(offset + row.in_box + static_cast<uint32_t>(at), map.swizzle_bytes());
      std::memcpy(*memory + (at - begin), shared.data() + from, kPiece);
    }
  }
  return absl::OkStatus();
}

}  // namespace tile::gpu_sim
