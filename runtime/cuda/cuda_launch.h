// A launch with everything packed: Run costs what cuLaunchKernel costs, or less: the driver takes a graph of one kernel faster than
// the kernel (1.5 and 3.5 us with driver 580 on a host of an H100). So a launch that comes again and again on one stream becomes such a
// graph; unless the stream has work in front and the kernel may start before that has ended, as a graph may not. Internal to runtime/cuda.
#ifndef TILE_RUNTIME_CUDA_CUDA_LAUNCH_H_
#define TILE_RUNTIME_CUDA_CUDA_LAUNCH_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/loaded_image.h"
#include "runtime/cuda/stream.h"
#include "runtime/device.h"

namespace tile::runtime::cuda {

// What a launch is packed for. The kernel outlives it.
struct LaunchTarget {
  std::shared_ptr<Context> context;
  std::shared_ptr<const Program> program;
  const ir::Function* function = nullptr;
  std::shared_ptr<LoadedImage> image;
};

class CudaLaunch : public PreparedLaunch, public Reporting, public std::enable_shared_from_this<CudaLaunch> {
 public:
  // Errors that are clauses about the image ("has a workspace that …") are FailedPrecondition: the next image may do.
  static absl::StatusOr<std::shared_ptr<CudaLaunch>> Make(LaunchTarget target, const LaunchSpec& spec);
  ~CudaLaunch() override;

  absl::Status Run(Stream* stream) override;
  absl::Status AddTo(void* graph) override;
  absl::Status TakeReport() override;
  const ir::Function& function() const override { return *target_.function; }

 private:
  struct Cleared {
    CUdeviceptr address;
    uint64_t bytes;
  };

  CudaLaunch(LaunchTarget target, std::shared_ptr<const void> keeps)
      : target_(std::move(target)), keeps_(std::move(keeps)) {}
  absl::Status MakeWorkspaces(const ImageArguments& arguments);
  absl::Status EncodeMaps(const ImageArguments& arguments);
  absl::Status EncodeMap(const ir::TmaDescriptor& t, const ImageArguments& arguments, CUtensorMap* map);
  absl::Status PackParams(const ImageArguments& arguments);
  absl::Status Configure();
  absl::Status AddNodes(CUgraph graph);
  bool IsBehindOurs(const CudaStream& stream) const;
  bool RunsAsGraph(CUstream stream);  // now; counts
  CUgraphExec MakeGraph();            // null if it cannot be one
  std::string kernel_name() const;    // for messages
  void TakePrints();

  LaunchTarget target_;
  std::shared_ptr<const void> keeps_;
  std::vector<DeviceMemory> workspaces_;
  std::vector<CUdeviceptr> workspace_addresses_;
  std::vector<Cleared> cleared_;
  std::unique_ptr<CUtensorMap[]> maps_;
  std::vector<uint64_t> values_;  // what params_ points to, but for maps
  std::vector<void*> params_;
  std::vector<CUlaunchAttribute> attributes_;
  CUlaunchConfig config_ = {};
  bool early_ = false;  // it may start before the kernel in front has ended: the last attribute says so
  TileTrapRecord* record_ = nullptr;
  CUstream last_ = nullptr;  // of the last run
  int repeats_ = 0;          // runs on it, one behind the other
  bool waits_ = false;       // when last asked, there was other work in front of it
  bool tried_graph_ = false;
  CUgraphExec graph_ = nullptr;
};

}  // namespace tile::runtime::cuda

#endif  // TILE_RUNTIME_CUDA_CUDA_LAUNCH_H_
