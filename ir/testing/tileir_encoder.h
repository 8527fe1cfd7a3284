// For tests: puts Tile IR bytecode together byte by byte, right or wrong on purpose, without using the reader's or the
// writer's code.
//
//   TestFile f(1305);
//   const int i32 = f.Element(3), tile = f.Tile(i32, {});
//   f.Kernel("k", {tile}, Bytes().V(0x03).V(tile).V(0).V(0).V(0)   // addi, result type, overflow, operands 0 and 0
//                             .Return());
//   std::string file = f.Encode();
#ifndef TILE_IR_TESTING_TILEIR_ENCODER_H_
#define TILE_IR_TESTING_TILEIR_ENCODER_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tile::ir::tileir {

// Bytes that grow at the end.
struct Bytes {
  std::string data;

  Bytes& U(uint64_t v, int width) {  // little-endian
    for (int i = 0; i < width; ++i) data.push_back(static_cast<char>(v >> (8 * i)));
    return *this;
  }
  Bytes& V(uint64_t v) {  // varint
    for (; v >= 0x80; v >>= 7) data.push_back(static_cast<char>(v | 0x80));
    data.push_back(static_cast<char>(v));
    return *this;
  }
  Bytes& Z(int64_t v) { return V(static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63)); }  // signed varint
  Bytes& Vs(std::initializer_list<uint64_t> vs) {
    for (uint64_t v : vs) V(v);
    return *this;
  }
  Bytes& Ints(int width, std::initializer_list<int64_t> vs) {
    V(vs.size());
    for (int64_t v : vs) U(static_cast<uint64_t>(v), width);
    return *this;
  }
  Bytes& Add(absl::string_view s) {
    absl::StrAppend(&data, s);
    return *this;
  }
  Bytes& Pad(size_t align) {
    while (data.size() % align != 0) data.push_back('\xCB');
    return *this;
  }
  Bytes& Return() { return Vs({0x5C, 0, 0}); }
};

class TestFile {
 public:
  explicit TestFile(int version) : version_(version) {}

  int String(absl::string_view s) { return Push(strings_, s); }
  int Type(const Bytes& b) { return Push(types_, b.data); }
  int Element(int tag) { return Type(Bytes().V(tag)); }
  int Pointer(int pointee) {
    Bytes b = Bytes().V(12);
    if (version_ >= 1304) b.V(0);
    return Type(b.V(pointee));
  }
  int Tile(int element, std::initializer_list<int64_t> shape) {
    return Type(Bytes().Vs({13, uint64_t(element)}).Ints(8, shape));
  }
  int TensorView(int element, std::initializer_list<int64_t> shape, std::initializer_list<int64_t> strides) {
    Bytes b = Bytes().V(14);
    if (version_ >= 1304) b.V(0);
    return Type(b.V(element).Ints(8, shape).Ints(8, strides));
  }
  int Token() { return Type(Bytes().V(17)); }
  int Constant(absl::string_view elements) { return Push(constants_, Bytes().V(elements.size()).Add(elements).data); }

  // A kernel with these parameter types; `hints` replaces the empty hints of 13.5, or adds some before.
  void Kernel(absl::string_view name, std::initializer_list<uint64_t> params, const Bytes& body,
              const Bytes& hints = {}, int flags = 2, int debug = 0) {
    const int type = Type(Bytes().V(16).V(params.size()).Vs(params).V(0));
    const bool has_hints = !hints.data.empty();
    functions_.V(String(name)).V(type).U(flags | (has_hints && version_ < 1305 ? 4 : 0), 1).V(debug);
    if (has_hints) functions_.Add(hints.data);
    if (!has_hints && version_ >= 1305) functions_.Vs({11, 0});
    if (version_ >= 1305) functions_.Vs({6, 0});
    functions_.V(body.data.size()).Add(body.data);
    ++num_functions_;
  }

  std::string Encode() const {
    Bytes out;
    out.Add(absl::string_view("\x7FTileIR\0", 8)).U(version_ / 100, 1).U(version_ % 100, 1).U(tag, 2);
    Section(out, 2, 8, Bytes().V(num_functions_).Add(functions_.data).data);
    if (!globals.data.empty()) Section(out, 6, 1, globals.data);
    if (!constants_.empty()) Section(out, 4, 8, Table(constants_, 8));
    if (!debug.data.empty()) Section(out, 3, 8, debug.data);
    if (!types_.empty()) Section(out, 5, 4, Table(types_, 4));
    if (!producer.data.empty()) Section(out, 7, 1, producer.data);
    Section(out, 1, 4, Table(strings_, 4));
    out.Add(more_sections.data).U(0, 1);
    return out.data;
  }

  static void Section(Bytes& out, int id, int align, absl::string_view payload) {
    out.U(align > 1 ? id | 0x80 : id, 1).V(payload.size());
    if (align > 1) out.V(align).Pad(align);
    out.Add(payload);
  }
  static std::string Table(const std::vector<std::string>& items, int width) {
    Bytes b = Bytes().V(items.size()).Pad(width);
    uint64_t offset = 0;
    for (const std::string& item : items) {
      b.U(offset, width);
      offset += item.size();
    }
    for (const std::string& item : items) b.Add(item);
    return b.data;
  }

  uint16_t tag = 0;
  Bytes globals, debug, producer;  // payloads of these sections; empty: no section
  Bytes more_sections;             // as they stand, before the end

 private:
  static int Push(std::vector<std::string>& list, absl::string_view item) {
    list.emplace_back(item);
    return static_cast<int>(list.size()) - 1;
  }

  int version_;
  int num_functions_ = 0;
  std::vector<std::string> strings_, types_, constants_;
  Bytes functions_;
};

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TESTING_TILEIR_ENCODER_H_
