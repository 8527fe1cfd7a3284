/* Makes kernels functions of TVM-FFI, in a shared library that tvm_ffi.load_module opens:
 *
 *   #include "tilevm_tvm_ffi.h"
 *   #include "vector_add.h"                     // tilec vector_add.tile --sm=80,90 -o vector_add.h
 *   TILEVM_TVM_FFI(add, "vector_add", vector_add_tbc, vector_add_tbc_size)
 *
 *   cc -shared -fPIC -O2 add.c -o add.so $(pkg-config --cflags --libs tilevm) $(tvm-ffi-config --cflags --ldflags --libs)
 *
 *   tvm_ffi.load_module("add.so").add(a, b, c)  # any tensors that speak DLPack
 *
 * The function takes the arrays of the kernel's interface in their order, outputs too, and then its scalars; None, or nothing at the
 * end, for a scalar that may be left out. It returns None. The device is that of the first array: the CPU, where it returns when
 * the kernel is done, or a GPU, where it uses TVM-FFI's current stream and does not wait. A kernel that traps on a GPU is not
 * reported here. The library needs libtilevm.so and libtvm_ffi.so, and may be called from any thread.
 *
 * Errors are TypeError for arguments that are no tensors or numbers, ValueError for those that the kernel does not take, and
 * RuntimeError for everything else, with the text of tilevm_error(). */
#ifndef TILEVM_TVM_FFI_H_
#define TILEVM_TVM_FFI_H_

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "tilevm.h"

/* `function` is the name in Python; `kernel` may be NULL if the module has one kernel. The bytes must stay. */
#define TILEVM_TVM_FFI(function, kernel, bytes, size)                                                                  \
  TVM_FFI_DLL_EXPORT int __tvm_ffi_##function(void* handle, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) { \
    static tilevm_tvm_ffi called = {PTHREAD_MUTEX_INITIALIZER, NULL, {{NULL, NULL}}, NULL};                            \
    (void)handle;                                                                                                      \
    return tilevm_tvm_ffi_call(&called, kernel, bytes, size, args, count, result);                                     \
  }

enum { kTilevmTvmFfiDevices = 17 }; /* the CPU and 16 GPUs */

/* A launch that nobody runs now. On a GPU it is for one stream. */
typedef struct tilevm_tvm_ffi_launch {
  struct tilevm_tvm_ffi_launch* next;
  int place;
  void* native;
  tilevm_launch* launch;
  tilevm_stream* stream;
} tilevm_tvm_ffi_launch;

typedef struct tilevm_tvm_ffi {
  pthread_mutex_t mutex; /* of what follows */
  tilevm_module* module;
  struct {
    tilevm_device* device;
    tilevm_kernel* kernel;
  } on[kTilevmTvmFfiDevices];
  tilevm_tvm_ffi_launch* idle;
} tilevm_tvm_ffi;

static inline int tilevm_tvm_ffi_fail(const char* kind, const char* text) {
  TVMFFIErrorSetRaisedFromCStr(kind, text);
  return -1;
}

static inline int tilevm_tvm_ffi_failed(tilevm_status status) {
  return tilevm_tvm_ffi_fail(status == TILEVM_INVALID_ARGUMENT ? "ValueError" : "RuntimeError", tilevm_error());
}

/* NULL: it is no tensor. */
static inline const DLTensor* tilevm_tvm_ffi_tensor(const TVMFFIAny* value) {
  if (value->type_index == kTVMFFIDLTensorPtr) return (const DLTensor*)value->v_ptr;
  if (value->type_index == kTVMFFITensor) return (const DLTensor*)(value->v_c_str + sizeof(TVMFFIObject));
  return NULL;
}

/* The place of the device of the first tensor; -1 if the kernel runs on no such device. */
static inline int tilevm_tvm_ffi_place(const TVMFFIAny* args, int32_t count) {
  const DLTensor* first = count > 0 ? tilevm_tvm_ffi_tensor(&args[0]) : NULL;
  if (first == NULL || first->device.device_type == kDLCPU || first->device.device_type == kDLCUDAHost) return 0;
  const int place = first->device.device_type == kDLCUDA ? 1 + first->device.device_id : -1;
  return place < kTilevmTvmFfiDevices ? place : -1;
}

/* The kernel on the device of a place, opened by its first call there. Under the mutex. */
static inline tilevm_status tilevm_tvm_ffi_open(tilevm_tvm_ffi* called, const char* kernel, const void* bytes,
                                                size_t size, int place) {
  char name[16] = "cpu";
  if (called->on[place].kernel != NULL) return TILEVM_OK;
  if (place > 0) snprintf(name, sizeof name, "cuda:%d", place - 1);
  tilevm_status status = TILEVM_OK;
  if (called->module == NULL) status = tilevm_module_from_bytes(bytes, size, kernel, &called->module);
  if (status == TILEVM_OK && called->on[place].device == NULL)
    status = tilevm_device_open(name, &called->on[place].device);
  if (status == TILEVM_OK)
    status = tilevm_kernel_create(called->on[place].device, called->module, kernel, &called->on[place].kernel);
  return status;
}

static inline void tilevm_tvm_ffi_free(tilevm_tvm_ffi_launch* launch) {
  tilevm_launch_destroy(launch->launch);
  tilevm_stream_destroy(launch->stream);
  free(launch);
}

/* One that waits, or a new one. Under the mutex. */
static inline tilevm_status tilevm_tvm_ffi_take(tilevm_tvm_ffi* called, int place, void* native, int is_new,
                                                tilevm_tvm_ffi_launch** taken) {
  for (tilevm_tvm_ffi_launch** at = &called->idle; !is_new && *at != NULL; at = &(*at)->next) {
    if ((*at)->place != place || (*at)->native != native) continue;
    *taken = *at;
    *at = (*at)->next;
    return TILEVM_OK;
  }
  tilevm_tvm_ffi_launch* made = (tilevm_tvm_ffi_launch*)calloc(1, sizeof *made);
  if (made == NULL) return TILEVM_OUT_OF_MEMORY;
  made->place = place;
  made->native = native;
  tilevm_status status = tilevm_launch_create(called->on[place].kernel, &made->launch);
  if (status == TILEVM_OK && place > 0) status = tilevm_stream_wrap(called->on[place].device, native, &made->stream);
  if (status == TILEVM_OK) {
    *taken = made;
  } else {
    tilevm_tvm_ffi_free(made);
  }
  return status;
}

static inline void tilevm_tvm_ffi_keep(DLManagedTensor* tensor) { (void)tensor; /* is the caller's */ }

/* An array of the launch. 0, or -1 and the error is set. */
static inline int tilevm_tvm_ffi_set_array(tilevm_device* device, tilevm_launch* launch, const char* name,
                                           const TVMFFIAny* value) {
  const DLTensor* tensor = tilevm_tvm_ffi_tensor(value);
  if (tensor == NULL) {
    char text[200];
    snprintf(text, sizeof text, "error[tvm_ffi.argument]: argument `%.80s` is no tensor", name);
    return tilevm_tvm_ffi_fail("TypeError", text);
  }
  DLManagedTensor managed = {*tensor, NULL, tilevm_tvm_ffi_keep};
  tilevm_buffer* buffer = NULL;
  tilevm_array array;
  tilevm_status status = tilevm_buffer_from_dlpack_legacy(device, (struct DLManagedTensor*)&managed, &buffer, &array);
  if (status == TILEVM_OK) status = tilevm_launch_set_array(launch, name, &array);
  const int result = status == TILEVM_OK ? 0 : tilevm_tvm_ffi_failed(status);
  tilevm_buffer_destroy(buffer);
  return result;
}

/* A scalar of the launch; `value` is NULL where nothing is given. */
static inline int tilevm_tvm_ffi_set_scalar(tilevm_launch* launch, const char* name, const TVMFFIAny* value) {
  tilevm_status status = TILEVM_OK;
  if (value == NULL || value->type_index == kTVMFFINone) return 0;
  if (value->type_index == kTVMFFIInt || value->type_index == kTVMFFIBool) {
    status = tilevm_launch_set_i64(launch, name, value->v_int64);
  } else if (value->type_index == kTVMFFIFloat) {
    status = tilevm_launch_set_f64(launch, name, value->v_float64);
  } else {
    char text[200];
    snprintf(text, sizeof text, "error[tvm_ffi.argument]: argument `%.80s` is no number", name);
    return tilevm_tvm_ffi_fail("TypeError", text);
  }
  return status == TILEVM_OK ? 0 : tilevm_tvm_ffi_failed(status);
}

/* Whether a scalar is left out, which the kernel then has a default for. */
static inline int tilevm_tvm_ffi_leaves_out(const tilevm_kernel* kernel, const TVMFFIAny* args, int32_t count) {
  tilevm_kernel_info info = {.struct_size = sizeof info};
  if (tilevm_kernel_get_info(kernel, &info) != TILEVM_OK || (uint32_t)count < info.num_arrays + info.num_scalars)
    return 1;
  for (int32_t i = 0; i < count; ++i) {
    if (args[i].type_index == kTVMFFINone) return 1;
  }
  return 0;
}

/* All arguments. */
static inline int tilevm_tvm_ffi_bind(tilevm_kernel* kernel, tilevm_device* device, tilevm_launch* launch,
                                      const TVMFFIAny* args, int32_t count) {
  tilevm_kernel_info info = {.struct_size = sizeof info};
  tilevm_status status = tilevm_kernel_get_info(kernel, &info);
  if (status != TILEVM_OK) return tilevm_tvm_ffi_failed(status);
  const uint32_t given = (uint32_t)count;
  if (given < info.num_arrays || given > info.num_arrays + info.num_scalars) {
    char text[300];
    snprintf(text, sizeof text,
             "error[tvm_ffi.argument]: kernel `%.80s` takes %u arrays and then up to %u scalars, not %u arguments",
             info.name, info.num_arrays, info.num_scalars, given);
    return tilevm_tvm_ffi_fail("TypeError", text);
  }
  for (uint32_t i = 0; i < info.num_arrays; ++i) {
    tilevm_array_info array = {.struct_size = sizeof array};
    status = tilevm_kernel_get_array(kernel, i, &array);
    if (status != TILEVM_OK) return tilevm_tvm_ffi_failed(status);
    if (tilevm_tvm_ffi_set_array(device, launch, array.name, &args[i]) != 0) return -1;
  }
  for (uint32_t i = 0; i < info.num_scalars; ++i) {
    const TVMFFIAny* value = info.num_arrays + i < given ? &args[info.num_arrays + i] : NULL;
    tilevm_scalar_info scalar = {.struct_size = sizeof scalar};
    status = tilevm_kernel_get_scalar(kernel, i, &scalar);
    if (status != TILEVM_OK) return tilevm_tvm_ffi_failed(status);
    if (tilevm_tvm_ffi_set_scalar(launch, scalar.name, value) != 0) return -1;
  }
  return 0;
}

static inline int tilevm_tvm_ffi_call(tilevm_tvm_ffi* called, const char* kernel, const void* bytes, size_t size,
                                      const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const int place = tilevm_tvm_ffi_place(args, count);
  if (place < 0)
    return tilevm_tvm_ffi_fail("ValueError",
                               "error[tvm_ffi.device]: the first tensor is neither on a CPU nor on a CUDA GPU");
  void* native = place > 0 ? TVMFFIEnvGetStream(kDLCUDA, place - 1) : NULL;
  tilevm_tvm_ffi_launch* launch = NULL;
  pthread_mutex_lock(&called->mutex);
  tilevm_status status = tilevm_tvm_ffi_open(called, kernel, bytes, size, place);
  /* A scalar that was set cannot be unset: a call that leaves one out has a launch of its own. */
  const int leaves_out = status == TILEVM_OK && tilevm_tvm_ffi_leaves_out(called->on[place].kernel, args, count);
  if (status == TILEVM_OK) status = tilevm_tvm_ffi_take(called, place, native, leaves_out, &launch);
  pthread_mutex_unlock(&called->mutex);
  if (status != TILEVM_OK) return tilevm_tvm_ffi_failed(status);

  int failed = tilevm_tvm_ffi_bind(called->on[place].kernel, called->on[place].device, launch->launch, args, count);
  if (failed == 0) {
    status = tilevm_launch_run(launch->launch, launch->stream);
    if (status != TILEVM_OK) failed = tilevm_tvm_ffi_failed(status);
  }
  if (failed != 0 || leaves_out) {
    tilevm_tvm_ffi_free(launch);
  } else {
    pthread_mutex_lock(&called->mutex);
    launch->next = called->idle;
    called->idle = launch;
    pthread_mutex_unlock(&called->mutex);
  }
  result->type_index = kTVMFFINone;
  result->zero_padding = 0;
  result->v_int64 = 0;
  return failed;
}

#endif /* TILEVM_TVM_FFI_H_ */
