// Where a command runs its kernels: on the VM, with all its checks, or on a GPU with machine code from the file.
//
//   std::unique_ptr<DeviceChoice> choice = ChooseDevice(options, &exit);      // --device, --images
//   std::unique_ptr<Engine> engine = choice->Load(*loaded, *function, path, &exit);
//   vm::Outcome outcome = engine->Run(launch, uses, &ms);
//
// Null after an error on stderr, with the exit code in *exit. One thread.
#ifndef TILE_TOOLS_LAUNCH_ENGINE_H_
#define TILE_TOOLS_LAUNCH_ENGINE_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "tools/cli/options.h"
#include "tools/module/load.h"
#include "vm/vm.h"

namespace tile::tools {

// What a launch does with the buffer of the same position.
struct BufferUse {
  bool written = true;   // its contents matter afterwards
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual const ir::Function& function() const = 0;
  // Whether Run calls Launch::blocks_done.
  virtual bool reports_progress() const = 0;
  // Runs a launch of this process' memory. *ms: the kernel alone. `uses` may be empty: all are written.
  virtual vm::Outcome Run(const vm::Launch& launch, const std::vector<BufferUse>& uses, double* ms) = 0;
  // As Run, for measuring: every call begins with the memory as it was before the first, results are not brought back.
  virtual vm::Outcome Repeat(const vm::Launch& launch, const std::vector<BufferUse>& uses, double* ms) = 0;
};

class DeviceChoice {
 public:
  // Multiprocessors, for launch rules; 0: as many as threads.
  int64_t num_sms() const { return device_ == nullptr ? 0 : device_->info().num_sms; }
  bool is_gpu() const { return device_ != nullptr; }

  // A program that was made here, of no file: without machine code. Says nothing on stderr. `loaded` must outlive it.
  absl::StatusOr<std::unique_ptr<Engine>> TryLoad(const LoadedModule& loaded, const ir::Function& function);
  // `path`: of the file that was loaded.
  std::unique_ptr<Engine> Load(const LoadedModule& loaded, const ir::Function& function, const std::string& path, int* exit);

 private:
  friend std::unique_ptr<DeviceChoice> ChooseDevice(const Options& options, int* exit);
  std::shared_ptr<runtime::Device> device_;  // null: the VM
  bool may_fall_back_ = false;               // auto
  bool said_ = false;                        // why not on a GPU
  std::string images_;                       // --images
};

// Opens the device that --device names. "auto" without a GPU says so on stderr and is the VM.
std::unique_ptr<DeviceChoice> ChooseDevice(const Options& options, int* exit);
// The VM, whatever the options say.
std::unique_ptr<DeviceChoice> ChooseVm();

}  // namespace tile::tools

#endif  // TILE_TOOLS_LAUNCH_ENGINE_H_
