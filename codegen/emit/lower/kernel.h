// One kernel: its signature and attributes, its entry, the operations, and at the end the place of everything in shared memory.
//
//   absl::StatusOr<EmittedKernel> kernel = EmitKernel(target, schedule, module, function, &llvm_module, trace);
//   kernel->shared_bytes, kernel->sites
//
// The message of an error is complete (file:line:col: error[…]: …).
#ifndef TILE_CODEGEN_EMIT_LOWER_KERNEL_H_
#define TILE_CODEGEN_EMIT_LOWER_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"
#include "ir/tbc/image.h"
#include "llvm/IR/Module.h"

namespace tile::codegen {

// What a launch has to provide for, and what may report something.
struct EmittedKernel {
  uint64_t shared_bytes = 0;     // of a block
  uint64_t workspace_bytes = 0;  // of a block, in device memory
  std::vector<ir::ImageSite> sites;
};

// `function` of `source` has been through AssignLayouts; `module` has the target's triple and data layout. The trace may be null.
absl::StatusOr<EmittedKernel> EmitKernel(const Target& target, const Schedule& plan, const ir::Module& source,
                                         const ir::Function& function, llvm::Module* module, Trace* trace);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_KERNEL_H_
