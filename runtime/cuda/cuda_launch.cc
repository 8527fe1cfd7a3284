#include "runtime/cuda/cuda_launch.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/cpp_name.h"
#include "runtime/error.h"

namespace tile::runtime::cuda {
namespace {

using ir::Elem;
using ir::ImageParam;

constexpr uint64_t kMaxWorkspaceBytes = uint64_t{1} << 40;
constexpr uint32_t kNaturalAlignment = 256;  // of cuMemAlloc
constexpr int kRepeatsOfGraph = 16;          // making a graph takes as long as it saves in about ten launches
constexpr int kRecordsEarlyStarts = 12030;   // drivers from CUDA 12.3 on record launches that may start early
constexpr int kMostGraphs = 256;             // of a device; each takes 115 KB of its memory

template <class... Parts>
absl::Status Unfit(const Parts&... parts) {
  return absl::FailedPreconditionError(absl::StrCat(parts...));
}

bool TypeOfMap(Elem e, CUtensorMapDataType* type) {
  switch (e) {
    case Elem::kF16: *type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16; return true;
    case Elem::kBF16: *type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16; return true;
    case Elem::kF32: *type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32; return true;
    case Elem::kTF32: *type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32; return true;
    case Elem::kF64: *type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64; return true;
    default: break;
  }
  if (ir::IsSubByte(e) || e == Elem::kPtr) return false;
  switch (ir::StorageBytes(e)) {
    case 1: *type = CU_TENSOR_MAP_DATA_TYPE_UINT8; return true;
    case 2: *type = CU_TENSOR_MAP_DATA_TYPE_UINT16; return true;
    case 4: *type = CU_TENSOR_MAP_DATA_TYPE_INT32; return true;
    default: *type = CU_TENSOR_MAP_DATA_TYPE_INT64; return true;
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<CudaLaunch>> CudaLaunch::Make(LaunchTarget target, const LaunchSpec& spec) {
  FreeReleased();
  std::shared_ptr<CudaLaunch> launch(new CudaLaunch(std::move(target), spec.keeps));
  const LaunchTarget& t = launch->target_;
  CurrentUnrecorded current(*t.context);
  ImageArguments arguments;
  arguments.function = t.function;
  arguments.words = spec.words;
  arguments.grid = spec.grid;
  arguments.num_sms = t.context->target.num_sms;
  absl::StatusOr<std::array<int64_t, 3>> grid = HardwareGrid(t.image->image(), arguments, t.image->resident());
  if (!grid.ok()) return Unfit(grid.status().message());
  arguments.hardware_grid = *grid;
  if (absl::Status s = launch->MakeWorkspaces(arguments); !s.ok()) return s;
  if (absl::Status s = launch->EncodeMaps(arguments); !s.ok()) return s;
  if (absl::Status s = launch->PackParams(arguments); !s.ok()) return s;
  launch->config_.gridDimX = static_cast<unsigned>((*grid)[0]);
  launch->config_.gridDimY = static_cast<unsigned>((*grid)[1]);
  launch->config_.gridDimZ = static_cast<unsigned>((*grid)[2]);
  if (absl::Status s = launch->Configure(); !s.ok()) return s;
  return launch;
}

std::string CudaLaunch::kernel_name() const { return ir::ReadableName(target_.function->name); }

CudaLaunch::~CudaLaunch() {
  if (record_ == nullptr && graph_ == nullptr) return;
  CurrentUnrecorded current(*target_.context);
  if (graph_ != nullptr) {
    target_.context->driver->cuGraphExecDestroy(graph_);
    --target_.context->launch_graphs;
  }
  if (record_ != nullptr) target_.context->traps->Return(record_);
}

absl::Status CudaLaunch::MakeWorkspaces(const ImageArguments& arguments) {
  for (const ir::ImageWorkspace& w : target_.image->image().workspaces) {
    absl::StatusOr<int64_t> bytes = Evaluate(w.bytes, arguments);
    if (!bytes.ok()) return Unfit("has a workspace that ", bytes.status().message());
    if (*bytes < 0 || static_cast<uint64_t>(*bytes) > kMaxWorkspaceBytes)
      return Unfit("wants a workspace of ", *bytes, " bytes");
    if (*bytes == 0) {
      workspace_addresses_.push_back(0);
      continue;
    }
    const uint64_t slack = w.alignment > kNaturalAlignment ? w.alignment : 0;
    CUdeviceptr address = 0;
    absl::Status s =
        target_.context->Check(target_.context->driver->cuMemAlloc(&address, static_cast<uint64_t>(*bytes) + slack),
                               absl::StrCat("allocating a workspace of ", *bytes, " bytes for `", kernel_name(), "`"));
    if (!s.ok()) return s;
    workspaces_.emplace_back(target_.context, address);
    const uint64_t aligned = (address + w.alignment - 1) / w.alignment * w.alignment;
    workspace_addresses_.push_back(aligned);
    if (w.zeroed) cleared_.push_back({aligned, static_cast<uint64_t>(*bytes)});
  }
  return absl::OkStatus();
}

absl::Status CudaLaunch::EncodeMaps(const ImageArguments& arguments) {
  const auto& tma = target_.image->image().tma;
  if (tma.empty()) return absl::OkStatus();
  const Driver& driver = *target_.context->driver;
  if (absl::Status s = driver.Require(driver.cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled", 12000); !s.ok())
    return s;
  maps_ = std::make_unique<CUtensorMap[]>(tma.size());
  for (size_t i = 0; i < tma.size(); ++i) {
    if (absl::Status s = EncodeMap(tma[i], arguments, &maps_[i]); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status CudaLaunch::EncodeMap(const ir::TmaDescriptor& t, const ImageArguments& arguments, CUtensorMap* map) {
  const size_t rank = t.sizes.size();
  CUtensorMapDataType type;
  if (rank < 1 || rank > 5 || t.strides.size() != rank - 1 || t.box.size() != rank ||
      (!t.element_strides.empty() && t.element_strides.size() != rank) || t.base_param >= arguments.words.size() ||
      !TypeOfMap(t.element, &type)) {
    return Unfit("has a malformed TMA descriptor");
  }
  uint64_t sizes[5] = {}, strides[5] = {};
  uint32_t steps[5] = {1, 1, 1, 1, 1};
  std::copy(t.element_strides.begin(), t.element_strides.end(), steps);
  for (size_t d = 0; d < rank; ++d) {
    absl::StatusOr<int64_t> size = Evaluate(t.sizes[d], arguments);
    absl::StatusOr<int64_t> stride = d + 1 < rank ? Evaluate(t.strides[d], arguments) : int64_t{0};
    for (const auto* v : {&size, &stride}) {
      if (!v->ok()) return Unfit("has a TMA descriptor that ", v->status().message());
    }
    sizes[d] = static_cast<uint64_t>(*size);
    strides[d] = static_cast<uint64_t>(*stride);
  }
  uint64_t address = arguments.words[t.base_param];
  if (!t.offset.empty()) {
    absl::StatusOr<int64_t> offset = Evaluate(t.offset, arguments);
    if (!offset.ok()) return Unfit("has a TMA descriptor that ", offset.status().message());
    address += static_cast<uint64_t>(*offset);
  }
  const CUresult result = target_.context->driver->cuTensorMapEncodeTiled(
      map, type, static_cast<uint32_t>(rank), reinterpret_cast<void*>(address), sizes, strides, t.box.data(), steps,
      t.interleave, t.swizzle, t.l2_promotion, t.fill);
  if (result != CUDA_SUCCESS) return Unfit("has a TMA descriptor that the driver rejects for these arguments");
  return absl::OkStatus();
}

absl::Status CudaLaunch::PackParams(const ImageArguments& arguments) {
  const ir::Image& image = target_.image->image();
  const size_t own = image.params.empty() ? arguments.words.size() : image.params.size();
  values_.reserve(own + TILE_ABI_EXTRA_PARAMS);  // params_ points into it
  const auto add = [&](uint64_t value) {
    values_.push_back(value);
    params_.push_back(&values_.back());
  };
  if (image.params.empty()) {
    for (const uint64_t word : arguments.words) add(word);
  }
  for (const ImageParam& p : image.params) {
    switch (p.kind) {
      case ImageParam::Kind::kKernelParam:
        if (p.index >= arguments.words.size()) return Unfit("refers to parameter ", p.index, ", which does not exist");
        add(arguments.words[p.index]);
        break;
      case ImageParam::Kind::kWorkspace: add(workspace_addresses_[p.index]); break;
      case ImageParam::Kind::kTmaDescriptor: params_.push_back(&maps_[p.index]); break;
      case ImageParam::Kind::kValue32:
      case ImageParam::Kind::kValue64: {
        absl::StatusOr<int64_t> v = Evaluate(p.value, arguments);
        if (!v.ok()) return Unfit("has a parameter that ", v.status().message());
        add(static_cast<uint64_t>(*v));
        break;
      }
    }
  }
  if ((image.flags & ir::kTileAbi) == 0) return absl::OkStatus();
  absl::StatusOr<TileTrapRecord*> record = target_.context->traps->Take(PrintCapacity(image));
  if (!record.ok()) return record.status();
  record_ = *record;
  for (const int64_t n : arguments.grid) add(static_cast<uint64_t>(n));
  add(reinterpret_cast<uint64_t>(record_));
  add(workspace_addresses_.empty() ? 0 : workspace_addresses_[0]);
  return absl::OkStatus();
}

absl::Status CudaLaunch::Configure() {
  const ir::Image& image = target_.image->image();
  config_.blockDimX = target_.image->threads();
  config_.blockDimY = config_.blockDimZ = 1;
  config_.sharedMemBytes = image.shared_bytes;
  const auto attribute = [&](CUlaunchAttributeID id) -> CUlaunchAttribute& {
    attributes_.push_back({});
    attributes_.back().id = id;
    return attributes_.back();
  };
  if (image.cluster != std::array<uint32_t, 3>{1, 1, 1}) {
    attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).value.clusterDim = {image.cluster[0], image.cluster[1],
                                                                         image.cluster[2]};
  }
  if ((image.flags & ir::kCooperativeLaunch) != 0) attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).value.cooperative = 1;
  // Behind a fill of a workspace it could not start early. The last attribute: Run may leave it out.
  early_ = (image.flags & ir::kProgrammaticLaunch) != 0 && cleared_.empty();
  if (early_) {
    attribute(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).value.programmaticStreamSerializationAllowed = 1;
  }
  config_.attrs = attributes_.data();
  config_.numAttrs = static_cast<unsigned>(attributes_.size());
  if (attributes_.empty()) return absl::OkStatus();
  const Driver& driver = *target_.context->driver;
  return driver.Require(driver.cuLaunchKernelEx, "cuLaunchKernelEx", 11060);
}

absl::Status CudaLaunch::Run(Stream* stream) {
  auto* on = static_cast<CudaStream*>(stream);
  const Driver& driver = *target_.context->driver;
  const std::shared_ptr<Reporting> self = shared_from_this();
  Current current(*target_.context);
  const CUgraph recorded = on->RecordedElsewhere();
  if (!on->capturing() && recorded == nullptr && RunsAsGraph(on->stream())) {
    const CUresult result = driver.cuGraphLaunch(graph_, on->stream());
    if (result != CUDA_SUCCESS) return driver.Check(result, absl::StrCat("launching `", kernel_name(), "`"));
    return on->Note(absl::MakeConstSpan(&self, 1), recorded);
  }
  for (const Cleared& c : cleared_) {
    if (const CUresult r = driver.cuMemsetD8Async(c.address, 0, c.bytes, on->stream()); r != CUDA_SUCCESS) {
      return driver.Check(r, "clearing a workspace");
    }
  }
  const bool captured = on->capturing() || recorded != nullptr;
  CUresult result;
  if (attributes_.empty()) {
    result =
        driver.cuLaunchKernel(target_.image->function(), config_.gridDimX, config_.gridDimY, config_.gridDimZ,
                              config_.blockDimX, 1, 1, config_.sharedMemBytes, on->stream(), params_.data(), nullptr);
  } else {
    CUlaunchConfig config = config_;
    config.hStream = on->stream();
    if (early_ && captured && !IsBehindOurs(*on)) --config.numAttrs;
    result = driver.cuLaunchKernelEx(&config, target_.image->function(), params_.data(), nullptr);
  }
  if (result != CUDA_SUCCESS) return driver.Check(result, absl::StrCat("launching `", kernel_name(), "`"));
  if (captured) {
    const Context::Recorded node = on->InFront();
    std::lock_guard lock(target_.context->recorded_mutex);
    target_.context->recorded = node;
  }
  // Others wait for the stream without us: what the kernel prints goes out when the stream comes to it. The graph or the stream
  // that notes this launch keeps it alive until then.
  if (record_ != nullptr && record_->print_capacity > 0 && on->used_by_others()) {
    const CUhostFn print = [](void* self) { static_cast<CudaLaunch*>(self)->TakePrints(); };
    result = driver.cuLaunchHostFunc(on->stream(), print, this);
    if (result != CUDA_SUCCESS)
      return driver.Check(result, absl::StrCat("waiting for the prints of `", kernel_name(), "`"));
  }
  return on->Note(absl::MakeConstSpan(&self, 1), recorded);
}

// A kernel that does not call the one behind it is seen to have ended later by one that may start early than by another: recorded behind one of Triton's,
// a rms norm of 4 us ends 0.4 us later so (H200). What stands in front of a launch is known only where it is recorded.
bool CudaLaunch::IsBehindOurs(const CudaStream& stream) const {
  if (target_.context->driver->version() < kRecordsEarlyStarts) return false;
  const Context::Recorded in_front = stream.InFront();
  std::lock_guard lock(target_.context->recorded_mutex);
  return in_front.node != nullptr && in_front == target_.context->recorded;
}

// A graph does not run beside itself. So a launch that goes from stream to stream remains a launch. And a graph starts behind all that is in front,
// which costs a kernel that may start early more than the CPU gains, where the GPU is behind the CPU (vector add of 2^22 f32 again and again, H200:
// 13.1 and 11.6 us each): whether it is, the stream is asked now and then.
bool CudaLaunch::RunsAsGraph(CUstream stream) {
  if (stream != last_) {
    last_ = stream;
    repeats_ = 0;
    waits_ = false;
    return false;
  }
  if (++repeats_ % kRepeatsOfGraph == 0) {
    waits_ = early_ && target_.context->driver->cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
    if (graph_ == nullptr && !waits_ && !tried_graph_) graph_ = MakeGraph();
    tried_graph_ = tried_graph_ || !waits_;
  }
  return graph_ != nullptr && !waits_;
}

CUgraphExec CudaLaunch::MakeGraph() {
  if (record_ != nullptr && record_->print_capacity > 0) return nullptr;  // who takes prints depends on the stream
  std::atomic<int>& graphs = target_.context->launch_graphs;
  if (graphs >= kMostGraphs) return nullptr;
  const Driver& driver = *target_.context->driver;
  CurrentUnrecorded current(*target_.context);
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  if (driver.cuGraphCreate(&graph, 0) != CUDA_SUCCESS) return nullptr;
  if (!AddNodes(graph).ok() || driver.cuGraphInstantiate(&executable, graph, 0) != CUDA_SUCCESS) executable = nullptr;
  driver.cuGraphDestroy(graph);
  if (executable != nullptr) ++graphs;
  return executable;
}

absl::Status CudaLaunch::AddTo(void* native) {
  const auto graph = static_cast<CUgraph>(native);
  CurrentUnrecorded current(*target_.context);
  absl::Status s = AddNodes(graph);
  return s.ok() ? KeepIn(*target_.context, graph, shared_from_this()) : s;
}

absl::Status CudaLaunch::AddNodes(CUgraph graph) {
  const Driver& driver = *target_.context->driver;
  CUgraphNode last = nullptr;
  // Each node behind the one before it.
  const auto add = [&](auto&& make, absl::string_view doing) {
    CUgraphNode node = nullptr;
    const CUresult result = make(&node, last == nullptr ? nullptr : &last, last == nullptr ? 0 : 1);
    last = node;
    return driver.Check(result, doing);
  };
  const std::string doing = absl::StrCat("adding `", kernel_name(), "` to a graph");
  for (const Cleared& c : cleared_) {
    const CUDA_MEMSET_NODE_PARAMS fill = {c.address, 0, 0, 1, c.bytes, 1};
    absl::Status s = add(
        [&](CUgraphNode* node, const CUgraphNode* after, size_t count) {
          return driver.cuGraphAddMemsetNode(node, graph, after, count, &fill, target_.context->context);
        },
        doing);
    if (!s.ok()) return s;
  }
  const CUDA_KERNEL_NODE_PARAMS kernel = {
      target_.image->function(), config_.gridDimX, config_.gridDimY, config_.gridDimZ, config_.blockDimX, 1, 1,
      config_.sharedMemBytes,    params_.data(),   /*extra=*/nullptr};
  absl::Status s = add([&](CUgraphNode* node, const CUgraphNode* after,
                           size_t count) { return driver.cuGraphAddKernelNode(node, graph, after, count, &kernel); },
                       doing);
  for (const CUlaunchAttribute& a : attributes_) {
    // In a graph it is a property of the edge between two kernels, and nothing comes before this one.
    if (a.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) continue;
    if (s.ok()) s = driver.Check(driver.cuGraphKernelNodeSetAttribute(last, a.id, &a.value), doing);
  }
  if (s.ok() && record_ != nullptr && record_->print_capacity > 0) {
    const CUDA_HOST_NODE_PARAMS print = {[](void* self) { static_cast<CudaLaunch*>(self)->TakePrints(); }, this};
    s = add([&](CUgraphNode* node, const CUgraphNode* after,
                size_t count) { return driver.cuGraphAddHostNode(node, graph, after, count, &print); },
            doing);
  }
  return s;
}

// In a thread of the driver, where no function of it may be called.
void CudaLaunch::TakePrints() { cuda::TakePrints(record_, target_.image->image(), target_.context->print); }

absl::Status CudaLaunch::TakeReport() {
  if (record_ == nullptr) return absl::OkStatus();
  return cuda::TakeReport(record_, target_.image->image(), *target_.function, target_.context->print);
}

}  // namespace tile::runtime::cuda
