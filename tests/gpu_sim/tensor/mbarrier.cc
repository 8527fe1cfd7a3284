#include "tests/gpu_sim/tensor/mbarrier.h"

#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

constexpr int kCountBits = 20, kBytesBits = 21;
constexpr int kExpectedAt = 1, kPendingAt = kExpectedAt + kCountBits, kBytesAt = kPendingAt + kCountBits;
// In the highest bits: of what was not initialised they are others, if it is zeros or ones.
constexpr uint64_t kMark = 2, kInvalidated = 1;
constexpr int kMarkAt = kBytesAt + kBytesBits;
static_assert(kMarkAt == 62);

absl::Status OutOfRange(absl::string_view what, int64_t n) {
  return absl::OutOfRangeError(absl::StrCat("mbarrier: ", what, ": ", n));
}

}  // namespace

struct Mbarrier::State {
  uint32_t phase;              // 0, 1
  uint32_t expected, pending;  // arrivals
  int64_t bytes;               // expected and not yet there
};

absl::StatusOr<Mbarrier::State> Mbarrier::Read() const {
  const uint64_t w = *word_;
  if (w >> kMarkAt != kMark) return absl::FailedPreconditionError("mbarrier: the object was not initialised");
  State s;
  s.phase = static_cast<uint32_t>(w & 1);
  s.expected = static_cast<uint32_t>(w >> kExpectedAt & kMostCount);
  s.pending = static_cast<uint32_t>(w >> kPendingAt & kMostCount);
  s.bytes = static_cast<int64_t>(w << (64 - kMarkAt)) >> (64 - kBytesBits);
  return s;
}

absl::Status Mbarrier::Write(State s) {
  if (s.bytes > int64_t{kMostCount} || s.bytes < -int64_t{kMostCount})
    return OutOfRange("the bytes that are expected are out of range", s.bytes);
  if (s.pending == 0 && s.bytes == 0) {
    s.phase ^= 1;
    s.pending = s.expected;
  }
  *word_ = kMark << kMarkAt | (static_cast<uint64_t>(s.bytes) & ((uint64_t{1} << kBytesBits) - 1)) << kBytesAt |
           uint64_t{s.pending} << kPendingAt | uint64_t{s.expected} << kExpectedAt | s.phase;
  return absl::OkStatus();
}

absl::Status Mbarrier::Init(uint32_t count) {
  if (count == 0 || count > kMostCount) return OutOfRange("init with a count that is not 1 to 2^20 - 1", count);
  return Write({0, count, count, 0});
}

absl::Status Mbarrier::Invalidate() {
  const absl::StatusOr<State> s = Read();
  if (s.ok()) *word_ = kInvalidated << kMarkAt;
  return s.status();
}

bool Mbarrier::IsInvalidated() const { return *word_ == kInvalidated << kMarkAt; }

absl::Status Mbarrier::Arrive(uint32_t count) {
  absl::StatusOr<State> s = Read();
  if (!s.ok()) return s.status();
  if (count == 0 || count > s->pending) return OutOfRange("more arrivals than the phase waits for", count);
  s->pending -= count;
  return Write(*s);
}

absl::Status Mbarrier::ExpectTx(uint32_t bytes) {
  absl::StatusOr<State> s = Read();
  if (!s.ok()) return s.status();
  s->bytes += bytes;
  return Write(*s);
}

absl::Status Mbarrier::CompleteTx(uint32_t bytes) {
  absl::StatusOr<State> s = Read();
  if (!s.ok()) return s.status();
  s->bytes -= bytes;
  return Write(*s);
}

absl::StatusOr<bool> Mbarrier::PhaseDone(uint32_t parity) const {
  const absl::StatusOr<State> s = Read();
  if (!s.ok()) return s.status();
  if (parity > 1) return OutOfRange("a parity that is neither 0 nor 1", parity);
  return s->phase != parity;
}

absl::StatusOr<uint32_t> Mbarrier::Phase() const {
  const absl::StatusOr<State> s = Read();
  if (!s.ok()) return s.status();
  return s->phase;
}

}  // namespace tile::gpu_sim
