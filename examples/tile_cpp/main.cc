// Runs the kernel of saxpy.cu, whose code this program carries, on a GPU or on the CPU:  saxpy [cpu|cuda|auto]
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include <tilevm.hpp>

#include "saxpy.h"

extern "C" const unsigned char kernel_code[], kernel_code_end[];

namespace {

// The kernel on that device. Where the module has no machine code for it, the installed compiler makes it.
tilevm::Kernel Load(const char* name, tilevm::Device* device) {
  tilevm::Module module =
      tilevm::Module::FromBytes(kernel_code, static_cast<size_t>(kernel_code_end - kernel_code), "saxpy").value();
  *device = tilevm::Device::Open(name).value();
  tilevm::Result<tilevm::Kernel> kernel = tilevm::Kernel::Create(*device, module, "saxpy");
  if (!kernel.ok() && kernel.error().status() == TILEVM_UNSUPPORTED) {
    device->AllowCompile().OrThrow();
    kernel = tilevm::Kernel::Create(*device, module, "saxpy");
  }
  return std::move(kernel).value();
}

int Run(const char* name) {
  tilevm::Device device(nullptr);
  tilevm::Kernel kernel = Load(name, &device);

  const int n = 1000000;  // no multiple of the tile
  std::vector<float> host(n);
  std::iota(host.begin(), host.end(), 0.0f);
  tilevm::Buffer x = tilevm::Buffer::From(device, host.data(), host.size()).value();
  tilevm::Buffer y = tilevm::Buffer::From(device, host.data(), host.size()).value();
  tilevm::Launch launch = tilevm::Launch::Create(kernel).value();
  launch.SetParameters<Saxpy>(2, x.data_as<float>(), y.data_as<float>(), n).SetGrid((n + kSaxpyTile - 1) / kSaxpyTile);
  launch.Run().OrThrow();
  y.Download(host.data(), host.size() * sizeof(float)).OrThrow();

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += host[static_cast<size_t>(i)] != 3 * static_cast<float>(i);
  std::printf("%s (%s): %d elements, ", device.info().name, device.info().description, n);
  std::printf(wrong ? "%d wrong\n" : "all right\n", wrong);
  return wrong != 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc > 1 ? argv[1] : "auto");
  } catch (const tilevm::Exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
