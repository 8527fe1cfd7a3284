// The one device of the process: its memory, what streams remember, and how launches run.
#ifndef TILE_TESTS_GPU_SIM_DRIVER_DEVICE_H_
#define TILE_TESTS_GPU_SIM_DRIVER_DEVICE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/gpu_sim/machine/decode.h"
#include "tests/gpu_sim/machine/run.h"

namespace tile::gpu_sim {

// The driver's answers that we give.
enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kNoBinary = 209,
  kInvalidPtx = 218,
  kNotFound = 500,
  kIllegalAddress = 700,
  kTimeout = 702,
  kLaunchFailed = 719,
  kNotSupported = 801,
};

struct LoadedCode;

struct Function {
  const Program* program = nullptr;
};

struct LoadedCode {
  LoadedModule module;
  std::vector<std::unique_ptr<Function>> functions;
};

// GPU_SIM_SM (90), GPU_SIM_SEED (1), GPU_SIM_LATE (0: copies at once, 1: as late as possible, 2: as the seed says).
int EnvironmentNumber(const char* name, int otherwise);

struct Device {
  std::mutex mutex;  // one launch at a time; guards all below
  DeviceMemory memory;
  int pending = kSuccess;  // of launches since the last synchronisation
  uint64_t launches = 0;

  static Device& Get();
};

struct LaunchShape {
  std::array<uint32_t, 3> grid, block;
  std::array<uint32_t, 3> cluster;
  uint32_t shared_bytes = 0;
};

// Answers what the launch call answers; what the kernel does wrong goes to standard error, and its code is answered by the next
// synchronisation, as the driver does. Unlike a GPU the device can be used afterwards.
Result RunKernel(const Function& function, const LaunchShape& shape, void** params);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_DRIVER_DEVICE_H_
