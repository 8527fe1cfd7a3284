// What any bytes must give: an error, or a module that can be written and reads back the same; and neither takes long, nor
// more memory than the file can account for. For tests.
#ifndef TILE_IR_TESTING_ERROR_OR_SOUND_H_
#define TILE_IR_TESTING_ERROR_OR_SOUND_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tile::ir {

enum class Verdict { kRejected, kRead, kVerified };

inline absl::Span<const uint8_t> AsBytes(absl::string_view s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

// A .tbc file: an error has its code; what is read can be written, whether it verifies or not. `what` opens each message.
Verdict TbcErrorOrSound(absl::Span<const uint8_t> bytes, const std::string& what);

// NVIDIA's bytecode, which can be written if it verifies: it goes through both binary forms unchanged.
Verdict TileIrErrorOrSound(absl::Span<const uint8_t> bytes);

}  // namespace tile::ir

#endif  // TILE_IR_TESTING_ERROR_OR_SOUND_H_
