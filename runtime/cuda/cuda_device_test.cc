// The cuda device over a fake driver: which calls are made, what a kernel receives, what becomes of traps and failures.
#include "runtime/cuda/cuda_device.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/tbc/writer.h"
#include "ir/text/parser.h"
#include "runtime/cuda/fake_cuda.h"
#include "runtime/cuda/kernel_abi.h"
#include "runtime/error.h"
#include "runtime/host_memory.h"
#include "runtime/open_device.h"
#include "runtime/report.h"

namespace tile::runtime {
namespace {

using ir::ExprOp;
using testing::HasSubstr;
using testing::Not;

constexpr char kText[] = R"(
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i64>, %flag: tile<i1>) {
  return
}
)";
constexpr char kCode[] = "FAKECUBIN k 8 8 8 1 4 4 4 8 8\n";

ir::Image MakeImage() {
  ir::Image i;
  i.arch = "sm_90a";
  i.symbol = "k";
  i.threads = 128;
  i.flags = ir::kTileAbi;
  i.payload = {reinterpret_cast<const uint8_t*>(kCode), sizeof kCode - 1};
  return i;
}

template <class T>
T Param(const FakeLaunch& l, unsigned i) {
  T value;
  EXPECT_LT(i, l.num_params);
  std::memcpy(&value, l.params[i], sizeof value);
  return value;
}

class CudaDevice : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TILEVM_LIBCUDA", "runtime/cuda/libfake_cuda.so", 1);
    library_ = dlopen("runtime/cuda/libfake_cuda.so", RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    Reset();
    ir::Diagnostics diagnostics;
    module_ = ir::Parse(kText, "k.tile", &diagnostics);
    ASSERT_NE(module_, nullptr) << diagnostics.ToString();
    live_ = Live();
  }
  void TearDown() override {
    device_.reset();
    EXPECT_EQ(Live(), live_) << "not freed";
    for (const char* name : {"TILEVM_LIBCUDA", "FAKE_CUDA_CC", "FAKE_CUDA_DEVICES", "FAKE_CUDA_VERSION"})
      unsetenv(name);
  }

  template <class F>
  F Symbol(const char* name) {
    return reinterpret_cast<F>(dlsym(library_, name));
  }
  std::string Log() { return Symbol<FakeLogFn>("fake_cuda_log")(); }
  void Reset() { Symbol<FakeResetFn>("fake_cuda_reset")(); }
  long Live() { return Symbol<FakeLiveFn>("fake_cuda_live")(); }
  void Fail(const char* function, int result) { Symbol<FakeFailFn>("fake_cuda_fail")(function, result); }
  void OnLaunch(std::function<void(const FakeLaunch&)> f) {
    kernel_ = std::move(f);
    Symbol<FakeSetKernelFn>("fake_cuda_set_kernel")(
        [](const FakeLaunch* l, void* self) { static_cast<CudaDevice*>(self)->kernel_(*l); }, this);
  }

  Device& Open() {
    auto device = OpenDevice("cuda");
    EXPECT_TRUE(device.ok()) << device.status();
    device_ = *device;
    return *device_;
  }
  absl::StatusOr<std::shared_ptr<LoadedKernel>> Load(std::vector<ir::Image> images) {
    auto program = std::make_shared<Program>();
    program->module = std::shared_ptr<const ir::Module>(module_.get(), [](const ir::Module*) {});
    program->images = std::move(images);
    return Open().Load(program, *module_->functions[0]);
  }
  // Prepares with four words.
  absl::StatusOr<std::shared_ptr<PreparedLaunch>> Prepare(std::vector<ir::Image> images,
                                                          std::array<int64_t, 3> grid = {5, 6, 7}) {
    auto kernel = Load(std::move(images));
    if (!kernel.ok()) return kernel.status();
    return (*kernel)->Prepare({grid, {0x1000, 0x2000, 1234567890123, 1}, {}});
  }
  absl::Status RunOnce(std::vector<ir::Image> images) {
    auto launch = Prepare(std::move(images));
    if (!launch.ok()) return launch.status();
    if (absl::Status s = (*launch)->Run(device_->default_stream()); !s.ok()) return s;
    return device_->default_stream()->Synchronize();
  }

  void* library_ = nullptr;
  std::unique_ptr<ir::Module> module_;
  std::shared_ptr<Device> device_;
  std::function<void(const FakeLaunch&)> kernel_;
  long live_ = 0;
};

TEST_F(CudaDevice, Info) {
  setenv("FAKE_CUDA_DEVICES", "2", 1);
  auto device = OpenDevice("cuda:1");
  ASSERT_TRUE(device.ok()) << device.status();
  const DeviceInfo& info = (*device)->info();
  EXPECT_EQ(info.name, "cuda:1");
  EXPECT_EQ(info.description, "Fake 1");
  EXPECT_EQ(info.num_sms, 4);
  EXPECT_EQ(info.compute_major, 9);
  EXPECT_EQ(info.driver_version, 13000);
  EXPECT_EQ(info.memory_bytes, uint64_t{1} << 34);
  const absl::Status s = OpenDevice("cuda:2").status();
  EXPECT_EQ(ErrorCodeOf(s), "cuda.no_such_device");
  EXPECT_THAT(std::string(s.message()), HasSubstr("there is no GPU 2: the driver has 2\n  fix: use cuda:0 to cuda:1"));
}

TEST_F(CudaDevice, Names) {
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda0", "cpu:1"}) {
    EXPECT_EQ(ErrorCodeOf(OpenDevice(name).status()), "run.device") << name;
  }
  std::string why;
  auto device = OpenDevice("auto", {}, &why);
  ASSERT_TRUE(device.ok());
  EXPECT_EQ((*device)->info().name, "cuda:0");
  setenv("FAKE_CUDA_DEVICES", "0", 1);
  device = OpenDevice("auto", {.threads = 3}, &why);
  ASSERT_TRUE(device.ok());
  EXPECT_EQ((*device)->info().name, "cpu");
  EXPECT_EQ((*device)->info().num_sms, 3);
  EXPECT_THAT(why, HasSubstr("cuda.no_such_device"));
}

TEST_F(CudaDevice, ParametersOfTheAbi) {
  int runs = 0;
  OnLaunch([&](const FakeLaunch& l) {
    ++runs;
    EXPECT_STREQ(l.symbol, "k");
    EXPECT_EQ(l.grid[0] * 100 + l.grid[1] * 10 + l.grid[2], 567u);
    EXPECT_EQ(l.block[0], 128u);
    ASSERT_EQ(l.num_params, 9u);
    EXPECT_EQ(Param<uint64_t>(l, 0), 0x1000u);
    EXPECT_EQ(Param<uint64_t>(l, 1), 0x2000u);
    EXPECT_EQ(Param<int64_t>(l, 2), 1234567890123);
    EXPECT_EQ(Param<uint8_t>(l, 3), 1);
    EXPECT_EQ(Param<int32_t>(l, 4), 5);
    EXPECT_EQ(Param<int32_t>(l, 5), 6);
    EXPECT_EQ(Param<int32_t>(l, 6), 7);
    const auto* record = Param<const TileTrapRecord*>(l, 7);
    EXPECT_EQ(record->kind + record->count + record->print_capacity, 0u);
    EXPECT_EQ(Param<uint64_t>(l, 8), 0u);
  });
  EXPECT_TRUE(RunOnce({MakeImage()}).ok());
  EXPECT_EQ(runs, 1);
  EXPECT_THAT(Log(), HasSubstr("cuLaunchKernel k grid=5,6,7 block=128 shared=0\n"));
}

TEST_F(CudaDevice, PreparedLaunchMakesOneCall) {
  auto launch = Prepare({MakeImage()});
  ASSERT_TRUE(launch.ok()) << launch.status();
  Stream* stream = device_->default_stream();
  ASSERT_TRUE((*launch)->Run(stream).ok());
  Reset();
  ASSERT_TRUE((*launch)->Run(stream).ok());
  ASSERT_TRUE((*launch)->Run(stream).ok());
  EXPECT_EQ(Log(), "cuLaunchKernel k grid=5,6,7 block=128 shared=0\ncuLaunchKernel k grid=5,6,7 block=128 shared=0\n");
}

// The driver takes a graph of a kernel faster than the kernel.
TEST_F(CudaDevice, LaunchThatRepeatsOnOneStreamBecomesAGraph) {
  ir::Image i = MakeImage();
  i.workspaces = {{{{ExprOp::kConst, 0, 0, 64}}, 256, true}};
  int runs = 0;
  const auto kernel = [&](const FakeLaunch& l) {
    ++runs;
    auto* workspace = reinterpret_cast<uint8_t*>(Param<uint64_t>(l, 8));
    for (int b = 0; b < 64; ++b) EXPECT_EQ(workspace[b], 0) << b;
    std::memset(workspace, 1, 64);
  };
  const auto forget_log = [&] {
    Reset();
    OnLaunch(kernel);
  };
  OnLaunch(kernel);
  auto launch = Prepare({i});
  ASSERT_TRUE(launch.ok()) << launch.status();
  auto stream = device_->CreateStream(), other = device_->CreateStream();
  ASSERT_TRUE(stream.ok() && other.ok());
  for (int n = 0; n < 40; ++n) ASSERT_TRUE((*launch)->Run(stream->get()).ok());
  EXPECT_EQ(runs, 40);
  const std::string made = Log();
  EXPECT_THAT(made, HasSubstr("cuGraphInstantiateWithFlags"));
  EXPECT_EQ(made.find("cuGraphInstantiateWithFlags"), made.rfind("cuGraphInstantiateWithFlags"));
  forget_log();
  ASSERT_TRUE((*launch)->Run(stream->get()).ok());
  EXPECT_EQ(Log(), "cuGraphLaunch  \n");
  // It does not run beside itself, so that on changing streams it remains a launch.
  forget_log();
  for (Stream* on : {other->get(), stream->get()}) ASSERT_TRUE((*launch)->Run(on).ok());
  EXPECT_THAT(Log(), testing::Not(HasSubstr("cuGraphLaunch")));
  EXPECT_EQ(runs, 43);
  // What is recorded is recorded as ever.
  ASSERT_TRUE((*launch)->Run(stream->get()).ok());
  forget_log();
  ASSERT_TRUE((*stream)->BeginCapture().ok());
  ASSERT_TRUE((*launch)->Run(stream->get()).ok());
  EXPECT_THAT(Log(), HasSubstr("cuLaunchKernel k"));
  EXPECT_THAT(Log(), testing::Not(HasSubstr("cuGraphLaunch")));
  ASSERT_TRUE((*stream)->EndCapture().ok());
  EXPECT_EQ(runs, 44);
  Fail("cuGraphLaunch", 999);
  EXPECT_THAT(std::string((*launch)->Run(stream->get()).message()), HasSubstr("launching `k`"));
}

// Graphs take memory of the device.
TEST_F(CudaDevice, LaunchesBecomeOnlySoManyGraphs) {
  auto kernel = Load({MakeImage()});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto graphs_of = [&](std::vector<std::shared_ptr<PreparedLaunch>>& launches) {
    for (int i = 0; i < 300; ++i) {
      auto launch = (*kernel)->Prepare({{5, 6, 7}, {0x1000, 0x2000, 3, 1}, {}});
      EXPECT_TRUE(launch.ok()) << launch.status();
      for (int n = 0; n < 20; ++n) EXPECT_TRUE((*launch)->Run(device_->default_stream()).ok());
      launches.push_back(*launch);
    }
    EXPECT_TRUE(device_->default_stream()->Synchronize().ok());
    const std::string log = Log();
    Reset();
    int graphs = 0;
    for (size_t at = log.find("cuGraphInstantiate"); at != std::string::npos;
         at = log.find("cuGraphInstantiate", at + 1))
      ++graphs;
    return graphs;
  };
  std::vector<std::shared_ptr<PreparedLaunch>> first, second;
  EXPECT_EQ(graphs_of(first), 256);
  first.clear();  // and theirs with them
  EXPECT_EQ(graphs_of(second), 256);
}

// Alone in a graph it has nothing in front, but the driver takes it faster than a launch.
TEST_F(CudaDevice, LaunchThatMayStartEarly) {
  ir::Image i = MakeImage();
  i.flags |= ir::kProgrammaticLaunch;
  for (const int version : {13000, 12020}) {
    SCOPED_TRACE(version);
    setenv("FAKE_CUDA_VERSION", std::to_string(version).c_str(), 1);
    auto launch = Prepare({i});
    ASSERT_TRUE(launch.ok()) << launch.status();
    Reset();
    ASSERT_TRUE((*launch)->Run(device_->default_stream()).ok());
    EXPECT_THAT(Log(), HasSubstr("pdl=1"));
    for (int n = 0; n < 40; ++n) ASSERT_TRUE((*launch)->Run(device_->default_stream()).ok());
    EXPECT_THAT(Log(), HasSubstr("cuGraphLaunch"));
    const absl::StatusOr<uint64_t> memory = device_->Allocate(64);
    ASSERT_TRUE(memory.ok());
    // It is recorded behind another kernel of ours, not behind something else. Old drivers cannot record it.
    auto stream = device_->CreateStream();
    ASSERT_TRUE(stream.ok() && (*stream)->BeginCapture().ok());
    const auto recorded = [&] {
      Reset();
      EXPECT_TRUE((*launch)->Run(stream->get()).ok());
      return Log();
    };
    EXPECT_THAT(recorded(), HasSubstr("pdl=0"));
    EXPECT_THAT(recorded(), HasSubstr(version == 13000 ? "pdl=1" : "pdl=0"));
    ASSERT_TRUE(device_->Fill(*memory, 0, 64, stream->get()).ok());
    EXPECT_THAT(recorded(), HasSubstr("pdl=0"));
    EXPECT_THAT(recorded(), HasSubstr(version == 13000 ? "pdl=1" : "pdl=0"));
    ASSERT_TRUE((*stream)->EndCapture().ok());
    device_->Free(*memory);
  }
}

// Where the GPU is behind, it starts before the kernel in front has ended, which a graph does not.
TEST_F(CudaDevice, LaunchThatMayStartEarlyIsNoGraphBehindOtherWork) {
  for (const bool early : {true, false}) {
    SCOPED_TRACE(early);
    ir::Image i = MakeImage();
    if (early) i.flags |= ir::kProgrammaticLaunch;
    auto launch = Prepare({i});
    ASSERT_TRUE(launch.ok()) << launch.status();
    ASSERT_TRUE((*launch)->Run(device_->default_stream()).ok());
    const auto log_of = [&](bool is_behind) {
      Reset();
      if (is_behind) Fail("cuStreamQuery", 600);
      for (int n = 0; n < 16; ++n) EXPECT_TRUE((*launch)->Run(device_->default_stream()).ok());
      return Log();
    };
    const auto becomes = early ? testing::Matcher<std::string>(testing::Not(HasSubstr("cuGraphLaunch")))
                               : testing::Matcher<std::string>(HasSubstr("cuGraphLaunch"));
    EXPECT_THAT(log_of(true), becomes);
    EXPECT_THAT(log_of(true), becomes);
    // Once the GPU has caught up, and back.
    EXPECT_THAT(log_of(false), HasSubstr("cuGraphLaunch"));
    log_of(true);
    EXPECT_THAT(log_of(true), becomes);
  }
}

// What fills its workspace comes in front.
TEST_F(CudaDevice, LaunchBehindAFillDoesNotStartEarly) {
  ir::Image i = MakeImage();
  i.flags |= ir::kProgrammaticLaunch;
  i.workspaces = {{{{ExprOp::kConst, 0, 0, 64}}, 256, true}};
  ASSERT_TRUE(RunOnce({i}).ok());
  EXPECT_THAT(Log(), HasSubstr("cuLaunchKernel k"));
}

TEST_F(CudaDevice, EmptyGridLaunchesNothing) {
  auto launch = Prepare({MakeImage()}, {5, 0, 1});
  ASSERT_TRUE(launch.ok()) << launch.status();
  Reset();
  EXPECT_TRUE((*launch)->Run(device_->default_stream()).ok());
  EXPECT_EQ(Log(), "");
  EXPECT_THAT(std::string(Prepare({MakeImage()}, {-1, 1, 1}).status().message()), HasSubstr("-1 x 1 x 1"));
  EXPECT_THAT(std::string(Prepare({MakeImage()}, {1 << 24, 1, 1}).status().message()), HasSubstr("from 0 to"));
}

TEST_F(CudaDevice, SharedMemoryClusterPersistent) {
  ir::Image i = MakeImage();
  i.shared_bytes = 100000;
  i.cluster = {2, 1, 1};
  i.flags |= ir::kPersistentGrid | ir::kProgrammaticLaunch | ir::kCooperativeLaunch;
  ASSERT_TRUE(RunOnce({i}).ok());
  EXPECT_THAT(Log(), HasSubstr("cuFuncSetAttribute k 8=100000\n"));
  // 4 multiprocessors with 2 blocks each.
  EXPECT_THAT(Log(), HasSubstr("cuLaunchKernelEx k grid=8,1,1 block=128 shared=100000 cluster=2,1,1 coop=1 pdl=1\n"));
}

TEST_F(CudaDevice, ThreadsFromTheCode) {
  ir::Image i = MakeImage();
  i.threads = 0;
  ASSERT_TRUE(RunOnce({i}).ok());
  EXPECT_THAT(Log(), HasSubstr("block=256 "));
  i.threads = 512;
  EXPECT_THAT(std::string(RunOnce({i}).message()), HasSubstr("wants 512 threads, its code can have 256"));
}

TEST_F(CudaDevice, WorkspacesAndComputedParameters) {
  static const char kOther[] = "FAKECUBIN k 128 8 8 4 8 4 4 4 8 8\n";
  ir::Image i = MakeImage();
  i.payload = {reinterpret_cast<const uint8_t*>(kOther), sizeof kOther - 1};
  i.flags |= ir::kPersistentGrid;
  i.workspaces = {{{{ExprOp::kShape, -2, 0, 0}, {ExprOp::kConst, 0, 0, 100}, {ExprOp::kMul, 0, 0, 0}}, 4096, true},
                  {{{ExprOp::kConst, 0, 0, 64}}, 256, false}};
  ir::TmaDescriptor t;
  t.element = ir::Elem::kBF16;
  t.base_param = 1;
  t.offset = {{ExprOp::kConst, 0, 0, 32}};
  t.sizes = {{{ExprOp::kScalar, 2, 0, 0}}, {{ExprOp::kConst, 0, 0, 8}}};
  t.strides = {{{ExprOp::kConst, 0, 0, 4096}}};
  t.box = {64, 8};
  t.swizzle = 3;
  i.tma = {t};
  using Kind = ir::ImageParam::Kind;
  i.params = {{Kind::kTmaDescriptor, 0, {}},
              {Kind::kWorkspace, 1, {}},
              {Kind::kKernelParam, 0, {}},
              {Kind::kValue32, 0, {{ExprOp::kNumSms, 0, 0, 0}}},
              {Kind::kValue64, 0, {{ExprOp::kConst, 0, 0, -1}}}};
  uint64_t workspace = 0;
  OnLaunch([&](const FakeLaunch& l) {
    ASSERT_EQ(l.num_params, 10u);
    EXPECT_EQ(Param<uint64_t>(l, 0), 0x2020u);  // the address in the map
    EXPECT_EQ(Param<uint64_t>(l, 2), 0x1000u);
    EXPECT_EQ(Param<int32_t>(l, 3), 4);
    EXPECT_EQ(Param<int64_t>(l, 4), -1);
    EXPECT_EQ(Param<int32_t>(l, 6), 6);
    workspace = Param<uint64_t>(l, 9);
    EXPECT_EQ(workspace % 4096, 0u);
    EXPECT_NE(Param<uint64_t>(l, 1), workspace);
    for (int b = 0; b < 800; ++b) EXPECT_EQ(reinterpret_cast<uint8_t*>(workspace)[b], 0) << b;
    std::memset(reinterpret_cast<void*>(workspace), 1, 800);
  });
  auto launch = Prepare({i});
  ASSERT_TRUE(launch.ok()) << launch.status();
  for (int n = 0; n < 2; ++n) ASSERT_TRUE((*launch)->Run(device_->default_stream()).ok());
  ASSERT_NE(workspace, 0u);
  EXPECT_THAT(Log(),
              HasSubstr("cuTensorMapEncodeTiled type=9 rank=2 sizes=1234567890123,8 stride=4096 box=64,8 swizzle=3\n"));
  EXPECT_THAT(Log(), HasSubstr("cuMemsetD8Async 0 800\ncuLaunchKernel k grid=8,1,1"));
}

TEST_F(CudaDevice, FirstImageThatFits) {
  ir::Image aligned = MakeImage(), general = MakeImage();
  aligned.threads = 64;
  aligned.requirements = {{{{ExprOp::kScalar, 2, 0, 0},
                            {ExprOp::kConst, 0, 0, 16},
                            {ExprOp::kMod, 0, 0, 0},
                            {ExprOp::kConst, 0, 0, 0},
                            {ExprOp::kEqual, 0, 0, 0}},
                           "%n is a multiple of 16"}};
  ir::Image other = MakeImage();
  other.arch = "sm_80";
  ASSERT_TRUE(RunOnce({other, aligned, general}).ok());
  EXPECT_THAT(Log(), HasSubstr("block=128"));
  const absl::Status s = RunOnce({other, aligned});
  EXPECT_EQ(ErrorCodeOf(s), "run.no_image");
  EXPECT_EQ(s.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(
      s.message(),
      "error[run.no_image]: no machine code of kernel `k` fits these arguments:\n    sm_90a `k` requires: %n is a "
      "multiple of 16\n  fix: compile it with `tilec --sm=90 --embed`, or run it on the VM (device cpu)");
}

TEST_F(CudaDevice, NoImage) {
  EXPECT_THAT(std::string(Load({}).status().message()),
              HasSubstr("the file has no machine code of kernel `k`\n  fix: "));
  ir::Image old = MakeImage(), stale = MakeImage(), elsewhere = MakeImage();
  old.arch = "sm_75";
  stale.code_hash.fill(7);
  elsewhere.kernel = 9;
  const std::string text(Load({old, stale, elsewhere}).status().message());
  EXPECT_THAT(
      text, HasSubstr("fits this GPU:\n    sm_75 `k` does not run on this GPU, an sm_90\n    sm_90a `k` was compiled"));
}

TEST_F(CudaDevice, DamagedImages) {
  ir::Image damaged = MakeImage(), misnamed = MakeImage();
  static const uint8_t kNoise[] = "noise";
  damaged.payload = kNoise;
  misnamed.symbol = "other";
  const std::string text(RunOnce({damaged, misnamed}).message());
  EXPECT_THAT(text, HasSubstr("can't be loaded: "));
  EXPECT_THAT(text, HasSubstr("fake: not a program"));
  EXPECT_THAT(text, HasSubstr("has no function `other`"));
  // A good one behind them is used.
  EXPECT_TRUE(RunOnce({damaged, misnamed, MakeImage()}).ok());
}

TEST_F(CudaDevice, Traps) {
  ir::Image i = MakeImage();
  i.sites = {{"vm.assert", "k.py:7:3", "assert", "n must be even", {}}};
  bool fails = true;
  OnLaunch([&](const FakeLaunch& l) {
    if (!fails) return;
    auto* record = Param<TileTrapRecord*>(l, 7);
    *record = {TILE_TRAP_ASSERT, 0, {1, 2, 3}, 9, {0, 0}, 5, 0, 0, 0, 0};
  });
  auto launch = Prepare({i});
  ASSERT_TRUE(launch.ok()) << launch.status();
  Stream* stream = device_->default_stream();
  ASSERT_TRUE((*launch)->Run(stream).ok());
  absl::Status s = stream->Synchronize();
  EXPECT_EQ(s.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(s.message(),
            "k.py:7:3: error[vm.assert]: n must be even (element 9 of the tile); 4 more such reports were not "
            "kept\n  in kernel `k`, block (1, 2, 3), at assert");
  const std::vector<Report> reports = ReportsOf(s);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].code, "vm.assert");
  EXPECT_EQ(reports[0].block[2], 3);
  EXPECT_EQ(reports[0].ToString(), s.message());
  EXPECT_TRUE(ReportsOf(absl::AbortedError("else")).empty());
  // Said once; the next launch starts clean.
  EXPECT_TRUE(stream->Synchronize().ok());
  fails = false;
  ASSERT_TRUE((*launch)->Run(stream).ok());
  EXPECT_TRUE(stream->Synchronize().ok());
  fails = true;
  ASSERT_TRUE((*launch)->Run(stream).ok());
  EXPECT_FALSE(stream->Synchronize().ok());
}

TEST_F(CudaDevice, TrapWithoutSite) {
  OnLaunch([&](const FakeLaunch& l) {
    *Param<TileTrapRecord*>(l, 7) = {TILE_TRAP_BOUNDS, 12, {0, 0, 0}, 0xffffffff, {1000, 1000}, 1, 0, 0, 0, 0};
  });
  EXPECT_THAT(
      std::string(RunOnce({MakeImage()}).message()),
      HasSubstr(
          "error[vm.out_of_bounds]: an access is out of bounds (index 1000 of 1000)\n  in kernel `k`, block (0, 0, "
          "0), at site 12"));
}

TEST_F(CudaDevice, Prints) {
  ir::Image i = MakeImage();
  i.sites = {{"", "", "print_tko", "n = %d, x = %.1f\n", {{ir::Elem::kI32, {}}, {ir::Elem::kF32, {2}}}}};
  uint32_t used = 48;
  OnLaunch([&](const FakeLaunch& l) {
    auto* record = Param<TileTrapRecord*>(l, 7);
    ASSERT_GE(record->print_capacity, 4096u);
    auto* area = reinterpret_cast<uint8_t*>(record + 1);
    const TilePrintEntry entry = {40, 0, {0, 0, 0}, 0};
    const int32_t n = 42;
    const float x[] = {0.5f, -3};
    std::memcpy(area, &entry, sizeof entry);
    std::memcpy(area + 24, &n, 4);
    std::memcpy(area + 32, x, 8);
    std::memset(area + 40, 0xff, 8);  // an entry that makes no sense
    record->print_used = used;
  });
  std::string printed;
  Open().set_print([&](absl::string_view text) { absl::StrAppend(&printed, text); });
  auto program = std::make_shared<Program>();
  program->module = std::shared_ptr<const ir::Module>(module_.get(), [](const ir::Module*) {});
  program->images = {i};
  auto kernel = device_->Load(program, *module_->functions[0]);
  ASSERT_TRUE(kernel.ok());
  auto launch = (*kernel)->Prepare({{1, 1, 1}, {0, 0, 0, 0}, {}});
  ASSERT_TRUE(launch.ok());
  ASSERT_TRUE((*launch)->Run(device_->default_stream()).ok());
  EXPECT_TRUE(device_->default_stream()->Synchronize().ok());
  EXPECT_EQ(printed, "n = 42, x = [0.5, -3.0]\n");
  used = (1 << 20) + 100;
  printed.clear();
  ASSERT_TRUE((*launch)->Run(device_->default_stream()).ok());
  EXPECT_TRUE(device_->default_stream()->Synchronize().ok());
  EXPECT_THAT(printed, HasSubstr("[100 bytes of prints were lost"));

  // Who has the stream itself waits without us.
  used = 40;
  printed.clear();
  auto own = device_->CreateStream();
  ASSERT_TRUE(own.ok());
  ASSERT_TRUE((*launch)->Run(own->get()).ok());
  EXPECT_EQ(printed, "");
  EXPECT_TRUE((*own)->Synchronize().ok());
  EXPECT_EQ(printed, "n = 42, x = [0.5, -3.0]\n");
  printed.clear();
  auto wrapped = device_->WrapStream((*own)->native());
  ASSERT_TRUE(wrapped.ok());
  ASSERT_TRUE((*launch)->Run(wrapped->get()).ok());
  EXPECT_EQ(printed, "n = 42, x = [0.5, -3.0]\n");
  EXPECT_TRUE((*wrapped)->Synchronize().ok());
  EXPECT_EQ(printed, "n = 42, x = [0.5, -3.0]\n");
}

TEST_F(CudaDevice, Faults) {
  auto launch = Prepare({MakeImage()});
  ASSERT_TRUE(launch.ok());
  ASSERT_TRUE((*launch)->Run(device_->default_stream()).ok());
  Fail("cuStreamSynchronize", 700);
  const absl::Status s = device_->default_stream()->Synchronize();
  EXPECT_EQ(s.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(ErrorCodeOf(s), "cuda.illegal_address");
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("(`k`): an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"));
  Fail("cuLaunchKernel", 999);
  EXPECT_THAT(std::string((*launch)->Run(device_->default_stream()).message()),
              HasSubstr("launching `k`: the CUDA driver says"));
  Fail("cuMemAlloc_v2", 2);
  EXPECT_EQ(device_->Allocate(16).status().code(), absl::StatusCode::kResourceExhausted);
  Fail("cuMemHostAlloc", 2);
  EXPECT_EQ(Prepare({MakeImage()}).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(CudaDevice, StreamsEventsGraphs) {
  int runs = 0;
  OnLaunch([&](const FakeLaunch&) { ++runs; });
  auto launch = Prepare({MakeImage()});
  ASSERT_TRUE(launch.ok());
  auto stream = device_->CreateStream();
  auto event = device_->CreateEvent();
  ASSERT_TRUE(stream.ok() && event.ok());
  EXPECT_TRUE((*event)->Record(stream->get()).ok());
  EXPECT_TRUE((*stream)->Wait(event->get()).ok());
  EXPECT_TRUE((*event)->Synchronize().ok());
  EXPECT_EQ(*(*event)->MillisecondsSince(event->get()), 0.25);
  ASSERT_TRUE((*stream)->BeginCapture().ok());
  EXPECT_EQ(ErrorCodeOf((*stream)->BeginCapture()), "run.capturing");
  ASSERT_TRUE((*launch)->Run(stream->get()).ok());
  ASSERT_TRUE((*launch)->Run(stream->get()).ok());
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(ErrorCodeOf((*stream)->Synchronize()), "run.capturing");  // and goes on recording
  auto graph = (*stream)->EndCapture();
  ASSERT_TRUE(graph.ok()) << graph.status();
  launch->reset();  // the graph keeps it
  ASSERT_TRUE((*graph)->Run(stream->get()).ok());
  EXPECT_EQ(runs, 2);
  OnLaunch([&](const FakeLaunch& l) { Param<TileTrapRecord*>(l, 7)->kind = TILE_TRAP_ASSERT; });
  ASSERT_TRUE((*graph)->Run(stream->get()).ok());
  EXPECT_EQ((*stream)->Synchronize().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(ErrorCodeOf((*stream)->EndCapture().status()), "run.capturing");
  EXPECT_EQ(ErrorCodeOf(device_->default_stream()->BeginCapture()), "run.capturing");
}

// A stream that nobody waits for holds a bounded number of launches, and forgets none that is still to be asked.
TEST_F(CudaDevice, LaunchesThatNobodyWaitsFor) {
  int trap = 100;
  OnLaunch([&](const FakeLaunch& l) {
    if (--trap == 0) Param<TileTrapRecord*>(l, 7)->kind = TILE_TRAP_ASSERT;
  });
  auto kernel = Load({MakeImage()});
  ASSERT_TRUE(kernel.ok());
  auto stream = device_->CreateStream();
  ASSERT_TRUE(stream.ok());
  std::vector<std::weak_ptr<PreparedLaunch>> launches;
  const auto alive = [&] {
    return std::count_if(launches.begin(), launches.end(), [](const auto& l) { return !l.expired(); });
  };
  const auto launch = [&](int n) {
    for (int i = 0; i < n; ++i) {
      auto prepared = (*kernel)->Prepare({{1, 1, 1}, {0, 0, 0, 0}, {}});
      ASSERT_TRUE(prepared.ok()) << prepared.status();
      ASSERT_TRUE((*prepared)->Run(stream->get()).ok());
      launches.push_back(*prepared);
    }
  };
  launch(3000);
  EXPECT_LE(alive(), 512);
  absl::Status s = (*stream)->Synchronize();
  EXPECT_EQ(s.code(), absl::StatusCode::kAborted) << s;
  EXPECT_TRUE((*stream)->Synchronize().ok());
  EXPECT_EQ(alive(), 0);

  // The GPU has not come so far: all stay.
  launches.clear();
  launch(256);
  Fail("cuEventQuery", 600);
  launch(256);
  EXPECT_EQ(alive(), 512);
  // One of them is launched again and traps: behind the event, so that it is not asked too early.
  auto again = launches[0].lock();
  ASSERT_NE(again, nullptr);
  trap = 1;
  ASSERT_TRUE(again->Run(stream->get()).ok());
  trap = -1;
  EXPECT_EQ((*stream)->Synchronize().code(), absl::StatusCode::kAborted);
  EXPECT_TRUE((*stream)->Synchronize().ok());
  again.reset();
  EXPECT_EQ(alive(), 0);

  // A graph keeps as many as there are.
  launches.clear();
  ASSERT_TRUE((*stream)->BeginCapture().ok());
  launch(1000);
  auto graph = (*stream)->EndCapture();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(alive(), 1000);
  ASSERT_TRUE((*graph)->Run(stream->get()).ok());
  EXPECT_TRUE((*stream)->Synchronize().ok());
  graph->reset();
  EXPECT_EQ(alive(), 0);
}

// The driver ends a capture when memory is allocated or code loaded meanwhile, unless the thread says that this is no part of it.
TEST_F(CudaDevice, KernelsArePreparedWhileAGraphIsRecorded) {
  int runs = 0;
  OnLaunch([&](const FakeLaunch&) { ++runs; });
  ir::Image i = MakeImage();
  i.workspaces = {{{{ExprOp::kConst, 0, 0, 64}}, 256, false}};
  auto kernel = Load({i});
  ASSERT_TRUE(kernel.ok());
  auto stream = device_->CreateStream();
  ASSERT_TRUE(stream.ok() && (*stream)->BeginCapture().ok());
  {
    auto launch = (*kernel)->Prepare({{1, 1, 1}, {0, 0, 0, 0}, {}});
    ASSERT_TRUE(launch.ok()) << launch.status();
    ASSERT_TRUE((*launch)->Run(stream->get()).ok());
    ASSERT_TRUE((*kernel)->Prepare({{1, 1, 1}, {0, 0, 0, 0}, {}}).ok());  // and goes at once
    auto memory = device_->Allocate(100);
    ASSERT_TRUE(memory.ok()) << memory.status();
    device_->Free(*memory);
  }
  auto graph = (*stream)->EndCapture();
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE((*graph)->Run(stream->get()).ok());
  EXPECT_TRUE((*stream)->Synchronize().ok());
  EXPECT_EQ(runs, 1);
}

TEST_F(CudaDevice, NamesOfCpp) {
  ir::Diagnostics diagnostics;
  module_ =
      ir::Parse("entry @_Z5scaleIfEvPT_i(%a: tile<ptr<f32>>, %n: tile<i32>) {\n  return\n}\n", "k.tile", &diagnostics);
  ASSERT_NE(module_, nullptr) << diagnostics.ToString();
  EXPECT_THAT(std::string(Load({}).status().message()), HasSubstr("no machine code of kernel `scale<float>`"));
  static const char kTwo[] = "FAKECUBIN k 8 4 4 4 4 8 8\n";
  ir::Image two = MakeImage();
  two.payload = {reinterpret_cast<const uint8_t*>(kTwo), sizeof kTwo - 1};
  auto kernel = Load({two});
  ASSERT_TRUE(kernel.ok());
  EXPECT_THAT(std::string((*kernel)->Prepare({{1, 1, 1}, {0}, {}}).status().message()),
              HasSubstr("kernel `scale<float>` takes 2 parameters, not 1"));
  auto launch = (*kernel)->Prepare({{1, 1, 1}, {0, 0}, {}});
  ASSERT_TRUE(launch.ok()) << launch.status();
  Fail("cuLaunchKernel", 999);
  EXPECT_THAT(std::string((*launch)->Run(device_->default_stream()).message()), HasSubstr("launching `scale<float>`"));
  ASSERT_TRUE((*launch)->Run(device_->default_stream()).ok());
  Fail("cuStreamSynchronize", 700);
  EXPECT_THAT(std::string(device_->default_stream()->Synchronize().message()), HasSubstr("(`scale<float>`)"));
}

TEST_F(CudaDevice, OldDriver) {
  setenv("TILEVM_LIBCUDA", "runtime/cuda/libfake_cuda_old.so", 1);
  setenv("FAKE_CUDA_VERSION", "11040", 1);
  EXPECT_TRUE(RunOnce({MakeImage()}).ok());
  ir::Image i = MakeImage();
  i.cluster = {2, 1, 1};
  const absl::Status s = RunOnce({i});
  EXPECT_THAT(std::string(s.message()), HasSubstr("has no cuLaunchKernelEx, which came with CUDA 11.6"));
}

TEST_F(CudaDevice, HostMemory) {
  float a[1000], b[1000] = {};
  for (int i = 0; i < 1000; ++i) a[i] = static_cast<float>(i);
  OnLaunch([&](const FakeLaunch& l) {
    auto* from = Param<float*>(l, 0);
    auto* to = Param<float*>(l, 1);
    EXPECT_NE(from, a);
    EXPECT_NE(to, b);
    for (int i = 0; i < 1000; ++i) to[i] = 2 * from[i]++;
  });
  auto kernel = Load({MakeImage()});
  ASSERT_TRUE(kernel.ok());
  {
    HostMemory memory(device_);
    const auto x = memory.Add(a, sizeof a);
    const auto y = memory.Add(b, sizeof b, HostMemory::Transfer::kOut);
    ASSERT_TRUE(x.ok() && y.ok());
    ASSERT_TRUE(memory.Keep().ok());
    auto launch = (*kernel)->Prepare({{1, 1, 1}, {*x, *y, 1000, 0}, {}, {}, {}});
    ASSERT_TRUE(launch.ok()) << launch.status();
    Stream* stream = device_->default_stream();
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE((*launch)->Run(stream).ok());
      ASSERT_TRUE(stream->Synchronize().ok());
      EXPECT_EQ(b[999], i == 0 ? 0 : 1998);  // before Download
      ASSERT_TRUE(memory.Download().ok());
      EXPECT_EQ(b[999], 1998);
      EXPECT_EQ(a[0], 1);
      ASSERT_TRUE(memory.Restore().ok());
    }
    ASSERT_TRUE(memory.Download().ok());
    EXPECT_EQ(a[0], 0);
  }
  kernel->reset();
}

TEST(CpuHostMemory, IsUsedWhereItIs) {
  int x = 1;
  HostMemory memory(*OpenDevice("cpu"));
  EXPECT_EQ(memory.Add(&x, sizeof x).value(), reinterpret_cast<uint64_t>(&x));
  ASSERT_TRUE(memory.Keep().ok());
  x = 2;
  ASSERT_TRUE(memory.Download().ok());
  EXPECT_EQ(x, 2);
  ASSERT_TRUE(memory.Restore().ok());
  EXPECT_EQ(x, 1);
}

}  // namespace
}  // namespace tile::runtime
