// One kernel: its signature and attributes, its entry, the loop over tile blocks of a persistent grid, the producer warp, the
// operations, and at the end the place of everything in shared memory.
//
//   Emitter emitter(target, plan, module, function, &llvm_module);
//   absl::Status done = EmitKernel(&emitter);   // then emitter.shared().account().bytes(), sites(), …
//
// The message of an error is complete (file:line:col: error[…]: …).
#ifndef TILE_CODEGEN_EMIT_LOWER_KERNEL_H_
#define TILE_CODEGEN_EMIT_LOWER_KERNEL_H_

#include "absl/status/status.h"
#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// Once for each emitter.
absl::Status EmitKernel(Emitter* emitter);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_KERNEL_H_
