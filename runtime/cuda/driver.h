// The CUDA driver, opened at run time: nothing links it, so that one program runs with and without a GPU.
//
//   absl::StatusOr<std::shared_ptr<const Driver>> driver = Driver::Open();
//   if (!driver.ok()) …;                                     // says which way the driver is missing or too old
//   int n;
//   absl::Status s = (*driver)->Check((*driver)->cuDeviceGetCount(&n), "counting devices");
//
// Open is slow (about 100 ms with a GPU: it initialises the driver). Thread-safe.
//
// Errors of Open, by their stable code (runtime/error.h):
//   cuda.no_library        no libcuda.so.1 on this machine
//   cuda.bad_library       there is one, but it can't be loaded (another architecture, damaged)
//   cuda.missing_symbol    a library without a function that every driver has
//   cuda.old_driver        a driver older than kDriverFloor
//   cuda.fork              a process that was forked from one that used the driver
//   cuda.stub_library      the toolkit's stub, which only helps to link
//   cuda.no_device         a driver, but no GPU (or CUDA_VISIBLE_DEVICES hides it)
//   cuda.driver_mismatch   library and kernel module are of different versions
//   cuda.not_ready         the system is still starting (fabric manager)
//   cuda.compat            a forward-compatibility library on a GPU that does not support it
//   cuda.init              anything else that cuInit answers
#ifndef TILE_RUNTIME_CUDA_DRIVER_H_
#define TILE_RUNTIME_CUDA_DRIVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cuda/types.h"

namespace tile::runtime::cuda {

inline constexpr int kDriverFloor = 11040;  // CUDA 11.4, driver 470

struct DriverFunctions {
#define CUDA_FUNCTION(name, symbol, since, parameters) CUresult(*name) parameters = nullptr;
#include "runtime/cuda/driver.def"
};

class Driver : public DriverFunctions {
 public:
  // The environment variable TILEVM_LIBCUDA names another library, for tests.
  static absl::StatusOr<std::shared_ptr<const Driver>> Open();
  static absl::StatusOr<std::shared_ptr<const Driver>> Open(const std::string& path);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  int version() const { return version_; }  // 13000 for CUDA 13.0
  const std::string& path() const { return path_; }

  // OK for CUDA_SUCCESS; else an error that names the driver's and what failed.
  absl::Status Check(CUresult result, absl::string_view doing) const {
    return result == CUDA_SUCCESS ? absl::OkStatus() : Error(result, doing);
  }
  // Error cuda.old_driver if the optional function (a pointer of this object) is null.
  template <class F>
  absl::Status Require(F* function, absl::string_view name, int since) const {
    return function != nullptr ? absl::OkStatus() : Missing(name, since);
  }

 private:
  Driver() = default;
  absl::Status Load();
  absl::Status Initialize();
  absl::Status Error(CUresult result, absl::string_view doing) const;
  absl::Status Missing(absl::string_view name, int since) const;

  void* library_ = nullptr;
  std::string path_;
  int version_ = 0;
};

// "12.4" for 12040.
std::string VersionText(int version);

}  // namespace tile::runtime::cuda

#endif  // TILE_RUNTIME_CUDA_DRIVER_H_
