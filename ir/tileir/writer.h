// Writes NVIDIA's Tile IR bytecode, for its compiler and tools: the inverse of reader.h.
//
//   absl::StatusOr<std::string> bytes = WriteTileIr(module, 1304);   // version 13.4
//
// The module must have passed Verify (ir/verify/verify.h). An error (InvalidArgument) names the operation, its place in
// the source and the feature that the version lacks. Such features are extensions of this project (shared tensors,
// atomics on views that give old values, cluster scope, …), clusters, and anything newer than the version, unless it
// has its default. What has no meaning for a run is left out: names of values and of the module, kernel interfaces, and
// before 13.3 the producer.
//
// Equal modules give equal bytes. Thread-safe.
#ifndef TILE_IR_TILEIR_WRITER_H_
#define TILE_IR_TILEIR_WRITER_H_

#include <string>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace tile::ir {

// `version`: major * 100 + minor, 1301 to 1305.
absl::StatusOr<std::string> WriteTileIr(const Module& module, int version);
// In the lowest version that holds the program. The error is that of the newest.
absl::StatusOr<std::string> WriteOldestTileIr(const Module& module);

}  // namespace tile::ir

#endif  // TILE_IR_TILEIR_WRITER_H_
