// Loads of integers whose bits are taken for floats are loads of floats.
//
//   %w = load_view_tko weak %view[…] : … i16           %view_1 = <the same view of the array as bf16>
//   %x = bitcast %w : i16 -> bf16                      %x = load_view_tko weak %view_1[…] : … bf16
//   … mmaf %x                                          … mmaf %x
//
// So programs are written for arrays whose library has no bf16 or 8-bit floats. Products take what is loaded to shared memory, and copies bring it
// ahead. A load moves if every use is such a cast, to one type.
#ifndef TILE_CODEGEN_PASSES_CANONICAL_CAST_LOADS_H_
#define TILE_CODEGEN_PASSES_CANONICAL_CAST_LOADS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status CastLoads(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_CAST_LOADS_H_
