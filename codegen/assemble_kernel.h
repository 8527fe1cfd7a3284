// What ptxas is told about a kernel besides its instructions: which blocks of code are rare, and how many thread blocks a multiprocessor should
// hold. ptxas alone knows how many registers code takes, so where its first answer may be improved, kernels are assembled more than once:
//
//   * registers just above what one more thread block would need: told otherwise, it may come out below;
//   * spills: untold of rare code, or told of fewer thread blocks, it may spill less.
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

// Thread blocks that a multiprocessor holds of the kernel, if each thread has so many registers.
int BlocksHeld(const Target& target, const Compiled& compiled, int registers);

// Bytes that a thread may spill before ways are tried that cost something else.
int TolerableSpills(const Compiled& compiled);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ASSEMBLE_KERNEL_H_
