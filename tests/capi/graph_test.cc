// Graphs keep what their launches need, when the launches are gone: on the cpu, and on a GPU that a fake driver plays. Of a graph
// that somebody else records the driver tells when it is gone.
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/cuda/fake_cuda.h"
#include "runtime/tilevm.hpp"
#include "tests/capi/fake_module.h"

namespace {

// y becomes what the workspace held, and counts up there: 0 each time, because workspaces are zeroed before each run. The initial
// value of z is copied from memory of the launch.
constexpr char kText[] = R"(
entry @count(%y: tile<ptr<i32>>, %z: tile<ptr<i32>>, %w: tile<ptr<i32>>, %g: tile<i32>) interface {
  out y: i32[1] at %y
  out z: i32[1024] at %z init 258
  workspace w: i32[1024] at %w
  scalar g = %g
  grid g
} {
  %one = constant <i32: 1> : tile<i32>
  %n, %k = atomic_rmw_tko relaxed device %w, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  %t = store_ptr_tko weak %y, %n : tile<ptr<i32>>, tile<i32> -> token
  return
}
)";
std::string Bytes() { return tile::FakeModule(kText, "count", "8 8 8 4 4 4 4 8 8"); }

template <class T>
T Param(const FakeLaunch& l, unsigned i) {
  T value;
  std::memcpy(&value, l.params[i], sizeof value);
  return value;
}

class Graphs : public testing::TestWithParam<const char*> {
 protected:
  Graphs() {
    setenv("TILEVM_LIBCUDA", "runtime/cuda/libfake_cuda.so", 1);
    library_ = dlopen("runtime/cuda/libfake_cuda.so", RTLD_NOW);
    Symbol<FakeSetKernelFn>("fake_cuda_set_kernel")(
        [](const FakeLaunch* l, void*) { *Param<int32_t*>(*l, 0) = (*Param<int32_t*>(*l, 2))++; }, nullptr);
    live_ = Symbol<FakeLiveFn>("fake_cuda_live")();
  }
  ~Graphs() override {
    Symbol<FakeResetFn>("fake_cuda_reset")();
    EXPECT_EQ(Symbol<FakeLiveFn>("fake_cuda_live")(), live_) << "not freed";
    unsetenv("TILEVM_LIBCUDA");
  }
  template <class F>
  F Symbol(const char* name) {
    return reinterpret_cast<F>(dlsym(library_, name));
  }

  // On a device with these buffers.
  struct Setup {
    tilevm::Device device;
    tilevm::Kernel kernel;
    tilevm::Buffer y, z;
    tilevm::Stream stream;
  };
  Setup Open() {
    tilevm::Device device = tilevm::Device::Open(GetParam()).value();
    const std::string bytes = Bytes();
    tilevm::Module module = tilevm::Module::FromBytes(bytes.data(), bytes.size()).value();
    tilevm::Kernel kernel = tilevm::Kernel::Create(device, module, "count").value();
    tilevm::Buffer y = tilevm::Buffer::Create(device, 4).value(), z = tilevm::Buffer::Create(device, 4096).value();
    tilevm::Stream stream = tilevm::Stream::Create(device).value();
    return {std::move(device), std::move(kernel), std::move(y), std::move(z), std::move(stream)};
  }
  static tilevm::Launch Prepare(Setup& s, int blocks) {
    tilevm::Launch launch = tilevm::Launch::Create(s.kernel).value();
    launch.Set("y", s.y.Array<int32_t>({1})).Set("z", s.z.Array<int32_t>({1024})).Set("g", blocks).Prepare().OrThrow();
    return launch;
  }
  // Runs the graph by `run`, when memory has been given out again that the launch had, if it was given back.
  template <class Run>
  static void Check(Setup& s, int blocks, Run&& run) {
    std::vector<tilevm::Buffer> others;
    for (int i = 0; i < 8; ++i) {
      others.push_back(tilevm::Buffer::Create(s.device, 4096).value());
      others.back().Fill(5).OrThrow();
    }
    for (int i = 0; i < 2; ++i) {
      s.y.Fill(7).OrThrow();
      s.z.Fill(7).OrThrow();
      run();
      s.stream.Synchronize().OrThrow();
      int32_t y = 0, z[1024];
      s.y.Download(&y, sizeof y).OrThrow();
      s.z.Download(z, sizeof z).OrThrow();
      EXPECT_EQ(y, blocks > 0 ? 0 : 0x07070707);
      EXPECT_EQ(z[0], 258);
      EXPECT_EQ(z[1023], 258);
    }
    for (tilevm::Buffer& other : others) {
      std::array<uint8_t, 4096> bytes;
      other.Download(bytes.data(), bytes.size()).OrThrow();
      for (const uint8_t byte : bytes) ASSERT_EQ(byte, 5) << "memory of others was written";
    }
  }

  void* library_ = nullptr;
  long live_ = 0;
};

TEST_P(Graphs, KeepWhatTheyNeed) {
  for (const int blocks : {1, 0}) {
    Setup s = Open();
    tilevm::Graph graph = [&] {
      tilevm::Launch launch = Prepare(s, blocks);
      s.stream.BeginCapture().OrThrow();
      launch.Run(&s.stream).OrThrow();
      return tilevm::Graph::EndCapture(s.stream).value();
    }();
    Check(s, blocks, [&] { graph.Run(&s.stream).OrThrow(); });
  }
}

TEST_P(Graphs, KeepLaunchesAsTheyWere) {
  Setup s = Open();
  tilevm::Launch launch = Prepare(s, 1);
  s.stream.BeginCapture().OrThrow();
  launch.Run(&s.stream).OrThrow();
  tilevm::Graph graph = tilevm::Graph::EndCapture(s.stream).value();
  launch.Set("g", 0);
  Check(s, 1, [&] { graph.Run(&s.stream).OrThrow(); });
}

INSTANTIATE_TEST_SUITE_P(Devices, Graphs, testing::Values("cpu", "cuda"));

class GraphsOfOthers : public Graphs {};

TEST_P(GraphsOfOthers, KeepWhatTheyNeed) {
  const auto begin = Symbol<int (*)(void*, int)>("cuStreamBeginCapture_v2");
  const auto end = Symbol<int (*)(void*, void**)>("cuStreamEndCapture");
  const auto instantiate = Symbol<int (*)(void**, void*, unsigned long long)>("cuGraphInstantiateWithFlags");
  const auto run = Symbol<int (*)(void*, void*)>("cuGraphLaunch");
  const auto destroy = Symbol<int (*)(void*)>("cuGraphDestroy"),
             destroy_executable = Symbol<int (*)(void*)>("cuGraphExecDestroy");
  const auto live = Symbol<FakeLiveFn>("fake_cuda_live");
  for (const int blocks : {1, 0}) {
    Setup s = Open();
    void *graph = nullptr, *executable = nullptr;
    Prepare(s, blocks);  // what stays with the kernel and the device
    const long before = live();
    {
      tilevm::Launch launch = Prepare(s, blocks);
      ASSERT_EQ(begin(tilevm_stream_native(s.stream.get()), 0), 0);
      launch.Run(&s.stream).OrThrow();
      ASSERT_EQ(end(tilevm_stream_native(s.stream.get()), &graph), 0);
      ASSERT_EQ(instantiate(&executable, graph, 0), 0);
      s.stream.Synchronize().OrThrow();  // the stream has no part in it any more
    }
    destroy(graph);
    Check(s, blocks, [&] { ASSERT_EQ(run(executable, tilevm_stream_native(s.stream.get())), 0); });
    EXPECT_GT(live(), before + 3) << "a user object, a graph, a workspace, the values of z";
    destroy_executable(executable);
    s.stream.Synchronize().OrThrow();
    EXPECT_EQ(live(), before);
  }
}

// A kernel with a workspace of its image, which counts there.
std::string CounterBytes() {
  constexpr char kCounter[] = R"(
entry @counter(%y: tile<ptr<i32>>) {
  return
}
)";
  return tile::FakeModule(kCounter, "counter", "8 4 4 4 8 8", [](tile::ir::Image* i) {
    i->workspaces.push_back({.bytes = {{tile::ir::ExprOp::kConst, 0, 0, 4}}, .alignment = 4, .zeroed = true});
  });
}

TEST_P(GraphsOfOthers, TakeLaunchesAsNodes) {
  const auto create = Symbol<int (*)(void**, unsigned)>("cuGraphCreate");
  const auto instantiate = Symbol<int (*)(void**, void*, unsigned long long)>("cuGraphInstantiateWithFlags");
  const auto run = Symbol<int (*)(void*, void*)>("cuGraphLaunch");
  const auto destroy = Symbol<int (*)(void*)>("cuGraphDestroy"),
             destroy_executable = Symbol<int (*)(void*)>("cuGraphExecDestroy");
  Symbol<FakeSetKernelFn>("fake_cuda_set_kernel")(
      [](const FakeLaunch* l, void*) { *Param<int32_t*>(*l, 0) = ++*Param<int32_t*>(*l, 5); }, nullptr);
  tilevm::Device device = tilevm::Device::Open(GetParam()).value();
  const std::string bytes = CounterBytes();
  tilevm::Module module = tilevm::Module::FromBytes(bytes.data(), bytes.size()).value();
  tilevm::Kernel kernel = tilevm::Kernel::Create(device, module, "counter").value();
  tilevm::Buffer y = tilevm::Buffer::Create(device, 4).value();
  void *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(create(&graph, 0), 0);
  {
    tilevm_launch* launch = nullptr;
    ASSERT_EQ(tilevm_launch_create(kernel.get(), &launch), TILEVM_OK);
    const auto address = reinterpret_cast<uintptr_t>(tilevm_buffer_data(y.get()));
    ASSERT_EQ(tilevm_launch_set_parameter(launch, 0, address), TILEVM_OK);
    ASSERT_EQ(tilevm_launch_set_grid(launch, 1, 1, 1), TILEVM_OK);
    ASSERT_EQ(tilevm_launch_add_to_graph(launch, graph), TILEVM_OK) << tilevm_error();
    tilevm_launch_destroy(launch);  // the graph keeps what it needs
  }
  ASSERT_EQ(instantiate(&executable, graph, 0), 0);
  destroy(graph);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(run(executable, nullptr), 0);
    int32_t value = 0;
    y.Download(&value, sizeof value).OrThrow();
    EXPECT_EQ(value, 1) << "the workspace is cleared each time";
  }
  destroy_executable(executable);
  tilevm::Stream::Create(device).value().Synchronize().OrThrow();  // frees what the graph kept
}

INSTANTIATE_TEST_SUITE_P(Devices, GraphsOfOthers, testing::Values("cuda"));

TEST_P(Graphs, SayWhatIsNoNode) {
  Setup s = Open();
  tilevm::Launch launch = Prepare(s, 1);
  int graph = 0;  // not looked at
  EXPECT_EQ(tilevm_launch_add_to_graph(launch.get(), &graph), TILEVM_UNSUPPORTED);
  EXPECT_STREQ(tilevm_error_code(), "run.graph");
}

}  // namespace
