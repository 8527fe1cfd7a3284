// A tile that a block loads twice is loaded once, while registers hold it.
//
//   %x = load_ptr_tko weak %p, %m token = %t           %x = load_ptr_tko weak %p, %m token = %t
//   %max = reduce %x …                                 %max = reduce %x …
//   %q = offset %base, %i    // what %p is             %e = subf %x, %max
//   %y = load_ptr_tko weak %q, %m token = %t
//   %e = subf %y, %max
//
// Both loads are weak and wait for the same (other weak loads aside), so nothing says that the second sees a later write than the first. Their places
// are the same if they are computed by the same operations from the same values: whether those run twice or not, since tiles are not
// shared before (codegen/passes/canonical/ir_passes.h). In kernels without matrix products; the tile stays in registers from the first use to
// the last, which must leave enough of them (tuning::kReuse).
#ifndef TILE_CODEGEN_PASSES_SLICING_ELIMINATE_LOADS_H_
#define TILE_CODEGEN_PASSES_SLICING_ELIMINATE_LOADS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status EliminateLoads(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_ELIMINATE_LOADS_H_
