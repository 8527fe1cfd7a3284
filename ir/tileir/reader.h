// Reads NVIDIA's Tile IR bytecode (what cuTile and nvcc write), versions 13.1 to 13.5.
//
//   TileIrInfo info;
//   absl::StatusOr<std::unique_ptr<Module>> m = ReadTileIr(bytes, "matmul.tilebc", &info);
//
// The module holds copies of everything: the bytes may go. Fields that an older version lacks get their defaults;
// `inbounds` arrays that are all false become empty; hints are sorted by key; debug records are kept once each, those
// that are used. The module is named after the file ("matmul").
//
// Any input is safe: it gives a module or an InvalidArgument status whose message says where in the file and in which
// kernel. The result is not verified yet (types may be wrong for an operation): run Verify (ir/verify/verify.h) before use.
// Refused: preview operations (calls into SIMT libraries), pointer attributes, anything newer than the file's version.
//
// Thread-safe.
#ifndef TILE_IR_TILEIR_READER_H_
#define TILE_IR_TILEIR_READER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/module.h"

namespace tile::ir {

// What the file says about itself.
struct TileIrInfo {
  int version = 0;   // major * 100 + minor: 1304
  uint16_t tag = 0;  // bit 0: uses preview operations
  std::string producer;
  struct Section {
    bool present = false;
    uint64_t offset = 0;  // of the payload in the file
    uint64_t size = 0;    // bytes of the payload
  };
  // By the section's number: 1 strings, 2 functions, 3 debug, 4 constants, 5 types, 6 globals, 7 producer.
  std::array<Section, 8> sections;
};

// Whether the bytes begin as this container does. True for damaged files too.
bool LooksLikeTileIr(absl::Span<const uint8_t> bytes);

// `name`: of the file, for messages and the module's name; may be empty. `info` (may be null) is filled as far as the
// file could be read, also when reading fails.
absl::StatusOr<std::unique_ptr<Module>> ReadTileIr(absl::Span<const uint8_t> bytes, absl::string_view name,
                                                   TileIrInfo* info = nullptr);

}  // namespace tile::ir

#endif  // TILE_IR_TILEIR_READER_H_
