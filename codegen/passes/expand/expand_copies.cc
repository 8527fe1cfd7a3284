#include "codegen/passes/expand/expand_copies.h"

#include <algorithm>
#include <vector>

#include "codegen/gpu/ops.h"
#include "codegen/passes/expand/copy_role.h"
#include "codegen/passes/expand/replace_body.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/mma/tcgen05_scaled.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/plan/tma/tensor_maps.h"

namespace tile::codegen {
namespace {

using ir::Builder;
using ir::Op;

std::vector<const Op*> OpsThat(const ir::Function& function, bool (*is)(const Op&)) {
  std::vector<const Op*> found;
  ir::Walk(function.body(), [&](const Op* op) {
    if (is(*op)) found.push_back(op);
  });
  return found;
}

}  // namespace

absl::Status ExpandCopies(Program& p) {
  const std::vector<const Op*> copies =
      OpsThat(*p.function, [](const Op& op) { return IsGpuOp(&op, GpuOpcode::kCopyAhead); });
  const std::vector<const Op*> scaled = OpsThat(*p.function, IsScaledInColumns);
  if (copies.empty() && scaled.empty() && OpsThat(*p.function, HasOperandsStored).empty()) return absl::OkStatus();
  const Schedule schedule = *ScheduleOf(*p.function);
  ReplaceBody(p.function, [&](Builder& b) {
    std::vector<FetchRing> rings;
    std::vector<CopyStages> stages;
    AllocateCopies(b, schedule, copies, &rings, &stages);
    for (const Op* mma : scaled) rings.push_back(AllocateEndOfScaled(b, *mma));
    stages.resize(rings.size());
    int64_t columns = ColumnsOfScaled(*p.function);
    bool by_tma = false;
    for (const Op* copy : copies) {
      columns = std::max(columns, ColumnsThrough(*copy));
      by_tma = by_tma || CopiesByTma(*copy);
    }
    ColumnMemory memory;
    if (columns > 0) memory = AllocateColumns(b, columns);
    if (by_tma || columns > 0) {
      Plain(b, GpuOpcode::kFenceBarriers);
      Plain(b, GpuOpcode::kBlockBarrier);
    }
    if (columns > 0) FindColumns(b, &memory);
    CopyRole workers(rings, stages, memory, schedule, &p.layouts, *p.function);
    Builder::Scope scope(b, b.AddRegion(b.Create(GetGpuOp(GpuOpcode::kWorkers), {}, {}), 0, {}));
    workers.Begin(b, /*phase=*/0);
    workers.CopyBlock(b, *p.function->body());
    if (columns > 0) FreeColumns(b, memory);
    b.Create(ir::Opcode::kYield, {{}}, {});
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen
