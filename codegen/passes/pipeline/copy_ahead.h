// Overlaps loads with products on every GPU from sm_80 on. Operands of products in a `for` that are only loaded move
// into a copy_ahead (codegen/gpu/ops.def). By it all threads bring tiles of later iterations while they multiply
// those of this one.
//
//   bool any = CopyAhead(target, /*by_tma=*/true, module, function, trace);
//
// One operand is enough: the other may be computed (attention: weights times values), and several products of a loop
// may take part. What FetchAhead (fetch_ahead.h) asks of the host is not needed here: any tensor will do whose rows are
// in one piece; whether they are aligned is tested at run time (emit/pipeline/slot_copies.h). Conditions on a load:
// passes/move_loads.h.
#ifndef TILE_CODEGEN_PASSES_PIPELINE_COPY_AHEAD_H_
#define TILE_CODEGEN_PASSES_PIPELINE_COPY_AHEAD_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

// The pass. Programs that fetch ahead stay as they are.
absl::Status CopyAhead(Program& p);

// `by_tma`: TMA may do the copies. Returns whether anything moved. The trace may be null.
bool CopyAhead(const Target& target, bool by_tma, ir::Module* module, ir::Function* function, Trace* trace);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_PIPELINE_COPY_AHEAD_H_
