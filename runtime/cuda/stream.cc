#include "runtime/cuda/stream.h"

#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
    if (absl::Status s = context_->Check(context_->driver->cuGraphLaunch(executable_, on->stream()), "launching a graph");
        !s.ok()) {
      return s;
    }
    for (const auto& launch : launches_) on->Note(launch);
    return absl::OkStatus();
  }

 private:
  std::shared_ptr<Context> context_;
  CUgraph graph_;
  CUgraphExec executable_;
  std::vector<std::shared_ptr<Reporting>> launches_;
};

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
    : context_(std::move(context)), stream_(stream), kind_(kind), epoch_(context_->epochs++) {}

CudaStream::~CudaStream() {
  if (kind_ != Kind::kOwned) return;
  Current current(*context_);
  context_->driver->cuStreamDestroy(stream_);
}

void CudaStream::Remember(const std::shared_ptr<Reporting>& work, uint64_t epoch) {
  std::lock_guard<std::mutex> lock(mutex_);
  noted_.push_back(work);
  work->epoch.store(epoch, std::memory_order_relaxed);
}

std::vector<std::shared_ptr<Reporting>> CudaStream::TakeNoted() {
  std::lock_guard<std::mutex> lock(mutex_);
  epoch_.store(context_->epochs++, std::memory_order_relaxed);
  return std::exchange(noted_, {});
}

absl::Status CudaStream::Synchronize() {
  Current current(*context_);
  // Taken first: what another thread launches from here on is for the next call.
  const auto noted = TakeNoted();
  const CUresult result = context_->driver->cuStreamSynchronize(stream_);
  absl::Status status;
  for (const auto& work : noted) {
    absl::Status s = work->TakeReport();
    if (status.ok()) status = s;
  }
  if (!status.ok()) return status;
  return result == CUDA_SUCCESS ? absl::OkStatus() : Fault(result, noted);
}

absl::Status CudaStream::Fault(CUresult result, const std::vector<std::shared_ptr<Reporting>>& noted) const {
  const absl::Status plain = context_->Check(result, "running kernels");
  const char* code = FaultCode(result);
  if (code == nullptr) return plain;
  const std::string names = absl::StrJoin(noted, ", ", [](std::string* out, const auto& w) {
    absl::StrAppend(out, "`", w->function().name, "`");
  });
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
  report.message = absl::StrCat("a kernel failed on the GPU", names.empty() ? "" : absl::StrCat(" (", names, ")"), ": ",
                                text ? text : "", " (", name ? name : "", "); the device can't be used any more in this process");
  report.fix = "run it on the VM (device cpu), which says which access of which block is wrong";
  return ReportStatus({report}, MakeError(absl::StatusCode::kAborted, code, report.message, report.fix).message());
}

absl::Status CudaStream::Wait(Event* event) {
  Current current(*context_);
  return context_->Check(context_->driver->cuStreamWaitEvent(stream_, static_cast<CudaEvent*>(event)->event(), 0),
                         "waiting for an event");
}

absl::Status CudaStream::BeginCapture() {
  if (kind_ == Kind::kDefault || capturing_) {
    return MakeError(absl::StatusCode::kFailedPrecondition, "run.capturing",
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
  auto launches = TakeNoted();
  {
    std::lock_guard<std::mutex> lock(mutex_);
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
