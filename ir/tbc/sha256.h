// SHA-256 (FIPS 180-4): the name of a code section in caches and device images. Chosen because a cache that hands out
// machine code must not be fooled by a crafted collision, and because any machine can recompute it (`sha256sum`). Speed
// hardly matters: loading never computes it.
#ifndef TILE_IR_TBC_SHA256_H_
#define TILE_IR_TBC_SHA256_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"

namespace tile::ir {

using Sha256Digest = std::array<uint8_t, 32>;

Sha256Digest Sha256(absl::Span<const uint8_t> bytes);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_SHA256_H_
