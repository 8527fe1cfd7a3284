// What the files of Facts share. Internal to codegen/analysis.
#ifndef TILE_CODEGEN_ANALYSIS_FACTS_INTERNAL_H_
#define TILE_CODEGEN_ANALYSIS_FACTS_INTERNAL_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/types/span.h"
#include "ir/op_views.h"

namespace tile::codegen {

inline bool IsPointer(const ir::Value& v) { return v.type().is_tile() && v.type().element().is_pointer(); }
inline bool IsInteger(const ir::Value& v) {
  return v.type().is_tile() && !v.type().element().is_pointer() && ir::IsInt(v.type().elem());
}

// By how much neighbours rise: 1, or the bytes of a pointee.
inline uint64_t UnitOf(const ir::Value& v) {
  if (!IsPointer(v)) return 1;
  return static_cast<uint64_t>(std::max(1, ir::MemoryBits(v.type().element().pointee) / 8));
}

// Of an integer; 64 of a pointer.
inline int BitsOf(const ir::Value& v) { return IsInteger(v) ? ir::ElemInfoOf(v.type().elem()).bits : 64; }

// Elements from one to the next along dimension d of a tile in row-major order.
inline int64_t SpacingOf(absl::Span<const int64_t> shape, size_t d) {
  int64_t n = 1;
  for (size_t i = d + 1; i < shape.size(); ++i) n *= shape[i];
  return n;
}

inline size_t NumElements(const ir::Dense& d) {
  return d.splat ? 1 : d.bytes.size() / static_cast<size_t>(ir::StorageBytes(d.elem));
}

// The bits of an element, zeros above them.
inline uint64_t ElementAt(const ir::Dense& d, size_t i) {
  const auto bytes = static_cast<size_t>(ir::StorageBytes(d.elem));
  uint64_t bits = 0;
  std::memcpy(&bits, d.bytes.data() + i * bytes, bytes);
  return bits;
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_FACTS_INTERNAL_H_
