// From a kernel as it is written to a program that runs.
//
//   absl::StatusOr<LoadedModule> m = LoadModule(*parsed, &memory);   // variables get memory
//   const Program& p = *m->programs[0];
//
// An instruction that the simulator does not know is an error here, which names it and its line: nothing is skipped.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_DECODE_H_
#define TILE_TESTS_GPU_SIM_MACHINE_DECODE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/gpu_sim/machine/memory.h"
#include "tests/gpu_sim/machine/program.h"
#include "tests/gpu_sim/ptx/syntax.h"

namespace tile::gpu_sim {

struct LoadedVariable {
  std::string name;
  uint64_t address = 0, bytes = 0;
};

struct LoadedModule {
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<LoadedVariable> variables;  // of global and constant memory; the caller frees them
};

absl::StatusOr<LoadedModule> LoadModule(const ptx::Module& module, DeviceMemory* memory);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_DECODE_H_
