#include "codegen/gpu/schedule/tensor_columns.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tile::codegen::schedule {

Fault TensorColumns::Allocate(int64_t count) {
  if (known()) return {FaultKind::kColumns, "allocates columns of tensor memory a second time"};
  all_ = {first(), count};
  return {};
}

Fault TensorColumns::Free(Span span) {
  if (!allocated() || span.begin != all_.begin || span.bytes != all_.bytes) {
    return {FaultKind::kColumns, absl::StrCat("frees ", span.bytes, " columns from ", span.begin - first(),
                                              " on, and the block has ", all_.bytes)};
  }
  all_ = {};
  freed_ = true;
  sums_.clear();
  return {};
}

Fault TensorColumns::Check(Span span) const {
  if (allocated() && span.begin >= all_.begin && span.end() <= all_.end()) return {};
  return {FaultKind::kColumns, absl::StrCat("takes columns ", span.begin - first(), " to ", span.end() - first() - 1,
                                            ", and the block has ", all_.bytes)};
}

Fault TensorColumns::Write(Span span, const Sums& sums) {
  if (Fault fault = Check(span); fault.found()) return fault;
  for (auto it = sums_.begin(); it != sums_.end();) {
    const bool overlaps = it->first < span.end() && it->first + it->second.count > span.begin;
    it = overlaps ? sums_.erase(it) : std::next(it);
  }
  sums_[span.begin] = {span.bytes, sums};
  return {};
}

Fault TensorColumns::Read(Span span, Sums* sums) const {
  if (Fault fault = Check(span); fault.found()) return fault;
  const auto it = sums_.find(span.begin);
  if (it == sums_.end() || it->second.count != span.bytes)
    return {FaultKind::kUnfilled, "takes columns in which no product has left such sums"};
  *sums = it->second.sums;
  return {};
}

uint64_t TensorColumns::WriterOf(Span span) const {
  uint64_t last = 0;
  for (const auto& [begin, placed] : sums_) {
    if (begin < span.end() && begin + placed.count > span.begin) last = std::max(last, placed.sums.product);
  }
  return last;
}

}  // namespace tile::codegen::schedule
