#include "runtime/open_device.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/cpu_device.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/error.h"

namespace tile::runtime {
namespace {

// The number of a GPU; -1 if the name is none.
int CudaOrdinal(absl::string_view name) {
  int ordinal = 0;
  if (!absl::ConsumePrefix(&name, "cuda")) return -1;
  if (name.empty()) return 0;
  if (!absl::ConsumePrefix(&name, ":") || name.empty() || name[0] < '0' || name[0] > '9') return -1;
  return absl::SimpleAtoi(name, &ordinal) ? ordinal : -1;
}

}  // namespace

bool IsDeviceName(absl::string_view name) { return name == "cpu" || name == "auto" || CudaOrdinal(name) >= 0; }

absl::StatusOr<std::shared_ptr<Device>> OpenDevice(absl::string_view name, const DeviceOptions& options,
                                                   std::string* why_no_gpu) {
  if (!IsDeviceName(name)) {
    return MakeError(absl::StatusCode::kInvalidArgument, "run.device", absl::StrCat("there is no device `", name, "`"),
                     "use cpu, cuda, cuda:N or auto");
  }
  if (name == "cpu") return MakeCpuDevice(options.threads);
  absl::StatusOr<std::shared_ptr<Device>> gpu = OpenCudaDevice(name == "auto" ? 0 : CudaOrdinal(name));
  if (gpu.ok() || name != "auto") return gpu;
  if (why_no_gpu != nullptr) *why_no_gpu = std::string(gpu.status().message());
  return MakeCpuDevice(options.threads);
}

}  // namespace tile::runtime
