/* Adds two arrays on whatever device there is. C11. */
#include <stdio.h>
#include <stdlib.h>

#include <tilevm.h>

extern const unsigned char kernel_tbc[], kernel_tbc_end[];

enum { N = 1000000 };

static void check(tilevm_status status, const char* doing) {
  if (status == TILEVM_OK) return;
  fprintf(stderr, "%s: %s\n%s\n", doing, tilevm_status_name(status), tilevm_error());
  exit(1);
}

/* The kernel on the best device that can run it. */
static tilevm_kernel* load(tilevm_device** device) {
  static const char* const kDevices[] = {"auto", "cpu"};
  tilevm_module* module;
  tilevm_kernel* kernel = NULL;
  check(tilevm_module_from_bytes(kernel_tbc, (size_t)(kernel_tbc_end - kernel_tbc), "vector_add", &module), "loading");
  for (int i = 0; kernel == NULL; ++i) {
    check(tilevm_device_open(kDevices[i], device), "opening a device");
    const tilevm_status status = tilevm_kernel_create(*device, module, "vector_add", &kernel);
    if (status == TILEVM_UNSUPPORTED && i == 0) {
      tilevm_device_close(*device); /* a GPU for which the file has no machine code */
    } else {
      check(status, "making the kernel");
    }
  }
  tilevm_module_destroy(module);
  return kernel;
}

int main(void) {
  tilevm_device* device;
  tilevm_kernel* kernel = load(&device);
  tilevm_buffer *a, *b, *c;
  tilevm_launch* launch;
  float* host = malloc(N * sizeof *host);
  if (host == NULL) return 1;
  for (int i = 0; i < N; ++i) host[i] = (float)i;

  const int64_t shape[] = {N};
  struct {
    const char* name;
    tilevm_buffer** buffer;
  } arrays[] = {{"a", &a}, {"b", &b}, {"c", &c}};
  check(tilevm_launch_create(kernel, &launch), "making a launch");
  for (int i = 0; i < 3; ++i) {
    check(tilevm_buffer_create(device, N * sizeof *host, arrays[i].buffer), "allocating");
    const tilevm_array array = {tilevm_buffer_data(*arrays[i].buffer), TILEVM_F32, 1, shape, NULL};
    check(tilevm_launch_set_array(launch, arrays[i].name, &array), "setting an array");
  }
  check(tilevm_buffer_upload(a, 0, host, N * sizeof *host, NULL), "uploading");
  check(tilevm_buffer_upload(b, 0, host, N * sizeof *host, NULL), "uploading");
  check(tilevm_launch_run(launch, NULL), "running");
  check(tilevm_buffer_download(c, 0, host, N * sizeof *host, NULL), "downloading");

  int wrong = 0;
  for (int i = 0; i < N; ++i) wrong += host[i] != 2.0f * (float)i;
  tilevm_device_info info = {.struct_size = sizeof info};
  check(tilevm_device_get_info(device, &info), "asking the device");
  printf("%s (%s): %d sums, ", info.name, info.description, N);
  printf(wrong ? "%d wrong\n" : "all right\n", wrong);
  free(host);
  tilevm_launch_destroy(launch);
  for (int i = 0; i < 3; ++i) tilevm_buffer_destroy(*arrays[i].buffer);
  tilevm_kernel_destroy(kernel);
  tilevm_device_close(device);
  return wrong != 0;
}
