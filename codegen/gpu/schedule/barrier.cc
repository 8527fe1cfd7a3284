#include "codegen/gpu/schedule/barrier.h"

#include "absl/strings/str_cat.h"

namespace tile::codegen::schedule {

Fault Barrier::Arrive() {
  if (missing_ == 0) {
    return {FaultKind::kArrivals, absl::StrCat("arrives in a phase that has all of its ", arrivals_,
                                               " arrivals and waits for ", bytes_, " bytes")};
  }
  --missing_;
  return EndPhase();
}

Fault Barrier::Expect(int64_t bytes) {
  bytes_ += bytes;
  return Arrive();
}

Fault Barrier::CopyLands(int64_t bytes) {
  --copies_;
  bytes_ -= bytes;
  return EndPhase();
}

Fault Barrier::EndPhase() {
  if (missing_ > 0 || bytes_ != 0) return {};
  if (copies_ > 0) {
    return {FaultKind::kBytes, absl::StrCat("ends a phase of its barrier, and ", copies_,
                                            copies_ == 1 ? " copy that counts" : " copies that count",
                                            " there did not land: they bring more bytes than it expects")};
  }
  ++phase_;
  missing_ = arrivals_;
  return {};
}

std::string Barrier::ToString() const {
  return absl::StrCat(missing_, " of ", arrivals_, " arrivals are missing",
                      bytes_ == 0 ? "" : absl::StrCat(", and ", bytes_, " bytes"));
}

}  // namespace tile::codegen::schedule
