// Every call of tilevm.h used wrongly gives a status and a message.
#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/tilevm.h"

namespace {

// NULL for each handle and each pointer that is needed.
TEST(Misuse, Null) {
  tilevm_device* device = nullptr;
  ASSERT_EQ(tilevm_device_open("cpu", &device), TILEVM_OK);
  tilevm_module* module = nullptr;
  ASSERT_EQ(tilevm_module_from_file("tests/capi/vector_add.tbc", &module), TILEVM_OK);
  tilevm_kernel* kernel = nullptr;
  ASSERT_EQ(tilevm_kernel_create(device, module, nullptr, &kernel), TILEVM_OK);
  tilevm_buffer* buffer = nullptr;
  ASSERT_EQ(tilevm_buffer_create(device, 64, &buffer), TILEVM_OK);
  tilevm_stream* stream = nullptr;
  ASSERT_EQ(tilevm_stream_create(device, &stream), TILEVM_OK);
  tilevm_event* event = nullptr;
  ASSERT_EQ(tilevm_event_create(device, &event), TILEVM_OK);
  tilevm_launch* launch = nullptr;
  ASSERT_EQ(tilevm_launch_create(kernel, &launch), TILEVM_OK);
  tilevm_array array = {};
  tilevm_buffer* b = nullptr;
  tilevm_graph* g = nullptr;
  tilevm_device_info info = {};
  int64_t grid[3];
  double ms;
  uint8_t byte;
  DLManagedTensor* legacy = nullptr;
  DLManagedTensorVersioned* tensor = nullptr;
#define NULL_ARGUMENT(call)                          \
  EXPECT_EQ(call, TILEVM_INVALID_ARGUMENT) << #call; \
  EXPECT_NE(std::string(tilevm_error()).find("is NULL"), std::string::npos) << #call << tilevm_error()
  tilevm_device* none = device;
  NULL_ARGUMENT(tilevm_device_open(nullptr, &none));
  EXPECT_EQ(none, nullptr);  // as after every failure
  NULL_ARGUMENT(tilevm_device_open("cpu", nullptr));
  NULL_ARGUMENT(tilevm_device_get_info(nullptr, &info));
  NULL_ARGUMENT(tilevm_device_get_info(device, nullptr));
  NULL_ARGUMENT(tilevm_device_set_print(nullptr, nullptr, nullptr));
  tilevm_module* m = nullptr;
  NULL_ARGUMENT(tilevm_module_from_bytes(nullptr, 10, "", &m));
  NULL_ARGUMENT(tilevm_module_from_bytes(&byte, 1, "", nullptr));
  NULL_ARGUMENT(tilevm_module_from_file(nullptr, &m));
  NULL_ARGUMENT(tilevm_module_from_file("x", nullptr));
  tilevm_kernel* k = nullptr;
  NULL_ARGUMENT(tilevm_kernel_create(nullptr, module, "vector_add", &k));
  NULL_ARGUMENT(tilevm_kernel_create(device, nullptr, "vector_add", &k));
  NULL_ARGUMENT(tilevm_kernel_create(device, module, "vector_add", nullptr));
  tilevm_kernel_info kernel_info = {};
  tilevm_array_info array_info = {};
  tilevm_scalar_info scalar_info = {};
  NULL_ARGUMENT(tilevm_kernel_get_info(nullptr, &kernel_info));
  NULL_ARGUMENT(tilevm_kernel_get_info(kernel, nullptr));
  NULL_ARGUMENT(tilevm_kernel_get_array(nullptr, 0, &array_info));
  NULL_ARGUMENT(tilevm_kernel_get_array(kernel, 0, nullptr));
  NULL_ARGUMENT(tilevm_kernel_get_scalar(nullptr, 0, &scalar_info));
  NULL_ARGUMENT(tilevm_buffer_create(nullptr, 1, &b));
  NULL_ARGUMENT(tilevm_buffer_create(device, 1, nullptr));
  NULL_ARGUMENT(tilevm_buffer_wrap(nullptr, &byte, 1, nullptr, nullptr, &b));
  NULL_ARGUMENT(tilevm_buffer_wrap(device, nullptr, 1, nullptr, nullptr, &b));
  NULL_ARGUMENT(tilevm_buffer_wrap(device, &byte, 1, nullptr, nullptr, nullptr));
  NULL_ARGUMENT(tilevm_buffer_upload(nullptr, 0, &byte, 1, nullptr));
  NULL_ARGUMENT(tilevm_buffer_upload(buffer, 0, nullptr, 1, nullptr));
  NULL_ARGUMENT(tilevm_buffer_download(nullptr, 0, &byte, 1, nullptr));
  NULL_ARGUMENT(tilevm_buffer_download(buffer, 0, nullptr, 1, nullptr));
  NULL_ARGUMENT(tilevm_buffer_copy(nullptr, 0, buffer, 0, 1, nullptr));
  NULL_ARGUMENT(tilevm_buffer_copy(buffer, 0, nullptr, 0, 1, nullptr));
  NULL_ARGUMENT(tilevm_buffer_fill(nullptr, 0, 0, 1, nullptr));
  tilevm_stream* s = nullptr;
  NULL_ARGUMENT(tilevm_stream_create(nullptr, &s));
  NULL_ARGUMENT(tilevm_stream_create(device, nullptr));
  NULL_ARGUMENT(tilevm_stream_wrap(nullptr, nullptr, &s));
  NULL_ARGUMENT(tilevm_stream_wrap(device, nullptr, nullptr));
  NULL_ARGUMENT(tilevm_stream_synchronize(nullptr));
  NULL_ARGUMENT(tilevm_stream_wait_event(nullptr, event));
  NULL_ARGUMENT(tilevm_stream_wait_event(stream, nullptr));
  NULL_ARGUMENT(tilevm_stream_begin_capture(nullptr));
  NULL_ARGUMENT(tilevm_stream_end_capture(nullptr, &g));
  NULL_ARGUMENT(tilevm_stream_end_capture(stream, nullptr));
  tilevm_event* e = nullptr;
  NULL_ARGUMENT(tilevm_event_create(nullptr, &e));
  NULL_ARGUMENT(tilevm_event_create(device, nullptr));
  NULL_ARGUMENT(tilevm_event_record(nullptr, stream));
  NULL_ARGUMENT(tilevm_event_synchronize(nullptr));
  NULL_ARGUMENT(tilevm_event_elapsed_ms(nullptr, event, &ms));
  NULL_ARGUMENT(tilevm_event_elapsed_ms(event, nullptr, &ms));
  NULL_ARGUMENT(tilevm_event_elapsed_ms(event, event, nullptr));
  tilevm_launch* l = nullptr;
  NULL_ARGUMENT(tilevm_launch_create(nullptr, &l));
  NULL_ARGUMENT(tilevm_launch_create(kernel, nullptr));
  NULL_ARGUMENT(tilevm_launch_set_array(nullptr, "a", &array));
  NULL_ARGUMENT(tilevm_launch_set_array(launch, nullptr, &array));
  NULL_ARGUMENT(tilevm_launch_set_array(launch, "a", nullptr));
  NULL_ARGUMENT(tilevm_launch_set_i64(nullptr, "a", 1));
  NULL_ARGUMENT(tilevm_launch_set_i64(launch, nullptr, 1));
  NULL_ARGUMENT(tilevm_launch_set_u64(nullptr, "a", 1));
  NULL_ARGUMENT(tilevm_launch_set_u64(launch, nullptr, 1));
  NULL_ARGUMENT(tilevm_launch_set_f64(nullptr, "a", 1));
  NULL_ARGUMENT(tilevm_launch_set_f64(launch, nullptr, 1));
  NULL_ARGUMENT(tilevm_launch_set_bits(nullptr, "a", 1));
  NULL_ARGUMENT(tilevm_launch_set_bits(launch, nullptr, 1));
  NULL_ARGUMENT(tilevm_launch_set_parameter(nullptr, 0, 1));
  NULL_ARGUMENT(tilevm_launch_set_pointer(nullptr, 0, "a", &array));
  NULL_ARGUMENT(tilevm_launch_set_pointer(launch, 0, nullptr, &array));
  NULL_ARGUMENT(tilevm_launch_set_pointer(launch, 0, "a", nullptr));
  NULL_ARGUMENT(tilevm_launch_set_grid(nullptr, 1, 1, 1));
  NULL_ARGUMENT(tilevm_launch_set_options(nullptr, nullptr));
  NULL_ARGUMENT(tilevm_launch_add_memory(nullptr, "a", &array));
  NULL_ARGUMENT(tilevm_launch_add_memory(launch, nullptr, &array));
  NULL_ARGUMENT(tilevm_launch_add_memory(launch, "a", nullptr));
  NULL_ARGUMENT(tilevm_launch_set_written(nullptr, grid, 1, &byte));
  NULL_ARGUMENT(tilevm_launch_set_written(launch, nullptr, 1, &byte));
  NULL_ARGUMENT(tilevm_launch_set_written(launch, grid, 1, nullptr));
  NULL_ARGUMENT(tilevm_launch_get_array(nullptr, "a", &array));
  NULL_ARGUMENT(tilevm_launch_get_array(launch, nullptr, &array));
  NULL_ARGUMENT(tilevm_launch_get_array(launch, "a", nullptr));
  NULL_ARGUMENT(tilevm_launch_get_grid(nullptr, grid));
  NULL_ARGUMENT(tilevm_launch_get_grid(launch, nullptr));
  NULL_ARGUMENT(tilevm_launch_prepare(nullptr));
  NULL_ARGUMENT(tilevm_launch_run(nullptr, stream));
  NULL_ARGUMENT(tilevm_launch_add_to_graph(nullptr, launch));
  NULL_ARGUMENT(tilevm_launch_add_to_graph(launch, nullptr));
  NULL_ARGUMENT(tilevm_graph_run(nullptr, stream));
  NULL_ARGUMENT(tilevm_buffer_from_dlpack(device, nullptr, &b, &array));
  NULL_ARGUMENT(tilevm_buffer_from_dlpack(nullptr, nullptr, &b, &array));
  NULL_ARGUMENT(tilevm_buffer_from_dlpack_legacy(device, nullptr, &b, &array));
  NULL_ARGUMENT(tilevm_buffer_to_dlpack(nullptr, &array, &tensor));
  NULL_ARGUMENT(tilevm_buffer_to_dlpack(buffer, nullptr, &tensor));
  NULL_ARGUMENT(tilevm_buffer_to_dlpack(buffer, &array, nullptr));
  NULL_ARGUMENT(tilevm_buffer_to_dlpack_legacy(nullptr, &array, &legacy));
  EXPECT_EQ(tilevm_module_num_kernels(nullptr), 0u);
  EXPECT_EQ(tilevm_module_kernel_name(nullptr, 0), nullptr);
  EXPECT_EQ(tilevm_buffer_data(nullptr), nullptr);
  EXPECT_EQ(tilevm_buffer_size(nullptr), 0u);
  EXPECT_EQ(tilevm_stream_native(nullptr), nullptr);
  tilevm_launch_destroy(launch);
  tilevm_event_destroy(event);
  tilevm_stream_destroy(stream);
  tilevm_buffer_destroy(buffer);
  tilevm_kernel_destroy(kernel);
  tilevm_module_destroy(module);
  tilevm_device_close(device);
  tilevm_launch_destroy(nullptr);
  tilevm_event_destroy(nullptr);
  tilevm_stream_destroy(nullptr);
  tilevm_graph_destroy(nullptr);
  tilevm_buffer_destroy(nullptr);
  tilevm_kernel_destroy(nullptr);
  tilevm_module_destroy(nullptr);
  tilevm_device_close(nullptr);
}

class Wrong : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(tilevm_device_open("cpu", &device_), TILEVM_OK);
    ASSERT_EQ(tilevm_module_from_file("tests/capi/vector_add.tbc", &module_), TILEVM_OK);
    ASSERT_EQ(tilevm_kernel_create(device_, module_, "vector_add", &kernel_), TILEVM_OK);
    ASSERT_EQ(tilevm_buffer_create(device_, 400, &buffer_), TILEVM_OK);
    ASSERT_EQ(tilevm_launch_create(kernel_, &launch_), TILEVM_OK);
    array_ = {tilevm_buffer_data(buffer_), TILEVM_F32, 1, shape_, nullptr};
  }
  void TearDown() override {
    tilevm_launch_destroy(launch_);
    tilevm_buffer_destroy(buffer_);
    tilevm_kernel_destroy(kernel_);
    tilevm_module_destroy(module_);
    tilevm_device_close(device_);
  }
  void Expect(tilevm_status status, tilevm_status want, const char* part) {
    EXPECT_STREQ(tilevm_status_name(status), tilevm_status_name(want)) << tilevm_error();
    EXPECT_NE(std::string(tilevm_error()).find(part), std::string::npos) << tilevm_error();
    EXPECT_EQ(std::string(tilevm_error()).find("error["), 0u) << tilevm_error();
    EXPECT_STRNE(tilevm_error_code(), "");
  }

  tilevm_device* device_ = nullptr;
  tilevm_module* module_ = nullptr;
  tilevm_kernel* kernel_ = nullptr;
  tilevm_buffer* buffer_ = nullptr;
  tilevm_launch* launch_ = nullptr;
  int64_t shape_[20] = {100};
  tilevm_array array_ = {};
};

TEST_F(Wrong, Modules) {
  tilevm_module* m = nullptr;
  Expect(tilevm_module_from_file("tests/capi/no_such_file.tbc", &m), TILEVM_NOT_FOUND,
         "no_such_file.tbc: No such file or directory");
  EXPECT_STREQ(tilevm_error_code(), "file.read");
  Expect(tilevm_module_from_file("tests/capi/vector_add.tbc/x", &m), TILEVM_NOT_FOUND, "Not a directory");
  Expect(tilevm_module_from_file("tests/capi", &m), TILEVM_INVALID_MODULE, "tests/capi: Is a directory");
  EXPECT_STREQ(tilevm_error_code(), "file.read");
  const std::string secret = std::string(getenv("TEST_TMPDIR")) + "/secret.tbc";
  std::ofstream(secret) << "x";
  chmod(secret.c_str(), 0);
  if (!std::ifstream(secret)) {  // the superuser reads everything
    Expect(tilevm_module_from_file(secret.c_str(), &m), TILEVM_UNAVAILABLE, "Permission denied");
    EXPECT_STREQ(tilevm_error_code(), "file.read");
  }
  Expect(tilevm_module_from_bytes("entry @k() {}", 13, nullptr, &m), TILEVM_INVALID_MODULE,
         "<memory>: is no .tbc file");
  std::ifstream file("tests/capi/vector_add.tbc", std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  const std::string whole = text.str();
  // Cut off anywhere, and with a byte changed: an error or a module, never a crash.
  for (size_t n = 0; n < whole.size(); n += 7) {
    EXPECT_EQ(tilevm_module_from_bytes(whole.data(), n, "cut", &m), TILEVM_INVALID_MODULE) << n;
    std::string damaged = whole;
    damaged[n] = static_cast<char>(damaged[n] ^ 0x5a);
    const tilevm_status s = tilevm_module_from_bytes(damaged.data(), damaged.size(), "damaged", &m);
    EXPECT_TRUE(s == TILEVM_OK || s == TILEVM_INVALID_MODULE) << n << tilevm_error();
    EXPECT_EQ(s == TILEVM_OK, m != nullptr);
    tilevm_module_destroy(m);
  }
}

TEST_F(Wrong, Kernels) {
  tilevm_kernel* k = nullptr;
  Expect(tilevm_kernel_create(device_, module_, "other", &k), TILEVM_NOT_FOUND, "no kernel `other`; it has vector_add");
  tilevm_array_info a = {};
  a.struct_size = sizeof a;
  Expect(tilevm_kernel_get_array(kernel_, 3, &a), TILEVM_INVALID_ARGUMENT, "no array 3");
  a.struct_size = 0;
  Expect(tilevm_kernel_get_array(kernel_, 0, &a), TILEVM_INVALID_ARGUMENT, "struct_size");
  tilevm_scalar_info s = {};
  s.struct_size = sizeof s;
  Expect(tilevm_kernel_get_scalar(kernel_, 0, &s), TILEVM_INVALID_ARGUMENT, "no scalar 0");
}

TEST_F(Wrong, LaunchOptions) {
  tilevm_launch_options o = {};
  Expect(tilevm_launch_set_options(launch_, &o), TILEVM_INVALID_ARGUMENT, "struct_size");
  o.struct_size = sizeof o;
  o.check = 4;
  Expect(tilevm_launch_set_options(launch_, &o), TILEVM_INVALID_ARGUMENT, "no check level 4");
  o.check = TILEVM_CHECK_FULL;
  o.threads = -1;
  Expect(tilevm_launch_set_options(launch_, &o), TILEVM_INVALID_ARGUMENT, "negative number of threads");
  o.threads = 1;
  o.unspecified = 3;
  Expect(tilevm_launch_set_options(launch_, &o), TILEVM_INVALID_ARGUMENT, "no unspecified values of kind 3");
  o.unspecified = TILEVM_UNSPECIFIED_ONES;
  EXPECT_EQ(tilevm_launch_set_options(launch_, &o), TILEVM_OK);
  EXPECT_EQ(tilevm_launch_set_options(launch_, nullptr), TILEVM_OK);
  Expect(tilevm_launch_add_memory(launch_, "table", &array_), TILEVM_INVALID_ARGUMENT, "has an interface");
  uint8_t written[4] = {};
  Expect(tilevm_launch_set_written(launch_, array_.data, 4, written), TILEVM_INVALID_ARGUMENT,
         "lie in no memory that was added");
}

TEST_F(Wrong, Buffers) {
  char bytes[400] = {};
  Expect(tilevm_buffer_upload(buffer_, 1, bytes, 400, nullptr), TILEVM_INVALID_ARGUMENT,
         "400 bytes at offset 1 do not lie in a buffer of 400 bytes");
  Expect(tilevm_buffer_download(buffer_, SIZE_MAX, bytes, 2, nullptr), TILEVM_INVALID_ARGUMENT, "do not lie");
  Expect(tilevm_buffer_fill(buffer_, 2, 0, SIZE_MAX, nullptr), TILEVM_INVALID_ARGUMENT, "do not lie");
  Expect(tilevm_buffer_copy(buffer_, 0, buffer_, 399, 2, nullptr), TILEVM_INVALID_ARGUMENT, "do not lie");
  tilevm_buffer* b = nullptr;
  Expect(tilevm_buffer_create(device_, SIZE_MAX, &b), TILEVM_OUT_OF_MEMORY, "no memory");
  // Things of another device.
  tilevm_device* other = nullptr;
  tilevm_stream* stream = nullptr;
  tilevm_event* event = nullptr;
  ASSERT_EQ(tilevm_device_open("cpu", &other), TILEVM_OK);
  ASSERT_EQ(tilevm_stream_create(other, &stream), TILEVM_OK);
  ASSERT_EQ(tilevm_event_create(device_, &event), TILEVM_OK);
  ASSERT_EQ(tilevm_buffer_create(other, 400, &b), TILEVM_OK);
  Expect(tilevm_buffer_upload(buffer_, 0, bytes, 4, stream), TILEVM_INVALID_ARGUMENT, "another device");
  Expect(tilevm_buffer_copy(buffer_, 0, b, 0, 4, nullptr), TILEVM_INVALID_ARGUMENT, "different devices");
  Expect(tilevm_launch_run(launch_, stream), TILEVM_INVALID_ARGUMENT, "another device");
  Expect(tilevm_event_record(event, stream), TILEVM_INVALID_ARGUMENT, "different devices");
  Expect(tilevm_stream_wait_event(stream, event), TILEVM_INVALID_ARGUMENT, "different devices");
  tilevm_buffer_destroy(b);
  tilevm_event_destroy(event);
  tilevm_stream_destroy(stream);
  tilevm_device_close(other);
}

TEST_F(Wrong, StreamsAndEvents) {
  tilevm_stream* stream = nullptr;
  Expect(tilevm_stream_wrap(device_, this, &stream), TILEVM_UNSUPPORTED, "no streams of others");
  ASSERT_EQ(tilevm_stream_create(device_, &stream), TILEVM_OK);
  tilevm_event* event = nullptr;
  ASSERT_EQ(tilevm_event_create(device_, &event), TILEVM_OK);
  double ms = 0;
  tilevm_graph* graph = nullptr;
  Expect(tilevm_event_elapsed_ms(event, event, &ms), TILEVM_BAD_STATE, "never recorded");
  Expect(tilevm_stream_end_capture(stream, &graph), TILEVM_BAD_STATE, "records no graph");
  ASSERT_EQ(tilevm_stream_begin_capture(stream), TILEVM_OK);
  Expect(tilevm_stream_begin_capture(stream), TILEVM_BAD_STATE, "while the stream records");
  Expect(tilevm_stream_synchronize(stream), TILEVM_BAD_STATE, "while the stream records");
  Expect(tilevm_event_record(event, stream), TILEVM_BAD_STATE, "while the stream records");
  ASSERT_EQ(tilevm_stream_end_capture(stream, &graph), TILEVM_OK);
  EXPECT_EQ(tilevm_graph_run(graph, stream), TILEVM_OK);
  tilevm_graph_destroy(graph);
  tilevm_event_destroy(event);
  tilevm_stream_destroy(stream);
}

TEST_F(Wrong, Arrays) {
  const auto set = [&] { return tilevm_launch_set_array(launch_, "a", &array_); };
  Expect(tilevm_launch_set_array(launch_, "x", &array_), TILEVM_NOT_FOUND, "has no array `x`; it has a, b, c");
  array_.type = 99;
  Expect(set(), TILEVM_INVALID_ARGUMENT, "type 99, which is none");
  array_.type = TILEVM_F16;
  Expect(set(), TILEVM_INVALID_ARGUMENT, "array `a` is of f16, the kernel takes f32");
  array_.type = TILEVM_F32;
  for (const int32_t rank : {-1, 17, 2000000000}) {
    array_.rank = rank;
    Expect(set(), TILEVM_INVALID_ARGUMENT, "rank");
  }
  array_.rank = 1;
  shape_[0] = 101;
  Expect(set(), TILEVM_INVALID_ARGUMENT, "array `a` of 404 bytes does not fit its buffer, which has 400 from there on");
  shape_[0] = -1;
  Expect(set(), TILEVM_INVALID_ARGUMENT, "negative size");
  shape_[0] = INT64_MAX;
  Expect(set(), TILEVM_INVALID_ARGUMENT, "larger than any memory");
  shape_[0] = 10;
  int64_t stride = -1;
  array_.strides = &stride;
  Expect(set(), TILEVM_INVALID_ARGUMENT, "negative stride");
  stride = 2;
  EXPECT_EQ(set(), TILEVM_OK);
  Expect(tilevm_launch_prepare(launch_), TILEVM_INVALID_ARGUMENT, "must be row-major without gaps");
  array_.strides = nullptr;
  array_.shape = nullptr;
  Expect(set(), TILEVM_INVALID_ARGUMENT, "has no shape");
  array_.shape = shape_;
  array_.data = nullptr;
  Expect(set(), TILEVM_INVALID_ARGUMENT, "has no address");
  array_.data = tilevm_buffer_data(buffer_);
  array_.rank = 2;
  shape_[1] = 1;
  Expect(set(), TILEVM_INVALID_ARGUMENT, "array `a` has rank 2, the kernel takes rank 1");
  array_.rank = 0;
  Expect(set(), TILEVM_INVALID_ARGUMENT, "array `a` has rank 0, the kernel takes rank 1");
}

TEST_F(Wrong, ScalarsGridParameters) {
  Expect(tilevm_launch_set_i64(launch_, "n", 1), TILEVM_NOT_FOUND, "no scalar `n`");
  Expect(tilevm_launch_set_u64(launch_, "n", 1), TILEVM_NOT_FOUND, "no scalar `n`");
  Expect(tilevm_launch_set_f64(launch_, "n", 1), TILEVM_NOT_FOUND, "no scalar `n`");
  Expect(tilevm_launch_set_bits(launch_, "n", 1), TILEVM_NOT_FOUND, "no scalar `n`");
  Expect(tilevm_launch_set_parameter(launch_, 0, 1), TILEVM_INVALID_ARGUMENT, "by name");
  Expect(tilevm_launch_set_pointer(launch_, 0, "a", &array_), TILEVM_INVALID_ARGUMENT, "by name");
  Expect(tilevm_launch_set_grid(launch_, 1, -1, 1), TILEVM_INVALID_ARGUMENT, "negative");
  int64_t grid[3];
  Expect(tilevm_launch_get_grid(launch_, grid), TILEVM_INVALID_ARGUMENT, "argument `a` (in f32, rank 1) is missing");
  tilevm_array a;
  Expect(tilevm_launch_get_array(launch_, "c", &a), TILEVM_INVALID_ARGUMENT, "argument `a`");
  Expect(tilevm_launch_get_array(launch_, "z", &a), TILEVM_NOT_FOUND, "`z`");
}

// Writing to where no buffer is: the VM says what the kernel did wrong, and where.
TEST_F(Wrong, KernelsMistake) {
  tilevm_module* module = nullptr;
  tilevm_kernel* kernel = nullptr;
  tilevm_launch* launch = nullptr;
  ASSERT_EQ(tilevm_module_from_file("tests/capi/store_at.tbc", &module), TILEVM_OK);
  ASSERT_EQ(tilevm_kernel_create(device_, module, nullptr, &kernel), TILEVM_OK);
  ASSERT_EQ(tilevm_launch_create(kernel, &launch), TILEVM_OK);
  ASSERT_EQ(tilevm_launch_set_array(launch, "x", &array_), TILEVM_OK);
  EXPECT_EQ(tilevm_launch_run(launch, nullptr), TILEVM_OK) << tilevm_error();
  ASSERT_EQ(tilevm_launch_set_grid(launch, 101, 1, 1), TILEVM_OK);
  tilevm_stream* stream = nullptr;
  ASSERT_EQ(tilevm_stream_create(device_, &stream), TILEVM_OK);
  for (tilevm_stream* on : {stream, static_cast<tilevm_stream*>(nullptr)}) {
    EXPECT_EQ(tilevm_launch_run(launch, on), TILEVM_TRAPPED);
    EXPECT_STREQ(tilevm_error_code(), "vm.out_of_bounds");
    EXPECT_NE(std::string(tilevm_error()).find("in kernel `store_at`, block (100, 0, 0)"), std::string::npos);
  }
  tilevm_stream_destroy(stream);
  ASSERT_EQ(tilevm_launch_set_grid(launch, 1 << 24, 1, 1), TILEVM_OK);
  Expect(tilevm_launch_run(launch, nullptr), TILEVM_INVALID_ARGUMENT, "each dimension must be from 0 to");
  ASSERT_EQ(tilevm_launch_set_grid(launch, 0, 1, 1), TILEVM_OK);
  EXPECT_EQ(tilevm_launch_run(launch, nullptr), TILEVM_OK);
  tilevm_launch_destroy(launch);
  tilevm_kernel_destroy(kernel);
  tilevm_module_destroy(module);
}

// Tiles outside of a view are padding, as on a GPU: a grid that is too large for the arrays does no harm.
TEST_F(Wrong, TilesOutsideAreSkipped) {
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(tilevm_launch_set_array(launch_, name, &array_), TILEVM_OK);
  ASSERT_EQ(tilevm_launch_set_grid(launch_, 2, 1, 1), TILEVM_OK);
  EXPECT_EQ(tilevm_launch_run(launch_, nullptr), TILEVM_OK) << tilevm_error();
}

TEST(Misuse, Names) {
  EXPECT_STREQ(tilevm_status_name(TILEVM_TRAPPED), "TILEVM_TRAPPED");
  EXPECT_STREQ(tilevm_status_name(TILEVM_INTERNAL), "TILEVM_INTERNAL");
  EXPECT_STREQ(tilevm_status_name(-1), "unknown status");
  EXPECT_STREQ(tilevm_status_name(1000), "unknown status");
  EXPECT_STREQ(tilevm_type_name(TILEVM_F8E5M3FNU), "f8E5M3FNU");
  EXPECT_EQ(tilevm_type_name(-1), nullptr);
  EXPECT_EQ(tilevm_type_name(20), nullptr);
  EXPECT_EQ(tilevm_type_bits(TILEVM_I1), 8);
  EXPECT_EQ(tilevm_type_bits(TILEVM_I4), 4);
  EXPECT_EQ(tilevm_type_bits(TILEVM_TF32), 32);
  EXPECT_EQ(tilevm_type_bits(12345), 0);
}

TEST(Misuse, DevicesThatAreMissing) {
  tilevm_device* device = nullptr;
  setenv("TILEVM_LIBCUDA", "libno_such_driver.so.1", 1);
  EXPECT_EQ(tilevm_device_open("cuda", &device), TILEVM_UNAVAILABLE);
  EXPECT_STREQ(tilevm_error_code(), "cuda.no_library");
  EXPECT_EQ(tilevm_device_open("auto", &device), TILEVM_OK);
  tilevm_device_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(tilevm_device_get_info(device, &info), TILEVM_OK);
  EXPECT_STREQ(info.name, "cpu");
  tilevm_device_close(device);
  setenv("TILEVM_LIBCUDA", "runtime/cuda/libfake_cuda.so", 1);
  EXPECT_EQ(tilevm_device_open("cuda:1", &device), TILEVM_UNAVAILABLE);
  // A GPU, but no machine code in the file.
  ASSERT_EQ(tilevm_device_open("cuda", &device), TILEVM_OK) << tilevm_error();
  tilevm_module* module = nullptr;
  tilevm_kernel* kernel = nullptr;
  ASSERT_EQ(tilevm_module_from_file("tests/capi/vector_add.tbc", &module), TILEVM_OK);
  EXPECT_EQ(tilevm_kernel_create(device, module, nullptr, &kernel), TILEVM_UNSUPPORTED);
  EXPECT_STREQ(tilevm_error_code(), "run.no_image");
  tilevm_module_destroy(module);
  tilevm_device_close(device);
  unsetenv("TILEVM_LIBCUDA");
}

}  // namespace
