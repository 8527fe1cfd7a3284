// What the objects of one GPU share. Internal to runtime/cuda.
#ifndef TILE_RUNTIME_CUDA_CONTEXT_H_
#define TILE_RUNTIME_CUDA_CONTEXT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/image_choice.h"
#include "runtime/cuda/trap.h"

namespace tile::runtime::cuda {

// The primary context of a device, as other libraries of the process use it too.
struct Context {
  std::shared_ptr<const Driver> driver;
  CUdevice device = 0;
  CUcontext context = nullptr;
  Target target;
  std::unique_ptr<TrapPool> traps;
  std::function<void(absl::string_view)> print;
  std::atomic<int> launch_graphs = 0;  // of launches that repeat
  std::atomic<uint64_t> epochs = 1;    // numbers that no two streams have between two synchronisations

  // A node of a graph that is being recorded: the capture's number; 0: none.
  struct Recorded {
    uint64_t capture = 0;
    CUgraphNode node = nullptr;
    bool operator==(const Recorded&) const = default;
  };
  std::mutex recorded_mutex;
  Recorded recorded ABSL_GUARDED_BY(recorded_mutex);  // the last kernel of ours

  Context() = default;
  ~Context();
  absl::Status Check(CUresult result, absl::string_view doing) const { return driver->Check(result, doing); }
};

// Makes the context current on this thread as long as it lives. Free of charge if it is already.
class Current {
 public:
  explicit Current(const Context& c) : driver_(*c.driver) {
    CUcontext now = nullptr;
    if (driver_.cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == c.context) return;
    pushed_ = driver_.cuCtxPushCurrent(c.context) == CUDA_SUCCESS;
  }
  ~Current() {
    CUcontext popped;
    if (pushed_) driver_.cuCtxPopCurrent(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const Driver& driver_;
  bool pushed_ = false;
};

// As Current, for calls that are no work on a stream: allocate, free, load, ask. Without it the driver would refuse them, and end
// the capture, while this thread or another one records a graph.
class CurrentUnrecorded {
 public:
  explicit CurrentUnrecorded(const Context& c) : current_(c), driver_(*c.driver) {
    driver_.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  ~CurrentUnrecorded() { driver_.cuThreadExchangeStreamCaptureMode(&mode_); }
  CurrentUnrecorded(const CurrentUnrecorded&) = delete;
  CurrentUnrecorded& operator=(const CurrentUnrecorded&) = delete;

 private:
  const Current current_;
  const Driver& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

inline Context::~Context() {
  if (context == nullptr) return;
  {
    Current current(*this);
    traps.reset();
  }
  driver->cuDevicePrimaryCtxRelease(device);
}

// Memory of a context.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(std::shared_ptr<Context> context, CUdeviceptr address)
      : context_(std::move(context)), address_(address) {}
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(address_, other.address_);
    return *this;
  }
  ~DeviceMemory() {
    if (context_ == nullptr) return;
    CurrentUnrecorded current(*context_);
    context_->driver->cuMemFree(address_);
  }
  CUdeviceptr address() const { return address_; }

 private:
  std::shared_ptr<Context> context_;
  CUdeviceptr address_ = 0;
};

}  // namespace tile::runtime::cuda

#endif  // TILE_RUNTIME_CUDA_CONTEXT_H_
