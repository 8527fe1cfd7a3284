// The functions of the CUDA driver that runtime/cuda/driver.def lists. There is one device and everything happens in the call, so
// that streams and events have nothing to remember. Graphs are not supported.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/gpu_sim/driver/device.h"
#include "tests/gpu_sim/ptx/parser.h"
#include "tests/gpu_sim/tensor/tensor_map.h"

using namespace tile::gpu_sim;

namespace {

constexpr int kVersion = 13000;
constexpr int kMostShared = 232448;
constexpr uint64_t kTotalMemory = uint64_t{8} << 30;

int Capability() { return EnvironmentNumber("GPU_SIM_SM", 90); }

// Streams, events, contexts: any address that is not null.
int object;
thread_local void* current = nullptr;
thread_local std::vector<void*> contexts;

struct NamedResult {
  int result;
  const char *name, *text;
};
constexpr NamedResult kResults[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "the image is no PTX"},
    {kNoBinary, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "the simulator runs PTX only: compile with --emit=ptx, or gpu_check --ptx"},
    {kInvalidPtx, "CUDA_ERROR_INVALID_PTX", "the simulator does not take this PTX"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered (standard error says where)"},
    {kTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "the kernel does not end (standard error says where it waits)"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "the kernel failed (standard error says where)"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "the simulator has no graphs"},
};

const NamedResult* Find(int result) {
  for (const NamedResult& r : kResults) {
    if (r.result == result) return &r;
  }
  return nullptr;
}

int Synchronize() {
  Device& device = Device::Get();
  std::lock_guard<std::mutex> lock(device.mutex);
  return std::exchange(device.pending, kSuccess);
}

struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char size[64];
    unsigned cluster[3];
  } value;
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned num_attributes;
};
constexpr int kClusterDimension = 4, kErrorLog = 5, kErrorLogSize = 6;

}  // namespace

extern "C" {

int cuInit(unsigned) { return kSuccess; }
int cuDriverGetVersion(int* version) { return *version = kVersion, kSuccess; }
int cuGetErrorName(int error, const char** text) {
  const NamedResult* r = Find(error);
  return r == nullptr ? kInvalidValue : (*text = r->name, kSuccess);
}
int cuGetErrorString(int error, const char** text) {
  const NamedResult* r = Find(error);
  return r == nullptr ? kInvalidValue : (*text = r->text, kSuccess);
}
int cuDeviceGetCount(int* count) { return *count = 1, kSuccess; }
int cuDeviceGet(int* device, int ordinal) { return *device = 0, ordinal == 0 ? kSuccess : kInvalidDevice; }
int cuDeviceGetName(char* name, int size, int) {
  std::snprintf(name, static_cast<size_t>(size), "PTX simulator sm_%d", Capability());
  return kSuccess;
}
int cuDeviceGetAttribute(int* value, int what, int) {
  const std::pair<int, int> kValues[] = {{5, 2147483647},
                                         {6, 65535},
                                         {7, 65535},
                                         {16, static_cast<int>(kMultiprocessors)},
                                         {75, Capability() / 10},
                                         {76, Capability() % 10},
                                         {97, kMostShared}};
  for (const auto& [attribute, is] : kValues) {
    if (attribute == what) return *value = is, kSuccess;
  }
  return kInvalidValue;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = kTotalMemory, kSuccess; }

int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &object, kSuccess; }
int cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }
int cuCtxGetCurrent(void** context) { return *context = current, kSuccess; }
int cuCtxSetCurrent(void* context) { return current = context, kSuccess; }
int cuCtxPushCurrent_v2(void* context) {
  contexts.push_back(std::exchange(current, context));
  return kSuccess;
}
int cuCtxPopCurrent_v2(void** context) {
  if (contexts.empty()) return kInvalidValue;
  *context = std::exchange(current, contexts.back());
  contexts.pop_back();
  return kSuccess;
}

int cuModuleLoadDataEx(LoadedCode** out, const void* image, unsigned num_options, int* options, void** values) {
  *out = nullptr;
  const auto* bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes,
                  "\x7f"
                  "ELF",
                  4) == 0) {
    std::fprintf(stderr, "gpu_sim: %s\n", Find(kNoBinary)->text);
    return kNoBinary;
  }
  Device& device = Device::Get();
  std::lock_guard<std::mutex> lock(device.mutex);
  auto code = std::make_unique<LoadedCode>();
  auto parsed = ptx::Parse(bytes);
  absl::Status status = parsed.status();
  if (status.ok()) {
    absl::StatusOr<LoadedModule> loaded = LoadModule(**parsed, &device.memory);
    status = loaded.status();
    if (loaded.ok()) code->module = *std::move(loaded);
  }
  if (!status.ok()) {
    size_t room = 0;
    for (unsigned k = 0; k < num_options; ++k) {
      if (options[k] == kErrorLogSize) room = reinterpret_cast<size_t>(values[k]);
    }
    for (unsigned k = 0; k < num_options; ++k) {
      if (options[k] == kErrorLog && room > 0) {
        std::snprintf(static_cast<char*>(values[k]), room, "gpu_sim: %s", std::string(status.message()).c_str());
      }
    }
    return kInvalidPtx;
  }
  *out = code.release();
  return kSuccess;
}
int cuModuleUnload(LoadedCode* code) {
  Device& device = Device::Get();
  std::lock_guard<std::mutex> lock(device.mutex);
  for (const LoadedVariable& v : code->module.variables) device.memory.Free(v.address);
  delete code;
  return kSuccess;
}
int cuModuleGetFunction(Function** function, LoadedCode* code, const char* name) {
  for (const auto& program : code->module.programs) {
    if (program->name != name) continue;
    code->functions.push_back(std::make_unique<Function>(Function{program.get()}));
    *function = code->functions.back().get();
    return kSuccess;
  }
  return kNotFound;
}
int cuModuleGetGlobal_v2(uint64_t* address, size_t* bytes, LoadedCode* code, const char* name) {
  for (const LoadedVariable& v : code->module.variables) {
    if (v.name == name) return *address = v.address, *bytes = v.bytes, kSuccess;
  }
  return kNotFound;
}
int cuFuncSetAttribute(Function*, int, int value) { return value <= kMostShared ? kSuccess : kInvalidValue; }
int cuFuncGetAttribute(int* value, int what, Function* function) {
  const Program& p = *function->program;
  *value = static_cast<int>(what == 0 ? p.max_threads : what == 1 ? p.shared_bytes : what == 3 ? p.local_bytes : 0);
  return kSuccess;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function*, int, size_t) {
  return *blocks = static_cast<int>(kBlocksOfMultiprocessor), kSuccess;
}

int cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared_bytes, void*, void** params, void**) {
  return RunKernel(*function, {{gx, gy, gz}, {bx, by, bz}, {1, 1, 1}, shared_bytes}, params);
}
int cuLaunchKernelEx(const LaunchConfig* c, Function* function, void** params, void**) {
  LaunchShape shape{
      {c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]}, {1, 1, 1}, c->shared_bytes};
  for (unsigned k = 0; k < c->num_attributes; ++k) {
    if (c->attributes[k].id != kClusterDimension) continue;
    std::copy_n(c->attributes[k].value.cluster, 3, shape.cluster.begin());
  }
  return RunKernel(*function, shape, params);
}
int cuLaunchHostFunc(void*, void (*function)(void*), void* user) { return function(user), kSuccess; }
int cuTensorMapEncodeTiled(void* out, int type, uint32_t rank, void* address, const uint64_t* sizes,
                           const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides,
                           int interleave, int swizzle, int, int fill) {
  if (rank < 1 || rank > 5) return kInvalidValue;
  TensorMap map;
  map.type = type;
  map.rank = static_cast<int>(rank);
  map.address = reinterpret_cast<uint64_t>(address);
  std::copy_n(sizes, rank, map.sizes.begin());
  std::copy_n(strides, rank - 1, map.strides.begin());
  std::copy_n(box, rank, map.box.begin());
  std::copy_n(element_strides, rank, map.element_strides.begin());
  map.interleave = interleave;
  map.swizzle = swizzle;
  map.fill = fill;
  if (!CheckTensorMap(map).ok()) return kInvalidValue;
  EncodeTensorMap(map, out);
  return kSuccess;
}

int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  Device& device = Device::Get();
  std::lock_guard<std::mutex> lock(device.mutex);
  absl::StatusOr<uint64_t> made = device.memory.Allocate(bytes, 0xFF);
  return made.ok() ? (*address = *made, kSuccess) : kOutOfMemory;
}
int cuMemFree_v2(uint64_t address) {
  Device& device = Device::Get();
  std::lock_guard<std::mutex> lock(device.mutex);
  return address == 0 || device.memory.Free(address) ? kSuccess : kInvalidValue;
}
int cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  uint64_t at = 0;
  const int result = cuMemAlloc_v2(&at, bytes);
  *address = reinterpret_cast<void*>(at);
  return result;
}
int cuMemFreeHost(void* address) { return cuMemFree_v2(reinterpret_cast<uint64_t>(address)); }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
  if (bytes > 0) std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kSuccess;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
  if (bytes > 0) std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
  if (bytes > 0) std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}
int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void*) {
  if (bytes > 0) std::memset(reinterpret_cast<void*>(address), value, bytes);
  return kSuccess;
}
int cuPointerGetAttribute(void* value, int what, uint64_t address) {
  Device& device = Device::Get();
  std::lock_guard<std::mutex> lock(device.mutex);
  if (device.memory.Find(address, 1) == nullptr) return kInvalidValue;
  *static_cast<int*>(value) = what == 2 ? 2 : 0;  // device memory; device 0
  return kSuccess;
}

int cuStreamCreate(void** stream, unsigned) { return *stream = &object, kSuccess; }
int cuStreamDestroy_v2(void*) { return kSuccess; }
int cuStreamQuery(void*) { return kSuccess; }
int cuStreamSynchronize(void*) { return Synchronize(); }
int cuStreamWaitEvent(void*, void*, unsigned) { return kSuccess; }
int cuStreamBeginCapture_v2(void*, int) { return kNotSupported; }
int cuStreamEndCapture(void*, void**) { return kNotSupported; }
int cuThreadExchangeStreamCaptureMode(int*) { return kSuccess; }
int cuStreamGetCaptureInfo_v2(void*, int* status, uint64_t*, void**, void***, size_t*) { return *status = 0, kSuccess; }
int cuEventCreate(void** event, unsigned) { return *event = &object, kSuccess; }
int cuEventDestroy_v2(void*) { return kSuccess; }
int cuEventRecord(void*, void*) { return kSuccess; }
int cuEventQuery(void*) { return kSuccess; }
int cuEventSynchronize(void*) { return Synchronize(); }
int cuEventElapsedTime(float* milliseconds, void*, void*) { return *milliseconds = 0, kSuccess; }
int cuGraphCreate(void**, unsigned) { return kNotSupported; }
int cuGraphAddKernelNode(void**, void*, void* const*, size_t, const void*) { return kNotSupported; }
int cuGraphKernelNodeSetAttribute(void*, int, const void*) { return kNotSupported; }
int cuGraphAddMemsetNode(void**, void*, void* const*, size_t, const void*, void*) { return kNotSupported; }
int cuGraphAddHostNode(void**, void*, void* const*, size_t, const void*) { return kNotSupported; }
int cuGraphInstantiateWithFlags(void**, void*, unsigned long long) { return kNotSupported; }
int cuGraphLaunch(void*, void*) { return kNotSupported; }
int cuGraphExecDestroy(void*) { return kNotSupported; }
int cuGraphDestroy(void*) { return kNotSupported; }
int cuUserObjectCreate(void**, void*, void (*)(void*), unsigned, unsigned) { return kNotSupported; }
int cuUserObjectRelease(void*, unsigned) { return kNotSupported; }
int cuGraphRetainUserObject(void*, void*, unsigned, unsigned) { return kNotSupported; }

}  // extern "C"
