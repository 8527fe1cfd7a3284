/* Launches the kernel that ship.py wrote, without Python, on a GPU or, where there is none, on the CPU.
 *
 *   cc launch.c $(pkg-config --cflags --libs tilevm) -o launch && ./launch neighbours.tbc */
#include <stdio.h>
#include <stdlib.h>

#include <tilevm.h>

enum { N = 1000, TILE = 256 };

static void check(tilevm_status status) {
  if (status == TILEVM_OK) return;
  fprintf(stderr, "%s: %s\n", tilevm_status_name(status), tilevm_error());
  exit(1);
}

int main(int argc, char** argv) {
  if (argc < 2) return fprintf(stderr, "usage: launch FILE.tbc [DEVICE]\n"), 2;
  tilevm_device* device;
  tilevm_module* module;
  tilevm_kernel* kernel;
  tilevm_launch* launch;
  tilevm_buffer *x, *y;
  float host[N];
  for (int i = 0; i < N; ++i) host[i] = (float)(i * i);

  check(tilevm_device_open(argc > 2 ? argv[2] : "auto", &device));
  check(tilevm_module_from_file(argv[1], &module));
  check(tilevm_kernel_create(device, module, "neighbours", &kernel));
  check(tilevm_buffer_create(device, sizeof host, &x));
  check(tilevm_buffer_create(device, sizeof host, &y));
  check(tilevm_buffer_upload(x, 0, host, sizeof host, NULL));

  /* A kernel of cuTile takes address, sizes and strides of each array, then its numbers. */
  const uint64_t words[] = {(uint64_t)(uintptr_t)tilevm_buffer_data(x), N, 1, (uint64_t)(uintptr_t)tilevm_buffer_data(y), N, 1, N - 1};
  check(tilevm_launch_create(kernel, &launch));
  for (uint32_t i = 0; i < sizeof words / sizeof *words; ++i) check(tilevm_launch_set_parameter(launch, i, words[i]));
  check(tilevm_launch_set_grid(launch, (N + TILE - 1) / TILE, 1, 1));
  check(tilevm_launch_run(launch, NULL));
  check(tilevm_buffer_download(y, 0, host, sizeof host, NULL));
  printf("differences of %d neighbours: %g %g %g %g %g ...\n", N, host[0], host[1], host[2], host[3], host[4]);

  tilevm_launch_destroy(launch);
  tilevm_buffer_destroy(x);
  tilevm_buffer_destroy(y);
  tilevm_kernel_destroy(kernel);
  tilevm_module_destroy(module);
  tilevm_device_close(device);
  return 0;
}
