#include "runtime/cuda/driver.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "ir/platform/library.h"
#include "runtime/error.h"

namespace tile::runtime::cuda {
namespace {

constexpr auto kEnvironment = absl::StatusCode::kFailedPrecondition;
constexpr char kInstallDriver[] = "install NVIDIA's driver, or run on the VM (device cpu)";

// Each answer of cuInit that has a name of its own.
struct InitError {
  CUresult result;
  const char *code, *message, *fix;
};
constexpr InitError kInitErrors[] = {
    {CUDA_ERROR_NOT_INITIALIZED, "cuda.fork", "can't be used in a process that was forked from one that used it",
     "start processes by exec (multiprocessing's \"spawn\"), or fork before the GPU is used"},
    {CUDA_ERROR_STUB_LIBRARY, "cuda.stub_library", "is the CUDA toolkit's stub, which is no driver",
     "take the toolkit's `stubs` folder out of LD_LIBRARY_PATH"},
    {CUDA_ERROR_NO_DEVICE, "cuda.no_device", "found no GPU",
     "check CUDA_VISIBLE_DEVICES and nvidia-smi, or run on the VM (device cpu)"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "cuda.driver_mismatch",
     "does not match the driver's kernel module (an update without a restart, or a container with another version)",
     "restart the machine, or start the container again"},
    {CUDA_ERROR_SYSTEM_NOT_READY, "cuda.not_ready", "says that the system is not ready",
     "start the fabric manager (nvidia-fabricmanager), or wait until it has started"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "cuda.compat",
     "is a forward-compatibility library, which this GPU does not support",
     "take the `compat` folder out of LD_LIBRARY_PATH, or update the driver"},
};

}  // namespace

std::string VersionText(int version) { return absl::StrCat(version / 1000, ".", version % 1000 / 10); }

absl::StatusOr<std::shared_ptr<const Driver>> Driver::Open() {
  const char* path = std::getenv("TILEVM_LIBCUDA");
  return Open(path != nullptr && path[0] != '\0' ? path : "libcuda.so.1");
}

absl::StatusOr<std::shared_ptr<const Driver>> Driver::Open(const std::string& path) {
  std::shared_ptr<Driver> driver(new Driver);
  driver->path_ = path;
  if (absl::Status s = driver->Load(); !s.ok()) return s;
  if (absl::Status s = driver->Initialize(); !s.ok()) return s;
  return driver;
}

Driver::~Driver() {
  if (library_ != nullptr) platform::CloseLibrary(library_);
}

absl::Status Driver::Load() {
  platform::LibraryError error;
  library_ = platform::OpenLibrary(path_, &error);
  if (library_ == nullptr) {
    if (error.is_absent) {
      return MakeError(kEnvironment, "cuda.no_library", absl::StrCat("there is no CUDA driver here (", path_, ")"),
                       kInstallDriver);
    }
    return MakeError(kEnvironment, "cuda.bad_library", absl::StrCat("the CUDA driver can't be loaded: ", error.reason),
                     kInstallDriver);
  }
  const auto load = [&](auto& function, const char* symbol, int since) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(platform::FindSymbol(library_, symbol));
    return function != nullptr || since > kDriverFloor;
  };
  // The version first, so that an old driver is called old rather than incomplete.
  if (load(cuDriverGetVersion, "cuDriverGetVersion", 0) && cuDriverGetVersion(&version_) == CUDA_SUCCESS &&
      version_ > 0 && version_ < kDriverFloor) {
    return MakeError(kEnvironment, "cuda.old_driver",
                     absl::StrCat("the driver ", path_, " is for CUDA ", VersionText(version_), "; at least ",
                                  VersionText(kDriverFloor), " is needed"),
                     "update NVIDIA's driver, or run on the VM (device cpu)");
  }
#define CUDA_FUNCTION(name, symbol, since, parameters)                                                            \
  if (!load(name, symbol, since)) {                                                                               \
    return MakeError(kEnvironment, "cuda.missing_symbol",                                                         \
                     absl::StrCat(path_, " has no function ", symbol, ": it is no CUDA driver"), kInstallDriver); \
  }
#include "runtime/cuda/driver.def"
  return absl::OkStatus();
}

absl::Status Driver::Initialize() {
  const CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  for (const InitError& e : kInitErrors) {
    if (e.result == result) {
      return MakeError(kEnvironment, e.code, absl::StrCat("the CUDA driver (", path_, ") ", e.message), e.fix);
    }
  }
  return MakeError(kEnvironment, "cuda.init", Error(result, "starting the CUDA driver").message(),
                   "see nvidia-smi and the kernel's log");
}

absl::Status Driver::Error(CUresult result, absl::string_view doing) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) name = "an unknown error";
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) text = "no description";
  const std::string message = absl::StrCat(doing, ": the CUDA driver says ", name, " (", result, "): ", text);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    return MakeError(absl::StatusCode::kResourceExhausted, "cuda.out_of_memory", message);
  }
  return MakeError(absl::StatusCode::kInternal, "cuda.driver", message);
}

absl::Status Driver::Missing(absl::string_view name, int since) const {
  return MakeError(kEnvironment, "cuda.old_driver",
                   absl::StrCat("the driver is for CUDA ", VersionText(version_), " and has no ", name,
                                ", which came with CUDA ", VersionText(since)),
                   "update NVIDIA's driver");
}

}  // namespace tile::runtime::cuda
