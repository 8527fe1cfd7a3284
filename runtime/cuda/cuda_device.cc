#include "runtime/cuda/cuda_device.h"

#include <array>
#include <mutex>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "runtime/cuda/cuda_kernel.h"
#include "runtime/cuda/stream.h"
#include "runtime/error.h"
#include "runtime/jit/jit.h"

namespace tile::runtime {
namespace cuda {
namespace {

CUstream StreamOf(Stream* stream) { return static_cast<CudaStream*>(stream)->stream(); }

class CudaDevice : public Device {
 public:
  explicit CudaDevice(std::shared_ptr<Context> context)
      : context_(std::move(context)), default_stream_(context_, nullptr, CudaStream::Kind::kDefault) {}

  absl::Status Describe(int ordinal) {
    const Driver& driver = *context_->driver;
    std::array<char, 256> name = {};
    size_t bytes = 0;
    absl::Status status =
        driver.Check(driver.cuDeviceGetName(name.data(), name.size() - 1, context_->device), "naming the GPU");
    if (status.ok())
      status = driver.Check(driver.cuDeviceTotalMem(&bytes, context_->device), "asking for the GPU's memory");
    info_.kind = DeviceKind::kCuda;
    info_.ordinal = ordinal;
    info_.name = absl::StrCat("cuda:", ordinal);
    info_.description = name.data();
    info_.memory_bytes = bytes;
    info_.num_sms = context_->target.num_sms;
    info_.compute_major = context_->target.major;
    info_.compute_minor = context_->target.minor;
    info_.driver_version = driver.version();
    return status;
  }

  void set_print(std::function<void(absl::string_view)> print) override {
    context_->print = print;
    Device::set_print(std::move(print));
  }

  absl::StatusOr<uint64_t> Allocate(uint64_t bytes) override {
    CurrentUnrecorded current(*context_);
    CUdeviceptr address = 0;
    absl::Status s = context_->Check(context_->driver->cuMemAlloc(&address, bytes < 1 ? 1 : bytes),
                                     absl::StrCat("allocating ", bytes, " bytes"));
    if (!s.ok()) return s;
    return address;
  }
  void Free(uint64_t address) override {
    CurrentUnrecorded current(*context_);
    context_->driver->cuMemFree(address);
  }
  absl::Status Upload(uint64_t to, const void* from, uint64_t bytes, Stream* stream) override {
    if (bytes == 0) return absl::OkStatus();
    Current current(*context_);
    return context_->Check(context_->driver->cuMemcpyHtoDAsync(to, from, bytes, StreamOf(stream)),
                           "copying to the GPU");
  }
  absl::Status Download(void* to, uint64_t from, uint64_t bytes, Stream* stream) override {
    if (bytes == 0) return absl::OkStatus();
    Current current(*context_);
    return context_->Check(context_->driver->cuMemcpyDtoHAsync(to, from, bytes, StreamOf(stream)),
                           "copying from the GPU");
  }
  absl::Status Copy(uint64_t to, uint64_t from, uint64_t bytes, Stream* stream) override {
    if (bytes == 0) return absl::OkStatus();
    Current current(*context_);
    return context_->Check(context_->driver->cuMemcpyDtoDAsync(to, from, bytes, StreamOf(stream)),
                           "copying on the GPU");
  }
  absl::Status Fill(uint64_t address, uint8_t value, uint64_t bytes, Stream* stream) override {
    if (bytes == 0) return absl::OkStatus();
    Current current(*context_);
    return context_->Check(context_->driver->cuMemsetD8Async(address, value, bytes, StreamOf(stream)),
                           "filling memory");
  }

  absl::StatusOr<std::unique_ptr<Stream>> CreateStream() override {
    Current current(*context_);
    CUstream stream = nullptr;
    absl::Status s =
        context_->Check(context_->driver->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "making a stream");
    if (!s.ok()) return s;
    return std::make_unique<CudaStream>(context_, stream, CudaStream::Kind::kOwned);
  }
  absl::StatusOr<std::unique_ptr<Stream>> WrapStream(void* native) override {
    return std::make_unique<CudaStream>(context_, static_cast<CUstream>(native), CudaStream::Kind::kWrapped);
  }
  Stream* default_stream() override { return &default_stream_; }
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override { return MakeEvent(context_); }

  absl::StatusOr<std::shared_ptr<LoadedKernel>> Load(std::shared_ptr<const Program> program,
                                                     const ir::Function& function) override {
    std::shared_ptr<Jit> jit;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      jit = jit_;
    }
    return MakeKernel(context_, std::move(program), function, std::move(jit));
  }
  void set_jit(std::shared_ptr<Jit> jit) override {
    std::lock_guard<std::mutex> lock(mutex_);
    jit_ = std::move(jit);
  }

 private:
  std::shared_ptr<Context> context_;
  CudaStream default_stream_;
  std::mutex mutex_;
  std::shared_ptr<Jit> jit_ ABSL_GUARDED_BY(mutex_);  // null: nothing is compiled
};

absl::StatusOr<std::shared_ptr<Context>> MakeContext(int ordinal) {
  FreeReleased();
  absl::StatusOr<std::shared_ptr<const Driver>> opened = Driver::Open();
  if (!opened.ok()) return opened.status();
  auto context = std::make_shared<Context>();
  context->driver = *std::move(opened);
  const Driver& driver = *context->driver;
  int count = 0;
  if (absl::Status s = driver.Check(driver.cuDeviceGetCount(&count), "counting GPUs"); !s.ok()) return s;
  if (ordinal < 0 || ordinal >= count) {
    return MakeError(
        absl::StatusCode::kFailedPrecondition, "cuda.no_such_device",
        absl::StrCat("there is no GPU ", ordinal, ": the driver has ", count),
        count > 0 ? absl::StrCat("use cuda:0", count > 1 ? absl::StrCat(" to cuda:", count - 1) : "") : "");
  }
  if (absl::Status s = driver.Check(driver.cuDeviceGet(&context->device, ordinal), "opening the GPU"); !s.ok())
    return s;
  const struct {
    CUdevice_attribute what;
    int* value;
  } kAsked[] = {{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &context->target.num_sms},
                {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &context->target.major},
                {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &context->target.minor}};
  for (const auto& a : kAsked) {
    absl::Status s = driver.Check(driver.cuDeviceGetAttribute(a.value, a.what, context->device), "asking the GPU");
    if (!s.ok()) return s;
  }
  context->target.driver_version = driver.version();
  CUcontext primary = nullptr;
  if (absl::Status s = driver.Check(driver.cuDevicePrimaryCtxRetain(&primary, context->device), "starting the GPU");
      !s.ok()) {
    return s;
  }
  context->context = primary;
  context->traps = std::make_unique<TrapPool>(&driver);
  return context;
}

}  // namespace
}  // namespace cuda

absl::StatusOr<std::shared_ptr<Device>> OpenCudaDevice(int ordinal) {
  absl::StatusOr<std::shared_ptr<cuda::Context>> context = cuda::MakeContext(ordinal);
  if (!context.ok()) return context.status();
  auto device = std::make_shared<cuda::CudaDevice>(*std::move(context));
  if (absl::Status s = device->Describe(ordinal); !s.ok()) return s;
  return device;
}

}  // namespace tile::runtime
