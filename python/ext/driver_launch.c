/* Launches of cuTile.
 *
 * A launch that was prepared is kept with its parameters and grid, and run again when they come again: addresses, shapes and
 * strides are among them, so that they say everything about the memory, but for lists on the cpu, whose tables hold other
 * arrays each time. On the cpu the GIL is released while the kernel runs; a launch on a GPU does not wait, and keeps it. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver.h"

enum { kMaxRank = 16, kMaxName = 256 };

static _Thread_local double deadline; /* on the monotonic clock; 0: none */
static uint64_t uses;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

PyObject* driver_deadline(PyObject* module, PyObject* seconds) {
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

uint64_t low_bits(uint64_t word, int bits) {
  return bits >= 64 || bits <= 0 ? word : word & (((uint64_t)1 << bits) - 1);
}

static int64_t signed_bits(uint64_t word, int bits) {
  if (bits >= 64) return (int64_t)word;
  const uint64_t sign = (uint64_t)1 << (bits - 1);
  word = low_bits(word, bits);
  return (int64_t)((word ^ sign) - sign);
}

/* `words`: address, shape, strides. */
static tilevm_status add_array(tilevm_launch* launch, const Parameter* a, const char* name, const uint64_t* words,
                               int bits) {
  int64_t shape[kMaxRank], strides[kMaxRank];
  for (int d = 0; d < a->rank; ++d) {
    shape[d] = signed_bits(words[1 + d], bits);
    strides[d] = signed_bits(words[1 + a->rank + d], bits);
  }
  const tilevm_array array = {(void*)(uintptr_t)words[0], a->type, a->rank, shape, strides};
  return tilevm_launch_add_memory(launch, name, &array);
}

/* The table of a list, and the arrays that it names. */
static tilevm_status add_list(tilevm_launch* launch, const Parameter* a, const uint64_t* words) {
  const uint64_t* table = (const uint64_t*)(uintptr_t)words[0];
  const int64_t length = signed_bits(words[1], 32), row = 1 + 2 * a->rank;
  const int64_t shape[2] = {length, row};
  const tilevm_array rows = {(void*)table, TILEVM_I64, 2, shape, NULL};
  char name[kMaxName];
  PyOS_snprintf(name, sizeof name, "%.200s (the list)", a->name);
  tilevm_status status = tilevm_launch_add_memory(launch, name, &rows);
  for (int64_t i = 0; status == TILEVM_OK && i < length; ++i) {
    PyOS_snprintf(name, sizeof name, "%.200s[%lld]", a->name, (long long)i);
    status = add_array(launch, a, name, table + i * row, 64);
  }
  return status;
}

static tilevm_status bind(tilevm_launch* launch, const Kernel* kernel, const uint64_t* words) {
  tilevm_status status = TILEVM_OK;
  for (int i = 0; i < kernel->num_words && status == TILEVM_OK; ++i) {
    status = tilevm_launch_set_parameter(launch, (uint32_t)i, words[i]);
  }
  if (driver.is_gpu) return status;
  for (int i = 0; i < kernel->num_arguments && status == TILEVM_OK; ++i) {
    const Parameter* a = &kernel->arguments[i];
    if (a->kind == kArrayParameter) status = add_array(launch, a, a->name, words, a->bits);
    if (a->kind == kListParameter) status = add_list(launch, a, words);
    words += a->kind == kArrayParameter ? 1 + 2 * a->rank : a->kind == kListParameter ? 2 : 1;
  }
  return status;
}

/* A launch that is ready to run, or NULL with an exception. */
static tilevm_launch* make(Kernel* kernel, const uint64_t* words) {
  const uint64_t* grid = words + kernel->num_words;
  tilevm_launch_options options = {sizeof options};
  options.check = driver.is_gpu ? TILEVM_CHECK_DEFAULT : driver.check;
  options.threads = driver.threads;
  options.interrupt = ask;
  if (!driver.is_gpu) options.warning = collect_warning;
  tilevm_launch* launch = NULL;
  tilevm_status status = tilevm_launch_create(kernel->kernel, &launch);
  if (status == TILEVM_OK) status = tilevm_launch_set_options(launch, &options);
  if (status == TILEVM_OK) status = bind(launch, kernel, words);
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

void destroy_variants(Kernel* kernel) {
  for (int i = 0; i < kVariants; ++i) clear(&kernel->variants[i]);
}

/* The launch of these words: one that is kept and free, or a new one. `*kept` is its place, or NULL if the caller has it. */
static tilevm_launch* find(Kernel* kernel, const uint64_t* words, Variant** kept) {
  const size_t bytes = ((size_t)kernel->num_words + 3) * sizeof *words;
  *kept = NULL;
  if (kernel->has_lists && !driver.is_gpu) return make(kernel, words);
  for (int i = 0; i < kVariants; ++i) {
    Variant* v = &kernel->variants[i];
    if (v->launch == NULL || v->busy || memcmp(v->words, words, bytes) != 0) continue;
    *kept = v;
    v->last_use = ++uses;
    return v->launch;
  }
  tilevm_launch* launch = make(kernel, words); /* others may run meanwhile */
  if (launch == NULL) return NULL;
  Variant* oldest = NULL;
  for (int i = 0; i < kVariants; ++i) {
    Variant* v = &kernel->variants[i];
    if (!v->busy && (oldest == NULL || v->last_use < oldest->last_use)) oldest = v;
  }
  uint64_t* copy = oldest == NULL ? NULL : malloc(bytes);
  if (copy == NULL) return launch;
  clear(oldest);
  memcpy(copy, words, bytes);
  oldest->words = copy;
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

void forget_stream(void* native) {
  for (int i = 0; i < kStreams; ++i) {
    if (known[i].stream == NULL || known[i].native != native) continue;
    known[i].native = &known[i]; /* which is no stream's; `wrapped` uses the place again */
    if (known[i].waiting > 0) continue;
    tilevm_stream_destroy(known[i].stream);
    known[i].stream = NULL;
  }
}

/* driver_check(stream or None): raises what a kernel on the stream, or on any, has reported. Waits for it. */
PyObject* driver_check(PyObject* module, PyObject* stream) {
  (void)module;
  void* native = stream == Py_None ? NULL : PyLong_AsVoidPtr(stream);
  if (PyErr_Occurred() != NULL) return NULL;
  for (int i = 0; i < kStreams; ++i) {
    tilevm_stream* of = known[i].stream;
    if (of == NULL || (stream != Py_None && known[i].native != native)) continue;
    tilevm_status status;
    ++known[i].waiting;
    Py_BEGIN_ALLOW_THREADS status = tilevm_stream_synchronize(of);
    Py_END_ALLOW_THREADS
    --known[i].waiting;
    if (status == TILEVM_TRAPPED) return raise_status(status); /* others are of streams that are gone, or the caller's to find */
  }
  Py_RETURN_NONE;
}

static void destroy_launch(void* launch) { tilevm_launch_destroy(launch); }

/* On the cpu, while the stream records: the launch goes into the list. */
static int record(Kernel* kernel, const uint64_t* words) {
  tilevm_launch* launch = make(kernel, words);
  PyObject* object = launch == NULL ? NULL : new_handle(LaunchType, launch, destroy_launch);
  if (object == NULL) return keep_error(CU_LAUNCH_FAILED);
  const int failed = PyList_Append(driver.capture_list, object);
  Py_DECREF(object);
  return failed ? keep_error(CU_LAUNCH_FAILED) : CU_SUCCESS;
}

static int run_on_gpu(Kernel* kernel, const uint64_t* words, void* native) {
  tilevm_stream* stream = wrapped(native);
  if (stream == NULL) return keep_error(CU_LAUNCH_FAILED);
  int capturing = 0;
  if (driver.is_capturing != NULL) driver.is_capturing(native, &capturing);
  Variant* kept = NULL;
  /* Of a graph: its workspaces are not those of other launches, which may run meanwhile. */
  tilevm_launch* launch = capturing ? make(kernel, words) : find(kernel, words, &kept);
  if (launch == NULL) return keep_error(CU_LAUNCH_FAILED);
  const tilevm_status status = tilevm_launch_run(launch, stream);
  if (status != TILEVM_OK) raise_status(status);
  if (kept == NULL) tilevm_launch_destroy(launch); /* a graph keeps what it uses of it */
  return status == TILEVM_OK ? CU_SUCCESS : keep_error(CU_LAUNCH_FAILED);
}

static int run_on_cpu(Kernel* kernel, const uint64_t* words) {
  Variant* kept;
  tilevm_launch* launch = find(kernel, words, &kept);
  if (launch == NULL) return keep_error(CU_LAUNCH_FAILED);
  if (kept != NULL) kept->busy = 1;
  tilevm_status status;
  begin_work();
  Py_BEGIN_ALLOW_THREADS
  status = tilevm_launch_run(launch, NULL);
  end_work();
  Py_END_ALLOW_THREADS
  if (status != TILEVM_OK) raise_status(status);
  if (kept != NULL) kept->busy = 0;
  if (kept == NULL) tilevm_launch_destroy(launch);
  if (status != TILEVM_OK) forget_warnings();
  return status == TILEVM_OK && tell_warnings_to(driver.warn) == 0 ? CU_SUCCESS : keep_error(CU_LAUNCH_FAILED);
}

int launch_kernel(const LaunchConfig* config, Kernel* kernel, void** parameters) {
  uint64_t few[64], *words = few;
  if (kernel->num_words + 3 > 64) words = malloc(((size_t)kernel->num_words + 3) * sizeof *words);
  if (words == NULL) return CU_OUT_OF_MEMORY;
  int at = 0;
  for (int i = 0; i < kernel->num_arguments; ++i) {
    const Parameter* a = &kernel->arguments[i];
    const int count = a->kind == kArrayParameter ? 1 + 2 * a->rank : a->kind == kListParameter ? 2 : 1;
    for (int j = 0; j < count; ++j, ++at) {
      const int bits = j == 0 && a->kind != kScalarParameter ? 64 : a->kind == kListParameter ? 32 : a->bits;
      uint64_t word;
      memcpy(&word, parameters[at], sizeof word);
      words[at] = low_bits(word, bits);
    }
  }
  int result = CU_SUCCESS;
  for (int d = 0; d < 3; ++d) {
    words[at + d] = config->grid[d];
    if (config->grid[d] == 0 || (d > 0 && config->grid[d] > 65535)) result = CU_INVALID_VALUE; /* as every GPU says */
  }
  if (result == CU_SUCCESS) result = renew_kernel(kernel);
  if (result == CU_SUCCESS) {
    result = driver.is_gpu ? run_on_gpu(kernel, words, config->stream)
             : driver.capture_list != NULL && driver.capture_stream == config->stream ? record(kernel, words)
                                                                                      : run_on_cpu(kernel, words);
  }
  if (words != few) free(words);
  return result;
}
