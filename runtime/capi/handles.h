// The objects that the handles of tilevm.h point to, and how a Status becomes a tilevm_status. Internal to runtime/capi.
#ifndef TILE_RUNTIME_CAPI_HANDLES_H_
#define TILE_RUNTIME_CAPI_HANDLES_H_

#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/array_launch.h"
#include "runtime/device.h"
#include "runtime/tilevm.h"

// What a device handle and everything made from it share.
struct SharedDevice {
  std::shared_ptr<tile::runtime::Device> device;
  std::shared_ptr<tile::runtime::BufferTable> buffers = std::make_shared<tile::runtime::BufferTable>();
};

// Memory; handles and exported tensors share it.
struct SharedBuffer {
  SharedDevice device;
  uint64_t address = 0;
  size_t size = 0;
  bool owned = false;                     // of Device::Allocate
  void (*release)(void* user) = nullptr;  // of wrapped memory
  void* user = nullptr;
  std::vector<int64_t> shape, strides;  // of an imported tensor
  ~SharedBuffer();
};

struct tilevm_device {
  SharedDevice shared;
};
struct tilevm_module {
  std::shared_ptr<const tile::runtime::Program> program;
  std::vector<std::string> kernel_names;  // with a zero byte at the end, unlike the module's
};
struct tilevm_kernel {
  SharedDevice device;
  std::shared_ptr<const tile::runtime::Program> program;
  const tile::ir::Function* function = nullptr;
  std::shared_ptr<tile::runtime::LoadedKernel> kernel;
  std::string name;
};
struct tilevm_buffer {
  std::shared_ptr<SharedBuffer> memory;
};
struct tilevm_stream {
  SharedDevice device;
  std::unique_ptr<tile::runtime::Stream> stream;
};
struct tilevm_event {
  SharedDevice device;
  std::unique_ptr<tile::runtime::Event> event;
};
struct tilevm_graph {
  SharedDevice device;
  std::unique_ptr<tile::runtime::Graph> graph;
};
struct tilevm_launch {
  SharedDevice device;
  std::unique_ptr<tile::runtime::ArrayLaunch> launch;
};

namespace tile::runtime::capi {

// Remembers the message of a failure for this thread; TILEVM_OK otherwise.
tilevm_status Report(const absl::Status& status);
// TILEVM_INVALID_ARGUMENT with "error[run.arguments]: WHAT".
tilevm_status Invalid(absl::string_view what);
tilevm_status NullArgument(absl::string_view name);
// TILEVM_OUT_OF_MEMORY. Takes no memory.
tilevm_status NoMemoryLeft();

// Copies `from` into the caller's struct, which may be of an older, shorter version of this header. The struct begins with
// its size.
template <class T>
tilevm_status FillInfo(T from, T* to) {
  if (to == nullptr) return NullArgument("info");
  if (to->struct_size < sizeof(size_t) || to->struct_size > 4096) return Invalid("struct_size of the info is not set");
  const size_t size = to->struct_size;
  from.struct_size = size;
  __builtin_memcpy(to, &from, size < sizeof(T) ? size : sizeof(T));
  return TILEVM_OK;
}

// The options of a caller, perhaps of an older, shorter version of the header; all defaults for NULL.
template <class T>
tilevm_status ReadOptions(const T* from, T* to) {
  *to = {};
  if (from == nullptr) return TILEVM_OK;
  if (from->struct_size < sizeof(size_t) || from->struct_size > 4096)
    return Invalid("struct_size of the options is not set");
  __builtin_memcpy(to, from, from->struct_size < sizeof(T) ? from->struct_size : sizeof(T));
  return TILEVM_OK;
}

// Runs work(stream) on the stream of the handle, or on the default stream and waits. Error if the stream belongs to
// another device.
template <class Work>
tilevm_status OnStream(const SharedDevice& device, tilevm_stream* stream, Work&& work) {
  if (stream != nullptr) {
    if (stream->device.device != device.device) return Invalid("the stream belongs to another device");
    return Report(work(stream->stream.get()));
  }
  Stream* all = device.device->default_stream();
  const absl::Status status = work(all);
  const absl::Status waited = all->Synchronize();
  return Report(status.ok() ? waited : status);
}

// The array of a caller, checked by itself. `name` is for messages.
tilevm_status ReadArray(const tilevm_array* array, absl::string_view name, ArrayValue* value);

}  // namespace tile::runtime::capi

// Returns an error if a pointer that the function needs is null.
#define TILEVM_NEED(argument) \
  if ((argument) == nullptr) return ::tile::runtime::capi::NullArgument(#argument)

// Ends the body of a function that begins with `try`: nothing may be thrown through C.
#define TILEVM_CATCH                              \
  catch (const std::bad_alloc&) {                 \
    return ::tile::runtime::capi::NoMemoryLeft(); \
  }

#endif  // TILE_RUNTIME_CAPI_HANDLES_H_
