// Inner loops of copies: contiguous rows, transposes, single elements.
#include "vm/kernels/copy_kernels.h"

#include "vm/kernels/mma_simd.h"

namespace tile::vm::TILE_VM_ISA {
namespace simd {

// --- contiguous rows ------------------------------------------------------------------------------------------------

using Bytes = Vec<uint8_t>;

TILE_VM_INLINE void StoreStreaming(char* p, Bytes v) {
#if defined(__AVX512BW__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(p), __m512i(v));
#elif defined(__AVX2__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), __m256i(v));
#elif defined(__x86_64__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(p), __m128i(v));
#else
  StoreAs<uint8_t>(p, v);
#endif
}

// Whole vectors, the last one overlapping the one before it.
TILE_VM_INLINE void CopyBytes(char* dst, const char* src, int64_t n) {
  if (n >= kVecBytes) {
    int64_t i = 0;
    for (; i + 4 * kVecBytes <= n; i += 4 * kVecBytes) {
      const Bytes a = Load<uint8_t>(src + i), b = Load<uint8_t>(src + i + kVecBytes);
      const Bytes c = Load<uint8_t>(src + i + 2 * kVecBytes), d = Load<uint8_t>(src + i + 3 * kVecBytes);
      StoreAs<uint8_t>(dst + i, a);
      StoreAs<uint8_t>(dst + i + kVecBytes, b);
      StoreAs<uint8_t>(dst + i + 2 * kVecBytes, c);
      StoreAs<uint8_t>(dst + i + 3 * kVecBytes, d);
    }
    for (; i + kVecBytes <= n; i += kVecBytes) StoreAs<uint8_t>(dst + i, Load<uint8_t>(src + i));
    if (i < n) StoreAs<uint8_t>(dst + n - kVecBytes, Load<uint8_t>(src + n - kVecBytes));
    return;
  }
  const auto two = [&](auto word) __attribute__((always_inline)) {
    decltype(word) low, high;
    __builtin_memcpy(&low, src, sizeof(word));
    __builtin_memcpy(&high, src + n - sizeof(word), sizeof(word));
    __builtin_memcpy(dst, &low, sizeof(word));
    __builtin_memcpy(dst + n - sizeof(word), &high, sizeof(word));
  };
  if (n >= 32) return two(Vec<uint8_t, 32>{});
  if (n >= 16) return two(Vec<uint8_t, 16>{});
  if (n >= 8) return two(uint64_t{});
  if (n >= 4) return two(uint32_t{});
  if (n >= 2) return two(uint16_t{});
  if (n == 1) *dst = *src;
}

TILE_VM_INLINE void StreamBytes(char* dst, const char* src, int64_t n) {
  const int64_t head = -reinterpret_cast<intptr_t>(dst) & (kVecBytes - 1);
  if (n < head + kVecBytes) return CopyBytes(dst, src, n);
  CopyBytes(dst, src, head);
  int64_t i = head;
  for (; i + kVecBytes <= n; i += kVecBytes) StoreStreaming(dst + i, Load<uint8_t>(src + i));
  CopyBytes(dst + i, src + i, n - i);
}

void Fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// The hardware fetches on within a page, but not the next row of a matrix.
constexpr int64_t kPage = 4096;
TILE_VM_INLINE bool FarApart(int64_t step) { return step >= kPage / 2 || step <= -kPage / 2; }

void CopyRows(char* dst, const char* src, const CopyPlane& p, bool streaming) {
  constexpr int64_t kAhead = 8, kLine = 64;
  const bool prefetch = p.columns <= kPage && FarApart(p.src_row);
  for (int64_t i = 0; i < p.rows; ++i, dst += p.dst_row, src += p.src_row) {
    if (prefetch && i + kAhead < p.rows) {
      for (int64_t b = 0; b < p.columns; b += kLine) __builtin_prefetch(src + kAhead * p.src_row + b);
    }
    streaming ? StreamBytes(dst, src, p.columns) : CopyBytes(dst, src, p.columns);
  }
  if (streaming) Fence();
}

void CopyRow(char* dst, const char* src, int64_t n, bool streaming) {
  streaming ? StreamBytes(dst, src, n) : CopyBytes(dst, src, n);
}

// --- transposes -----------------------------------------------------------------------------------------------------

// Vectors are worked on in parts of 16 bytes, as the instructions do it: a block is kSide x kSide elements, side = 16 /
// bytes, and a vector of 32 bytes holds the same row of two blocks that are below each other.
template <int side, bool high, class V, int... i>
TILE_VM_INLINE V Interleave(V a, V b, Indices<i...>) {
  // Lane i of the result: from a if even, b if odd, of the low or high half of the same part.
  constexpr int n = sizeof...(i);
  return __builtin_shufflevector(a, b, (i / side * side + (high ? side / 2 : 0) + i % side / 2 + (i % 2 ? n : 0))...);
}

template <class T, int parts>
TILE_VM_INLINE void TransposeBlock(char* dst, int64_t dst_step, const char* src, int64_t src_step) {
  constexpr int side = 16 / sizeof(T);
  using V = Vec<T, 16 * parts>;
  using All = typename MakeIndices<side * parts>::Type;
  V v[side], w[side];
#pragma GCC unroll 16
  for (int i = 0; i < side; ++i) {
    if constexpr (parts == 1) {
      v[i] = Load<T, 16>(src + i * src_step);
    } else {
#if defined(__AVX2__)
      v[i] = V(_mm256_inserti128_si256(_mm256_castsi128_si256(__m128i(Load<T, 16>(src + i * src_step))),
                                       __m128i(Load<T, 16>(src + (i + side) * src_step)), 1));
#endif
    }
  }
  // Each round interleaves row i with row i + side / 2; after log2(side) rounds rows are columns.
#pragma GCC unroll 4
  for (int round = 1; round < side; round *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < side / 2; ++i) {
      w[2 * i] = Interleave<side, false>(v[i], v[i + side / 2], All{});
      w[2 * i + 1] = Interleave<side, true>(v[i], v[i + side / 2], All{});
    }
#pragma GCC unroll 16
    for (int i = 0; i < side; ++i) v[i] = w[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < side; ++i) StoreAs<T, 16 * parts>(dst + i * dst_step, v[i]);
}

#if defined(__AVX2__)
constexpr int kParts = 2;
#else
constexpr int kParts = 1;
#endif

// dst[row r, element c] = src[row c, element r], where dst has `rows` rows of `columns` elements.
template <class T>
void TransposeElements(char* dst, const char* src, const CopyPlane& p) {
  constexpr int64_t S = sizeof(T), side = 16 / S, tall = side * kParts, line = 64 / S;
  const int64_t whole_rows = p.rows / side * side;
  const bool far = FarApart(p.src_column);
  const auto scalar = [&](int64_t r0, int64_t r1, int64_t c0, int64_t c1) __attribute__((always_inline)) {
    for (int64_t r = r0; r < r1; ++r) {
      for (int64_t c = c0; c < c1; ++c)
        __builtin_memcpy(dst + r * p.dst_row + c * S, src + c * p.src_column + r * S, S);
    }
  };
  // A cache line of each source row at a time, so that it is fetched once, of so few rows that their next lines can wait in
  // a cache: rows of a matrix are often a power of two apart and meet in few of its sets.
  constexpr int64_t kPanel = 32;
  for (int64_t c0 = 0; c0 < p.columns; c0 += kPanel) {
    const int64_t c1 = c0 + kPanel < p.columns ? c0 + kPanel : p.columns;
    for (int64_t r0 = 0; r0 < whole_rows; r0 += line) {
      const int64_t r1 = r0 + line < whole_rows ? r0 + line : whole_rows;
      int64_t c = c0;
      for (; c + tall <= c1; c += tall) {
        if (far && r1 < whole_rows) {
          for (int64_t i = c; i < c + tall; ++i) __builtin_prefetch(src + i * p.src_column + r1 * S);
        }
        for (int64_t r = r0; r < r1; r += side) {
          TransposeBlock<T, kParts>(dst + r * p.dst_row + c * S, p.dst_row, src + c * p.src_column + r * S,
                                    p.src_column);
        }
      }
      for (; c + side <= c1; c += side) {
        for (int64_t r = r0; r < r1; r += side) {
          TransposeBlock<T, 1>(dst + r * p.dst_row + c * S, p.dst_row, src + c * p.src_column + r * S, p.src_column);
        }
      }
      scalar(r0, r1, c, c1);
    }
  }
  scalar(whole_rows, p.rows, 0, p.columns);
}

// --- single elements ------------------------------------------------------------------------------------------------

template <class T>
void CopyElements(char* dst, const char* src, const CopyPlane& p) {
  for (int64_t r = 0; r < p.rows; ++r) {
    char* to = dst + r * p.dst_row;
    const char* from = src + r * p.src_row;
    for (int64_t c = 0; c < p.columns; ++c, to += p.dst_column, from += p.src_column)
      __builtin_memcpy(to, from, sizeof(T));
  }
}

template <class T>
TILE_VM_INLINE void FillElements(char* dst, const char* pattern, int64_t n) {
  T x;
  __builtin_memcpy(&x, pattern, sizeof(T));
  const Vec<T> v = Splat<T>(x);
  constexpr int W = kLanes<T>;
  int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
    for (int k = 0; k < 4; ++k) StoreAs<T>(dst + (i + k * W) * sizeof(T), v);
  }
  for (; i + W <= n; i += W) StoreAs<T>(dst + i * sizeof(T), v);
  // Rows of tiles are often shorter than a vector.
  constexpr int kPart = 16 / sizeof(T);
  const Vec<T, 16> part = Splat<T, 16>(x);
  for (; i + kPart <= n; i += kPart) StoreAs<T, 16>(dst + i * sizeof(T), part);
  for (; i < n; ++i) __builtin_memcpy(dst + i * sizeof(T), &x, sizeof(T));
}

template <class T>
void ExpandElements(char* dst, const char* src, int64_t n, int64_t run, int64_t count) {
  constexpr int64_t S = sizeof(T);
  if (count == 1) return FillElements<T>(dst, src, n);
  if (run == 1) {
    for (int64_t i = 0; i < n; i += count) CopyBytes(dst + i * S, src, count * S);
    return;
  }
  for (int64_t i = 0; i < n;) {
    for (int64_t k = 0; k < count; ++k, i += run) FillElements<T>(dst + i * S, src + k * S, run);
  }
}

// --- by element size ------------------------------------------------------------------------------------------------

void Transpose(char* dst, const char* src, const CopyPlane& p, int elem_bytes) {
  if (elem_bytes == 1) return TransposeElements<uint8_t>(dst, src, p);
  if (elem_bytes == 2) return TransposeElements<uint16_t>(dst, src, p);
  if (elem_bytes == 4) return TransposeElements<uint32_t>(dst, src, p);
  TransposeElements<uint64_t>(dst, src, p);
}
void CopyStrided(char* dst, const char* src, const CopyPlane& p, int elem_bytes) {
  if (elem_bytes == 1) return CopyElements<uint8_t>(dst, src, p);
  if (elem_bytes == 2) return CopyElements<uint16_t>(dst, src, p);
  if (elem_bytes == 4) return CopyElements<uint32_t>(dst, src, p);
  CopyElements<uint64_t>(dst, src, p);
}
void FillAny(char* dst, const char* pattern, int elem_bytes, int64_t n) {
  if (elem_bytes == 1) return FillElements<uint8_t>(dst, pattern, n);
  if (elem_bytes == 2) return FillElements<uint16_t>(dst, pattern, n);
  if (elem_bytes == 4) return FillElements<uint32_t>(dst, pattern, n);
  FillElements<uint64_t>(dst, pattern, n);
}

void ExpandAny(char* dst, const char* src, int elem_bytes, int64_t n, int64_t run, int64_t count) {
  if (elem_bytes == 1) return ExpandElements<uint8_t>(dst, src, n, run, count);
  if (elem_bytes == 2) return ExpandElements<uint16_t>(dst, src, n, run, count);
  if (elem_bytes == 4) return ExpandElements<uint32_t>(dst, src, n, run, count);
  ExpandElements<uint64_t>(dst, src, n, run, count);
}

void LoadNibblePairs(uint8_t* dst, const uint8_t* packed, int64_t n) {
  // A byte 0xHL becomes the 16-bit lane 0x0H0L.
  for (; n >= kVecBytes; n -= kVecBytes, dst += kVecBytes, packed += kVecBytes / 2) {
    const auto lanes = __builtin_convertvector((Load<uint8_t, kVecBytes / 2>(packed)), Vec<uint16_t>);
    StoreAs<uint16_t>(dst, (lanes | lanes << 4) & 0x0f0f);
  }
  for (int64_t i = 0; i < n; ++i) dst[i] = packed[i / 2] >> (i % 2 * 4) & 15;
}
void StoreNibblePairs(uint8_t* packed, const uint8_t* src, int64_t n) {
  for (; n >= kVecBytes; n -= kVecBytes, packed += kVecBytes / 2, src += kVecBytes) {
    const Vec<uint16_t> lanes = Load<uint16_t>(src) & 0x0f0f;
    StoreAs<uint8_t, kVecBytes / 2>(packed, __builtin_convertvector(lanes | lanes >> 4, Vec<uint8_t, kVecBytes / 2>));
  }
  for (int64_t i = 0; i < n; i += 2) packed[i / 2] = static_cast<uint8_t>((src[i] & 15) | (src[i + 1] << 4));
}

}  // namespace simd

const CopyKernels kCopyKernels = {
    .rows = simd::CopyRows,
    .bytes = simd::CopyRow,
    .fence = simd::Fence,
    .transpose = simd::Transpose,
    .strided = simd::CopyStrided,
    .fill = simd::FillAny,
    .expand = simd::ExpandAny,
    .load_nibbles = simd::LoadNibblePairs,
    .store_nibbles = simd::StoreNibblePairs,
};

}  // namespace tile::vm::TILE_VM_ISA
