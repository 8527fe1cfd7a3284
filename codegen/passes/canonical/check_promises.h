// `inbounds` where the tensor is known to be no multiple of the tile: the last tile, or every one, leaves the tensor, whatever was
// promised. Such a promise is dropped, so that the access is tested, and a remark says so.
//
// Published kernels make such promises: their loads and stores go by TMA, which tests by itself, and only what does not go by TMA
// would read and write beside the tensor.
//
//   if (absl::Status s = CheckPromises(program); !s.ok()) …
#ifndef TILE_CODEGEN_PASSES_CANONICAL_CHECK_PROMISES_H_
#define TILE_CODEGEN_PASSES_CANONICAL_CHECK_PROMISES_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status CheckPromises(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_CHECK_PROMISES_H_
