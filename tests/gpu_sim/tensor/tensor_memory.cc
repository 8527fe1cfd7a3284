#include "tests/gpu_sim/tensor/tensor_memory.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

constexpr uint32_t kLeast = 32;

bool IsSize(uint32_t n) { return n >= kLeast && n <= TensorMemory::kColumns && (n & (n - 1)) == 0; }

}  // namespace

std::string TensorMemory::Describe() const {
  if (allocations_.empty()) return "no columns are allocated";
  std::string text = "allocated are columns";
  for (const Allocation& a : allocations_) {
    absl::StrAppend(&text, " ", a.column, " to ", a.column + a.request.columns - 1, " (line ", a.request.line, ")");
  }
  return text;
}

absl::Status TensorMemory::CheckGroup(int group) {
  if (group_ != 0 && group_ != group) {
    return absl::FailedPreconditionError(
        absl::StrCat("cta_group::", group, " in a kernel whose tcgen05 instructions before have cta_group::", group_,
                     "; all have to have the same"));
  }
  group_ = group;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint32_t>> TensorMemory::Places(const Request& request) {
  const uint32_t n = request.columns;
  if (!IsSize(n)) {
    return absl::InvalidArgumentError(
        absl::StrCat("alloc of ", n, " columns: the number is a power of two from 32 to 512"));
  }
  if (absl::Status s = CheckGroup(request.group); !s.ok()) return s;
  if (relinquished_) {
    return absl::FailedPreconditionError("alloc after relinquish_alloc_permit: the block has no permit any more");
  }
  std::vector<uint32_t> places;
  for (uint32_t at = 0; at < kColumns; at += n) {
    const auto begin = taken_.begin() + at;
    if (std::none_of(begin, begin + n, [](bool taken) { return taken; })) places.push_back(at);
  }
  return places;
}

void TensorMemory::Take(uint32_t column, const Request& request, uint8_t pattern) {
  cells_.resize(size_t{kLanes} * kColumns);
  const uint32_t garbage = pattern * 0x01010101u;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    std::fill_n(cells_.begin() + lane * kColumns + column, request.columns, garbage);
  }
  std::fill_n(taken_.begin() + column, request.columns, true);
  allocations_.push_back({column, request});
}

absl::Status TensorMemory::Free(uint32_t address, uint32_t columns, int group) {
  const auto [lane, column] = TensorAddressOf(address);
  if (absl::Status s = CheckGroup(group); !s.ok()) return s;
  const auto at = std::find_if(allocations_.begin(), allocations_.end(), [&, c = column](const Allocation& a) {
    return a.column == c && a.request.columns == columns;
  });
  if (lane != 0 || at == allocations_.end()) {
    return absl::InvalidArgumentError(absl::StrCat("dealloc of ", columns, " columns from lane ", lane, ", column ",
                                                   column, ", which no alloc gave; ", Describe()));
  }
  std::fill_n(taken_.begin() + column, columns, false);
  allocations_.erase(at);
  return absl::OkStatus();
}

absl::Status TensorMemory::Relinquish(int group) {
  relinquished_ = true;
  return CheckGroup(group);
}

absl::Status TensorMemory::CheckEnd() const {
  if (allocations_.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the block ends without dealloc of its tensor memory; ", Describe()));
}

absl::StatusOr<uint32_t*> TensorMemory::Row(uint32_t lane, uint32_t column, uint32_t n) {
  if (lane >= kLanes) return absl::OutOfRangeError(absl::StrCat("lane ", lane, " of tensor memory, which has 128"));
  const bool inside = column < kColumns && n <= kColumns - column;
  const auto begin = taken_.begin() + (inside ? column : 0);
  if (!inside || !std::all_of(begin, begin + n, [](bool taken) { return taken; })) {
    return absl::OutOfRangeError(
        absl::StrCat("columns ", column, " to ", column + n - 1, " of tensor memory: ", Describe()));
  }
  return &cells_[size_t{lane} * kColumns + column];
}

}  // namespace tile::gpu_sim
