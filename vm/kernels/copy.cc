// A box is brought into a simple form first (dimensions of size 1 dropped, the others ordered by the destination's
// strides, neighbours merged), then its two innermost dimensions go to one of three kernels.
#include "vm/kernels/copy.h"

#include <algorithm>

#include "vm/kernels/copy_kernels.h"

namespace tile::vm {
namespace {

const CopyKernels& KernelsOf(Isa isa) { return TILE_VM_SELECT(isa, kCopyKernels); }

struct Dim {
  int64_t extent, dst, src;  // strides in bytes
};

// Dimensions larger than 1, outermost first. Their extents' product is a number of elements, so there are at most 62;
// only those in use are ever touched.
constexpr int kMaxDims = 64;
struct Box {
  char* dst;
  const char* src;
  int rank;
  Dim dims[kMaxDims];

  Box(void* to, const void* from) : dst(static_cast<char*>(to)), src(static_cast<const char*>(from)), rank(0) {}
};

// All destinations differ: each stride is larger than all that smaller strides reach. Expects positive strides in
// order.
bool Injective(const Box& b, int64_t elem_bytes) {
  int64_t reach = elem_bytes - 1;
  for (int i = b.rank - 1; i >= 0; --i) {
    if (b.dims[i].dst <= reach) return false;
    reach += b.dims[i].dst * (b.dims[i].extent - 1);
  }
  return true;
}

// Calls f(dst, src) for each index of the dims before `inner`.
template <class F>
void ForOuter(const Box& b, int outer, F f) {
  int64_t index[kMaxDims];
  std::fill(index, index + outer, 0);
  char* dst = b.dst;
  const char* src = b.src;
  for (;;) {
    f(dst, src);
    int d = outer - 1;
    for (; d >= 0; --d) {
      const Dim& dim = b.dims[d];
      dst += dim.dst, src += dim.src;
      if (++index[d] < dim.extent) break;
      dst -= dim.dst * dim.extent, src -= dim.src * dim.extent;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

CopyPlane Plane(const Dim& row, const Dim& column) {
  return {row.extent, column.extent, row.dst, column.dst, row.src, column.src};
}

void CopyStridedBox(const Box& b, int elem_bytes, const CopyKernels& kernels) {
  const Dim one{1, 0, 0};
  const CopyPlane plane = Plane(b.rank > 1 ? b.dims[b.rank - 2] : one, b.rank > 0 ? b.dims[b.rank - 1] : one);
  ForOuter(b, std::max(b.rank - 2, 0),
           [&](char* dst, const char* src) { kernels.strided(dst, src, plane, elem_bytes); });
}

}  // namespace

void CopyBox(void* dst, const int64_t* dst_strides, const void* src, const int64_t* src_strides, const int64_t* extents,
             int rank, int elem_bytes, CopyHint hint, Isa isa) {
  const CopyKernels& kernels = KernelsOf(isa);
  Box b(dst, src);
  for (int i = 0; i < rank; ++i) {
    if (extents[i] <= 0) return;
    if (extents[i] == 1) continue;
    Dim d{extents[i], dst_strides[i] * elem_bytes, src_strides[i] * elem_bytes};
    if (d.dst < 0) {
      // Backwards through the destination is forwards from its other end.
      b.dst += d.dst * (d.extent - 1), b.src += d.src * (d.extent - 1);
      d.dst = -d.dst, d.src = -d.src;
    }
    int at = b.rank++;
    for (; at > 0 && b.dims[at - 1].dst < d.dst; --at) b.dims[at] = b.dims[at - 1];
    b.dims[at] = d;
  }
  if (!Injective(b, elem_bytes)) {
    Box in_order(dst, src);
    for (int i = 0; i < rank; ++i) {
      if (extents[i] == 1) continue;
      in_order.dims[in_order.rank++] = {extents[i], dst_strides[i] * elem_bytes, src_strides[i] * elem_bytes};
    }
    return CopyStridedBox(in_order, elem_bytes, kernels);
  }

  // Neighbours that run on into each other on both sides are one dimension.
  int merged = 0;
  for (int i = 0; i < b.rank; ++i) {
    const Dim d = b.dims[i];
    Dim* outer = merged > 0 ? &b.dims[merged - 1] : nullptr;
    if (outer != nullptr && outer->dst == d.extent * d.dst && outer->src == d.extent * d.src) {
      *outer = {outer->extent * d.extent, d.dst, d.src};
    } else {
      b.dims[merged++] = d;
    }
  }
  b.rank = merged;

  const Dim one{1, 0, 0};
  const Dim last = b.rank > 0 ? b.dims[b.rank - 1] : Dim{1, elem_bytes, elem_bytes};
  const int64_t adjacent = elem_bytes;
  if (last.dst == adjacent && last.src == adjacent) {
    CopyPlane plane = Plane(b.rank > 1 ? b.dims[b.rank - 2] : one, last);
    plane.columns *= elem_bytes;
    const bool streaming = hint == CopyHint::kStreaming;
    return ForOuter(b, std::max(b.rank - 2, 0),
                    [&](char* to, const char* from) { kernels.rows(to, from, plane, streaming); });
  }
  if (last.dst == adjacent && last.src == 0) {
    return ForOuter(b, b.rank - 1,
                    [&](char* to, const char* from) { kernels.fill(to, from, elem_bytes, last.extent); });
  }
  if (last.dst == adjacent) {
    for (int i = b.rank - 2; i >= 0; --i) {
      if (b.dims[i].src != adjacent) continue;
      // The dimension that is adjacent in the source becomes the rows of the plane.
      std::rotate(b.dims + i, b.dims + i + 1, b.dims + b.rank - 1);
      const CopyPlane plane = Plane(b.dims[b.rank - 2], last);
      return ForOuter(b, b.rank - 2,
                      [&](char* to, const char* from) { kernels.transpose(to, from, plane, elem_bytes); });
    }
  }
  CopyStridedBox(b, elem_bytes, kernels);
}

void Fill(void* dst, const void* pattern, int elem_bytes, int64_t n, Isa isa) {
  KernelsOf(isa).fill(static_cast<char*>(dst), static_cast<const char*>(pattern), elem_bytes, n);
}

void Expand(void* dst, const void* src, int elem_bytes, int64_t n, int64_t run, int64_t count, Isa isa) {
  KernelsOf(isa).expand(static_cast<char*>(dst), static_cast<const char*>(src), elem_bytes, n, run, count);
}

void Broadcast(void* dst, const int64_t* dst_extents, const void* src, const int64_t* src_extents, int rank,
               int elem_bytes, Isa isa) {
  // Dimensions of size 1 have no stride that matters in dst, and stride 0 in src.
  int64_t dst_strides[kMaxDims], src_strides[kMaxDims], extents[kMaxDims];
  int used = 0;
  int64_t dst_stride = 1, src_stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    if (dst_extents[i] == 1) continue;
    extents[used] = dst_extents[i];
    dst_strides[used] = dst_stride;
    src_strides[used++] = src_extents[i] == 1 ? 0 : src_stride;
    dst_stride *= dst_extents[i], src_stride *= src_extents[i];
  }
  CopyBox(dst, dst_strides, src, src_strides, extents, used, elem_bytes, CopyHint::kNone, isa);
}

void CopyBytes(void* dst, const void* src, int64_t bytes, CopyHint hint, Isa isa) {
  KernelsOf(isa).bytes(static_cast<char*>(dst), static_cast<const char*>(src), bytes, hint == CopyHint::kStreaming);
}

void StreamingDone(Isa isa) { KernelsOf(isa).fence(); }

void LoadNibbles(uint8_t* dst, const uint8_t* packed, int64_t first, int64_t n, Isa isa) {
  packed += first / 2;
  if (first % 2 != 0 && n > 0) {
    *dst++ = *packed++ >> 4;
    --n;
  }
  KernelsOf(isa).load_nibbles(dst, packed, n);
}

void StoreNibbles(uint8_t* packed, int64_t first, const uint8_t* src, int64_t n, Isa isa) {
  packed += first / 2;
  if (first % 2 != 0 && n > 0) {
    *packed = static_cast<uint8_t>((*packed & 0x0f) | *src++ << 4);
    ++packed;
    --n;
  }
  const int64_t whole = n / 2 * 2;
  KernelsOf(isa).store_nibbles(packed, src, whole);
  if (whole < n) packed[whole / 2] = static_cast<uint8_t>((packed[whole / 2] & 0xf0) | (src[whole] & 15));
}

}  // namespace tile::vm
