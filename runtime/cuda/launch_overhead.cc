// What a prepared launch costs beside cuLaunchKernel itself, on the GPU that is here:
//   launch_overhead KERNEL.tbc        (its first kernel, with machine code for this GPU; run on a grid of one block)
// Both are measured in turns, so that clocks and queues are the same; the time is that of the CPU, to hand a launch over.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/image_choice.h"
#include "runtime/cuda/kernel_abi.h"
#include "runtime/device.h"

namespace tile::runtime::cuda {
namespace {

constexpr int kLaunches = 500, kRounds = 41;

template <class F>
double NanosecondsOf(F&& launch) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kLaunches; ++i) launch();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kLaunches;
}

double Median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + kRounds / 2, v.end());
  return v[kRounds / 2];
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

int Main(const char* path) {
  auto program = Program::FromFile(path);
  if (!program.ok()) return Fail(program.status());
  auto device = OpenCudaDevice(0);
  if (!device.ok()) return Fail(device.status());
  const ir::Function& f = *(*program)->module->functions[0];
  auto kernel = (*device)->Load(*program, f);
  if (!kernel.ok()) return Fail(kernel.status());
  auto memory = (*device)->Allocate(1 << 20);
  if (!memory.ok()) return Fail(memory.status());
  LaunchSpec spec;
  for (int i = 0; i < f.num_params(); ++i) {
    spec.words.push_back(f.param(i)->type().element().is_pointer() ? *memory : 1);
  }
  std::vector<uint64_t> words = spec.words;
  auto launch = (*kernel)->Prepare(std::move(spec));
  if (!launch.ok()) return Fail(launch.status());
  auto stream = (*device)->CreateStream();
  if (!stream.ok()) return Fail(stream.status());

  // The same by hand: an image of this kernel that loads.
  auto driver = Driver::Open();
  if (!driver.ok()) return Fail(driver.status());
  const DriverFunctions& cu = **driver;
  CUcontext context = nullptr;
  CUdevice ordinal = 0;
  cu.cuDeviceGet(&ordinal, 0);
  cu.cuDevicePrimaryCtxRetain(&context, ordinal);
  cu.cuCtxSetCurrent(context);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const ir::Image* image = nullptr;
  for (const ir::Image& i : (*program)->images) {
    const std::string code(reinterpret_cast<const char*>(i.payload.data()), i.payload.size());
    if (i.kernel == 0 && cu.cuModuleLoadDataEx(&module, code.c_str(), 0, nullptr, nullptr) == CUDA_SUCCESS &&
        cu.cuModuleGetFunction(&function, module, i.symbol.c_str()) == CUDA_SUCCESS) {
      image = &i;
      break;
    }
  }
  void* record = nullptr;
  if (image == nullptr ||
      cu.cuMemHostAlloc(&record, sizeof(TileTrapRecord), CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS) {
    return Fail(absl::InternalError("no image loads"));
  }
  for (int i = 0; i < 3; ++i) words.push_back(1);
  words.push_back(reinterpret_cast<uint64_t>(record));
  words.push_back(0);
  std::vector<void*> params;
  for (uint64_t& w : words) params.push_back(&w);
  auto* raw_stream = static_cast<CUstream>((*stream)->native());

  std::vector<double> ours, raw;
  bool ok = true;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(NanosecondsOf([&] { ok &= (*launch)->Run(stream->get()).ok(); }));
    ok &= (*stream)->Synchronize().ok();
    raw.push_back(NanosecondsOf([&] {
      ok &= cu.cuLaunchKernel(function, 1, 1, 1, image->threads, 1, 1, image->shared_bytes, raw_stream, params.data(),
                              nullptr) == CUDA_SUCCESS;
    }));
    ok &= (*stream)->Synchronize().ok();
  }
  if (!ok) return Fail(absl::InternalError("a launch failed"));
  std::printf("cuLaunchKernel %.0f ns, prepared launch %.0f ns: +%.0f ns (medians of %d rounds of %d launches)\n",
              Median(raw), Median(ours), Median(ours) - Median(raw), kRounds, kLaunches);
  cu.cuModuleUnload(module);
  cu.cuMemFreeHost(record);
  (*device)->Free(*memory);
  return 0;
}

}  // namespace
}  // namespace tile::runtime::cuda

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: launch_overhead KERNEL.tbc\n");
    return 2;
  }
  return tile::runtime::cuda::Main(argv[1]);
}
