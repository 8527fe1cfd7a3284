// Streams, events and graphs of a GPU. Internal to runtime/cuda.
#ifndef TILE_RUNTIME_CUDA_STREAM_H_
#define TILE_RUNTIME_CUDA_STREAM_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/types/span.h"
#include "runtime/cuda/context.h"
#include "runtime/device.h"

namespace tile::runtime::cuda {

// Something that ran on a stream and may have a report when it is done.
class Reporting {
 public:
  virtual ~Reporting() = default;
  virtual absl::Status TakeReport() = 0;
  virtual const ir::Function& function() const = 0;

  std::atomic<uint64_t> epoch{0};  // of the stream that last noted it
};

// Has the graph keep the work until it is gone.
absl::Status KeepIn(const Context& context, CUgraph graph, const std::shared_ptr<Reporting>& work);

class CudaStream : public Stream {
 public:
  enum class Kind { kOwned, kWrapped, kDefault };
  CudaStream(std::shared_ptr<Context> context, CUstream stream, Kind kind);
  ~CudaStream() override;

  absl::Status Synchronize() override;
  absl::Status Wait(Event* event) override;
  absl::Status BeginCapture() override;
  absl::StatusOr<std::unique_ptr<Graph>> EndCapture() override;
  void* native() const override {
    others_.store(true, std::memory_order_relaxed);
    return stream_;
  }
  CUstream stream() const { return stream_; }
  // Whether somebody else has it, and may record it or wait for it without us.
  bool used_by_others() const { return others_.load(std::memory_order_relaxed); }

  using Works = std::vector<std::shared_ptr<Reporting>>;

  // After the driver took the works: remembers whom to ask for a report at the next Synchronize. Cheap if they were noted
  // already. If somebody else records the stream, their graph keeps the works, too.
  absl::Status Note(absl::Span<const std::shared_ptr<Reporting>> works) { return Note(works, RecordedElsewhere()); }
  absl::Status Note(absl::Span<const std::shared_ptr<Reporting>> works, CUgraph graph) {
    for (const auto& work : works) {
      if (graph != nullptr) {
        if (absl::Status s = KeepIn(*context_, graph, work); !s.ok()) return s;
      }
      const uint64_t epoch = epoch_.load(std::memory_order_relaxed);
      if (work->epoch.load(std::memory_order_relaxed) != epoch) Remember(work, epoch, capturing_ || graph != nullptr);
    }
    return absl::OkStatus();
  }
  absl::Status Note(const std::shared_ptr<Reporting>& work) { return Note(absl::MakeConstSpan(&work, 1)); }

  bool capturing() const { return capturing_; }
  // The graph that a capture which we did not begin writes into; null if there is none.
  CUgraph RecordedElsewhere() const {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = nullptr;
    if (capturing_ || !others_.load(std::memory_order_relaxed) || stream_ == nullptr) return nullptr;
    // If it fails, a kernel has failed, as those who wait will hear.
    const CUresult result =
        context_->driver->cuStreamGetCaptureInfo(stream_, &status, nullptr, &graph, nullptr, nullptr);
    return result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? graph : nullptr;
  }
  // Of a stream that is recorded: what comes right in front of its next work; none if nothing does, or several things do.
  Context::Recorded InFront() const;

 private:
  void Remember(const std::shared_ptr<Reporting>& work, uint64_t epoch, bool recorded);
  void AskThoseThatAreDone();
  Works TakeNoted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Works TakePassing() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Fault(CUresult result, const Works& noted) const;

  std::shared_ptr<Context> context_;
  CUstream stream_;
  Kind kind_;
  bool capturing_ = false;
  mutable std::atomic<bool>
      others_;  // they may record it: they have its CUstream, or it waited for an event of a capture
  std::atomic<uint64_t> epoch_;
  std::mutex mutex_;
  Works noted_ ABSL_GUARDED_BY(mutex_);
  Works before_capture_ ABSL_GUARDED_BY(mutex_);
  // Nobody may ever wait for the stream: when much is noted, it goes to `passing_`, with an event after it in the stream, and is
  // asked when the event has come.
  Works passing_ ABSL_GUARDED_BY(mutex_);
  uint64_t passing_epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  CUevent passed_ ABSL_GUARDED_BY(mutex_) = nullptr;
  absl::Status trapped_ ABSL_GUARDED_BY(mutex_);  // the first mistake that was found so, for the next Synchronize
};

// Gives back what graphs kept that are gone. The driver forbids to do so when it tells us, so we do with the next work.
void FreeReleased();

absl::StatusOr<std::unique_ptr<Event>> MakeEvent(std::shared_ptr<Context> context);

}  // namespace tile::runtime::cuda

#endif  // TILE_RUNTIME_CUDA_STREAM_H_
