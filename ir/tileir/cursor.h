// Reading scalars out of untrusted bytes. A Cursor never leaves its bytes: what goes wrong is noted in the Failure that
// all cursors of one file share, the cursor then stands at its end, and every further read gives zero. Loops over a
// count end at once after a failure when they ask `ok()`.
//
//   Failure failure("kernel.tilebc");
//   Cursor c(bytes, 0, &failure);
//   const uint64_t n = c.Count("operands", 1);   // at most as many as there are bytes left
//   if (!failure.ok()) return failure.ToStatus();
#ifndef TILE_IR_TILEIR_CURSOR_H_
#define TILE_IR_TILEIR_CURSOR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tile::ir::tileir {

// The first thing that went wrong in a file.
class Failure {
 public:
  explicit Failure(absl::string_view file) : file_(file) {}
  bool ok() const { return message_.empty(); }
  // "<file>: <what> at offset 0x1a3 in kernel `k`: <why>". Only the first call counts.
  void Set(uint64_t offset, absl::string_view what, absl::string_view why);
  void set_kernel(absl::string_view name) { kernel_ = std::string(name); }
  absl::Status ToStatus() const;

 private:
  std::string file_, kernel_, message_;
};

class Cursor {
 public:
  // `offset`: where the bytes stand in the file, for messages.
  Cursor(absl::Span<const uint8_t> bytes, uint64_t offset, Failure* failure)
      : bytes_(bytes), base_(offset), failure_(failure) {}

  bool ok() const { return failure_->ok(); }
  bool at_end() const { return pos_ == bytes_.size(); }
  uint64_t remaining() const { return bytes_.size() - pos_; }
  uint64_t offset() const { return base_ + pos_; }  // in the file
  Failure* failure() const { return failure_; }

  // The same place, for a look ahead whose failures don't count: they go to `failure`.
  Cursor Apart(Failure* failure) const {
    Cursor c = *this;
    c.failure_ = failure;
    return c;
  }

  // Notes a failure at `at` (an earlier offset()) or here, and goes to the end. Always false.
  bool Fail(uint64_t at, absl::string_view what, absl::string_view why);
  bool Fail(absl::string_view what, absl::string_view why) { return Fail(offset(), what, why); }

  uint8_t U8(absl::string_view what);
  uint16_t U16(absl::string_view what) { return static_cast<uint16_t>(Fixed(2, what)); }
  uint32_t U32(absl::string_view what) { return static_cast<uint32_t>(Fixed(4, what)); }
  uint64_t U64(absl::string_view what) { return Fixed(8, what); }
  uint64_t Varint(absl::string_view what);       // LEB128, at most 64 bits
  int64_t SignedVarint(absl::string_view what);  // zigzag
  bool Bool(absl::string_view what);             // one byte, 0 or 1
  // A varint that counts things of at least `min_bytes` each that follow; at most `limit`.
  uint64_t Count(absl::string_view what, uint64_t min_bytes, uint64_t limit = ~uint64_t{0});
  // A varint below `limit`, else a failure "<what> … out of range".
  uint64_t Index(absl::string_view what, uint64_t limit);
  absl::Span<const uint8_t> Bytes(uint64_t n, absl::string_view what);
  // Skips filler up to a multiple of `align` (a power of two) from the start of these bytes.
  void Align(uint64_t align, absl::string_view what);
  // Count, then elements of `width` bytes (1, 4 or 8), sign-extended; at most `limit`.
  std::vector<int64_t> Ints(absl::string_view what, int width, uint64_t limit);
  // The next n bytes as a cursor of their own.
  Cursor Sub(uint64_t n, absl::string_view what);

 private:
  uint64_t Fixed(int width, absl::string_view what);

  absl::Span<const uint8_t> bytes_;
  uint64_t base_;
  uint64_t pos_ = 0;
  Failure* failure_;
};

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_CURSOR_H_
