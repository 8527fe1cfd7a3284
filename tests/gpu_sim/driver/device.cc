#include "tests/gpu_sim/driver/device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

// By the seed, so that several runs see several kinds of garbage.
constexpr uint8_t kPatterns[] = {0xFF, 0x00, 0x5A, 0x7F, 0x81};

Result ResultOf(const absl::Status& s) {
  switch (s.code()) {
    case absl::StatusCode::kOk: return kSuccess;
    case absl::StatusCode::kOutOfRange: return kIllegalAddress;
    case absl::StatusCode::kDeadlineExceeded: return kTimeout;
    default: return kLaunchFailed;
  }
}

}  // namespace

int EnvironmentNumber(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? std::atoi(text) : otherwise;
}

Device& Device::Get() {
  static auto* device = new Device;  // never destroyed: a program may end while it is used
  return *device;
}

Result RunKernel(const Function& function, const LaunchShape& shape, void** params) {
  Device& device = Device::Get();
  std::lock_guard<std::mutex> lock(device.mutex);
  const Program& program = *function.program;
  const uint64_t threads = uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  if (threads == 0 || threads > program.max_threads || (program.requires_threads && threads != program.max_threads)) {
    return kInvalidValue;
  }
  Launch launch;
  launch.program = &program;
  launch.memory = &device.memory;
  launch.grid = shape.grid;
  launch.block = shape.block;
  launch.cluster = shape.cluster;
  launch.dynamic_shared = shape.shared_bytes;
  const auto seed = static_cast<uint64_t>(EnvironmentNumber("GPU_SIM_SEED", 1));
  launch.random.state = (seed + 1) * 0x9E3779B97F4A7C15u + ++device.launches;
  launch.lateness = EnvironmentNumber("GPU_SIM_LATE", 2);
  launch.ptxas_waits = EnvironmentNumber("GPU_SIM_PTXAS_WAITS", 0) != 0;
  launch.pattern = kPatterns[seed % std::size(kPatterns)];
  launch.params.resize(program.param_bytes + 64);
  // Parameters that are tensor maps are aligned to 64.
  const size_t shift = (64 - reinterpret_cast<uint64_t>(launch.params.data()) % 64) % 64;
  launch.param_base = reinterpret_cast<uint64_t>(launch.params.data()) + shift;
  for (size_t k = 0; k < program.params.size(); ++k) {
    std::memcpy(launch.params.data() + shift + program.params[k].offset, params[k], program.params[k].bytes);
  }
  const absl::Status s = RunLaunch(&launch);
  if (s.ok()) return kSuccess;
  std::fprintf(stderr, "gpu_sim: %s\n", std::string(s.message()).c_str());
  device.pending = ResultOf(s);
  return kSuccess;
}

}  // namespace tile::gpu_sim
