// A launch by its arguments: arrays and scalars by name, or raw parameters by position. Resolves what the interface leaves
// open, prepares the launch on the device, fills outputs and workspace before each run.
//
//   ArrayLaunch launch(device, program, function, kernel, buffers);
//   launch.SetArray("x", {ir::Element::Number(ir::Elem::kF32), {true, {1000}, {}, address}});
//   launch.Run(stream);
//
// One thread. Errors: InvalidArgument and NotFound name the argument; those of Device and LoadedKernel.
#ifndef TILE_RUNTIME_ARRAY_LAUNCH_H_
#define TILE_RUNTIME_ARRAY_LAUNCH_H_

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "runtime/device.h"
#include "runtime/launch_rule.h"

namespace tile::runtime {

// Which addresses belong to buffers, so that arrays can be checked against them. Thread-safe.
class BufferTable {
 public:
  struct Range {
    uint64_t address = 0, bytes = 0;
  };
  void Add(Range range);
  void Remove(uint64_t address);
  // The buffer that contains the address.
  std::optional<Range> Find(uint64_t address) const;

 private:
  mutable std::mutex mutex_;
  std::multimap<uint64_t, uint64_t> ranges_ ABSL_GUARDED_BY(mutex_);
};

// Bytes from the first to after the last element. Errors: negative sizes or strides, more than any memory. `name` is for
// messages.
absl::StatusOr<uint64_t> ExtentOf(const ArrayValue& a, ir::Elem e, absl::string_view name);

class ArrayLaunch {
 public:
  ArrayLaunch(std::shared_ptr<Device> device, std::shared_ptr<const Program> program, const ir::Function& function,
              std::shared_ptr<LoadedKernel> kernel, std::shared_ptr<const BufferTable> buffers);
  ~ArrayLaunch();

  absl::Status SetArray(absl::string_view name, ir::Elem element, ArrayValue value);
  // Bits of the scalar's type.
  absl::Status SetScalar(absl::string_view name, uint64_t bits);
  absl::StatusOr<ir::Elem> ScalarType(absl::string_view name) const;
  absl::Status SetParameter(uint32_t index, uint64_t word);
  // A parameter that points to an array; strides may be negative. Its memory is what AddMemory or the buffers say.
  absl::Status SetPointer(uint32_t index, absl::string_view name, ir::Elem element, ArrayValue value);
  void SetGrid(const std::array<int64_t, 3>& grid);
  // Unimplemented on a GPU for what only the VM can do.
  absl::Status SetOptions(RunOptions options);
  // Memory that a kernel without interface may touch, and what messages call it. Raw parameters may point into it.
  absl::Status AddMemory(absl::string_view name, ir::Elem element, const ArrayValue& value);
  // Which bytes of that memory have been written, for full checks. Must live as long as the launch.
  absl::Status SetWritten(const WrittenBytes& written);

  // Sizes of outputs that are not set.
  absl::StatusOr<const ArrayValue*> GetArray(absl::string_view name, ir::Element* element);
  absl::StatusOr<std::array<int64_t, 3>> GetGrid();

  absl::Status Prepare();
  // Initialize and Launch.
  absl::Status Run(Stream* stream);
  // What outputs and workspaces hold before a launch: initial values of the interface, zeros.
  absl::Status Initialize(Stream* stream);
  // The kernel alone.
  absl::Status Launch(Stream* stream);
  // As a node of a graph (PreparedLaunch::AddTo). Unimplemented if outputs or workspaces have values before the launch.
  absl::Status AddTo(void* graph);
  // What the device is given: prepares if that was not done. Until something is set.
  absl::StatusOr<const LaunchSpec*> Spec();

 private:
  class OwnedMemory;
  // What happens before each run: a fill, or a copy of bytes that were prepared.
  struct Initial {
    uint64_t address = 0, bytes = 0;
    uint8_t value = 0;
    uint64_t pattern = 0;  // address; 0: fill
  };

  absl::StatusOr<size_t> FindArray(absl::string_view name) const;
  absl::StatusOr<size_t> FindScalar(absl::string_view name) const;
  absl::Status Resolve();
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  absl::Status AddArrays(LaunchSpec* spec);
  absl::Status AddWorkspaces(LaunchSpec* spec);
  absl::Status AddRawParameters(LaunchSpec* spec);
  absl::Status AddInitial(const ir::ArrayArg& arg, const ArrayValue& value, uint64_t bytes);
  void Forget();  // what was prepared
  // Whether `value` differs from the array that was prepared in its address alone, and nothing else follows from that.
  bool IsMoved(size_t i, const ArrayValue& value) const;
  // Takes what was prepared to the addresses of the arrays. False: it must be prepared again.
  bool Follow();

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<const Program> program_;
  const ir::Function& function_;
  const std::shared_ptr<LoadedKernel> kernel_;
  const std::shared_ptr<const BufferTable> buffers_;
  const Environment environment_;
  const bool reads_addresses_;  // the launch rule

  Arguments given_;                             // as the caller set them
  std::vector<std::optional<uint64_t>> words_;  // raw parameters
  std::optional<std::array<int64_t, 3>> grid_;
  RunOptions options_;
  std::vector<Buffer> memory_;         // of raw parameters
  std::vector<WrittenBytes> written_;  // of them
  std::vector<PointerArgument> pointers_;
  std::optional<Arguments> resolved_;
  std::shared_ptr<OwnedMemory> owned_;  // of what was prepared; graphs may share it
  std::vector<Initial> initial_;
  LaunchSpec spec_;
  std::shared_ptr<PreparedLaunch> prepared_;
  bool has_moved_ = false;  // arrays are at other addresses than those that were prepared
};

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_ARRAY_LAUNCH_H_
