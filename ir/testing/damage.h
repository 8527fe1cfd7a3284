// What tests of damaged files share: every truncation and every changed byte of a file, memory of exactly the file's size,
// and what reading it costs.
//
//   ForEachDamage(file, kEveryBit, [](const Damage& d) {
//     const Cost cost;
//     Read(d.bytes);
//     EXPECT_LE(cost.allocated(), 64 * d.bytes.size() + (1 << 20)) << d.ToString();
//     return !HasFailure();
//   });
//
// A binary that links this has a counting `operator new`. Only for tests.
#ifndef TILE_IR_TESTING_DAMAGE_H_
#define TILE_IR_TESTING_DAMAGE_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tile::ir {

// A copy in a block of exactly the right size, so that a sanitizer sees every read behind the end.
class Exact {
 public:
  explicit Exact(absl::string_view s) : size_(s.size()), data_(new (std::align_val_t{32}) uint8_t[s.size()]) {
    std::memcpy(data_, s.data(), s.size());
  }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  ~Exact() { ::operator delete[](data_, std::align_val_t{32}); }

  absl::Span<const uint8_t> bytes() const { return {data_, size_}; }
  uint8_t* data() const { return data_; }

 private:
  size_t size_;
  uint8_t* data_;
};

// What this thread has spent since the object was made.
class Cost {
 public:
  Cost();
  int64_t allocated() const;  // bytes of all allocations together, also of those that are freed again
  double cpu_seconds() const;

 private:
  int64_t allocated_;
  double seconds_;
};

struct Damage {
  absl::Span<const uint8_t> bytes;
  size_t at = 0;     // the byte that is changed, or how many are left
  uint8_t flip = 0;  // bits that are changed; 0: cut off

  std::string ToString() const;
};

inline constexpr uint8_t kEveryBit[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80};
inline constexpr uint8_t kFourFlips[] = {0x01, 0x10, 0x80, 0xFF};

// Until `check` returns false.
void ForEachDamage(absl::string_view file, absl::Span<const uint8_t> flips,
                   const std::function<bool(const Damage&)>& check);

}  // namespace tile::ir

#endif  // TILE_IR_TESTING_DAMAGE_H_
