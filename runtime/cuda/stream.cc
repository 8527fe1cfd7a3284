#include "runtime/cuda/stream.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/cpp_name.h"
#include "runtime/error.h"

namespace tile::runtime::cuda {
namespace {

class CudaEvent : public Event {
 public:
  CudaEvent(std::shared_ptr<Context> context, CUevent event) : context_(std::move(context)), event_(event) {}
  ~CudaEvent() override {
    Current current(*context_);
    context_->driver->cuEventDestroy(event_);
  }
  absl::Status Record(Stream* stream) override {
    Current current(*context_);
    return context_->Check(context_->driver->cuEventRecord(event_, static_cast<CudaStream*>(stream)->stream()),
                           "recording an event");
  }
  absl::Status Synchronize() override {
    Current current(*context_);
    return context_->Check(context_->driver->cuEventSynchronize(event_), "waiting for an event");
  }
  absl::StatusOr<double> MillisecondsSince(Event* start) override {
    Current current(*context_);
    float ms = 0;
    absl::Status s = context_->Check(
        context_->driver->cuEventElapsedTime(&ms, static_cast<CudaEvent*>(start)->event_, event_), "reading events");
    if (!s.ok()) return s;
    return ms;
  }
  CUevent event() const { return event_; }

 private:
  std::shared_ptr<Context> context_;
  CUevent event_;
};

class CudaGraph : public Graph {
 public:
  CudaGraph(std::shared_ptr<Context> context, CUgraph graph, CUgraphExec executable,
            std::vector<std::shared_ptr<Reporting>> launches)
      : context_(std::move(context)), graph_(graph), executable_(executable), launches_(std::move(launches)) {}
  ~CudaGraph() override {
    Current current(*context_);
    context_->driver->cuGraphExecDestroy(executable_);
    context_->driver->cuGraphDestroy(graph_);
  }
  absl::Status Run(Stream* stream) override {
    Current current(*context_);
    auto* on = static_cast<CudaStream*>(stream);
    if (absl::Status s =
            context_->Check(context_->driver->cuGraphLaunch(executable_, on->stream()), "launching a graph");
        !s.ok()) {
      return s;
    }
    return on->Note(launches_);
  }

 private:
  std::shared_ptr<Context> context_;
  CUgraph graph_;
  CUgraphExec executable_;
  std::vector<std::shared_ptr<Reporting>> launches_;
};

constexpr size_t kMany = 256;  // works without a report that a stream remembers before it asks

// What graphs of others kept, until FreeReleased. Of the process, as the driver's graphs are, which may live longer than any device.
class Released {
 public:
  void Add(std::shared_ptr<Reporting> work) {
    std::lock_guard<std::mutex> lock(mutex_);
    works_.push_back(std::move(work));
    any_.store(true, std::memory_order_relaxed);
  }
  void Free() {
    if (!any_.load(std::memory_order_relaxed)) return;
    std::vector<std::shared_ptr<Reporting>> works;
    std::lock_guard<std::mutex> lock(mutex_);
    works.swap(works_);
    any_.store(false, std::memory_order_relaxed);
  }  // the works go after the lock

 private:
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::vector<std::shared_ptr<Reporting>> works_ ABSL_GUARDED_BY(mutex_);
};
Released& ReleasedWorks() {
  static auto* released = new Released;  // never destroyed: the driver calls at any time
  return *released;
}

// Answers after which nothing works any more in this process, because a kernel did what it may not.
const char* FaultCode(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS: return "cuda.illegal_address";
    case CUDA_ERROR_MISALIGNED_ADDRESS: return "cuda.misaligned";
    case CUDA_ERROR_LAUNCH_TIMEOUT: return "cuda.timeout";
    case CUDA_ERROR_ILLEGAL_INSTRUCTION: return "cuda.illegal_instruction";
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_FAILED: return "cuda.launch_failed";
    default: return nullptr;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Event>> MakeEvent(std::shared_ptr<Context> context) {
  Current current(*context);
  CUevent event;
  if (absl::Status s = context->Check(context->driver->cuEventCreate(&event, 0), "making an event"); !s.ok()) return s;
  return std::make_unique<CudaEvent>(std::move(context), event);
}

CudaStream::CudaStream(std::shared_ptr<Context> context, CUstream stream, Kind kind)
    : context_(std::move(context)),
      stream_(stream),
      kind_(kind),
      others_(kind == Kind::kWrapped),
      epoch_(context_->epochs++) {}

CudaStream::~CudaStream() {
  Current current(*context_);
  if (passed_ != nullptr) context_->driver->cuEventDestroy(passed_);
  if (kind_ == Kind::kOwned) context_->driver->cuStreamDestroy(stream_);
}

absl::Status KeepIn(const Context& context, CUgraph graph, const std::shared_ptr<Reporting>& work) {
  using Kept = std::shared_ptr<Reporting>;
  const Driver& driver = *context.driver;
  auto kept = std::make_unique<Kept>(work);
  const CUhostFn release = [](void* user) {
    const std::unique_ptr<Kept> owned(static_cast<Kept*>(user));
    ReleasedWorks().Add(std::move(*owned));
  };
  CUuserObject object = nullptr;
  absl::Status s =
      context.Check(driver.cuUserObjectCreate(&object, kept.get(), release, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
                    "keeping a launch for a graph");
  if (!s.ok()) return s;
  static_cast<void>(kept.release());  // the user object owns it from now on
  s = context.Check(driver.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE),
                    "keeping a launch for a graph");
  if (!s.ok()) driver.cuUserObjectRelease(object, 1);
  return s;
}

void FreeReleased() { ReleasedWorks().Free(); }

// `recorded`: it goes into a graph, and nothing else may happen to the stream meanwhile.
void CudaStream::Remember(const std::shared_ptr<Reporting>& work, uint64_t epoch, bool recorded) {
  bool many = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    noted_.push_back(work);
    work->epoch.store(epoch, std::memory_order_relaxed);
    many = !recorded && noted_.size() % kMany == 0;
  }
  if (many) AskThoseThatAreDone();
}

// If the driver fails here, it will fail whoever waits, too, and everything stays for him.
void CudaStream::AskThoseThatAreDone() {
  CurrentUnrecorded current(*context_);
  const Driver& driver = *context_->driver;
  Works done;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (passed_ == nullptr && driver.cuEventCreate(&passed_, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return;
    if (!passing_.empty() && driver.cuEventQuery(passed_) != CUDA_SUCCESS) return;
    done = TakePassing();
    if (driver.cuEventRecord(passed_, stream_) == CUDA_SUCCESS) {
      passing_.swap(noted_);
      passing_epoch_ = epoch_.load(std::memory_order_relaxed);
      epoch_.store(context_->epochs++, std::memory_order_relaxed);  // what runs again is noted again
    }
  }
  for (const auto& work : done) {
    absl::Status s = work->TakeReport();
    std::lock_guard<std::mutex> lock(mutex_);
    if (trapped_.ok()) trapped_ = s;
  }
}

CudaStream::Works CudaStream::TakePassing() {
  Works works = std::exchange(passing_, {});
  // What was launched again since is noted there.
  const auto again = [this](const auto& work) { return work->epoch.load(std::memory_order_relaxed) != passing_epoch_; };
  works.erase(std::remove_if(works.begin(), works.end(), again), works.end());
  return works;
}

CudaStream::Works CudaStream::TakeNoted() {
  epoch_.store(context_->epochs++, std::memory_order_relaxed);
  return std::exchange(noted_, {});
}

absl::Status CudaStream::Synchronize() {
  if (capturing_) {
    return MakeError(absl::StatusCode::kFailedPrecondition, "run.capturing",
                     "waiting for a stream while it records a graph", "end the capture first");
  }
  Current current(*context_);
  // Taken first: what another thread launches from here on is for the next call.
  Works noted;
  absl::Status status;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    status = std::exchange(trapped_, absl::OkStatus());
    noted = TakePassing();
    for (auto& work : TakeNoted()) noted.push_back(std::move(work));
  }
  const CUresult result = context_->driver->cuStreamSynchronize(stream_);
  FreeReleased();
  for (const auto& work : noted) {
    absl::Status s = work->TakeReport();
    if (status.ok()) status = s;
  }
  if (!status.ok()) return status;
  return result == CUDA_SUCCESS ? absl::OkStatus() : Fault(result, noted);
}

absl::Status CudaStream::Fault(CUresult result, const Works& noted) const {
  const absl::Status plain = context_->Check(result, "running kernels");
  const char* code = FaultCode(result);
  if (code == nullptr) return plain;
  std::vector<std::string> kernels;
  for (const auto& work : noted) {
    std::string name = absl::StrCat("`", ir::ReadableName(work->function().name), "`");
    if (std::find(kernels.begin(), kernels.end(), name) == kernels.end()) kernels.push_back(std::move(name));
  }
  const std::string names = absl::StrJoin(kernels, ", ");
  const char *name = "", *text = "";
  context_->driver->cuGetErrorName(result, &name);
  context_->driver->cuGetErrorString(result, &text);
  Report report;  // The hardware says neither block nor place.
  report.code = code;
  if (noted.size() == 1) {
    const ir::Function& f = noted[0]->function();
    report.kernel = std::string(f.name);
    report.where = f.module()->Where(f.loc, f.pos);
  }
  for (int64_t& b : report.block) b = -1;
  report.message =
      absl::StrCat("a kernel failed on the GPU", names.empty() ? "" : absl::StrCat(" (", names, ")"), ": ",
                   text ? text : "", " (", name ? name : "", "); the device can't be used any more in this process");
  report.fix = "run it on the VM (device cpu), which says which access of which block is wrong";
  return ReportStatus({report}, MakeError(absl::StatusCode::kAborted, code, report.message, report.fix).message());
}

absl::Status CudaStream::Wait(Event* event) {
  Current current(*context_);
  others_.store(true, std::memory_order_relaxed);
  return context_->Check(context_->driver->cuStreamWaitEvent(stream_, static_cast<CudaEvent*>(event)->event(), 0),
                         "waiting for an event");
}

Context::Recorded CudaStream::InFront() const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  Context::Recorded in_front;
  const CUgraphNode* nodes = nullptr;
  size_t count = 0;
  const CUresult result =
      context_->driver->cuStreamGetCaptureInfo(stream_, &status, &in_front.capture, nullptr, &nodes, &count);
  if (result != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1) return {};
  in_front.node = nodes[0];
  return in_front;
}

absl::Status CudaStream::BeginCapture() {
  if (kind_ == Kind::kDefault || capturing_) {
    return MakeError(
        absl::StatusCode::kFailedPrecondition, "run.capturing",
        capturing_ ? "the stream records a graph already" : "the default stream of a device can't record a graph",
        capturing_ ? "" : "use a stream of your own");
  }
  Current current(*context_);
  absl::Status s = context_->Check(context_->driver->cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                                   "beginning a capture");
  if (!s.ok()) return s;
  // What ran before keeps its place: only launches from here on belong to the graph.
  std::lock_guard<std::mutex> lock(mutex_);
  before_capture_ = std::exchange(noted_, {});
  epoch_.store(context_->epochs++, std::memory_order_relaxed);
  capturing_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Graph>> CudaStream::EndCapture() {
  if (!capturing_) {
    return MakeError(absl::StatusCode::kFailedPrecondition, "run.capturing", "the stream records no graph");
  }
  Current current(*context_);
  capturing_ = false;
  Works launches;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    launches = TakeNoted();
    noted_ = std::exchange(before_capture_, {});
  }
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  absl::Status s = context_->Check(context_->driver->cuStreamEndCapture(stream_, &graph), "ending a capture");
  if (!s.ok()) return s;
  s = context_->Check(context_->driver->cuGraphInstantiate(&executable, graph, 0), "making a graph");
  if (!s.ok()) {
    context_->driver->cuGraphDestroy(graph);
    return s;
  }
  return std::make_unique<CudaGraph>(context_, graph, executable, std::move(launches));
}

}  // namespace tile::runtime::cuda
