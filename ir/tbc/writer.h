// Writes a module as a .tbc file (schemas/FORMAT.md). Deterministic: equal modules (ir/compare.h) give equal bytes, on
// every machine.
//
//   absl::StatusOr<std::string> bytes = WriteTbc(module);
//   absl::StatusOr<std::string> old = WriteTbc(module, {.target_version = {0, 1}, .strip_debug = true});
//
// The file carries the lowest version of the format that holds its content. Takes any module whose structure is sound
// (operands are visible, required attributes present); whether it is a correct program is the verifier's matter.
// Errors: InvalidArgument. Safe from any thread as long as nobody changes the module.
#ifndef TILE_IR_TBC_WRITER_H_
#define TILE_IR_TBC_WRITER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "ir/tbc/image.h"
#include "ir/tbc/version.h"

namespace tile::ir {

struct WriteOptions {
  TbcVersion target_version = {};       // newest version that readers must know; {0, 0}: any
  bool strip_debug = false;             // leave out locations and debug records
  absl::Span<const Image> images = {};  // machine code to store beside the tile code
};

absl::StatusOr<std::string> WriteTbc(const Module& module, const WriteOptions& options = {});

// SHA-256 of the code section that WriteTbc stores: the key of caches, and Image::code_hash. Debug information,
// interfaces, images and the names of module and producer do not change it.
absl::StatusOr<Sha256Digest> HashCode(const Module& module);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_WRITER_H_
