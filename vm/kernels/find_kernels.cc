// Loops without an exit over pieces that stay in the first cache, so that the compiler makes vectors of them.
#include "vm/kernels/find_kernels.h"

namespace tile::vm::TILE_VM_ISA {
namespace simd {

template <class T>
bool AnyFrom(const void* data, int64_t n, T limit, T zeros) {
  constexpr T kMagnitude = static_cast<T>(~T{0}) >> 1;
  constexpr int64_t kPiece = 4096 / sizeof(T);
  const auto* p = static_cast<const char*>(data);
  while (n > 0) {
    const int64_t piece = n < kPiece ? n : kPiece;
    T any = 0;
    for (int64_t i = 0; i < piece; ++i) {
      T v;
      __builtin_memcpy(&v, p + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
      any |= static_cast<T>(static_cast<T>((v & kMagnitude) - zeros) >= limit);
    }
    if (any != 0) return true;
    p += piece * static_cast<int64_t>(sizeof(T));
    n -= piece;
  }
  return false;
}

int64_t CountZeros(const uint8_t* data, int64_t n) {
  constexpr int64_t kPiece = 255;  // as many as a byte counts
  int64_t zeros = 0;
  while (n > 0) {
    const int64_t piece = n < kPiece * 64 ? n : kPiece * 64;
    uint8_t lanes[64] = {};
    int64_t i = 0;
    for (; i + 64 <= piece; i += 64) {
      for (int64_t k = 0; k < 64; ++k) lanes[k] = static_cast<uint8_t>(lanes[k] + (data[i + k] == 0));
    }
    for (; i < piece; ++i) zeros += data[i] == 0;
    for (const uint8_t lane : lanes) zeros += lane;
    data += piece;
    n -= piece;
  }
  return zeros;
}

}  // namespace simd

const FindKernels kFindKernels = {
    .any_from_16 = simd::AnyFrom<uint16_t>,
    .any_from_32 = simd::AnyFrom<uint32_t>,
    .any_from_64 = simd::AnyFrom<uint64_t>,
    .count_zeros = simd::CountZeros,
};

}  // namespace tile::vm::TILE_VM_ISA
