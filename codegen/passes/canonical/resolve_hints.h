// Hints of accesses, for one target: those for other architectures are removed, and the rest become `default`, so that
// later passes need not know the target. The first pass; works on a copy of the program.
//
//   if (absl::Status s = ResolveHints(program); !s.ok()) …
//   if (!AllowsTma(access)) …                 // plan/tma/tensor_map.h
#ifndef TILE_CODEGEN_PASSES_CANONICAL_RESOLVE_HINTS_H_
#define TILE_CODEGEN_PASSES_CANONICAL_RESOLVE_HINTS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status ResolveHints(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_RESOLVE_HINTS_H_
