// Has TMA copy tiles ahead for products that read shared memory. One thread starts the copies of a stage, instead of each thread its own
// of sixteen bytes. No iteration has a barrier of the block (codegen/passes/expand/copy_role.h), so that warpgroups
// get out of step: one multiplies while another works on rows.
//
//   CopyByTma(target, schedule, &module, function, trace);
//
// For code that may take TMA descriptors. Those of tensors that the host does not know the kernel makes itself (codegen/plan/tma/device_tensor_map.h); such
// a load has {device_tensor_map}. Before and after, of all loads of a copy_ahead or none:
//   load_view_tko weak %v[%i, 0]          load_view_tko weak %v[%i, 0] {tensor_map = 0}
#ifndef TILE_CODEGEN_PASSES_PIPELINE_COPY_BY_TMA_H_
#define TILE_CODEGEN_PASSES_PIPELINE_COPY_BY_TMA_H_

#include <vector>

#include "absl/status/status.h"
#include "codegen/passes/program.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

// The pass, of candidates by TMA.
absl::Status CopyByTma(Program& p);

// With the schedule and the instructions that were decided. The trace may be null.
void CopyByTma(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function,
               Trace* trace);

// Before the schedule is decided: each copy_ahead whose tiles threads widen, and that TMA can bring if they do so in places of their own
// (plan/staging/conversion_buffers.h), has such places from now on. Gives those.
std::vector<ir::Op*> WidenApartForTma(const Target& target, int num_warps, ir::Module* module, ir::Function* function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_PIPELINE_COPY_BY_TMA_H_
