// Adds two arrays on whatever device there is. C++17.
#include <cstdio>
#include <numeric>
#include <vector>

#include <tilevm.hpp>

extern "C" const unsigned char kernel_tbc[], kernel_tbc_end[];

int main() {
  try {
    tilevm::Module module =
        tilevm::Module::FromBytes(kernel_tbc, static_cast<size_t>(kernel_tbc_end - kernel_tbc)).value();
    tilevm::Device device = tilevm::Device::Open("auto").value();
    tilevm::Result<tilevm::Kernel> kernel = tilevm::Kernel::Create(device, module);
    if (!kernel.ok() && kernel.error().status() == TILEVM_UNSUPPORTED) {  // a GPU without machine code in the file
      device = tilevm::Device::Open("cpu").value();
      kernel = tilevm::Kernel::Create(device, module);
    }

    const int64_t n = 1000000;
    std::vector<float> host(n);
    std::iota(host.begin(), host.end(), 0.0f);
    tilevm::Buffer a = tilevm::Buffer::From(device, host.data(), host.size()).value();
    tilevm::Buffer b = tilevm::Buffer::From(device, host.data(), host.size()).value();
    tilevm::Buffer c = tilevm::Buffer::Create(device, n * sizeof(float)).value();
    tilevm::Launch launch = tilevm::Launch::Create(kernel.value()).value();
    launch.Set("a", a.Array<float>({n})).Set("b", b.Array<float>({n})).Set("c", c.Array<float>({n}));
    launch.Run().OrThrow();
    c.Download(host.data(), n * sizeof(float)).OrThrow();

    int wrong = 0;
    for (int64_t i = 0; i < n; ++i) wrong += host[i] != 2 * static_cast<float>(i);
    std::printf("%s (%s): %lld sums, ", device.info().name, device.info().description, static_cast<long long>(n));
    std::printf(wrong ? "%d wrong\n" : "all right\n", wrong);
    return wrong != 0;
  } catch (const tilevm::Exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
