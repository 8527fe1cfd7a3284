// The C++ wrapper.
#include "runtime/tilevm.hpp"

#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace {

TEST(Cpp, VectorAdd) {
  tilevm::Device device = tilevm::Device::Open("cpu").value();
  tilevm::Module module = tilevm::Module::FromFile("tests/capi/vector_add.tbc").value();
  EXPECT_EQ(module.kernels(), std::vector<std::string>{"vector_add"});
  tilevm::Kernel kernel = tilevm::Kernel::Create(device, module).value();
  const int64_t n = 5000;
  std::vector<float> x(n), y(n);
  std::iota(x.begin(), x.end(), 0.0f);
  tilevm::Buffer a = tilevm::Buffer::From(device, x.data(), x.size()).value();
  tilevm::Buffer c = tilevm::Buffer::Create(device, n * sizeof(float)).value();
  tilevm::Launch launch = tilevm::Launch::Create(kernel).value();
  launch.Set("a", a.Array<float>({n})).Set("b", a.Array<float>({n}));
  EXPECT_EQ(launch.ShapeOf("c").value(), std::vector<int64_t>{n});
  launch.Set("c", c.Array<float>({n}));
  const tilevm::Error e = launch.Run();
  ASSERT_FALSE(e) << e.message();
  ASSERT_FALSE(c.Download(y.data(), n * sizeof(float)));
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], 2 * x[i]) << i;
}

TEST(Cpp, InitialValuesBeforeEachRun) {
  tilevm::Device device = tilevm::Device::Open("cpu").value();
  tilevm::Module module = tilevm::Module::FromFile("tests/capi/histogram.tbc").value();
  tilevm::Kernel kernel = tilevm::Kernel::Create(device, module).value();
  const std::string text(3000, 'x');
  tilevm::Buffer bytes = tilevm::Buffer::From(device, text.data(), text.size()).value();
  tilevm::Buffer bins = tilevm::Buffer::Create(device, 256 * 4).value();
  ASSERT_FALSE(bins.Fill(0x7f));
  tilevm::Launch launch = tilevm::Launch::Create(kernel).value();
  tilevm_array_info in = {}, out = {};
  in.struct_size = out.struct_size = sizeof in;
  ASSERT_EQ(tilevm_kernel_get_array(kernel.get(), 0, &in), TILEVM_OK);
  ASSERT_EQ(tilevm_kernel_get_array(kernel.get(), 1, &out), TILEVM_OK);
  launch.Set(in.name, bytes.Array(in.type, {3000})).Set(out.name, bins.Array(out.type, {256}));
  for (int i = 0; i < 3; ++i) {
    const tilevm::Error e = launch.Run();
    ASSERT_FALSE(e) << e.message();
  }
  uint32_t counts[256];
  ASSERT_FALSE(bins.Download(counts, sizeof counts));
  EXPECT_EQ(counts['x'], 3000u);
  EXPECT_EQ(counts['y'], 0u);
}

TEST(Cpp, Errors) {
  EXPECT_FALSE(tilevm::Device::Open("cpu").value().AllowCompile()) << "nothing to do there";
  const tilevm::Result<tilevm::Device> none = tilevm::Device::Open("gpu");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().status(), TILEVM_INVALID_ARGUMENT);
  EXPECT_EQ(none.error().code(), "run.device");
  EXPECT_THROW(tilevm::Device::Open("gpu").value(), tilevm::Exception);
  tilevm::Device device = tilevm::Device::Open("cpu").value();
  tilevm::Module module = tilevm::Module::FromFile("tests/capi/vector_add.tbc").value();
  tilevm::Kernel kernel = tilevm::Kernel::Create(device, module).value();
  tilevm::Launch launch = tilevm::Launch::Create(kernel).value();
  // The first mistake of a chain is what Run says.
  launch.Set("d", tilevm::Array{}).Set("e", 1);
  const tilevm::Error e = launch.Run();
  EXPECT_EQ(e.status(), TILEVM_NOT_FOUND);
  EXPECT_NE(e.message().find("has no array `d`; it has a, b, c"), std::string::npos) << e.message();
  launch.Set("a", tilevm::Array{nullptr, TILEVM_F32, {1}, {1, 1}});
  EXPECT_EQ(launch.Run().message(), "an array has not as many strides as sizes");
}

// One kernel and its device, launches of eight threads.
TEST(Cpp, Threads) {
  tilevm::Device device = tilevm::Device::Open("cpu").value();
  tilevm::Module module = tilevm::Module::FromFile("tests/capi/vector_add.tbc").value();
  tilevm::Kernel kernel = tilevm::Kernel::Create(device, module).value();
  std::vector<std::thread> threads;
  std::vector<std::string> problems(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const int64_t n = 100 + t;
      const std::vector<float> x(n, static_cast<float>(t));
      std::vector<float> y(n);
      for (int round = 0; round < 20; ++round) {
        tilevm::Buffer a = tilevm::Buffer::From(device, x.data(), x.size()).value();
        tilevm::Buffer c = tilevm::Buffer::Create(device, n * sizeof(float)).value();
        tilevm::Stream stream = tilevm::Stream::Create(device).value();
        tilevm::Launch launch = tilevm::Launch::Create(kernel).value();
        launch.Set("a", a.Array<float>({n})).Set("b", a.Array<float>({n})).Set("c", c.Array<float>({n}));
        tilevm::Error e = launch.Run(&stream);
        if (!e) e = c.Download(y.data(), n * sizeof(float), 0, &stream);
        if (!e) e = stream.Synchronize();
        if (e) problems[t] = e.message();
        for (const float v : y) {
          if (v != static_cast<float>(2 * t)) problems[t] = "wrong sum";
        }
        // Errors are each thread's own.
        if (tilevm::Device::Open(std::to_string(t).c_str()).error().message().find(std::to_string(t)) == std::string::npos) {
          problems[t] = "another thread's message";
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& p : problems) EXPECT_EQ(p, "");
}

}  // namespace
