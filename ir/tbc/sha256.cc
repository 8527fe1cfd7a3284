#include "ir/tbc/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tile::ir {
namespace {

// Fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void Compress(uint32_t h[8], const uint8_t* block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 | uint32_t{block[4 * i + 2]} << 8 |
           block[4 * i + 3];
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint32_t v[8];
  std::copy(h, h + 8, v);
  // Eight rounds at a time: instead of moving the variables, each round counts them from another place.
  for (int i = 0; i < 64; i += 8) {
#define TILE_ROUND(r)                                                                           \
  {                                                                                             \
    const uint32_t a = v[(8 - r) & 7], b = v[(9 - r) & 7], c = v[(10 - r) & 7];                 \
    const uint32_t e = v[(12 - r) & 7], f = v[(13 - r) & 7], g = v[(14 - r) & 7];               \
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);                  \
    const uint32_t t1 = v[(15 - r) & 7] + s1 + ((e & f) ^ (~e & g)) + kRound[i + r] + w[i + r]; \
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);                  \
    v[(11 - r) & 7] += t1;                                                                      \
    v[(15 - r) & 7] = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c));                                  \
  }
    TILE_ROUND(0) TILE_ROUND(1) TILE_ROUND(2) TILE_ROUND(3) TILE_ROUND(4) TILE_ROUND(5) TILE_ROUND(6) TILE_ROUND(7)
#undef TILE_ROUND
  }
  for (int i = 0; i < 8; ++i) h[i] += v[i];
}

}  // namespace

Sha256Digest Sha256(absl::Span<const uint8_t> bytes) {
  // Fractional parts of the square roots of the first 8 primes.
  uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const size_t whole = bytes.size() / 64 * 64;
  for (size_t i = 0; i < whole; i += 64) Compress(h, bytes.data() + i);
  // The rest, a one bit, zeros, the length in bits: one or two blocks.
  uint8_t tail[128] = {};
  const size_t rest = bytes.size() - whole;
  std::copy(bytes.begin() + whole, bytes.end(), tail);
  tail[rest] = 0x80;
  const size_t size = rest < 56 ? 64 : 128;
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (int i = 0; i < 8; ++i) tail[size - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
  for (size_t i = 0; i < size; i += 64) Compress(h, tail + i);
  Sha256Digest digest;
  for (int i = 0; i < 32; ++i) digest[i] = static_cast<uint8_t>(h[i / 4] >> (24 - i % 4 * 8));
  return digest;
}

}  // namespace tile::ir
