#include "runtime/cuda/gpus.h"

#include <memory>

#include "runtime/cuda/driver.h"
#include "runtime/error.h"

namespace tile::runtime {

absl::StatusOr<GpuList> ListGpus() {
  using namespace cuda;  // the names of the driver
  absl::StatusOr<std::shared_ptr<const Driver>> opened = Driver::Open();
  if (!opened.ok()) return opened.status();
  const Driver& driver = **opened;
  GpuList list;
  list.driver_version = driver.version();
  int count = 0;
  if (absl::Status s = driver.Check(driver.cuDeviceGetCount(&count), "counting GPUs"); !s.ok()) return s;
  if (count == 0) return MakeError(absl::StatusCode::kFailedPrecondition, "cuda.no_device", "the driver found no GPU");
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    char name[256] = {};
    int major = 0, minor = 0;
    for (const CUresult r :
         {driver.cuDeviceGet(&device, i), driver.cuDeviceGetName(name, sizeof name - 1, device),
          driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
          driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)}) {
      if (absl::Status s = driver.Check(r, "asking the GPU"); !s.ok()) return s;
    }
    list.gpus.push_back({name, major * 10 + minor});
  }
  return list;
}

}  // namespace tile::runtime
