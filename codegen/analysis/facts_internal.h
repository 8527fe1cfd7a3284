// What the files of Facts share. Internal to codegen/analysis.
#ifndef TILE_CODEGEN_ANALYSIS_FACTS_INTERNAL_H_
#define TILE_CODEGEN_ANALYSIS_FACTS_INTERNAL_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

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
