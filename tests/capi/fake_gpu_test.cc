// The C interface on a GPU that a fake driver plays: a module with machine code from bytes to a launch.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "ir/tbc/writer.h"
#include "ir/text/parser.h"
#include "runtime/cuda/fake_cuda.h"
#include "runtime/tilevm.h"

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

std::string ModuleWithImage() {
  static const char kCode[] = "FAKECUBIN vector_add 8 8 8 8 4 4 4 8 8\n";
  tile::ir::Diagnostics diagnostics;
  const auto module = tile::ir::Parse(kText, "k.tile", &diagnostics);
  EXPECT_NE(module, nullptr) << diagnostics.ToString();
  tile::ir::Image i;
  i.arch = "sm_90a";
  i.symbol = "vector_add";
  i.threads = 128;
  i.flags = tile::ir::kTileAbi;
  i.code_hash = *tile::ir::HashCode(*module);
  i.payload = {reinterpret_cast<const uint8_t*>(kCode), sizeof kCode - 1};
  return *tile::ir::WriteTbc(*module, {.images = {&i, 1}});
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

}  // namespace
