#include "runtime/cpu_device.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/platform/memory.h"
#include "runtime/error.h"
#include "vm/vm.h"

namespace tile::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using Work = std::function<absl::Status()>;

constexpr uint64_t kAlignment = 256;

absl::Status NotWhileCapturing(absl::string_view what) {
  return MakeError(absl::StatusCode::kFailedPrecondition, "run.capturing",
                   absl::StrCat(what, " while the stream records a graph"), "end the capture first");
}

class CpuGraph : public Graph {
 public:
  explicit CpuGraph(std::vector<Work> work) : work_(std::move(work)) {}
  absl::Status Run(Stream* stream) override;

 private:
  std::vector<Work> work_;
};

class CpuStream : public Stream {
 public:
  explicit CpuStream(bool shared) : shared_(shared) {}
  absl::Status Synchronize() override {
    return capturing_ ? NotWhileCapturing("waiting for a stream") : absl::OkStatus();
  }
  absl::Status Wait(Event*) override { return Synchronize(); }
  absl::Status BeginCapture() override {
    if (capturing_) return NotWhileCapturing("beginning a capture");
    if (shared_) {
      return MakeError(absl::StatusCode::kFailedPrecondition, "run.capturing",
                       "the default stream of a device can't record a graph", "use a stream of your own");
    }
    capturing_ = true;
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<Graph>> EndCapture() override {
    if (!capturing_) {
      return MakeError(absl::StatusCode::kFailedPrecondition, "run.capturing", "the stream records no graph");
    }
    capturing_ = false;
    return std::make_unique<CpuGraph>(std::exchange(recorded_, {}));
  }
  void* native() const override { return nullptr; }

  // Does it now, or keeps it for the graph.
  absl::Status Submit(Work work) {
    if (!capturing_) return work();
    recorded_.push_back(std::move(work));
    return absl::OkStatus();
  }
  bool capturing() const { return capturing_; }

 private:
  const bool shared_;  // by threads: never captures
  bool capturing_ = false;
  std::vector<Work> recorded_;
};

CpuStream* Own(Stream* stream) { return static_cast<CpuStream*>(stream); }

absl::Status CpuGraph::Run(Stream* stream) {
  for (const Work& w : work_) {
    if (absl::Status s = Own(stream)->Submit(w); !s.ok()) return s;
  }
  return absl::OkStatus();
}

class CpuEvent : public Event {
 public:
  absl::Status Record(Stream* stream) override {
    if (Own(stream)->capturing()) return NotWhileCapturing("recording an event");
    at_ = Clock::now();
    recorded_ = true;
    return absl::OkStatus();
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }
  absl::StatusOr<double> MillisecondsSince(Event* start) override {
    const auto* from = static_cast<CpuEvent*>(start);
    if (!recorded_ || !from->recorded_) {
      return MakeError(absl::StatusCode::kFailedPrecondition, "run.event",
                       "an event that was never recorded has no time");
    }
    return std::chrono::duration<double, std::milli>(at_ - from->at_).count();
  }

 private:
  Clock::time_point at_;
  bool recorded_ = false;
};

// A program of the VM runs one launch at a time, because its globals keep their contents.
struct CpuCode {
  std::shared_ptr<const Program> program;
  std::unique_ptr<vm::Program> code;
  std::mutex mutex;
  std::condition_variable ended;
  bool running = false;

  struct Ends {
    void operator()(CpuCode* code) const { code->End(); }
  };
  using Turn = std::unique_ptr<CpuCode, Ends>;  // ends where it goes out of scope, whatever the launch throws

  // Waits for the launch before this one; null if this one is to stop meanwhile.
  Turn Begin(const std::function<bool()>& interrupted) {
    std::unique_lock<std::mutex> lock(mutex);
    while (!ended.wait_for(lock, std::chrono::milliseconds(20), [this] { return !running; })) {
      lock.unlock();
      if (interrupted && interrupted()) return nullptr;
      lock.lock();
    }
    running = true;
    return Turn(this);
  }
  void End() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      running = false;
    }
    ended.notify_one();
  }
};

// What a launch does, alive as long as it or a graph that it is in.
struct CpuWork {
  std::shared_ptr<Device> device;
  std::shared_ptr<CpuCode> code;
  vm::Launch launch;
  std::function<void(const Report&)> warn;
  std::function<void(const Coverage&)> cover;
  RunCounts* counts = nullptr;
  std::shared_ptr<const void> keeps;
};

class CpuLaunch : public PreparedLaunch {
 public:
  explicit CpuLaunch(CpuWork work) : work_(std::make_shared<CpuWork>(std::move(work))) {}
  absl::Status Run(Stream* stream) override {
    return Own(stream)->Submit([work = work_] {
      CpuCode::Turn turn = work->code->Begin(work->launch.interrupted);
      if (turn == nullptr) {
        return absl::CancelledError(
            "error[vm.interrupted]: the launch was stopped while it waited for another one of its kernel");
      }
      work->launch.print = work->device->print();
      const vm::Outcome outcome = work->code->code->Run(work->launch);
      turn.reset();  // whoever hears a warning may launch again
      if (work->counts != nullptr) *work->counts = {outcome.blocks_run, outcome.orders};
      if (work->warn) {
        for (const Report& r : outcome.warnings) work->warn(r);
      }
      for (const Coverage& c : outcome.coverage) work->cover(c);
      return outcome.reports.empty() ? outcome.status : ReportStatus(outcome.reports);
    });
  }
  absl::Status AddTo(void*) override {
    return MakeError(absl::StatusCode::kUnimplemented, "run.graph", "the cpu has no graphs of the CUDA driver",
                     "record the launch between tilevm_stream_begin_capture and _end_capture");
  }
  bool Follow(const LaunchSpec& spec) override {
    if (work_.use_count() > 1) return false;  // a graph does what it recorded
    vm::Launch& launch = work_->launch;
    launch.params = spec.words;
    for (size_t i = 0; i < spec.memory.size(); ++i) launch.buffers[i].address = spec.memory[i].address;
    for (size_t i = 0; i < spec.arrays.size(); ++i) launch.arrays[i].address = spec.arrays[i].address;
    return true;
  }

 private:
  std::shared_ptr<CpuWork> work_;  // also of graphs
};

class CpuKernel : public LoadedKernel {
 public:
  CpuKernel(std::shared_ptr<Device> device, std::shared_ptr<CpuCode> code, int threads)
      : device_(std::move(device)), code_(std::move(code)), threads_(threads) {}

  absl::StatusOr<std::shared_ptr<PreparedLaunch>> Prepare(LaunchSpec spec) override {
    vm::Launch launch;
    for (size_t d = 0; d < 3; ++d) launch.grid[d] = spec.grid[d];
    launch.params = std::move(spec.words);
    launch.threads = spec.options.threads > 0 ? spec.options.threads : threads_;
    launch.check = spec.options.check;
    launch.interrupted = std::move(spec.options.interrupted);
    launch.blocks_done = spec.options.blocks_done;
    launch.unspecified = spec.options.unspecified;
    launch.any_array = spec.options.any_array;
    launch.coverage = spec.options.cover != nullptr;
    if (!spec.options.order.empty()) {
      absl::StatusOr<vm::StartOrder> order = vm::ParseStartOrder(spec.options.order);
      if (!order.ok()) {
        return MakeError(absl::StatusCode::kInvalidArgument, "run.order",
                         absl::StrCat("order `", spec.options.order, "`: ", order.status().message()));
      }
      launch.order = *order;
    }
    launch.buffers = std::move(spec.memory);
    launch.arrays = std::move(spec.arrays);
    launch.written = std::move(spec.written);
    launch.pointers = std::move(spec.pointers);
    return std::make_shared<CpuLaunch>(CpuWork{device_, code_, std::move(launch), std::move(spec.options.warn),
                                               std::move(spec.options.cover), spec.options.counts,
                                               std::move(spec.keeps)});
  }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<CpuCode> code_;
  int threads_;
};

class CpuDevice : public Device {
 public:
  explicit CpuDevice(int threads) : threads_(threads) {
    info_.name = "cpu";
    info_.description = "VM on this CPU";
    const unsigned cores = std::thread::hardware_concurrency();
    info_.num_sms = threads > 0 ? threads : cores > 0 ? static_cast<int>(cores) : 1;
    info_.memory_bytes = platform::PhysicalMemory();
  }

  absl::StatusOr<uint64_t> Allocate(uint64_t bytes) override {
    void* p = bytes > (uint64_t{1} << 47) ? nullptr : platform::AllocateAligned(kAlignment, bytes);
    if (p == nullptr) {
      return MakeError(absl::StatusCode::kResourceExhausted, "run.out_of_memory",
                       absl::StrCat("no memory for ", bytes, " bytes"));
    }
    return reinterpret_cast<uint64_t>(p);
  }
  void Free(uint64_t address) override { platform::FreeAligned(reinterpret_cast<void*>(address)); }
  absl::Status Upload(uint64_t to, const void* from, uint64_t bytes, Stream* stream) override {
    return Copy(to, reinterpret_cast<uint64_t>(from), bytes, stream);
  }
  absl::Status Download(void* to, uint64_t from, uint64_t bytes, Stream* stream) override {
    return Copy(reinterpret_cast<uint64_t>(to), from, bytes, stream);
  }
  absl::Status Copy(uint64_t to, uint64_t from, uint64_t bytes, Stream* stream) override {
    return Own(stream)->Submit([=] {
      if (bytes > 0) std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
      return absl::OkStatus();
    });
  }
  absl::Status Fill(uint64_t address, uint8_t value, uint64_t bytes, Stream* stream) override {
    return Own(stream)->Submit([=] {
      if (bytes > 0) std::memset(reinterpret_cast<void*>(address), value, bytes);
      return absl::OkStatus();
    });
  }

  absl::StatusOr<std::unique_ptr<Stream>> CreateStream() override { return std::make_unique<CpuStream>(false); }
  absl::StatusOr<std::unique_ptr<Stream>> WrapStream(void*) override {
    return MakeError(absl::StatusCode::kUnimplemented, "run.stream", "the cpu device has no streams of others");
  }
  Stream* default_stream() override { return &default_stream_; }
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override { return std::make_unique<CpuEvent>(); }

  absl::StatusOr<std::shared_ptr<LoadedKernel>> Load(std::shared_ptr<const Program> program,
                                                     const ir::Function& function) override {
    absl::StatusOr<std::unique_ptr<vm::Program>> code = vm::Program::Prepare(*program->module, function.name);
    if (!code.ok()) return code.status();
    auto kept = std::make_shared<CpuCode>();
    kept->program = std::move(program);
    kept->code = *std::move(code);
    return std::make_shared<CpuKernel>(shared_from_this(), std::move(kept), threads_);
  }

 private:
  int threads_;
  CpuStream default_stream_{true};
};

}  // namespace

absl::Status CheckOrder(absl::string_view order) { return vm::ParseStartOrder(order).status(); }

std::shared_ptr<Device> MakeCpuDevice(int threads) { return std::make_shared<CpuDevice>(threads); }

}  // namespace tile::runtime
