// Assembles a kernel by ptxas, with directives that decide its registers: marks of rare code, and the thread blocks that a multiprocessor should hold.
// Only ptxas knows how many registers code takes. So a kernel is assembled again where its first answer may be improved:
//
//   * its registers are just above what one more thread block needs: other directives may bring them below;
//   * it spills: without marks of rare code, or for fewer thread blocks, it may spill less.
//
// Better is what spills fewer bytes; of code without spills, what lets a multiprocessor hold more thread blocks.
//
//   absl::StatusOr<Assembled> assembled = AssembleKernel(assembly, compiled, target, options);
//
// Safe from any thread; each Assembly is finished once.
#ifndef TILE_CODEGEN_ASSEMBLE_KERNEL_H_
#define TILE_CODEGEN_ASSEMBLE_KERNEL_H_

#include "absl/status/statusor.h"
#include "codegen/assemble/ptxas.h"
#include "codegen/compile.h"
#include "codegen/target/target.h"

namespace tile::codegen {

// The PTX of a compiled kernel. `assembly` has begun with the same target and options. Errors as of Assemble.
absl::StatusOr<Assembled> AssembleKernel(Assembly& assembly, const Compiled& compiled, const Target& target,
                                         const AssembleOptions& options);

// Thread blocks of the kernel that a multiprocessor holds, if each thread has `registers` registers.
int BlocksHeld(const Target& target, const Compiled& compiled, int registers);

// Bytes that a thread may spill before ways are tried that cost something else.
int TolerableSpills(const Compiled& compiled);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ASSEMBLE_KERNEL_H_
