// What every device can do: memory, order of work, kernels. The cpu device (cpu_device.h) runs kernels on the VM, cuda
// devices (cuda/cuda_device.h) on a GPU. The C ABI (tilevm.h) and the tools stand on this.
//
//   absl::StatusOr<std::shared_ptr<Device>> device = OpenDevice("cuda:0");                   // open_device.h
//   absl::StatusOr<std::shared_ptr<LoadedKernel>> kernel = (*device)->Load(program, *function);
//   absl::StatusOr<std::shared_ptr<PreparedLaunch>> launch = (*kernel)->Prepare({grid, words, memory});
//   (*launch)->Run((*device)->default_stream());
//   (*device)->default_stream()->Synchronize();                                               // says if it trapped
//
// Addresses are those of the device, 64 bits; on the cpu device they are pointers. Work on a stream happens in order;
// when a call returns it may still be running, but on the cpu device it is done. Objects keep what they need alive
// (a kernel its device, a launch its kernel).
//
// Thread-safety: Device and LoadedKernel from any thread; a stream, an event or a launch by one thread at a time.
// Errors: runtime/error.h. A kernel that trapped is Aborted, with the reports inside (report.h).
#ifndef TILE_RUNTIME_DEVICE_H_
#define TILE_RUNTIME_DEVICE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "vm/machine/coverage.h"
#include "vm/machine/launch_types.h"

namespace tile::runtime {

enum class DeviceKind : uint8_t { kCpu, kCuda };

struct DeviceInfo {
  DeviceKind kind = DeviceKind::kCpu;
  int ordinal = 0;
  std::string name;         // "cpu", "cuda:1"
  std::string description;  // "NVIDIA H100 80GB HBM3"
  int num_sms = 1;          // multiprocessors; threads of the VM
  int compute_major = 0, compute_minor = 0;
  uint64_t memory_bytes = 0;
  int driver_version = 0;  // 13000: CUDA 13.0
};

using vm::ArrayArgument;
using vm::Buffer;
using vm::CheckLevel;
using vm::Coverage;
using vm::PointerArgument;
using vm::Unspecified;
using vm::WrittenBytes;

struct RunCounts {
  int64_t blocks = 0;  // that ran
  int orders = 1;      // of the blocks, in which the launch ran (full checks)
};

// How the cpu device runs a launch. A GPU checks nothing, is not interrupted, and starts blocks and fills what nobody
// specified in its own way.
struct RunOptions {
  CheckLevel check = CheckLevel::kDefault;
  int threads = 0;                    // 0: as many as the device has
  std::function<bool()> interrupted;  // asked now and then by the thread that waits; true: stop
  Unspecified unspecified = Unspecified::kZero;
  bool any_array = false;  // a pointer may lead from its array into any other memory of the launch
  std::string order;       // in which blocks start, as vm::ParseStartOrder reads it; empty: see vm::Launch
  // Receives each warning of a run when the run is over, on the thread that ran it. May be null.
  std::function<void(const Report&)> warn;
  // The same of what was seen of the kernel's choices, of full checks. Null: nothing is looked at.
  std::function<void(const Coverage&)> cover;
  // Counts the blocks that are done, from 0, for whoever shows progress meanwhile. May be null.
  std::atomic<int64_t>* blocks_done = nullptr;
  // Filled in when a run is over. May be null.
  RunCounts* counts = nullptr;
};

struct LaunchSpec {
  std::array<int64_t, 3> grid = {1, 1, 1};  // tile blocks; 0 in one: nothing runs
  std::vector<uint64_t> words;              // one per parameter of the kernel: the scalar's bits, or the address
  std::vector<Buffer> memory;               // checked by the cpu device
  RunOptions options = {};
  std::vector<ArrayArgument> arrays = {};      // of kernels with an interface; each is in one of `memory`
  std::vector<WrittenBytes> written = {};      // each is in one of `memory`; for full checks
  std::vector<PointerArgument> pointers = {};  // as far as they are known
  std::shared_ptr<const void> keeps = {};      // alive as long as the launch, or a graph that it is in, can run
};

class Event;
class Jit;
class Stream;

// Work that was recorded and can be launched again and again.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual absl::Status Run(Stream* stream) = 0;
};

class Stream {
 public:
  virtual ~Stream() = default;
  // Until all work so far is done. Aborted if a kernel of this stream trapped since the last call.
  virtual absl::Status Synchronize() = 0;
  // Later work waits for the event as it was last recorded.
  virtual absl::Status Wait(Event* event) = 0;
  // Until EndCapture, work is recorded instead of done. Synchronize and events are errors meanwhile.
  virtual absl::Status BeginCapture() = 0;
  virtual absl::StatusOr<std::unique_ptr<Graph>> EndCapture() = 0;
  virtual void* native() const = 0;  // CUstream; null on the cpu
};

class Event {
 public:
  virtual ~Event() = default;
  virtual absl::Status Record(Stream* stream) = 0;
  virtual absl::Status Synchronize() = 0;
  // From `start` to this event; both recorded and reached.
  virtual absl::StatusOr<double> MillisecondsSince(Event* start) = 0;
};

class PreparedLaunch {
 public:
  virtual ~PreparedLaunch() = default;
  virtual absl::Status Run(Stream* stream) = 0;
  // Adds what Run does to a graph of the GPU's driver (CUgraph), which keeps what it needs of the launch. Nothing is recorded for it:
  // the driver lets nobody wait for the GPU while any stream records.
  virtual absl::Status AddTo(void* graph) = 0;
  // Takes the addresses of `spec`, which is otherwise what was prepared. False: it cannot, and must be prepared again.
  virtual bool Follow(const LaunchSpec& spec) {
    (void)spec;
    return false;
  }
};

class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
  virtual absl::StatusOr<std::shared_ptr<PreparedLaunch>> Prepare(LaunchSpec spec) = 0;
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  virtual ~Device() = default;
  const DeviceInfo& info() const { return info_; }

  // At least 256-byte aligned, not initialised; of at least one byte.
  virtual absl::StatusOr<uint64_t> Allocate(uint64_t bytes) = 0;
  virtual void Free(uint64_t address) = 0;
  // Host memory may be freed or changed when the stream is synchronised.
  virtual absl::Status Upload(uint64_t to, const void* from, uint64_t bytes, Stream* stream) = 0;
  virtual absl::Status Download(void* to, uint64_t from, uint64_t bytes, Stream* stream) = 0;
  virtual absl::Status Copy(uint64_t to, uint64_t from, uint64_t bytes, Stream* stream) = 0;
  virtual absl::Status Fill(uint64_t address, uint8_t value, uint64_t bytes, Stream* stream) = 0;

  virtual absl::StatusOr<std::unique_ptr<Stream>> CreateStream() = 0;
  // Of the caller: a CUstream. Not destroyed.
  virtual absl::StatusOr<std::unique_ptr<Stream>> WrapStream(void* native) = 0;
  virtual Stream* default_stream() = 0;
  virtual absl::StatusOr<std::unique_ptr<Event>> CreateEvent() = 0;

  // `function` is one of program.module. Without machine code for this device: error run.no_image, which says what there
  // is and why it does not fit.
  virtual absl::StatusOr<std::shared_ptr<LoadedKernel>> Load(std::shared_ptr<const Program> program,
                                                             const ir::Function& function) = 0;

  // Compiles what programs lack machine code for, from now on (jit/jit.h). Of no meaning where nothing is compiled.
  virtual void set_jit(std::shared_ptr<Jit>) {}

  // Receives what print_tko prints; null: standard output. Set before kernels are loaded, or while nothing runs.
  virtual void set_print(std::function<void(absl::string_view)> print) { print_ = std::move(print); }
  const std::function<void(absl::string_view)>& print() const { return print_; }

 protected:
  DeviceInfo info_;
  std::function<void(absl::string_view)> print_;
};

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_DEVICE_H_
