// CRC-32 as zlib, PNG and Ethernet compute it: finds bytes of machine code that changed on the way. It is a check against damage,
// not against malice; any language has a function for it.
//
//   Crc32(payload)   // of "123456789": 0xCBF43926
#ifndef TILE_IR_TBC_CRC32_H_
#define TILE_IR_TBC_CRC32_H_

#include <cstdint>

#include "absl/types/span.h"

namespace tile::ir {

uint32_t Crc32(absl::Span<const uint8_t> bytes);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_CRC32_H_
