// Elements are unpacked one by one: constants are small, and the code says what each type does.

#include "ir/tileir/dense_codec.h"

#include <algorithm>

namespace tile::ir::tileir {
namespace {

constexpr int kTf32Unused = 13;  // low bits of a tf32 word without meaning

// Bytes of one element in the container, except i1.
int ContainerBytes(Elem elem) { return (ElemInfoOf(elem).bits + 7) / 8; }

}  // namespace

uint64_t FromContainerBits(Elem elem, uint64_t bits) {
  const int width = ElemInfoOf(elem).bits;
  if (width < 64) bits &= (uint64_t{1} << width) - 1;
  return elem == Elem::kTF32 ? bits << kTf32Unused : bits;
}

uint64_t ToContainerBits(Elem elem, uint64_t bits) { return elem == Elem::kTF32 ? bits >> kTf32Unused : bits; }

bool UnpackDense(Elem elem, int64_t count, absl::Span<const uint8_t> packed, std::vector<uint8_t>* bytes, bool* splat) {
  bytes->clear();
  const uint64_t n = static_cast<uint64_t>(count);
  if (elem == Elem::kI1) {
    *splat = packed.size() == 1 && (count == 1 || packed[0] == 0 || packed[0] == 0xFF);
    if (*splat) {
      bytes->push_back(packed[0] & 1);
      return true;
    }
    if (packed.size() != n / 8 + (n % 8 != 0)) return false;
    bytes->reserve(n);
    for (uint64_t i = 0; i < n; ++i) bytes->push_back(packed[i / 8] >> (i % 8) & 1);
    // Eight true elements cannot be told from a splat, so equal elements are one whatever their number.
    *splat = std::all_of(bytes->begin(), bytes->end(), [&](uint8_t b) { return b == bytes->front(); });
    if (*splat) bytes->resize(1);
    return true;
  }
  const size_t width = ContainerBytes(elem), storage = StorageBytes(elem);
  *splat = packed.size() == width;
  if (!*splat && (packed.size() % width != 0 || packed.size() / width != n)) return false;
  bytes->reserve(packed.size() / width * storage);
  for (size_t i = 0; i < packed.size(); i += width) {
    uint64_t bits = 0;
    for (size_t b = 0; b < width; ++b) bits |= uint64_t{packed[i + b]} << (8 * b);
    bits = FromContainerBits(elem, bits);
    for (size_t b = 0; b < storage; ++b) bytes->push_back(static_cast<uint8_t>(bits >> (8 * b)));
  }
  return true;
}

std::string PackDense(const Dense& dense) {
  std::string packed;
  if (dense.elem == Elem::kI1) {
    if (dense.splat) return std::string(1, dense.bytes[0] ? '\xFF' : '\0');
    packed.resize((dense.bytes.size() + 7) / 8);
    for (size_t i = 0; i < dense.bytes.size(); ++i) {
      if (dense.bytes[i]) packed[i / 8] = static_cast<char>(packed[i / 8] | 1 << (i % 8));
    }
    return packed;
  }
  const size_t width = ContainerBytes(dense.elem), storage = StorageBytes(dense.elem);
  for (size_t i = 0; i < dense.bytes.size(); i += storage) {
    uint64_t bits = 0;
    for (size_t b = 0; b < storage; ++b) bits |= uint64_t{dense.bytes[i + b]} << (8 * b);
    bits = ToContainerBits(dense.elem, bits);
    for (size_t b = 0; b < width; ++b) packed.push_back(static_cast<char>(bits >> (8 * b)));
  }
  return packed;
}

}  // namespace tile::ir::tileir
