#define _POSIX_C_SOURCE 200809L
#include "python/ext/frontend/run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "python/ext/core/coverage.h"
#include "python/ext/core/environment.h"
#include "python/ext/core/error.h"
#include "python/ext/core/interpreter.h"
#include "python/ext/core/launch.h"
#include "python/ext/core/print.h"
#include "python/ext/core/warning.h"
#include "python/ext/frontend/driver.h"

uint64_t low_bits(uint64_t word, int bits) {
  return bits >= 64 || bits <= 0 ? word : word & (((uint64_t)1 << bits) - 1);
}

static _Thread_local double deadline; /* on the monotonic clock; 0: none */
static uint64_t uses;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static PyObject* driver_deadline(PyObject* module, PyObject* seconds) {
  (void)module;
  const double value = PyFloat_AsDouble(seconds);
  if (value == -1.0 && PyErr_Occurred() != NULL) return NULL;
  deadline = value > 0 ? now() + value : 0;
  Py_RETURN_NONE;
}

/* In the thread that launches. */
static int32_t ask(void* user) {
  if (deadline > 0 && now() > deadline) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyErr_SetString(PyExc_TimeoutError, "the launch exceeded its time limit");
    PyGILState_Release(state);
    return 1;
  }
  return ask_interrupt(user);
}

static _Thread_local const char* watching; /* the kernel of the launch whose memory is being watched, or NULL */

static int is_watched(void) { return driver.written_at != NULL && !driver.is_gpu && driver.check == TILEVM_CHECK_FULL; }

/* Bytes from the first to behind the last element; 0: none. */
static uint64_t extent(const tilevm_array* array) {
  int64_t last = 0, step = 1;
  for (int d = array->rank; d-- > 0;) {
    if (array->shape[d] == 0) return 0;
    last += (array->shape[d] - 1) * (array->strides != NULL ? array->strides[d] : step);
    step *= array->shape[d];
  }
  return ((uint64_t)(last + 1) * (uint64_t)tilevm_type_bits(array->type) + 7) / 8;
}

tilevm_status add_array(tilevm_launch* launch, const char* name, const tilevm_array* array) {
  const tilevm_status status = tilevm_launch_add_memory(launch, name, array);
  const uint64_t bytes = status == TILEVM_OK && watching != NULL ? extent(array) : 0;
  if (bytes == 0) return status;
  PyObject* found = PyObject_CallFunction(driver.written_at, "KKss", (unsigned long long)(uintptr_t)array->data,
                                          (unsigned long long)bytes, name, watching);
  void* written = found == NULL ? NULL : PyLong_AsVoidPtr(found);
  Py_XDECREF(found);
  if (PyErr_Occurred() != NULL) return TILEVM_INTERNAL;
  return written == NULL ? TILEVM_OK : tilevm_launch_set_written(launch, array->data, bytes, written);
}

/* A launch that is ready to run, or NULL with an exception. `watched`: it runs now, and once. */
static tilevm_launch* make(const Call* call, int watched) {
  const uint64_t* grid = call->words + call->of->num_words;
  tilevm_launch_options options = {sizeof options};
  options.check = driver.is_gpu ? TILEVM_CHECK_DEFAULT : driver.check;
  options.order = order_of_blocks(options.check);
  options.threads = driver.threads;
  options.any_array = asks_any_array();
  options.interrupt = ask;
  if (!driver.is_gpu) options.warning = collect_warning;
  if (!driver.is_gpu) options.coverage = coverage_callback();
  tilevm_launch* launch = NULL;
  tilevm_status status = tilevm_launch_create(call->of->kernel, &launch);
  if (status == TILEVM_OK) status = tilevm_launch_set_options(launch, &options);
  for (uint32_t i = 0; i < call->of->num_words && status == TILEVM_OK; ++i) {
    status = tilevm_launch_set_parameter(launch, i, call->words[i]);
  }
  watching = watched ? call->of->name : NULL;
  if (status == TILEVM_OK && !driver.is_gpu) status = call->add_memory(launch, call);
  if (status == TILEVM_OK) {
    status = tilevm_launch_set_grid(launch, (int64_t)grid[0], (int64_t)grid[1], (int64_t)grid[2]);
  }
  if (status == TILEVM_OK) {
    Py_BEGIN_ALLOW_THREADS status = tilevm_launch_prepare(launch);
    Py_END_ALLOW_THREADS
  }
  if (status == TILEVM_OK) return launch;
  raise_status(status); /* before destroying, which may have a message of its own */
  tilevm_launch_destroy(launch);
  return NULL;
}

static void clear(Variant* v) {
  tilevm_launch_destroy(v->launch);
  free(v->words);
  memset(v, 0, sizeof *v);
}

void release_runnable(Runnable* r) {
  for (int i = 0; i < kVariants; ++i) clear(&r->variants[i]);
  tilevm_kernel_destroy(r->kernel);
  r->kernel = NULL;
}

static int make_kernel(Runnable* r) {
  tilevm_kernel* made = NULL;
  tilevm_status status;
  if (renew_device() != 0) return -1;
  Py_BEGIN_ALLOW_THREADS status = tilevm_kernel_create(driver.device, r->module, r->name, &made);
  Py_END_ALLOW_THREADS if (status != TILEVM_OK) {
    raise_status(status);
    return -1;
  }
  tilevm_kernel_info info = {sizeof info};
  if (tilevm_kernel_get_info(made, &info) == TILEVM_OK && info.num_parameters != r->num_words) {
    PyErr_Format(PyExc_RuntimeError, "kernel `%s` has %u parameters; its signature stands for %u", r->name,
                 (unsigned)info.num_parameters, (unsigned)r->num_words);
    tilevm_kernel_destroy(made);
    return -1;
  }
  if (r->kernel == NULL) {
    r->kernel = made;
    r->forks = forks;
  } else { /* another thread was faster */
    tilevm_kernel_destroy(made);
  }
  return 0;
}

int renew_runnable(Runnable* r) {
  if (r->kernel != NULL && r->forks == forks) return 0;
  if (r->forks != forks) { /* not destroyed, with the launches: that might wait for the thread, too */
    memset(r->variants, 0, sizeof r->variants);
    r->kernel = NULL;
    r->forks = forks;
  }
  return make_kernel(r);
}

/* On a GPU, where a launch has no memory of its own: one of the same stream, behind whose work it is, made one of these words. */
static tilevm_launch* retarget(Variant* v, const Call* call) {
  const int parameters = (int)call->of->num_words;
  const uint64_t* grid = call->words + parameters;
  tilevm_status status = TILEVM_OK;
  for (int i = 0; i < parameters && status == TILEVM_OK; ++i) {
    if (v->words[i] != call->words[i]) status = tilevm_launch_set_parameter(v->launch, (uint32_t)i, call->words[i]);
  }
  if (status == TILEVM_OK && memcmp(v->words + parameters, grid, 3 * sizeof *grid) != 0) {
    status = tilevm_launch_set_grid(v->launch, (int64_t)grid[0], (int64_t)grid[1], (int64_t)grid[2]);
  }
  if (status == TILEVM_OK) status = tilevm_launch_prepare(v->launch);
  if (status != TILEVM_OK) {
    raise_status(status);
    clear(v);
    return NULL;
  }
  memcpy(v->words, call->words, (size_t)call->num_words * sizeof *v->words);
  v->last_use = ++uses;
  return v->launch;
}

/* The launch of these words: one that is kept and free, or a new one. `*kept` is its place, or NULL if the caller has it. */
static tilevm_launch* find(const Call* call, const void* stream, Variant** kept) {
  Runnable* of = call->of;
  const size_t bytes = (size_t)call->num_words * sizeof *call->words;
  Variant *oldest = NULL, *similar = NULL;
  *kept = NULL;
  if (call->once || is_watched()) return make(call, is_watched());
  for (int i = 0; i < kVariants; ++i) {
    Variant* v = &of->variants[i];
    if (v->busy) continue;
    const int same =
        v->launch != NULL && v->num_words == call->num_words && v->stream == stream && v->options == driver.options;
    if (same && memcmp(v->words, call->words, bytes) == 0) {
      *kept = v;
      v->last_use = ++uses;
      return v->launch;
    }
    if (oldest == NULL || v->last_use < oldest->last_use) oldest = v;
    if (same && (similar == NULL || v->last_use < similar->last_use)) similar = v;
  }
  if (driver.is_gpu && similar != NULL && oldest->launch != NULL) {
    *kept = similar;
    return retarget(similar, call);
  }
  const uint64_t options = driver.options;
  tilevm_launch* launch = make(call, 0); /* others may run meanwhile */
  if (launch == NULL) return NULL;
  oldest = NULL;
  for (int i = 0; i < kVariants; ++i) {
    Variant* v = &of->variants[i];
    if (!v->busy && (oldest == NULL || v->last_use < oldest->last_use)) oldest = v;
  }
  uint64_t* copy = oldest == NULL ? NULL : malloc(bytes);
  if (copy == NULL) return launch;
  clear(oldest);
  memcpy(copy, call->words, bytes);
  oldest->words = copy;
  oldest->num_words = call->num_words;
  oldest->stream = stream;
  oldest->options = options;
  oldest->launch = launch;
  oldest->last_use = ++uses;
  *kept = oldest;
  return launch;
}

/* Streams of the driver, wrapped; few live at a time. */
enum { kStreams = 64 };
static struct {
  void* native;
  tilevm_stream* stream;
  int waiting; /* threads that wait for it without the GIL: it stays for them */
} known[kStreams];

static tilevm_stream* wrapped(void* native) {
  static int next;
  for (int i = 0; i < kStreams; ++i) {
    if (known[i].stream != NULL && known[i].native == native) return known[i].stream;
  }
  tilevm_stream* stream = NULL;
  const tilevm_status status = tilevm_stream_wrap(driver.device, native, &stream);
  if (status != TILEVM_OK) {
    raise_status(status);
    return NULL;
  }
  while (known[next].waiting > 0) next = (next + 1) % kStreams;
  tilevm_stream_destroy(known[next].stream);
  known[next].native = native;
  known[next].stream = stream;
  next = (next + 1) % kStreams;
  return stream;
}

/* driver_check(stream or None): raises what a kernel on the stream, or on any, has reported. Waits for it. */
static PyObject* driver_check(PyObject* module, PyObject* stream) {
  (void)module;
  void* native = stream == Py_None ? NULL : PyLong_AsVoidPtr(stream);
  if (PyErr_Occurred() != NULL) return NULL;
  for (int i = 0; i < kStreams; ++i) {
    tilevm_stream* of = known[i].stream;
    if (of == NULL || (stream != Py_None && known[i].native != native)) continue;
    tilevm_status status;
    ++known[i].waiting;
    Py_BEGIN_ALLOW_THREADS status = tilevm_stream_synchronize(of);
    Py_END_ALLOW_THREADS-- known[i].waiting;
    if (status == TILEVM_TRAPPED)
      return raise_status(status); /* others are of streams that are gone, or the caller's to find */
  }
  Py_RETURN_NONE;
}

static void destroy_launch(void* launch) { tilevm_launch_destroy(launch); }

/* On the cpu, while the stream records: the launch goes into the list. */
static int record(const Call* call) {
  tilevm_launch* launch = make(call, 0);
  PyObject* object = launch == NULL ? NULL : new_handle(LaunchType, launch, destroy_launch);
  if (object == NULL) return -1;
  const int failed = PyList_Append(driver.capture_list, object);
  Py_DECREF(object);
  return failed;
}

static int add_to_graph(const Call* call) {
  tilevm_launch* launch = make(call, 0);
  if (launch == NULL) return -1;
  const tilevm_status status = tilevm_launch_add_to_graph(launch, call->graph);
  if (status != TILEVM_OK) raise_status(status);
  tilevm_launch_destroy(launch); /* the graph keeps what it uses of it */
  return status == TILEVM_OK ? 0 : -1;
}

static int run_on_gpu(const Call* call, void* native) {
  tilevm_stream* stream = wrapped(native);
  if (stream == NULL) return -1;
  int capturing = 0;
  if (driver.is_capturing != NULL) driver.is_capturing(native, &capturing);
  Variant* kept = NULL;
  /* Of a graph: its workspaces are not those of other launches, which may run meanwhile. */
  tilevm_launch* launch = capturing ? make(call, 0) : find(call, native, &kept);
  if (launch == NULL) return -1;
  const tilevm_status status = tilevm_launch_run(launch, stream);
  if (status != TILEVM_OK) raise_status(status);
  if (kept == NULL) tilevm_launch_destroy(launch); /* a graph keeps what it uses of it */
  return status == TILEVM_OK ? 0 : -1;
}

static int run_on_cpu(const Call* call) {
  Variant* kept;
  tilevm_launch* launch = find(call, NULL, &kept);
  if (launch == NULL) return -1;
  if (kept != NULL) kept->busy = 1;
  tilevm_status status;
  begin_work();
  Py_BEGIN_ALLOW_THREADS status = tilevm_launch_run(launch, NULL);
  end_work();
  Py_END_ALLOW_THREADS if (status != TILEVM_OK) raise_status(status);
  if (kept != NULL) kept->busy = 0;
  if (kept == NULL) tilevm_launch_destroy(launch);
  if (status != TILEVM_OK) forget_warnings();
  return status == TILEVM_OK && tell_warnings_to(driver.warn) == 0 ? 0 : -1;
}

int run_call(const Call* call, void* stream) {
  if (renew_runnable(call->of) != 0) return -1;
  if (call->graph != NULL) return add_to_graph(call);
  if (driver.is_gpu) return run_on_gpu(call, stream);
  return driver.capture_list != NULL && driver.capture_stream == stream ? record(call) : run_on_cpu(call);
}

static PyMethodDef functions[] = {
    {"driver_check", driver_check, METH_O,
     "driver_check(stream or None): waits for the stream, or for all that launches used; raises what kernels reported"},
    {"driver_deadline", driver_deadline, METH_O,
     "driver_deadline(seconds): launches of this thread stop then, with TimeoutError; 0: no more"},
    {NULL, NULL, 0, NULL},
};
int add_run(PyObject* module) { return PyModule_AddFunctions(module, functions); }
