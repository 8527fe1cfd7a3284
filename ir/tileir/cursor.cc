// Every read checks against the end first; nothing here computes with an unchecked length.

#include "ir/tileir/cursor.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace tile::ir::tileir {

void Failure::Set(uint64_t offset, absl::string_view what, absl::string_view why) {
  if (!ok()) return;
  constexpr size_t kShown = 200;  // of a name that an attacker may have chosen
  const std::string kernel =
      kernel_.empty()
          ? ""
          : absl::StrCat(" in kernel `", absl::CHexEscape(absl::string_view(kernel_).substr(0, kShown)), "`");
  message_ = absl::StrCat(file_, ": ", what, " at offset 0x", absl::Hex(offset), kernel, ": ", why);
}

absl::Status Failure::ToStatus() const { return ok() ? absl::OkStatus() : absl::InvalidArgumentError(message_); }

bool Cursor::Fail(uint64_t at, absl::string_view what, absl::string_view why) {
  failure_->Set(at, what, why);
  pos_ = bytes_.size();
  return false;
}

uint64_t Cursor::Fixed(int width, absl::string_view what) {
  const absl::Span<const uint8_t> b = Bytes(width, what);
  uint64_t v = 0;
  for (size_t i = 0; i < b.size(); ++i) v |= uint64_t{b[i]} << (8 * i);
  return v;
}

uint8_t Cursor::U8(absl::string_view what) {
  if (!at_end()) return bytes_[pos_++];
  Fail(what, "the data ends here");
  return 0;
}

uint64_t Cursor::Varint(absl::string_view what) {
  const uint64_t at = offset();
  uint64_t v = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t b = U8(what);
    if (shift == 63 && b > 1) break;
    v |= uint64_t{b & 0x7Fu} << shift;
    if (b < 0x80) return ok() ? v : 0;
  }
  Fail(at, what, "number longer than 64 bits");
  return 0;
}

int64_t Cursor::SignedVarint(absl::string_view what) {
  const uint64_t v = Varint(what);
  return static_cast<int64_t>((v >> 1) ^ (~(v & 1) + 1));
}

bool Cursor::Bool(absl::string_view what) {
  const uint64_t at = offset();
  const uint8_t b = U8(what);
  if (b > 1) Fail(at, what, absl::StrCat("is ", b, ", expected 0 or 1"));
  return b == 1;
}

uint64_t Cursor::Count(absl::string_view what, uint64_t min_bytes, uint64_t limit) {
  const uint64_t at = offset();
  const uint64_t n = Varint(what);
  if (n > remaining() / min_bytes) {
    Fail(at, what, absl::StrCat("counts ", n, ", but only ", remaining(), " bytes follow"));
  } else if (n > limit) {
    Fail(at, what, absl::StrCat("counts ", n, "; the limit is ", limit));
  }
  return ok() ? n : 0;
}

uint64_t Cursor::Index(absl::string_view what, uint64_t limit) {
  const uint64_t at = offset();
  const uint64_t i = Varint(what);
  if (i < limit) return i;
  Fail(at, what, absl::StrCat("has number ", i, ", but there are only ", limit));
  return 0;
}

absl::Span<const uint8_t> Cursor::Bytes(uint64_t n, absl::string_view what) {
  if (n > remaining()) {
    Fail(what, absl::StrCat("takes ", n, " bytes, but only ", remaining(), " follow"));
    return {};
  }
  const auto b = bytes_.subspan(pos_, n);
  pos_ += n;
  return b;
}

void Cursor::Align(uint64_t align, absl::string_view what) {
  const uint64_t mask = align - 1;
  Bytes((align - (pos_ & mask)) & mask, what);
}

std::vector<int64_t> Cursor::Ints(absl::string_view what, int width, uint64_t limit) {
  const uint64_t n = Count(what, width, limit);
  std::vector<int64_t> v;
  v.reserve(n);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t bits = Fixed(width, what);
    const int unused = 64 - 8 * width;
    v.push_back(static_cast<int64_t>(bits << unused) >> unused);
  }
  return v;
}

Cursor Cursor::Sub(uint64_t n, absl::string_view what) {
  const uint64_t at = offset();
  return Cursor(Bytes(n, what), at, failure_);
}

}  // namespace tile::ir::tileir
