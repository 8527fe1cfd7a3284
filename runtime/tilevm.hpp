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
// kernel.arrays() and kernel.scalars() say what a kernel takes; Buffer::FromDlpack and ToDlpack share tensors with other
// libraries. C++ types stand for element types through TypeOf, which may be specialised: tilevm::Float16 and BFloat16 are
// 16-bit floats to store and convert, and
//
//   template <> struct tilevm::TypeOf<__half> { static constexpr tilevm_type value = TILEVM_F16; };
//
// value() throws tilevm::Exception after a failure; where exceptions are off it prints the message and aborts. Ask ok()
// first, or use error(). Rules about threads, streams and lifetimes are those of tilevm.h.
#ifndef TILEVM_HPP_
#define TILEVM_HPP_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilevm.h"

namespace tilevm {

// A failure, or none: true if something went wrong.
class [[nodiscard]] Error {
 public:
  Error() = default;
  // The error of the call that just returned, in this thread.
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
  Result(T value) : value_(std::move(value)) {}      // NOLINT: returned by functions
  Result(Error error) : error_(std::move(error)) {}  // NOLINT
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
}  // namespace internal

// --- element types --------------------------------------------------------------------------------------------------

namespace internal {
inline uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float FloatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
}  // namespace internal

// IEEE binary16, to store; arithmetic is that of float. Conversion rounds to the nearest, ties to even; what is too large
// becomes infinite.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value) {
    const uint32_t f = internal::BitsOf(value), sign = f >> 16 & 0x8000, magnitude = f & 0x7fffffff;
    uint32_t half;
    if (magnitude >= 0x7f800000) {  // infinite, NaN: quiet, its upper bits stay
      half = magnitude == 0x7f800000 ? 0x7c00 : 0x7e00 | (magnitude >> 13 & 0x3ff);
    } else if (magnitude < 0x38800000) {                       // below 2^-14: a multiple of 2^-24
      const float grid = internal::FloatOf(magnitude) + 0.5f;  // whose last bit is 2^-24
      half = internal::BitsOf(grid) - internal::BitsOf(0.5f);
    } else {
      half = (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13;
      if (half > 0x7c00) half = 0x7c00;
    }
    bits = static_cast<uint16_t>(sign | half);
  }
  explicit operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    if (magnitude >= 0x7c00) return internal::FloatOf(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    // A significand with the exponent of 2^-24 * 2^23, scaled exactly.
    const float value = magnitude < 0x400 ? static_cast<float>(magnitude) * 0x1p-24f
                                          : internal::FloatOf((magnitude << 13) + 0x38000000);
    return internal::FloatOf(sign | internal::BitsOf(value));
  }
};

// The upper half of a float, likewise.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) {
    const uint32_t f = internal::BitsOf(value);
    const bool nan = (f & 0x7fffffff) > 0x7f800000;
    bits = static_cast<uint16_t>(nan ? f >> 16 | 0x40 : (f + 0x7fff + (f >> 16 & 1)) >> 16);
  }
  explicit operator float() const { return internal::FloatOf(static_cast<uint32_t>(bits) << 16); }
};

// The element type of a C++ type. bool is a byte that is 0 or 1.
template <class T>
struct TypeOf {
  static_assert(!std::is_same_v<T, T>, "no element type is known for this type: specialise tilevm::TypeOf");
};
#define TILEVM_TYPE_OF(T, type)                \
  template <>                                  \
  struct TypeOf<T> {                           \
    static constexpr tilevm_type value = type; \
  };
TILEVM_TYPE_OF(bool, TILEVM_I1)
TILEVM_TYPE_OF(char, TILEVM_I8)
TILEVM_TYPE_OF(signed char, TILEVM_I8)
TILEVM_TYPE_OF(unsigned char, TILEVM_I8)
TILEVM_TYPE_OF(short, TILEVM_I16)
TILEVM_TYPE_OF(unsigned short, TILEVM_I16)
TILEVM_TYPE_OF(int, TILEVM_I32)
TILEVM_TYPE_OF(unsigned, TILEVM_I32)
TILEVM_TYPE_OF(long, sizeof(long) == 8 ? TILEVM_I64 : TILEVM_I32)
TILEVM_TYPE_OF(unsigned long, sizeof(long) == 8 ? TILEVM_I64 : TILEVM_I32)
TILEVM_TYPE_OF(long long, TILEVM_I64)
TILEVM_TYPE_OF(unsigned long long, TILEVM_I64)
TILEVM_TYPE_OF(Float16, TILEVM_F16)
TILEVM_TYPE_OF(BFloat16, TILEVM_BF16)
TILEVM_TYPE_OF(float, TILEVM_F32)
TILEVM_TYPE_OF(double, TILEVM_F64)
#undef TILEVM_TYPE_OF

// Sizes of an array, of any integer types: {rows, v.size()}.
struct Shape {
  std::vector<int64_t> sizes;

  template <class... N, std::enable_if_t<(std::is_integral_v<N> && ...), int> = 0>
  Shape(N... n) : sizes{static_cast<int64_t>(n)...} {}        // NOLINT: written as {2, 3}
  Shape(std::vector<int64_t> all) : sizes(std::move(all)) {}  // NOLINT
};

namespace internal {
// The word of a raw parameter; its upper bytes mean nothing.
template <class T>
uint64_t WordOf(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t),
                "a parameter is a number or an address");
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}

template <class Signature>
struct Words;
template <class... P>
struct Words<void(P...)> {
  // Arguments convert as in a call.
  static std::vector<uint64_t> Of(P... arguments) { return {WordOf(arguments)...}; }
};
}  // namespace internal

// --- devices, modules, kernels --------------------------------------------------------------------------------------

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
    return internal::Make<Module, tilevm_module>(
        [&](tilevm_module** m) { return tilevm_module_from_file(path.c_str(), m); });
  }
  static Result<Module> FromBytes(const void* bytes, size_t size, const char* name = nullptr) {
    return internal::Make<Module, tilevm_module>(
        [&](tilevm_module** m) { return tilevm_module_from_bytes(bytes, size, name, m); });
  }
  std::vector<std::string> kernels() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < tilevm_module_num_kernels(get()); ++i)
      names.emplace_back(tilevm_module_kernel_name(get(), i));
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

  // What it takes. fixed_shape: -1 where any size will do. optional: has a default, or follows from the arrays.
  struct ArrayInfo {
    std::string name;
    int direction;  // TILEVM_IN, TILEVM_OUT, TILEVM_INOUT
    tilevm_type type;
    std::vector<int64_t> fixed_shape;
  };
  struct ScalarInfo {
    std::string name;
    tilevm_type type;
    bool optional;
  };
  std::string name() const { return info().name; }
  // Raw ones, for Launch::SetParameter.
  uint32_t num_parameters() const { return info().num_parameters; }
  // Whether the grid follows from the arguments.
  bool has_launch_rule() const { return info().has_launch_rule != 0; }
  std::vector<ArrayInfo> arrays() const {
    std::vector<ArrayInfo> all;
    for (uint32_t i = 0; i < info().num_arrays; ++i) {
      tilevm_array_info a = {};
      a.struct_size = sizeof a;
      (void)tilevm_kernel_get_array(get(), i, &a);
      all.push_back({a.name, a.direction, a.type, {a.fixed_shape, a.fixed_shape + a.rank}});
    }
    return all;
  }
  std::vector<ScalarInfo> scalars() const {
    std::vector<ScalarInfo> all;
    for (uint32_t i = 0; i < info().num_scalars; ++i) {
      tilevm_scalar_info s = {};
      s.struct_size = sizeof s;
      (void)tilevm_kernel_get_scalar(get(), i, &s);
      all.push_back({s.name, s.type, s.optional != 0});
    }
    return all;
  }

 private:
  tilevm_kernel_info info() const {
    tilevm_kernel_info i = {};
    i.struct_size = sizeof i;
    (void)tilevm_kernel_get_info(get(), &i);
    return i;
  }
};

class Stream : public internal::Handle<tilevm_stream, tilevm_stream_destroy> {
 public:
  using Handle::Handle;
  static Result<Stream> Create(const Device& device) {
    return internal::Make<Stream, tilevm_stream>(
        [&](tilevm_stream** s) { return tilevm_stream_create(device.get(), s); });
  }
  static Result<Stream> Wrap(const Device& device, void* native) {
    return internal::Make<Stream, tilevm_stream>(
        [&](tilevm_stream** s) { return tilevm_stream_wrap(device.get(), native, s); });
  }
  Error Synchronize() { return tilevm_stream_synchronize(get()); }
  Error BeginCapture() { return tilevm_stream_begin_capture(get()); }
};

class Graph : public internal::Handle<tilevm_graph, tilevm_graph_destroy> {
 public:
  using Handle::Handle;
  static Result<Graph> EndCapture(Stream& stream) {
    return internal::Make<Graph, tilevm_graph>(
        [&](tilevm_graph** g) { return tilevm_stream_end_capture(stream.get(), g); });
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

  // For calls of tilevm.h, as long as the array stays.
  tilevm_array c() const {
    return {data, type, static_cast<int32_t>(shape.size()), shape.data(), strides.empty() ? nullptr : strides.data()};
  }
};

class Buffer : public internal::Handle<tilevm_buffer, tilevm_buffer_destroy> {
 public:
  using Handle::Handle;
  static Result<Buffer> Create(const Device& device, size_t bytes) {
    return internal::Make<Buffer, tilevm_buffer>(
        [&](tilevm_buffer** b) { return tilevm_buffer_create(device.get(), bytes, b); });
  }
  // A buffer that holds a copy of n elements.
  template <class T>
  static Result<Buffer> From(const Device& device, const T* data, size_t n) {
    Result<Buffer> buffer = Create(device, n * sizeof(T));
    if (!buffer.ok()) return buffer;
    if (Error e = buffer.value().Upload(data, n * sizeof(T))) return e;
    return buffer;
  }
  void* data() const { return tilevm_buffer_data(get()); }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data());
  }
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
  tilevm::Array Array(tilevm_type type, Shape shape) const { return {data(), type, std::move(shape.sizes), {}}; }
  template <class T>
  tilevm::Array Array(Shape shape) const {
    return Array(TypeOf<T>::value, std::move(shape));
  }

  // A tensor of another library, not copied, with its description. It is taken over if that succeeds: its deleter is called
  // when the buffer is destroyed.
  static Result<std::pair<Buffer, tilevm::Array>> FromDlpack(const Device& device, DLManagedTensorVersioned* tensor) {
    return TakeDlpack(device, tensor, tilevm_buffer_from_dlpack);
  }
  static Result<std::pair<Buffer, tilevm::Array>> FromDlpack(const Device& device, DLManagedTensor* tensor) {
    return TakeDlpack(device, tensor, tilevm_buffer_from_dlpack_legacy);
  }
  // A tensor that shares this buffer. Whoever receives it calls its deleter once.
  Result<DLManagedTensorVersioned*> ToDlpack(const tilevm::Array& a) const {
    return GiveDlpack<DLManagedTensorVersioned>(a, tilevm_buffer_to_dlpack);
  }
  Result<DLManagedTensor*> ToDlpackLegacy(const tilevm::Array& a) const {
    return GiveDlpack<DLManagedTensor>(a, tilevm_buffer_to_dlpack_legacy);
  }

 private:
  template <class T, class F>
  static Result<std::pair<Buffer, tilevm::Array>> TakeDlpack(const Device& device, T* tensor, F&& take) {
    tilevm_buffer* buffer = nullptr;
    tilevm_array a = {};
    if (Error e = take(device.get(), tensor, &buffer, &a)) return e;
    tilevm::Array array = {a.data, a.type, {a.shape, a.shape + a.rank}, {}};
    if (a.strides != nullptr) array.strides.assign(a.strides, a.strides + a.rank);
    return std::pair<Buffer, tilevm::Array>(Buffer(buffer), std::move(array));
  }
  template <class T, class F>
  Result<T*> GiveDlpack(const tilevm::Array& a, F&& give) const {
    T* tensor = nullptr;
    const tilevm_array array = a.c();
    if (Error e = give(get(), &array, &tensor)) return e;
    return tensor;
  }
};

// Set returns the launch itself; the first mistake is reported by Prepare and Run.
// How the cpu device runs a launch; see tilevm_launch_options. A function must not throw.
struct LaunchOptions {
  int32_t check = TILEVM_CHECK_DEFAULT;
  int32_t threads = 0;
  std::function<bool()> interrupted;  // true: stop
  int32_t unspecified = TILEVM_UNSPECIFIED_ZERO;
  std::string order;  // "": the default
  std::function<void(const std::string&)> warning;
  bool any_array = false;
  std::function<void(const tilevm_coverage&)> coverage;
};

class Launch : public internal::Handle<tilevm_launch, tilevm_launch_destroy> {
 public:
  using Handle::Handle;
  static Result<Launch> Create(const Kernel& kernel) {
    return internal::Make<Launch, tilevm_launch>(
        [&](tilevm_launch** l) { return tilevm_launch_create(kernel.get(), l); });
  }
  Launch& Set(const char* name, const Array& a) {
    const tilevm_array array = a.c();
    if (!a.strides.empty() && a.strides.size() != a.shape.size()) {
      if (!first_) first_ = Error(TILEVM_INVALID_ARGUMENT, "an array has not as many strides as sizes");
      return *this;
    }
    return Note(tilevm_launch_set_array(get(), name, &array));
  }
  // A number of any integer or floating-point type. An integer must fit the scalar's; a float must not meet an integer.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Launch& Set(const char* name, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      return Note(tilevm_launch_set_f64(get(), name, static_cast<double>(value)));
    } else if constexpr (std::is_signed_v<T>) {
      return Note(tilevm_launch_set_i64(get(), name, value));
    } else {
      return Note(tilevm_launch_set_u64(get(), name, value));
    }
  }
  Launch& Set(const char* name, Float16 value) { return Set(name, static_cast<float>(value)); }
  Launch& Set(const char* name, BFloat16 value) { return Set(name, static_cast<float>(value)); }
  // An address, or the bits of an integer.
  Launch& SetParameter(uint32_t index, const void* address) {
    return SetParameter(index, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(address)));
  }
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Launch& SetParameter(uint32_t index, T bits) {
    return Note(tilevm_launch_set_parameter(get(), index, static_cast<uint64_t>(bits)));
  }
  // A raw parameter that points to an array, to which checks hold what is done through it.
  Launch& SetPointer(uint32_t index, const char* name, const Array& a) {
    const tilevm_array array = a.c();
    if (!a.strides.empty() && a.strides.size() != a.shape.size()) {
      if (!first_) first_ = Error(TILEVM_INVALID_ARGUMENT, "an array has not as many strides as sizes");
      return *this;
    }
    return Note(tilevm_launch_set_pointer(get(), index, name, &array));
  }
  // All raw parameters, as C++ passes them to a kernel that it declares so: SetParameters<void(const float*, int)>(x, n).
  // Addresses are of the device.
  template <class Signature, class... Arguments>
  Launch& SetParameters(Arguments&&... arguments) {
    uint32_t index = 0;
    for (uint64_t word : internal::Words<Signature>::Of(std::forward<Arguments>(arguments)...))
      SetParameter(index++, word);
    return *this;
  }
  Launch& SetGrid(int64_t x, int64_t y = 1, int64_t z = 1) { return Note(tilevm_launch_set_grid(get(), x, y, z)); }
  Launch& SetOptions(LaunchOptions options) {
    auto kept = std::make_unique<LaunchOptions>(std::move(options));
    tilevm_launch_options c = {};
    c.struct_size = sizeof c;
    c.check = kept->check;
    c.threads = kept->threads;
    c.unspecified = kept->unspecified;
    c.any_array = kept->any_array;
    c.order = kept->order.empty() ? nullptr : kept->order.c_str();
    c.interrupt_user = c.warning_user = c.coverage_user = kept.get();
    if (kept->interrupted)
      c.interrupt = [](void* o) -> int32_t { return static_cast<LaunchOptions*>(o)->interrupted(); };
    if (kept->warning) c.warning = [](void* o, const char* text) { static_cast<LaunchOptions*>(o)->warning(text); };
    if (kept->coverage)
      c.coverage = [](void* o, const tilevm_coverage* said) { static_cast<LaunchOptions*>(o)->coverage(*said); };
    Note(tilevm_launch_set_options(get(), &c));
    if (!first_) options_ = std::move(kept);
    return *this;
  }

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
  std::unique_ptr<LaunchOptions> options_;  // what the C launch points to
};

}  // namespace tilevm

#endif  // TILEVM_HPP_
