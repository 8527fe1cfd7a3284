// The C interface on a GPU that a fake driver plays: a module with machine code from bytes to a launch.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "ir/tbc/writer.h"
#include "ir/text/parser.h"
#include "runtime/cuda/fake_cuda.h"
#include "runtime/tilevm.h"
#include "tests/capi/fake_module.h"

namespace {

constexpr char kText[] = R"(
entry @vector_add(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i64>) interface {
  in a: f32[%n] at %a
  in b: f32[%n] at %b
  out c: f32[%n] at %c init zero
  grid ceildiv(a.shape[0], 64)
} {
  return
}
)";

std::string ModuleWithImage(const char* requires_text = nullptr) {
  return tile::FakeModule(kText, "vector_add", "8 8 8 8 4 4 4 8 8", [&](tile::ir::Image* i) {
    if (requires_text != nullptr)
      i->requirements.push_back({{{tile::ir::ExprOp::kConst, 0, 0, 0}}, requires_text});  // never
  });
}

TEST(FakeGpu, FromBytesToLaunch) {
  setenv("TILEVM_LIBCUDA", "runtime/cuda/libfake_cuda.so", 1);
  void* library = dlopen("runtime/cuda/libfake_cuda.so", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto log = reinterpret_cast<FakeLogFn>(dlsym(library, "fake_cuda_log"));
  const auto reset = reinterpret_cast<FakeResetFn>(dlsym(library, "fake_cuda_reset"));
  const auto live = reinterpret_cast<FakeLiveFn>(dlsym(library, "fake_cuda_live"));
  reset();

  tilevm_device* device = nullptr;
  ASSERT_EQ(tilevm_device_open("auto", &device), TILEVM_OK) << tilevm_error();
  tilevm_device_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(tilevm_device_get_info(device, &info), TILEVM_OK);
  EXPECT_TRUE(info.is_gpu);
  EXPECT_EQ(info.compute_major, 9);
  tilevm_module* module = nullptr;
  {
    const std::string bytes = ModuleWithImage();  // gone after this
    ASSERT_EQ(tilevm_module_from_bytes(bytes.data(), bytes.size(), nullptr, &module), TILEVM_OK) << tilevm_error();
  }
  tilevm_kernel* kernel = nullptr;
  ASSERT_EQ(tilevm_kernel_create(device, module, nullptr, &kernel), TILEVM_OK) << tilevm_error();
  const int64_t n = 100;
  float host[n];
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i);
  tilevm_buffer *a = nullptr, *c = nullptr;
  ASSERT_EQ(tilevm_buffer_create(device, sizeof host, &a), TILEVM_OK);
  ASSERT_EQ(tilevm_buffer_create(device, sizeof host, &c), TILEVM_OK);
  ASSERT_EQ(tilevm_buffer_upload(a, 0, host, sizeof host, nullptr), TILEVM_OK);
  tilevm_launch* launch = nullptr;
  ASSERT_EQ(tilevm_launch_create(kernel, &launch), TILEVM_OK);
  const tilevm_array in = {tilevm_buffer_data(a), TILEVM_F32, 1, &n, nullptr};
  const tilevm_array out = {tilevm_buffer_data(c), TILEVM_F32, 1, &n, nullptr};
  ASSERT_EQ(tilevm_launch_set_array(launch, "a", &in), TILEVM_OK);
  ASSERT_EQ(tilevm_launch_set_array(launch, "b", &in), TILEVM_OK);
  ASSERT_EQ(tilevm_launch_set_array(launch, "c", &out), TILEVM_OK);
  // A GPU checks nothing; asking it to is an error, not a launch without checks.
  tilevm_launch_options options = {};
  options.struct_size = sizeof options;
  options.check = TILEVM_CHECK_FULL;
  EXPECT_EQ(tilevm_launch_set_options(launch, &options), TILEVM_UNSUPPORTED) << tilevm_error();
  options.check = TILEVM_CHECK_NONE;
  options.order = "reverse";
  EXPECT_EQ(tilevm_launch_set_options(launch, &options), TILEVM_UNSUPPORTED) << tilevm_error();
  options.order = nullptr;
  options.unspecified = TILEVM_UNSPECIFIED_ONES;
  EXPECT_EQ(tilevm_launch_set_options(launch, &options), TILEVM_UNSUPPORTED) << tilevm_error();
  options.unspecified = TILEVM_UNSPECIFIED_ZERO;
  ASSERT_EQ(tilevm_launch_set_options(launch, &options), TILEVM_OK) << tilevm_error();
  tilevm_stream* stream = nullptr;
  ASSERT_EQ(tilevm_stream_create(device, &stream), TILEVM_OK);
  EXPECT_NE(tilevm_stream_native(stream), nullptr);
  ASSERT_EQ(tilevm_launch_run(launch, stream), TILEVM_OK) << tilevm_error();
  ASSERT_EQ(tilevm_stream_synchronize(stream), TILEVM_OK);
  ASSERT_EQ(tilevm_buffer_download(c, 0, host, sizeof host, nullptr), TILEVM_OK);
  for (int i = 0; i < n; ++i) EXPECT_EQ(host[i], static_cast<float>(2 * i));
  // Only what is needed: the output's initial value and the launch.
  reset();
  ASSERT_EQ(tilevm_launch_run(launch, stream), TILEVM_OK);
  EXPECT_STREQ(log(), "cuMemsetD8Async 0 400\ncuLaunchKernel vector_add grid=2,1,1 block=128 shared=0\n");
  // A stream of somebody else.
  tilevm_stream* wrapped = nullptr;
  ASSERT_EQ(tilevm_stream_wrap(device, tilevm_stream_native(stream), &wrapped), TILEVM_OK);
  EXPECT_EQ(tilevm_launch_run(launch, wrapped), TILEVM_OK);
  tilevm_stream_destroy(wrapped);
  tilevm_device_close(device);
  tilevm_module_destroy(module);
  tilevm_kernel_destroy(kernel);
  tilevm_launch_destroy(launch);
  tilevm_stream_destroy(stream);
  tilevm_buffer_destroy(a);
  EXPECT_GT(live(), 0);
  tilevm_buffer_destroy(c);
  EXPECT_EQ(live(), 0) << "everything is freed with the last handle";
  unsetenv("TILEVM_LIBCUDA");
}

// A compiler that answers with a module which has the image.
class FakeGpuCompiles : public ::testing::Test {
 protected:
  FakeGpuCompiles() {
    std::string name =
        std::string(std::getenv("TEST_TMPDIR") ? std::getenv("TEST_TMPDIR") : "/tmp") + "/compile-XXXXXX";
    folder_ = mkdtemp(name.data());
    setenv("TILEVM_LIBCUDA", "runtime/cuda/libfake_cuda.so", 1);
    setenv("FAKE_TILEC_OUTPUT", (folder_ + "/output").c_str(), 1);
    std::ofstream(folder_ + "/output", std::ios::binary) << ModuleWithImage();
    options_.struct_size = sizeof options_;
    options_.library = "runtime/jit/libfake_tilec.so";
    cache_ = folder_ + "/cache";
    options_.cache_folder = cache_.c_str();
    void* library = dlopen(options_.library, RTLD_NOW);
    calls_ = reinterpret_cast<int (*)()>(dlsym(library, "fake_tilec_calls"));
    capability_ = reinterpret_cast<int (*)()>(dlsym(library, "fake_tilec_capability"));
    EXPECT_EQ(tilevm_device_open("cuda", &device_), TILEVM_OK) << tilevm_error();
  }
  ~FakeGpuCompiles() override {
    tilevm_device_close(device_);
    for (const char* name : {"TILEVM_LIBCUDA", "FAKE_TILEC_OUTPUT", "FAKE_TILEC_FAIL"}) unsetenv(name);
  }
  // The status of making the kernel of a module and running it once; the answer must be right.
  tilevm_status Run(const std::string& bytes) {
    tilevm_module* module = nullptr;
    EXPECT_EQ(tilevm_module_from_bytes(bytes.data(), bytes.size(), nullptr, &module), TILEVM_OK) << tilevm_error();
    tilevm_kernel* kernel = nullptr;
    tilevm_status status = tilevm_kernel_create(device_, module, nullptr, &kernel);
    tilevm_module_destroy(module);
    if (status != TILEVM_OK) return status;
    const int64_t n = 3;
    float host[n] = {1, 2, 3};
    tilevm_buffer* buffers[2];
    tilevm_launch* launch = nullptr;
    EXPECT_EQ(tilevm_launch_create(kernel, &launch), TILEVM_OK);
    for (tilevm_buffer*& b : buffers) EXPECT_EQ(tilevm_buffer_create(device_, sizeof host, &b), TILEVM_OK);
    EXPECT_EQ(tilevm_buffer_upload(buffers[0], 0, host, sizeof host, nullptr), TILEVM_OK);
    const tilevm_array in = {tilevm_buffer_data(buffers[0]), TILEVM_F32, 1, &n, nullptr};
    const tilevm_array out = {tilevm_buffer_data(buffers[1]), TILEVM_F32, 1, &n, nullptr};
    EXPECT_EQ(tilevm_launch_set_array(launch, "a", &in), TILEVM_OK);
    EXPECT_EQ(tilevm_launch_set_array(launch, "b", &in), TILEVM_OK);
    EXPECT_EQ(tilevm_launch_set_array(launch, "c", &out), TILEVM_OK);
    for (int i = 0; i < 2 && status == TILEVM_OK; ++i) status = tilevm_launch_run(launch, nullptr);
    if (status == TILEVM_OK) {
      EXPECT_EQ(tilevm_buffer_download(buffers[1], 0, host, sizeof host, nullptr), TILEVM_OK);
      EXPECT_EQ(host[2], 6);
    }
    tilevm_launch_destroy(launch);
    for (tilevm_buffer* b : buffers) tilevm_buffer_destroy(b);
    tilevm_kernel_destroy(kernel);
    return status;
  }
  static std::string ModuleWithoutImage() {
    tile::ir::Diagnostics diagnostics;
    return *tile::ir::WriteTbc(*tile::ir::Parse(kText, "k.tile", &diagnostics));
  }

  std::string folder_, cache_;
  tilevm_compile_options options_ = {};
  tilevm_device* device_ = nullptr;
  int (*calls_)() = nullptr;
  int (*capability_)() = nullptr;
};

TEST_F(FakeGpuCompiles, OnlyWhenAllowed) {
  const int before = calls_();
  EXPECT_EQ(Run(ModuleWithoutImage()), TILEVM_UNSUPPORTED);
  EXPECT_STREQ(tilevm_error_code(), "run.no_image");
  EXPECT_EQ(calls_(), before);
  ASSERT_EQ(tilevm_device_allow_compile(device_, &options_), TILEVM_OK) << tilevm_error();
  EXPECT_EQ(Run(ModuleWithoutImage()), TILEVM_OK) << tilevm_error();
  EXPECT_EQ(calls_(), before + 1);
  EXPECT_EQ(capability_(), 90);
  EXPECT_EQ(Run(ModuleWithoutImage()), TILEVM_OK) << tilevm_error();
  EXPECT_EQ(calls_(), before + 1) << "from disk";
  EXPECT_EQ(Run(ModuleWithImage()), TILEVM_OK);
  EXPECT_EQ(calls_(), before + 1) << "not needed";
}

TEST_F(FakeGpuCompiles, ForArgumentsThatNoImageTakes) {
  const std::string picky = ModuleWithImage("something that never holds");
  EXPECT_EQ(Run(picky), TILEVM_UNSUPPORTED);
  EXPECT_STREQ(tilevm_error_code(), "run.no_image");
  ASSERT_EQ(tilevm_device_allow_compile(device_, &options_), TILEVM_OK);
  const int before = calls_();
  EXPECT_EQ(Run(picky), TILEVM_OK) << tilevm_error();
  EXPECT_EQ(calls_(), before + 1);
}

TEST_F(FakeGpuCompiles, WithoutKeepingIt) {
  options_.cache_folder = "";
  ASSERT_EQ(tilevm_device_allow_compile(device_, &options_), TILEVM_OK);
  const int before = calls_();
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(Run(ModuleWithoutImage()), TILEVM_OK);
    EXPECT_EQ(calls_(), before + i);
  }
}

TEST_F(FakeGpuCompiles, Failures) {
  ASSERT_EQ(tilevm_device_allow_compile(device_, &options_), TILEVM_OK);
  const struct {
    const char* fail;
    tilevm_status status;
    const char* code;
  } kCases[] = {{"1 k.tile:2:1: error[codegen.unsupported]: no", TILEVM_UNSUPPORTED, "codegen.unsupported"},
                {"5 error[codegen.libdevice]: no", TILEVM_UNAVAILABLE, "codegen.libdevice"},
                {"70 error[codegen.internal]: no", TILEVM_INTERNAL, "codegen.internal"}};
  for (const auto& c : kCases) {
    setenv("FAKE_TILEC_FAIL", c.fail, 1);
    EXPECT_EQ(Run(ModuleWithoutImage()), c.status);
    EXPECT_STREQ(tilevm_error_code(), c.code);
  }
}

TEST_F(FakeGpuCompiles, NoCompiler) {
  options_.library = "libno_such_compiler.so.1";
  EXPECT_EQ(tilevm_device_allow_compile(device_, &options_), TILEVM_UNAVAILABLE);
  EXPECT_STREQ(tilevm_error_code(), "jit.no_compiler");
  options_.struct_size = 0;
  EXPECT_EQ(tilevm_device_allow_compile(device_, &options_), TILEVM_INVALID_ARGUMENT);
  EXPECT_EQ(tilevm_device_allow_compile(nullptr, nullptr), TILEVM_INVALID_ARGUMENT);
  // The cpu needs none.
  tilevm_device* cpu = nullptr;
  ASSERT_EQ(tilevm_device_open("cpu", &cpu), TILEVM_OK);
  options_.struct_size = sizeof options_;
  EXPECT_EQ(tilevm_device_allow_compile(cpu, &options_), TILEVM_OK);
  tilevm_device_close(cpu);
}

}  // namespace
