// Streams, events and graphs of a GPU. Internal to runtime/cuda.
#ifndef TILE_RUNTIME_CUDA_STREAM_H_
#define TILE_RUNTIME_CUDA_STREAM_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "runtime/cuda/context.h"
#include "runtime/device.h"

namespace tile::runtime::cuda {

// Something that ran on a stream and may have a report when it is done.
class Reporting {
 public:
  virtual ~Reporting() = default;
  virtual absl::Status TakeReport() = 0;
  virtual const ir::Function& function() const = 0;
  virtual std::string kernel_name() const = 0;  // for messages

  std::atomic<uint64_t> epoch{0};  // of the stream that last noted it
};

class CudaStream : public Stream {
 public:
  enum class Kind { kOwned, kWrapped, kDefault };
  CudaStream(std::shared_ptr<Context> context, CUstream stream, Kind kind);
  ~CudaStream() override;

  absl::Status Synchronize() override;
  absl::Status Wait(Event* event) override;
  absl::Status BeginCapture() override;
  absl::StatusOr<std::unique_ptr<Graph>> EndCapture() override;
  void* native() const override { return stream_; }
  CUstream stream() const { return stream_; }

  // Remembers whom to ask for a report at the next Synchronize. Cheap if it was noted already.
  void Note(const std::shared_ptr<Reporting>& work) {
    const uint64_t epoch = epoch_.load(std::memory_order_relaxed);
    if (work->epoch.load(std::memory_order_relaxed) != epoch) Remember(work, epoch);
  }

 private:
  void Remember(const std::shared_ptr<Reporting>& work, uint64_t epoch);
  std::vector<std::shared_ptr<Reporting>> TakeNoted();
  absl::Status Fault(CUresult result, const std::vector<std::shared_ptr<Reporting>>& noted) const;

  std::shared_ptr<Context> context_;
  CUstream stream_;
  Kind kind_;
  bool capturing_ = false;
  std::atomic<uint64_t> epoch_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Reporting>> noted_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Reporting>> before_capture_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::unique_ptr<Event>> MakeEvent(std::shared_ptr<Context> context);

}  // namespace tile::runtime::cuda

#endif  // TILE_RUNTIME_CUDA_STREAM_H_
