/* An application in C11: adds two arrays, multiplies two matrices, and meets a kernel's mistake. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tilevm.h"

static int failures;
#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      printf("%s:%d: failed: %s; last error: %s\n", __FILE__, __LINE__, #condition, tilevm_error()); \
      ++failures;                                                                              \
    }                                                                                          \
  } while (0)
#define OK(call) CHECK((call) == TILEVM_OK)

static tilevm_array array_of(tilevm_buffer* buffer, int32_t rank, const int64_t* shape) {
  tilevm_array a = {tilevm_buffer_data(buffer), TILEVM_F32, rank, shape, NULL};
  return a;
}

static tilevm_kernel* load(tilevm_device* device, const char* path, const char* name) {
  tilevm_module* module = NULL;
  tilevm_kernel* kernel = NULL;
  OK(tilevm_module_from_file(path, &module));
  CHECK(tilevm_module_num_kernels(module) == 1);
  CHECK(strcmp(tilevm_module_kernel_name(module, 0), name) == 0);
  CHECK(tilevm_module_kernel_name(module, 1) == NULL);
  OK(tilevm_kernel_create(device, module, name, &kernel));
  tilevm_module_destroy(module); /* the kernel keeps what it needs */
  return kernel;
}

static void vector_add(tilevm_device* device) {
  enum { N = 10000 };
  static float host[N];
  const int64_t shape[] = {N}, wrong[] = {N - 1};
  tilevm_kernel* kernel = load(device, "tests/capi/vector_add.tbc", "vector_add");
  tilevm_buffer *a, *b, *c;
  OK(tilevm_buffer_create(device, sizeof host, &a));
  OK(tilevm_buffer_create(device, sizeof host, &b));
  OK(tilevm_buffer_create(device, sizeof host, &c));
  CHECK(tilevm_buffer_size(a) == sizeof host);
  CHECK((uintptr_t)tilevm_buffer_data(a) % 256 == 0);
  for (int i = 0; i < N; ++i) host[i] = (float)i;
  OK(tilevm_buffer_upload(a, 0, host, sizeof host, NULL));
  OK(tilevm_buffer_copy(b, 0, a, 0, sizeof host, NULL));
  OK(tilevm_buffer_fill(c, 0, 0xff, sizeof host, NULL));

  tilevm_launch* launch;
  OK(tilevm_launch_create(kernel, &launch));
  tilevm_array array = array_of(a, 1, shape);
  OK(tilevm_launch_set_array(launch, "a", &array));
  array = array_of(b, 1, wrong);
  OK(tilevm_launch_set_array(launch, "b", &array));
  CHECK(tilevm_launch_prepare(launch) == TILEVM_INVALID_ARGUMENT);
  CHECK(strstr(tilevm_error(), "dimension 0 of `b` is 9999, but dimension 0 of `a` is 10000") != NULL);
  array = array_of(b, 1, shape);
  OK(tilevm_launch_set_array(launch, "b", &array));
  /* The shape of the output and the grid follow. */
  int64_t grid[3];
  OK(tilevm_launch_get_array(launch, "c", &array));
  CHECK(array.rank == 1 && array.shape[0] == N && array.type == TILEVM_F32 && array.data == NULL);
  OK(tilevm_launch_get_grid(launch, grid));
  CHECK(grid[0] == 3 && grid[1] == 1 && grid[2] == 1);
  CHECK(tilevm_launch_run(launch, NULL) == TILEVM_INVALID_ARGUMENT);
  CHECK(strstr(tilevm_error(), "output `c` (f32[10000]) is not set") != NULL);
  array = array_of(c, 1, shape);
  OK(tilevm_launch_set_array(launch, "c", &array));
  OK(tilevm_launch_run(launch, NULL));
  OK(tilevm_buffer_download(c, 0, host, sizeof host, NULL));
  for (int i = 0; i < N; ++i) {
    if (host[i] != 2.0f * (float)i) {
      printf("c[%d] is %g\n", i, (double)host[i]);
      ++failures;
      break;
    }
  }

  /* On a stream, with events around. */
  tilevm_stream* stream;
  tilevm_event *start, *end;
  double ms = -1;
  OK(tilevm_stream_create(device, &stream));
  OK(tilevm_event_create(device, &start));
  OK(tilevm_event_create(device, &end));
  OK(tilevm_event_record(start, stream));
  OK(tilevm_launch_run(launch, stream));
  OK(tilevm_event_record(end, stream));
  OK(tilevm_stream_wait_event(stream, end));
  OK(tilevm_stream_synchronize(stream));
  OK(tilevm_event_synchronize(end));
  OK(tilevm_event_elapsed_ms(start, end, &ms));
  CHECK(ms >= 0);

  /* As a graph. */
  tilevm_graph* graph;
  OK(tilevm_buffer_fill(c, 0, 0, sizeof host, NULL));
  OK(tilevm_stream_begin_capture(stream));
  OK(tilevm_launch_run(launch, stream));
  OK(tilevm_stream_end_capture(stream, &graph));
  OK(tilevm_buffer_download(c, 0, host, sizeof host, NULL));
  CHECK(host[1] == 0);
  OK(tilevm_graph_run(graph, NULL));
  OK(tilevm_buffer_download(c, 0, host, sizeof host, NULL));
  CHECK(host[1] == 2);

  /* Handles go in any order. */
  tilevm_kernel_destroy(kernel);
  tilevm_graph_destroy(graph);
  tilevm_stream_destroy(stream);
  tilevm_launch_destroy(launch);
  tilevm_event_destroy(start);
  tilevm_event_destroy(end);
  tilevm_buffer_destroy(a);
  tilevm_buffer_destroy(b);
  tilevm_buffer_destroy(c);
}

static void matmul(tilevm_device* device) {
  enum { M = 5, K = 70, N = 9 };
  static float a[M][K], b[K][N], c[M][N];
  const int64_t shapes[3][2] = {{M, K}, {K, N}, {M, N}};
  void* memory[3] = {a, b, c};
  const size_t sizes[3] = {sizeof a, sizeof b, sizeof c};
  const char* names[3] = {"a", "b", "c"};
  tilevm_kernel* kernel = load(device, "tests/capi/matmul.tbc", "matmul");
  tilevm_kernel_info info = {.struct_size = sizeof info};
  OK(tilevm_kernel_get_info(kernel, &info));
  CHECK(info.num_arrays == 3 && info.has_launch_rule && strcmp(info.name, "matmul") == 0);
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k) a[i][k] = (float)(i - k % 3);
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j) b[k][j] = (float)(k % 5 + j);
  tilevm_launch* launch;
  tilevm_buffer* buffers[3];
  OK(tilevm_launch_create(kernel, &launch));
  for (uint32_t i = 0; i < 3; ++i) {
    tilevm_array_info array_info = {.struct_size = sizeof array_info};
    OK(tilevm_kernel_get_array(kernel, i, &array_info));
    CHECK(strcmp(array_info.name, names[i]) == 0 && array_info.rank == 2 && array_info.fixed_shape[0] == -1);
    CHECK(array_info.direction == (i == 2 ? TILEVM_OUT : TILEVM_IN));
    OK(tilevm_buffer_create(device, sizes[i], &buffers[i]));
    OK(tilevm_buffer_upload(buffers[i], 0, memory[i], sizes[i], NULL));
    tilevm_array array = array_of(buffers[i], 2, shapes[i]);
    OK(tilevm_launch_set_array(launch, names[i], &array));
  }
  OK(tilevm_launch_run(launch, NULL));
  OK(tilevm_buffer_download(buffers[2], 0, c, sizeof c, NULL));
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += a[i][k] * b[k][j];
      CHECK(fabsf(sum - c[i][j]) < 1e-3f);
    }
  }
  tilevm_launch_destroy(launch);
  for (int i = 0; i < 3; ++i) tilevm_buffer_destroy(buffers[i]);
  tilevm_kernel_destroy(kernel);
}

int main(void) {
  tilevm_device* device = NULL;
  tilevm_device_info info = {.struct_size = sizeof info};
  CHECK(tilevm_abi_version() == TILEVM_ABI_VERSION);
  OK(tilevm_device_open("cpu", &device));
  OK(tilevm_device_get_info(device, &info));
  CHECK(strcmp(info.name, "cpu") == 0 && !info.is_gpu && info.multiprocessors >= 1 && info.memory_bytes > 0);
  /* A program that was built with an older, shorter struct. */
  tilevm_device_info old = {.struct_size = 2 * sizeof(void*), .description = "untouched"};
  OK(tilevm_device_get_info(device, &old));
  CHECK(strcmp(old.name, "cpu") == 0 && strcmp(old.description, "untouched") == 0);
  vector_add(device);
  matmul(device);
  tilevm_device_close(device);
  printf(failures ? "%d failures\n" : "ok\n", failures);
  return failures != 0;
}
