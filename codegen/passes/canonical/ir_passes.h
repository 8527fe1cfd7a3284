// The passes over tile code that know no target (ir/passes), as steps of code generation: which values may stay in registers longer
// is decided here. The function X does what ir::X says.
//
//   absl::Status s = Simplify(program);
#ifndef TILE_CODEGEN_PASSES_CANONICAL_IR_PASSES_H_
#define TILE_CODEGEN_PASSES_CANONICAL_IR_PASSES_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status Simplify(Program& p);
absl::Status HoistInvariants(Program& p);
absl::Status RaiseLoops(Program& p);
absl::Status ComputeCounters(Program& p);
absl::Status ShareCommon(Program& p);
absl::Status RemoveUnused(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_IR_PASSES_H_
