/* Names, numbers and layouts are the driver's; its compatibility promise fixes them. A machine without a GPU has one device, one
 * context, streams that are always done. */
#define _POSIX_C_SOURCE 200809L
#include "python/ext/cutile/table.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "python/ext/cutile/error.h"
#include "python/ext/cutile/image.h"
#include "python/ext/cutile/launch.h"
#include "python/ext/frontend/driver.h"
#include "python/ext/platform/platform.h"

/* --- a machine without a GPU */

static void* const kContext = (void*)0x7465;

static int succeed(void) { return CU_SUCCESS; }
static int not_supported(void) { return CU_NOT_SUPPORTED; }

static int get_error_string(int result, const char** text) {
  static const struct {
    int result;
    const char* text;
  } texts[] = {{CU_SUCCESS, "no error"},
               {CU_INVALID_VALUE, "invalid argument"},
               {CU_OUT_OF_MEMORY, "out of memory"},
               {CU_INVALID_IMAGE, "device kernel image is invalid"},
               {CU_NOT_FOUND, "named symbol not found"},
               {CU_LAUNCH_FAILED, "unspecified launch failure"},
               {CU_NOT_SUPPORTED, "operation not supported"}};
  *text = "unrecognized error code";
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    if (texts[i].result == result) *text = texts[i].text;
  }
  return CU_SUCCESS;
}

static int driver_get_version(int* version) { return *version = 13050, CU_SUCCESS; }
static int get_device_count(int* count) { return *count = 1, CU_SUCCESS; }
static int get_device(int* device, int ordinal) {
  if (ordinal != 0) return 101; /* CUDA_ERROR_INVALID_DEVICE */
  return *device = 0, CU_SUCCESS;
}
static int get_current_device(int* device) { return *device = 0, CU_SUCCESS; }

static int get_device_attribute(int* value, int attribute, int device) {
  (void)device;
  static const struct {
    int attribute, value;
  } known[] = {{1, 1024},  {2, 1024}, {3, 1024}, {4, 64},       {5, 2147483647}, {6, 65535},   {7, 65535},
               {8, 49152}, {10, 32},  {16, 1},   {38, 1 << 20}, {39, 2048},      {81, 233472}, {97, 232448}};
  tilevm_device_info info = {sizeof info};
  *value = 0;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (known[i].attribute == attribute) *value = known[i].value;
  }
  if (attribute == 75 || attribute == 76) *value = driver.capability[attribute - 75];
  if (attribute == 16 && tilevm_device_get_info(driver.device, &info) == TILEVM_OK) *value = info.multiprocessors;
  return CU_SUCCESS;
}

static int get_context(void** context) { return *context = kContext, CU_SUCCESS; }
static int get_context_of(const void* of, void** context) { return (void)of, *context = kContext, CU_SUCCESS; }
static int get_context_id(void* context, unsigned long long* id) { return (void)context, *id = 1, CU_SUCCESS; }
static int retain_context(void** context, int device) { return (void)device, *context = kContext, CU_SUCCESS; }
static int get_pointer_attribute(void* value, int attribute, uint64_t address) {
  switch (attribute) {
    case 1: *(void**)value = kContext; return CU_SUCCESS;   /* the context */
    case 2: *(int*)value = 2; return CU_SUCCESS;            /* memory of the device */
    case 3: *(uint64_t*)value = address; return CU_SUCCESS; /* the address there */
    case 9: *(int*)value = 0; return CU_SUCCESS;            /* its number */
    default: return CU_NOT_SUPPORTED;
  }
}

static int allocate_device(uint64_t* address, size_t size) {
  void* memory = allocate_aligned(256, size);
  if (memory == NULL) return CU_OUT_OF_MEMORY;
  *address = (uint64_t)(uintptr_t)memory;
  return CU_SUCCESS;
}
static int allocate_host(void** memory, size_t size) {
  *memory = malloc(size < 1 ? 1 : size);
  return *memory == NULL ? CU_OUT_OF_MEMORY : CU_SUCCESS;
}
static int free_device(uint64_t address) { return free_aligned((void*)(uintptr_t)address), CU_SUCCESS; }
static int free_host(void* memory) { return free(memory), CU_SUCCESS; }
static int copy_to_device(uint64_t to, const void* from, size_t size, void* stream) {
  (void)stream;
  memcpy((void*)(uintptr_t)to, from, size);
  return CU_SUCCESS;
}

/* Streams are numbers that nobody had before; events are times. */
static int create_stream(void** stream, unsigned flags) {
  (void)flags;
  static uintptr_t last = 0x5354524d00;
  *stream = (void*)(last += 16);
  return CU_SUCCESS;
}
/* cuTile has memory for the lists of a launch by stream, for one launch at a time; here several threads may launch at once. */
static int get_stream_id(void* stream, unsigned long long* id) {
  (void)stream;
  *id = (unsigned long long)PyThread_get_thread_ident();
  return CU_SUCCESS;
}
static int is_capturing(void* stream, int* status) {
  *status = driver.capture_list != NULL && driver.capture_stream == stream;
  return CU_SUCCESS;
}
static int create_event(double** event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof **event);
  return *event == NULL ? CU_OUT_OF_MEMORY : CU_SUCCESS;
}
static int destroy_event(double* event) { return free(event), CU_SUCCESS; }
static int record_event(double* event, void* stream) {
  (void)stream;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  *event = 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
  return CU_SUCCESS;
}
static int elapsed_time(float* milliseconds, const double* from, const double* to) {
  *milliseconds = (float)(*to - *from);
  return CU_SUCCESS;
}

static int function_of_kernel(void** function, void* kernel) { return *function = kernel, CU_SUCCESS; }
static int kernel_attribute(int* value, int attribute, void* kernel, int device) {
  (void)attribute, (void)kernel, (void)device;
  *value = 0;
  return CU_SUCCESS;
}
/* cuTile calls with the GIL; programs that load the functions themselves may come without. */
static int load(Image** image, const void* data, void* a, void* b, unsigned c, void* d, void* e, unsigned f) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  PyGILState_STATE state = PyGILState_Ensure();
  const int result = load_image(image, data);
  PyGILState_Release(state);
  return result;
}
static int unload(Image* image) {
  PyGILState_STATE state = PyGILState_Ensure();
  unload_image(image);
  PyGILState_Release(state);
  return CU_SUCCESS;
}
static int find_kernel(Kernel** kernel, Image* image, const char* name) {
  PyGILState_STATE state = PyGILState_Ensure();
  const int result = get_kernel(kernel, image, name);
  PyGILState_Release(state);
  return result;
}
static int launch(const LaunchConfig* config, Kernel* kernel, void** parameters, void** extra) {
  (void)extra;
  PyGILState_STATE state = PyGILState_Ensure();
  const int result = launch_kernel(config, kernel, parameters, NULL);
  PyGILState_Release(state);
  return result;
}
static int launch_plain(Kernel* kernel, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void* stream, void** parameters, void** extra) {
  const LaunchConfig config = {{x, y, z}, {bx, by, bz}, shared, stream, NULL, 0};
  return launch(&config, kernel, parameters, extra);
}

/* --- graphs of a GPU, which are the driver's. A launch is more than one node (workspaces to clear, prints to fetch), so that a
 * kernel's node is a graph of its own. */

static struct {
  int (*create_graph)(void** graph, unsigned flags);
  int (*add_graph)(void** node, void* graph, void* const* after, size_t count, void* child);
  int (*destroy_graph)(void* graph);
} graphs;

typedef struct KernelNode { /* CUDA_KERNEL_NODE_PARAMS */
  Kernel* function;
  unsigned grid[3], block[3], shared_bytes;
  void **parameters, **extra;
  Kernel* kernel;
  void* context;
} KernelNode;

static int add_kernel_node(void** node, void* graph, void* const* after, size_t count, const KernelNode* n) {
  const LaunchConfig config = {
      {n->grid[0], n->grid[1], n->grid[2]}, {n->block[0], n->block[1], n->block[2]}, n->shared_bytes, NULL, NULL, 0};
  void* child = NULL;
  if (graphs.add_graph == NULL) return CU_NOT_SUPPORTED;
  int result = graphs.create_graph(&child, 0);
  if (result != CU_SUCCESS) return result;
  PyGILState_STATE state = PyGILState_Ensure();
  result = launch_kernel(&config, n->function != NULL ? n->function : n->kernel, n->parameters, child);
  PyGILState_Release(state);
  if (result == CU_SUCCESS) result = graphs.add_graph(node, graph, after, count, child);
  graphs.destroy_graph(child);
  return result;
}

/* --- the table */

typedef void (*Function)(void);
typedef struct Entry {
  const char* name;
  Function function;
  int on_gpu; /* ours there, too */
} Entry;
#define ENTRY(name, function, on_gpu) \
  { #name, (Function)(function), on_gpu }
static const Entry entries[] = {
    ENTRY(cuLibraryLoadData, load, 1),
    ENTRY(cuLibraryUnload, unload, 1),
    ENTRY(cuLibraryGetKernel, find_kernel, 1),
    ENTRY(cuKernelGetFunction, function_of_kernel, 1),
    ENTRY(cuKernelGetAttribute, kernel_attribute, 1),
    ENTRY(cuKernelSetAttribute, succeed, 1),
    ENTRY(cuLaunchKernel, launch_plain, 1),
    ENTRY(cuLaunchKernelEx, launch, 1),
    ENTRY(cuGraphAddKernelNode, add_kernel_node, 1),
    ENTRY(cuInit, succeed, 0),
    ENTRY(cuDriverGetVersion, driver_get_version, 0),
    ENTRY(cuGetErrorString, get_error_string, 0),
    ENTRY(cuDeviceGetCount, get_device_count, 0),
    ENTRY(cuDeviceGet, get_device, 0),
    ENTRY(cuDeviceGetAttribute, get_device_attribute, 0),
    ENTRY(cuDevicePrimaryCtxRetain, retain_context, 0),
    ENTRY(cuCtxGetCurrent, get_context, 0),
    ENTRY(cuCtxSetCurrent, succeed, 0),
    ENTRY(cuCtxPushCurrent, succeed, 0),
    ENTRY(cuCtxPopCurrent, get_context, 0),
    ENTRY(cuCtxGetDevice, get_current_device, 0),
    ENTRY(cuCtxGetId, get_context_id, 0),
    ENTRY(cuCtxSynchronize, succeed, 0),
    ENTRY(cuPointerGetAttribute, get_pointer_attribute, 0),
    ENTRY(cuMemAlloc, allocate_device, 0),
    ENTRY(cuMemAllocHost, allocate_host, 0),
    ENTRY(cuMemFree, free_device, 0),
    ENTRY(cuMemFreeHost, free_host, 0),
    ENTRY(cuMemcpyHtoDAsync, copy_to_device, 0),
    ENTRY(cuStreamCreate, create_stream, 0),
    ENTRY(cuStreamDestroy, succeed, 0),
    ENTRY(cuStreamGetCtx, get_context_of, 0),
    ENTRY(cuStreamGetId, get_stream_id, 0),
    ENTRY(cuStreamIsCapturing, is_capturing, 0),
    ENTRY(cuStreamSynchronize, succeed, 0),
    ENTRY(cuStreamWaitEvent, succeed, 0),
    ENTRY(cuEventCreate, create_event, 0),
    ENTRY(cuEventDestroy, destroy_event, 0),
    ENTRY(cuEventQuery, succeed, 0),
    ENTRY(cuEventRecord, record_event, 0),
    ENTRY(cuEventElapsedTime, elapsed_time, 0),
};

static int get_proc_address(const char* name, void** function, int version, uint64_t flags, void* status) {
  for (size_t i = 0; i < sizeof entries / sizeof *entries; ++i) {
    if (strcmp(entries[i].name, name) == 0 && (driver.real == NULL || entries[i].on_gpu)) {
      memcpy(function, &entries[i].function, sizeof *function);
      return CU_SUCCESS;
    }
  }
  if (driver.real != NULL) return driver.real(name, function, version, flags, status);
  const Function none = (Function)not_supported;
  memcpy(function, &none, sizeof *function);
  return CU_SUCCESS;
}
static GetProcAddress const get = get_proc_address;

/* cutile_table(): the address of a pointer to ours, for ever. After driver_open. */
static PyObject* cutile_table(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  find_real("cuGraphCreate", &graphs.create_graph);
  find_real("cuGraphDestroy", &graphs.destroy_graph);
  find_real("cuGraphAddChildGraphNode", &graphs.add_graph);
  return PyLong_FromVoidPtr((void*)(uintptr_t)&get);
}

static PyMethodDef functions[] = {
    {"cutile_table", cutile_table, METH_NOARGS, "cutile_table() -> address of a pointer to cuGetProcAddress_v2"},
    {NULL, NULL, 0, NULL},
};
int add_cutile(PyObject* module) { return add_error(module) != 0 ? -1 : PyModule_AddFunctions(module, functions); }
