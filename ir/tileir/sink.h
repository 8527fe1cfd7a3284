// Bytes of the container, growing at the end: the writer's counterpart of Cursor.
#ifndef TILE_IR_TILEIR_SINK_H_
#define TILE_IR_TILEIR_SINK_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/tileir/format.h"

namespace tile::ir::tileir {

class Sink {
 public:
  void Fixed(uint64_t v, int width) {
    for (int i = 0; i < width; ++i) data_.push_back(static_cast<char>(v >> (8 * i)));
  }
  void Varint(uint64_t v) {
    for (; v >= 0x80; v >>= 7) data_.push_back(static_cast<char>(v | 0x80));
    data_.push_back(static_cast<char>(v));
  }
  void SignedVarint(int64_t v) { Varint(static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63)); }
  void Tag(AttrTag t) { Varint(static_cast<uint64_t>(t)); }
  // Count, then elements of `width` bytes.
  void Ints(absl::Span<const int64_t> v, int width) {
    Varint(v.size());
    for (int64_t n : v) Fixed(static_cast<uint64_t>(n), width);
  }
  void Append(absl::string_view bytes) { data_.append(bytes.data(), bytes.size()); }
  void Align(size_t align) {
    while (data_.size() % align != 0) data_.push_back(static_cast<char>(kFiller));
  }

  size_t size() const { return data_.size(); }
  bool empty() const { return data_.empty(); }
  const std::string& data() const { return data_; }
  std::string Take() { return std::move(data_); }

 private:
  std::string data_;
};

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_SINK_H_
