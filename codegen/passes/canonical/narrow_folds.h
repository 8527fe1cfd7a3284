// The maximum of a row that was widened from 16 bits is that of the 16 bits.
//
//   %w = ftof %x : bf16 -> f32            %n = reduce maxf (absf %x)      // bf16
//   %m = reduce maxf (absf %w)            %m = ftof %n
//   … %w …                                %w = ftof %x
//                                         … %w …
//
// Widening keeps the order of numbers, so both are the same number. Pairs of 16 bits are compared at once. The row is widened behind the
// reduction, so that a thread holds half the registers until then. Between both there may be absolute values, changes of sign, other shapes
// and choices between such tiles and constants that 16 bits hold.
#ifndef TILE_CODEGEN_PASSES_CANONICAL_NARROW_FOLDS_H_
#define TILE_CODEGEN_PASSES_CANONICAL_NARROW_FOLDS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status NarrowFolds(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_NARROW_FOLDS_H_
