// The C++ wrapper, in a program with a macro of a short name.
#define A 1
#include "runtime/tilevm.hpp"
#undef A

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/capi/dlpack_types.h"

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

TEST(Cpp, KernelsFromCppByTheirNames) {
  tilevm::Device device = tilevm::Device::Open("cpu").value();
  tilevm::Module module = tilevm::Module::FromFile("tests/capi/cpp_kernels.tbc").value();
  for (const char* name : {"put", "_Z3putfPfib", "put(float, float*, int, bool)", "same<int>"}) {
    EXPECT_TRUE(tilevm::Kernel::Create(device, module, name).ok()) << name;
  }
  const auto none = tilevm::Kernel::Create(device, module, "pu");
  EXPECT_EQ(none.error().status(), TILEVM_NOT_FOUND);
  EXPECT_NE(none.error().message().find("same<int>(int*) [_Z4sameIiEvPT_]"), std::string::npos)
      << none.error().message();
  const auto two = tilevm::Kernel::Create(device, module, "same");
  EXPECT_EQ(two.error().status(), TILEVM_INVALID_ARGUMENT);
  EXPECT_NE(two.error().message().find("2 kernels of the module are called `same`"), std::string::npos)
      << two.error().message();
}

// Arguments convert to the types of the signature: a double and an integer to float, a comparison to bool.
TEST(Cpp, ParametersBySignature) {
  tilevm::Device device = tilevm::Device::Open("cpu").value();
  tilevm::Module module = tilevm::Module::FromFile("tests/capi/cpp_kernels.tbc").value();
  tilevm::Kernel kernel = tilevm::Kernel::Create(device, module, "put").value();
  using Put = void(float value, float* y, int at, bool twice);
  float y[3] = {};
  tilevm::Buffer buffer = tilevm::Buffer::From(device, y, 3).value();
  tilevm::Launch launch = tilevm::Launch::Create(kernel).value();
  launch.SetGrid(1);
  float* const middle = buffer.data_as<float>() + 1;
  launch.SetParameters<Put>(2.5, middle, -1, 3 > 2).Run().OrThrow();
  launch.SetParameters<Put>(7, middle, int64_t{1}, false).Run().OrThrow();
  buffer.Download(y, sizeof y).OrThrow();
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 7);
}

TEST(Cpp, PointersAreHeldToTheirArray) {
  tilevm::Device device = tilevm::Device::Open("cpu").value();
  tilevm::Module module = tilevm::Module::FromFile("tests/capi/cpp_kernels.tbc").value();
  tilevm::Kernel kernel = tilevm::Kernel::Create(device, module, "put").value();
  float y[4] = {}, z[4] = {};
  tilevm::Buffer buffer = tilevm::Buffer::From(device, y, 4).value();
  tilevm::Buffer other = tilevm::Buffer::From(device, z, 4).value();
  const int64_t distance = other.data_as<float>() - buffer.data_as<float>();
  std::vector<std::string> warnings;
  // Puts 1 at an element of the middle of y, and says what came of it.
  const auto put = [&](int64_t at, int32_t check, bool any_array) {
    tilevm::Launch launch = tilevm::Launch::Create(kernel).value();
    tilevm::LaunchOptions options;
    options.check = check;
    options.any_array = any_array;
    options.warning = [&](const std::string& text) { warnings.push_back(text); };
    const tilevm::Array middle = {buffer.data_as<float>() + 1, TILEVM_F32, {2}, {}},
                        all = {other.data(), TILEVM_F32, {4}, {}};
    tilevm_launch_add_memory(launch.get(), "z", std::make_unique<tilevm_array>(all.c()).get());
    launch.SetGrid(1).SetOptions(options).SetParameter(0, 0x3f800000).SetPointer(1, "y", middle);
    return std::string(launch.SetParameter(2, static_cast<int32_t>(at)).SetParameter(3, 0).Run().message());
  };
  EXPECT_EQ(put(1, TILEVM_CHECK_FULL, false), "");
  EXPECT_EQ(put(2, TILEVM_CHECK_BOUNDS, false), "");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find(
                "warning[vm.outside_view]: writes 4 bytes at index 2 of `y` (f32[2], 8 bytes), just past its end"),
            std::string::npos)
      << warnings[0];
  EXPECT_NE(put(2, TILEVM_CHECK_FULL, false).find("error[vm.outside_view]"), std::string::npos);
  EXPECT_EQ(put(2, TILEVM_CHECK_FULL, true), "");
  const std::string far = put(distance - 1, TILEVM_CHECK_BOUNDS, false);
  EXPECT_NE(far.find("error[vm.out_of_bounds]"), std::string::npos) << far;
  EXPECT_NE(far.find("of `y` (f32[2], 8 bytes), "), std::string::npos) << far;
  EXPECT_NE(far.find(", beyond all of `y` (16 bytes), in `z`"), std::string::npos) << far;
  EXPECT_NE(far.find("in `z` (f32[4], 16 bytes)"), std::string::npos) << far;
  EXPECT_EQ(put(distance - 1, TILEVM_CHECK_BOUNDS, true), "");
  ASSERT_FALSE(other.Download(z, sizeof z));
  EXPECT_EQ(z[0], 1);
  EXPECT_EQ(warnings.size(), 1u);
}

TEST(Cpp, MessagesCallKernelsAsCppDoes) {
  tilevm::Device device = tilevm::Device::Open("cpu").value();
  tilevm::Module module = tilevm::Module::FromFile("tests/capi/cpp_kernels.tbc").value();
  tilevm::Kernel kernel = tilevm::Kernel::Create(device, module, "put").value();
  tilevm::Launch launch = tilevm::Launch::Create(kernel).value();
  std::vector<tilevm::Error> errors;
  errors.push_back(launch.Run());  // neither grid nor parameters
  launch.SetGrid(1);
  errors.push_back(launch.Run());
  for (uint32_t i = 0; i < 4; ++i) tilevm_launch_set_parameter(launch.get(), i, 64);
  errors.push_back(launch.Run());
  EXPECT_NE(tilevm_launch_set_parameter(launch.get(), 4, 0), TILEVM_OK);
  const std::string last = tilevm_error();
  EXPECT_EQ(errors[0].message(), "error[run.arguments]: kernel `put` has no launch rule: set the grid");
  EXPECT_EQ(errors[1].message(), "error[run.arguments]: parameter 0 of kernel `put` (float) is not set");
  EXPECT_EQ(errors[2].message(), "error[run.arguments]: parameter 1 of kernel `put` points to no buffer of the device");
  EXPECT_EQ(last, "error[run.arguments]: kernel `put` has 4 parameters; there is no parameter 4");
  EXPECT_NE(tilevm::Kernel::Create(device, module).error().message().find("same<int>(int*)"), std::string::npos);
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

// What stands in the scalars after a run.
struct Stored {
  uint8_t b;
  int32_t i;
  int64_t l;
  float f;
  tilevm::Float16 h;
};

class Scalars : public testing::Test {
 protected:
  // An error, or what the kernel stored.
  tilevm::Error Run(tilevm::Launch& launch, Stored* stored) {
    std::vector<tilevm::Buffer> buffers;
    for (const tilevm::Kernel::ArrayInfo& a : kernel_.arrays()) {
      buffers.push_back(tilevm::Buffer::Create(device_, 8).value());
      launch.Set(a.name.c_str(), buffers.back().Array(a.type, {1}));
    }
    if (tilevm::Error e = launch.Run()) return e;
    void* fields[] = {&stored->b, &stored->i, &stored->l, &stored->f, &stored->h};
    const size_t sizes[] = {1, 4, 8, 4, 2};
    for (size_t k = 0; k < 5; ++k) EXPECT_FALSE(buffers[k].Download(fields[k], sizes[k]));
    return {};
  }

  tilevm::Device device_ = tilevm::Device::Open("cpu").value();
  tilevm::Module module_ = tilevm::Module::FromFile("tests/capi/scalars.tbc").value();
  tilevm::Kernel kernel_ = tilevm::Kernel::Create(device_, module_).value();
};

TEST_F(Scalars, OfAnyArithmeticType) {
  const std::vector<float> v(3);
  Stored s;
  const auto run = [&](auto b, auto i, auto l, auto f, auto h) {
    tilevm::Launch launch = tilevm::Launch::Create(kernel_).value();
    launch.Set("b", b).Set("i", i).Set("l", l).Set("f", f).Set("h", h);
    const tilevm::Error e = Run(launch, &s);
    EXPECT_FALSE(e) << e.message();
  };
  run(true, -5, v.size(), 1.5f, tilevm::Float16(0.25f));
  EXPECT_EQ(s.b, 1);
  EXPECT_EQ(s.i, -5);
  EXPECT_EQ(s.l, 3);
  EXPECT_EQ(s.f, 1.5f);
  EXPECT_EQ(s.h.bits, 0x3400);
  run(0u, 4000000000u, std::numeric_limits<uint64_t>::max(), 3, tilevm::BFloat16(2.0f));
  EXPECT_EQ(s.b, 0);
  EXPECT_EQ(static_cast<uint32_t>(s.i), 4000000000u);
  EXPECT_EQ(static_cast<uint64_t>(s.l), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(s.f, 3.0f);
  EXPECT_EQ(s.h.bits, 0x4000);
  run(int8_t{1}, int16_t{-7}, static_cast<long long>(-8), std::numeric_limits<uint64_t>::max(), 1.0L);
  EXPECT_EQ(s.i, -7);
  EXPECT_EQ(s.l, -8);
  EXPECT_EQ(s.f, 0x1p64f);
  EXPECT_EQ(s.h.bits, 0x3c00);
  run(uint8_t{1}, uint16_t{65535}, std::numeric_limits<int64_t>::min(), 0.1, short{2});
  EXPECT_EQ(s.i, 65535);
  EXPECT_EQ(s.l, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(s.f, 0.1f);
}

TEST_F(Scalars, WhatDoesNotFit) {
  const auto message = [&](const char* name, auto value) {
    tilevm::Launch launch = tilevm::Launch::Create(kernel_).value();
    launch.Set(name, value);
    return launch.Run().message();
  };
  EXPECT_EQ(message("i", uint64_t{1} << 32), "error[run.arguments]: scalar `i` is 4294967296, which does not fit i32");
  // Not -1.
  EXPECT_EQ(message("i", std::numeric_limits<uint64_t>::max()),
            "error[run.arguments]: scalar `i` is 18446744073709551615, which does not fit i32");
  EXPECT_EQ(message("i", int64_t{-2147483649}),
            "error[run.arguments]: scalar `i` is -2147483649, which does not fit i32");
  EXPECT_EQ(message("b", 2), "error[run.arguments]: scalar `b` is 2, which does not fit i1");
  EXPECT_EQ(message("i", 1.0), "error[run.arguments]: scalar `i` is of i32, not a float");
}

TEST_F(Scalars, Reflection) {
  EXPECT_EQ(kernel_.name(), "scalars");
  EXPECT_EQ(kernel_.num_parameters(), 10u);
  EXPECT_TRUE(kernel_.has_launch_rule());
  const std::vector<tilevm::Kernel::ScalarInfo> scalars = kernel_.scalars();
  ASSERT_EQ(scalars.size(), 5u);
  EXPECT_EQ(scalars[2].name, "l");
  EXPECT_EQ(scalars[2].type, TILEVM_I64);
  EXPECT_TRUE(scalars[2].optional);
  EXPECT_FALSE(scalars[0].optional);
  const std::vector<tilevm::Kernel::ArrayInfo> arrays = kernel_.arrays();
  ASSERT_EQ(arrays.size(), 5u);
  EXPECT_EQ(arrays[4].name, "hs");
  EXPECT_EQ(arrays[4].type, TILEVM_F16);
  EXPECT_EQ(arrays[4].direction, TILEVM_OUT);
  EXPECT_EQ(arrays[4].fixed_shape, std::vector<int64_t>{1});
  tilevm::Module add = tilevm::Module::FromFile("tests/capi/vector_add.tbc").value();
  const tilevm::Kernel kernel = tilevm::Kernel::Create(device_, add).value();
  EXPECT_EQ(kernel.arrays()[0].fixed_shape, std::vector<int64_t>{-1});
  EXPECT_EQ(kernel.arrays()[0].direction, TILEVM_IN);
  EXPECT_TRUE(kernel.scalars().empty());
}

TEST(Cpp, ShapesOfAnyIntegerType) {
  tilevm::Device device = tilevm::Device::Open("cpu").value();
  const std::vector<float> v = {1, 2, 3, 4, 5, 6};
  const tilevm::Buffer b = tilevm::Buffer::From(device, v.data(), v.size()).value();
  const std::vector<int64_t> as_vector = {2, 3};
  EXPECT_EQ(b.Array<float>({v.size()}).shape, std::vector<int64_t>{6});
  EXPECT_EQ(b.Array<float>({2u, int64_t{3}}).shape, as_vector);
  EXPECT_EQ(b.Array<float>(as_vector).shape, as_vector);
  EXPECT_EQ(b.Array<float>({}).shape, std::vector<int64_t>{});
}

TEST(Cpp, ElementTypes) {
  EXPECT_EQ(tilevm::TypeOf<tilevm::Float16>::value, TILEVM_F16);
  EXPECT_EQ(tilevm::TypeOf<tilevm::BFloat16>::value, TILEVM_BF16);
  EXPECT_EQ(tilevm::TypeOf<size_t>::value, TILEVM_I64);
  EXPECT_EQ(tilevm::TypeOf<long long>::value, TILEVM_I64);
  EXPECT_EQ(tilevm::TypeOf<uint16_t>::value, TILEVM_I16);
  EXPECT_EQ(tilevm::TypeOf<char>::value, TILEVM_I8);
}

TEST(Cpp, SixteenBitFloats) {
  // Every value is itself again.
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    tilevm::Float16 h;
    tilevm::BFloat16 b;
    h.bits = b.bits = static_cast<uint16_t>(bits);
    const float x = static_cast<float>(h), y = static_cast<float>(b);
    EXPECT_TRUE(std::isnan(x) ? std::isnan(static_cast<float>(tilevm::Float16(x))) : tilevm::Float16(x).bits == bits)
        << bits;
    EXPECT_TRUE(std::isnan(y) ? std::isnan(static_cast<float>(tilevm::BFloat16(y))) : tilevm::BFloat16(y).bits == bits)
        << bits;
  }
  const auto half = [](float x) { return tilevm::Float16(x).bits; };
  EXPECT_EQ(half(65504), 0x7bff);
  EXPECT_EQ(half(65519.996f), 0x7bff);
  EXPECT_EQ(half(65520), 0x7c00);
  EXPECT_EQ(half(-3e38f), 0xfc00);
  EXPECT_EQ(half(1 + 0x1p-11f), 0x3c00);  // ties go to even
  EXPECT_EQ(half(1 + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(half(0x1p-25f), 0);
  EXPECT_EQ(half(3 * 0x1p-25f), 2);
  EXPECT_EQ(half(std::nextafter(0x1p-25f, 1.0f)), 1);
  EXPECT_EQ(half(-0.0f), 0x8000);
  EXPECT_EQ(half(0x1p-14f - 0x1p-26f), 0x0400);  // rounded up to a normal number
  const auto bfloat = [](float x) { return tilevm::BFloat16(x).bits; };
  EXPECT_EQ(bfloat(1 + 0x1p-8f), 0x3f80);
  EXPECT_EQ(bfloat(1 + 3 * 0x1p-8f), 0x3f82);
  EXPECT_EQ(bfloat(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(Cpp, Dlpack) {
  tilevm::Device device = tilevm::Device::Open("cpu").value();
  float data[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape[] = {2, 3};
  int deleted = 0;
  DLManagedTensorVersioned theirs = {};
  theirs.version = {1, 1};
  theirs.manager_ctx = &deleted;
  theirs.deleter = [](DLManagedTensorVersioned* t) { ++*static_cast<int*>(t->manager_ctx); };
  theirs.dl_tensor = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  {
    auto [buffer, array] = tilevm::Buffer::FromDlpack(device, &theirs).value();
    EXPECT_EQ(buffer.data(), data);
    EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(array.type, TILEVM_F32);
    EXPECT_TRUE(array.strides.empty());
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
  theirs.dl_tensor.device = {kDLCUDA, 0};
  EXPECT_EQ(tilevm::Buffer::FromDlpack(device, &theirs).error().status(), TILEVM_INVALID_ARGUMENT);

  DLManagedTensorVersioned* ours = nullptr;
  DLManagedTensor* legacy = nullptr;
  {
    const tilevm::Buffer buffer = tilevm::Buffer::From(device, data, 6).value();
    ours = buffer.ToDlpack(buffer.Array<float>({3, 2})).value();
    legacy = buffer.ToDlpackLegacy(buffer.Array<float>({6})).value();
    EXPECT_FALSE(buffer.ToDlpack(tilevm::Array{data, TILEVM_F32, {6}, {}}).ok()) << "not in the buffer";
  }
  // The memory lives as long as the tensors.
  EXPECT_EQ(ours->dl_tensor.ndim, 2);
  EXPECT_EQ(static_cast<float*>(ours->dl_tensor.data)[5], 6.0f);
  EXPECT_EQ(static_cast<float*>(legacy->dl_tensor.data)[0], 1.0f);
  ours->deleter(ours);
  legacy->deleter(legacy);
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
        if (tilevm::Device::Open(std::to_string(t).c_str()).error().message().find(std::to_string(t)) ==
            std::string::npos) {
          problems[t] = "another thread's message";
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& p : problems) EXPECT_EQ(p, "");
}

}  // namespace
