// Where a command runs its kernels: on the cpu device, which is the VM with all its checks, or on a GPU with machine code
// from the file.
//
//   std::unique_ptr<DeviceChoice> choice = ChooseDevice(options, &exit);      // --device, --threads, --images, --compile
//   std::optional<DeviceKernel> kernel = choice->Load(*loaded, *function, path, &exit);
//
// Nothing after an error on stderr, with the exit code in *exit. One thread.
#ifndef TILE_TOOLS_LAUNCH_DEVICE_CHOICE_H_
#define TILE_TOOLS_LAUNCH_DEVICE_CHOICE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/device.h"
#include "tools/cli/options.h"
#include "tools/module/load.h"

namespace tile::tools {

// A kernel where it runs. The module that it was loaded from must outlive it.
struct DeviceKernel {
  std::shared_ptr<runtime::Device> device;
  std::shared_ptr<const runtime::Program> program;
  const ir::Function* function = nullptr;
  std::shared_ptr<runtime::LoadedKernel> loaded;

  bool is_gpu() const { return device->info().kind != runtime::DeviceKind::kCpu; }
};

class DeviceChoice {
 public:
  bool is_gpu() const { return device_->info().kind != runtime::DeviceKind::kCpu; }

  // A program that was made here, of no file: without machine code. Says nothing on stderr.
  absl::StatusOr<DeviceKernel> TryLoad(const LoadedModule& loaded, const ir::Function& function);
  // `path`: of the file that was loaded.
  std::optional<DeviceKernel> Load(const LoadedModule& loaded, const ir::Function& function, const std::string& path,
                                   int* exit);

 private:
  friend std::unique_ptr<DeviceChoice> ChooseDevice(const Options& options, int* exit);
  friend std::unique_ptr<DeviceChoice> ChooseVm(const Options& options, int* exit);
  std::shared_ptr<runtime::Device> device_;
  std::shared_ptr<runtime::Device> fallback_;  // of auto: the VM
  bool said_ = false;                          // why not on a GPU
  std::string images_;                         // --images
};

// Opens the device that --device names. "auto" without a GPU says so on stderr and is the VM.
std::unique_ptr<DeviceChoice> ChooseDevice(const Options& options, int* exit);
// The VM, whatever --device says.
std::unique_ptr<DeviceChoice> ChooseVm(const Options& options, int* exit);

}  // namespace tile::tools

#endif  // TILE_TOOLS_LAUNCH_DEVICE_CHOICE_H_
