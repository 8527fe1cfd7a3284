#include "tools/data/transpose.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tile::tools {
namespace {

uint16_t Swap(uint16_t x) { return __builtin_bswap16(x); }
uint32_t Swap(uint32_t x) { return __builtin_bswap32(x); }
uint64_t Swap(uint64_t x) { return __builtin_bswap64(x); }

template <class T>
void SwapAll(uint8_t* data, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T x;
    std::memcpy(&x, data + i * sizeof(T), sizeof(T));
    x = Swap(x);
    std::memcpy(data + i * sizeof(T), &x, sizeof(T));
  }
}

template <class T>
void Copy(const uint8_t* in, int64_t from, uint8_t* out, int64_t to) {
  std::memcpy(out + to * sizeof(T), in + from * sizeof(T), sizeof(T));
}

// The first dimension is contiguous in `in`, the last in `out`: for each choice of the dimensions between them, a
// transposition of a matrix, done in blocks that the first-level cache holds.
template <class T>
void Transpose(const uint8_t* in, absl::Span<const int64_t> shape, uint8_t* out) {
  constexpr int64_t kBlock = 32;
  const int rank = static_cast<int>(shape.size());
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  if (count == 0) return;
  const int64_t rows = shape.front(), columns = shape.back();
  const int64_t out_row = count / rows, in_column = count / columns;
  std::vector<int64_t> in_stride(rank), out_stride(rank), index(rank, 0);
  for (int64_t k = 0, s = 1; k < rank; s *= shape[k++]) in_stride[k] = s;
  for (int64_t k = rank - 1, s = 1; k >= 0; s *= shape[k--]) out_stride[k] = s;
  for (int64_t in_base = 0, out_base = 0;;) {
    for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
      for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
        for (int64_t r = r0; r < std::min(rows, r0 + kBlock); ++r) {
          for (int64_t c = c0; c < std::min(columns, c0 + kBlock); ++c) {
            Copy<T>(in, in_base + r + c * in_column, out, out_base + r * out_row + c);
          }
        }
      }
    }
    int k = rank - 2;  // the next choice of dimensions 1 … rank - 2
    for (; k >= 1; --k) {
      in_base += in_stride[k];
      out_base += out_stride[k];
      if (++index[k] < shape[k]) break;
      in_base -= in_stride[k] * shape[k];
      out_base -= out_stride[k] * shape[k];
      index[k] = 0;
    }
    if (k < 1) return;
  }
}

}  // namespace

void SwapBytes(uint8_t* data, int64_t n, int element_bytes) {
  if (element_bytes == 2) SwapAll<uint16_t>(data, n);
  if (element_bytes == 4) SwapAll<uint32_t>(data, n);
  if (element_bytes == 8) SwapAll<uint64_t>(data, n);
}

void FortranToRowMajor(const uint8_t* in, absl::Span<const int64_t> shape, int element_bytes, uint8_t* out) {
  if (shape.size() < 2) {
    std::memcpy(out, in, (shape.empty() ? 1 : shape[0]) * element_bytes);
    return;
  }
  if (element_bytes == 1) Transpose<uint8_t>(in, shape, out);
  if (element_bytes == 2) Transpose<uint16_t>(in, shape, out);
  if (element_bytes == 4) Transpose<uint32_t>(in, shape, out);
  if (element_bytes == 8) Transpose<uint64_t>(in, shape, out);
}

}  // namespace tile::tools
