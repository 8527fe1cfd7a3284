// A kernel together with the device functions that it calls, as one body: their code behind its own, registers and variables beside it.
//
//   absl::StatusOr<ptx::Kernel> whole = Link(module, kernel);
//
// Operands of what deals with calls become numbers: `call` has the function's first instruction, the register in which it finds the way
// back, and the variables between which the arguments are copied, {from, to, bytes, …}; `received` those of the results; `ret` of a
// function that register. As a function has its registers and variables once in a thread, it cannot call itself: that is an error.
// Tables of branch targets are named by their numbers. Of the functions that the driver brings, a call of vprintf prints nothing, and one of
// __assertfail is an error.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_LINK_H_
#define TILE_TESTS_GPU_SIM_MACHINE_LINK_H_

#include "absl/status/statusor.h"
#include "tests/gpu_sim/ptx/syntax.h"

namespace tile::gpu_sim {

absl::StatusOr<ptx::Kernel> Link(const ptx::Module& module, const ptx::Kernel& kernel);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_LINK_H_
