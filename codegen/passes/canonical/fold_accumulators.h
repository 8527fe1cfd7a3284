// A product that begins with zero, and whose result is then added to something, begins with that.
//
//   %p = mmaf %weight, %value, %zero              %less = mulf %factor, %sums
//   %next = fma %factor, %sums, %p                %next = mmaf %weight, %value, %less
//
// This frees one accumulator's worth of registers and removes the addition, which tensor cores do anyway. The product
// need not end before the next iteration begins, so that it can overlap it (plan/mma/cross_iteration_mma.h).
//
// For sums that a loop carries on, and sums of two products: a tile that is loaded to be added once would only have to be there earlier. How exact an engine is
// between the additions of a product is open (docs/semantics/reductions.md), and the sums that go around are what products begin with
// in most programs. Not for 8-bit floats, of whose sums an instruction may keep few bits (a program that adds outside may do so on purpose), and
// not for sums in f16 and f64.
#ifndef TILE_CODEGEN_PASSES_CANONICAL_FOLD_ACCUMULATORS_H_
#define TILE_CODEGEN_PASSES_CANONICAL_FOLD_ACCUMULATORS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status FoldAccumulators(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_FOLD_ACCUMULATORS_H_
