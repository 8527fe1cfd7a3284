// C++ over tilevm.h: handles that destroy themselves, results instead of statuses. A header only; C++17.
//
//   tilevm::Device device = tilevm::Device::Open("auto").value();
//   tilevm::Module module = tilevm::Module::FromFile("vector_add.tbc").value();
//   tilevm::Kernel kernel = tilevm::Kernel::Create(device, module).value();
//   tilevm::Buffer a = tilevm::Buffer::From(device, host_a.data(), host_a.size()).value();   // upload
//   …
//   tilevm::Launch launch = tilevm::Launch::Create(kernel).value();
//   launch.Set("a", a.Array<float>({n})).Set("b", b.Array<float>({n})).Set("c", c.Array<float>({n}));
//   if (tilevm::Error e = launch.Run()) std::cerr << e.message();
//
// value() throws tilevm::Exception after a failure; where exceptions are off it prints the message and aborts. Ask ok()
// first, or use error(). Rules about threads, streams and lifetimes are those of tilevm.h.
#ifndef TILEVM_HPP_
#define TILEVM_HPP_

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilevm.h"

namespace tilevm {

// A failure, or none: true if something went wrong.
class [[nodiscard]] Error {
 public:
  Error() = default;
  // Of the call that just returned, in this thread.
  Error(tilevm_status status) : status_(status) {  // NOLINT: what C functions return becomes an Error
    if (status == TILEVM_OK) return;
    message_ = tilevm_error();
    code_ = tilevm_error_code();
  }
  Error(tilevm_status status, std::string message) : status_(status), message_(std::move(message)) {}
  explicit operator bool() const { return status_ != TILEVM_OK; }
  tilevm_status status() const { return status_; }
  const std::string& message() const { return message_; }
  const std::string& code() const { return code_; }

  void OrThrow() const;

 private:
  tilevm_status status_ = TILEVM_OK;
  std::string message_, code_;
};

class Exception : public std::exception {
 public:
  explicit Exception(Error error) : error_(std::move(error)) {}
  const char* what() const noexcept override { return error_.message().c_str(); }
  const Error& error() const { return error_; }

 private:
  Error error_;
};

inline void Error::OrThrow() const {
  if (!*this) return;
#if defined(__cpp_exceptions)
  throw Exception(*this);
#else
  std::fprintf(stderr, "%s\n", message_.c_str());
  std::abort();
#endif
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: returned by functions
  Result(Error error) : error_(std::move(error)) {}      // NOLINT
  bool ok() const { return value_.has_value(); }
  const Error& error() const { return error_; }
  T& value() & { return error_.OrThrow(), *value_; }
  T value() && { return error_.OrThrow(), *std::move(value_); }

 private:
  std::optional<T> value_;
  Error error_;
};

namespace internal {
// A C handle with its destructor.
template <class H, void (*kDestroy)(H*)>
class Handle {
 public:
  explicit Handle(H* handle) : handle_(handle) {}
  H* get() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(H* h) const { kDestroy(h); }
  };
  std::unique_ptr<H, Destroy> handle_;
};

template <class T, class H, class F>
Result<T> Make(F&& f) {
  H* handle = nullptr;
  if (Error e = f(&handle)) return e;
  return T(handle);
}

template <class T>
struct TypeOf;
#define TILEVM_TYPE_OF(T, type) \
  template <>                   \
  struct TypeOf<T> {            \
    static constexpr tilevm_type value = type; \
  };
TILEVM_TYPE_OF(bool, TILEVM_I1)
TILEVM_TYPE_OF(int8_t, TILEVM_I8)
TILEVM_TYPE_OF(uint8_t, TILEVM_I8)
TILEVM_TYPE_OF(int16_t, TILEVM_I16)
TILEVM_TYPE_OF(uint16_t, TILEVM_I16)
TILEVM_TYPE_OF(int32_t, TILEVM_I32)
TILEVM_TYPE_OF(uint32_t, TILEVM_I32)
TILEVM_TYPE_OF(int64_t, TILEVM_I64)
TILEVM_TYPE_OF(uint64_t, TILEVM_I64)
TILEVM_TYPE_OF(float, TILEVM_F32)
TILEVM_TYPE_OF(double, TILEVM_F64)
#undef TILEVM_TYPE_OF
}  // namespace internal

class Device : public internal::Handle<tilevm_device, tilevm_device_close> {
 public:
  using Handle::Handle;
  static Result<Device> Open(const char* name) {
    return internal::Make<Device, tilevm_device>([&](tilevm_device** d) { return tilevm_device_open(name, d); });
  }
  // Lets kernels be compiled that a module has no machine code for. Null: what the C header says.
  Error AllowCompile(const tilevm_compile_options* options = nullptr) {
    return tilevm_device_allow_compile(get(), options);
  }
  tilevm_device_info info() const {
    tilevm_device_info i = {};
    i.struct_size = sizeof i;
    (void)tilevm_device_get_info(get(), &i);
    return i;
  }
};

class Module : public internal::Handle<tilevm_module, tilevm_module_destroy> {
 public:
  using Handle::Handle;
  static Result<Module> FromFile(const std::string& path) {
    return internal::Make<Module, tilevm_module>([&](tilevm_module** m) { return tilevm_module_from_file(path.c_str(), m); });
  }
  static Result<Module> FromBytes(const void* bytes, size_t size, const char* name = nullptr) {
    return internal::Make<Module, tilevm_module>([&](tilevm_module** m) { return tilevm_module_from_bytes(bytes, size, name, m); });
  }
  std::vector<std::string> kernels() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < tilevm_module_num_kernels(get()); ++i) names.emplace_back(tilevm_module_kernel_name(get(), i));
    return names;
  }
};

class Kernel : public internal::Handle<tilevm_kernel, tilevm_kernel_destroy> {
 public:
  using Handle::Handle;
  // name null: the module's only kernel.
  static Result<Kernel> Create(const Device& device, const Module& module, const char* name = nullptr) {
    return internal::Make<Kernel, tilevm_kernel>(
        [&](tilevm_kernel** k) { return tilevm_kernel_create(device.get(), module.get(), name, k); });
  }
};

class Stream : public internal::Handle<tilevm_stream, tilevm_stream_destroy> {
 public:
  using Handle::Handle;
  static Result<Stream> Create(const Device& device) {
    return internal::Make<Stream, tilevm_stream>([&](tilevm_stream** s) { return tilevm_stream_create(device.get(), s); });
  }
  static Result<Stream> Wrap(const Device& device, void* native) {
    return internal::Make<Stream, tilevm_stream>([&](tilevm_stream** s) { return tilevm_stream_wrap(device.get(), native, s); });
  }
  Error Synchronize() { return tilevm_stream_synchronize(get()); }
  Error BeginCapture() { return tilevm_stream_begin_capture(get()); }
};

class Graph : public internal::Handle<tilevm_graph, tilevm_graph_destroy> {
 public:
  using Handle::Handle;
  static Result<Graph> EndCapture(Stream& stream) {
    return internal::Make<Graph, tilevm_graph>([&](tilevm_graph** g) { return tilevm_stream_end_capture(stream.get(), g); });
  }
  Error Run(Stream* stream = nullptr) { return tilevm_graph_run(get(), stream ? stream->get() : nullptr); }
};

class Event : public internal::Handle<tilevm_event, tilevm_event_destroy> {
 public:
  using Handle::Handle;
  static Result<Event> Create(const Device& device) {
    return internal::Make<Event, tilevm_event>([&](tilevm_event** e) { return tilevm_event_create(device.get(), e); });
  }
  Error Record(Stream* stream = nullptr) { return tilevm_event_record(get(), stream ? stream->get() : nullptr); }
  Error Synchronize() { return tilevm_event_synchronize(get()); }
  Result<double> MillisecondsSince(Event& start) {
    double ms = 0;
    if (Error e = tilevm_event_elapsed_ms(start.get(), get(), &ms)) return e;
    return ms;
  }
};

// An address with type and shape. The memory is somebody else's.
struct Array {
  void* data = nullptr;
  tilevm_type type = TILEVM_F32;
  std::vector<int64_t> shape, strides;  // strides empty: row-major
};

class Buffer : public internal::Handle<tilevm_buffer, tilevm_buffer_destroy> {
 public:
  using Handle::Handle;
  static Result<Buffer> Create(const Device& device, size_t bytes) {
    return internal::Make<Buffer, tilevm_buffer>([&](tilevm_buffer** b) { return tilevm_buffer_create(device.get(), bytes, b); });
  }
  // With a copy of n elements.
  template <class T>
  static Result<Buffer> From(const Device& device, const T* data, size_t n) {
    Result<Buffer> buffer = Create(device, n * sizeof(T));
    if (!buffer.ok()) return buffer;
    if (Error e = buffer.value().Upload(data, n * sizeof(T))) return e;
    return buffer;
  }
  void* data() const { return tilevm_buffer_data(get()); }
  size_t size() const { return tilevm_buffer_size(get()); }
  Error Upload(const void* from, size_t bytes, size_t offset = 0, Stream* stream = nullptr) {
    return tilevm_buffer_upload(get(), offset, from, bytes, stream ? stream->get() : nullptr);
  }
  Error Download(void* to, size_t bytes, size_t offset = 0, Stream* stream = nullptr) const {
    return tilevm_buffer_download(get(), offset, to, bytes, stream ? stream->get() : nullptr);
  }
  Error Fill(uint8_t value, Stream* stream = nullptr) {
    return tilevm_buffer_fill(get(), 0, value, size(), stream ? stream->get() : nullptr);
  }
  tilevm::Array Array(tilevm_type type, std::vector<int64_t> shape) const { return {data(), type, std::move(shape), {}}; }
  template <class T>
  tilevm::Array Array(std::vector<int64_t> shape) const {
    return Array(internal::TypeOf<T>::value, std::move(shape));
  }
};

// Set returns the launch itself; the first mistake is reported by Prepare and Run.
class Launch : public internal::Handle<tilevm_launch, tilevm_launch_destroy> {
 public:
  using Handle::Handle;
  static Result<Launch> Create(const Kernel& kernel) {
    return internal::Make<Launch, tilevm_launch>([&](tilevm_launch** l) { return tilevm_launch_create(kernel.get(), l); });
  }
  Launch& Set(const char* name, const Array& a) {
    const tilevm_array array = {a.data, a.type, static_cast<int32_t>(a.shape.size()), a.shape.data(),
                                a.strides.empty() ? nullptr : a.strides.data()};
    if (!a.strides.empty() && a.strides.size() != a.shape.size()) {
      if (!first_) first_ = Error(TILEVM_INVALID_ARGUMENT, "an array has not as many strides as sizes");
      return *this;
    }
    return Note(tilevm_launch_set_array(get(), name, &array));
  }
  Launch& Set(const char* name, int64_t value) { return Note(tilevm_launch_set_i64(get(), name, value)); }
  Launch& Set(const char* name, int value) { return Set(name, int64_t{value}); }
  Launch& Set(const char* name, double value) { return Note(tilevm_launch_set_f64(get(), name, value)); }
  Launch& SetParameter(uint32_t index, const void* address) {
    return SetParameter(index, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(address)));
  }
  Launch& SetParameter(uint32_t index, uint64_t bits) { return Note(tilevm_launch_set_parameter(get(), index, bits)); }
  Launch& SetGrid(int64_t x, int64_t y = 1, int64_t z = 1) { return Note(tilevm_launch_set_grid(get(), x, y, z)); }

  // The shape that follows from the arguments that are set.
  Result<std::vector<int64_t>> ShapeOf(const char* name) {
    tilevm_array a = {};
    if (Error e = tilevm_launch_get_array(get(), name, &a)) return e;
    return std::vector<int64_t>(a.shape, a.shape + a.rank);
  }
  Error Prepare() { return first_ ? std::exchange(first_, {}) : Error(tilevm_launch_prepare(get())); }
  // stream null: the default stream, and wait.
  Error Run(Stream* stream = nullptr) {
    return first_ ? std::exchange(first_, {}) : Error(tilevm_launch_run(get(), stream ? stream->get() : nullptr));
  }

 private:
  Launch& Note(tilevm_status status) {
    if (status != TILEVM_OK && !first_) first_ = Error(status);
    return *this;
  }
  Error first_;
};

}  // namespace tilevm

#endif  // TILEVM_HPP_
