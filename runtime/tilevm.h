/* tilevm: runs tile kernels (.tbc files) from any program, on a GPU or, without one, on the CPU.
 *
 *   tilevm_device* device;  tilevm_module* module;  tilevm_kernel* kernel;  tilevm_launch* launch;
 *   tilevm_device_open("auto", &device);                       // "cpu", "cuda", "cuda:1", "auto"
 *   tilevm_module_from_file("vector_add.tbc", &module);
 *   tilevm_kernel_create(device, module, "vector_add", &kernel);
 *   tilevm_launch_create(kernel, &launch);
 *   tilevm_launch_set_array(launch, "a", &a);                  // struct tilevm_array: address, type, shape
 *   tilevm_launch_set_array(launch, "b", &b);
 *   tilevm_launch_set_array(launch, "c", &c);
 *   if (tilevm_launch_run(launch, NULL) != TILEVM_OK) fprintf(stderr, "%s\n", tilevm_error());
 *
 * Every function that can fail returns a tilevm_status. tilevm_error() is then the message, of the calling thread,
 * until its next failing call. Nothing here throws, exits, prints (but what kernels print) or keeps state between
 * handles.
 *
 * Handles. NULL where a handle is needed is TILEVM_INVALID_ARGUMENT. Destroying NULL does nothing. Objects keep alive
 * what they need: destroy handles in any order. A buffer's memory must outlive the launches that use it. On failure,
 * what a function would have returned through a pointer is NULL or unchanged.
 *
 * Threads. Devices, modules, kernels and buffers may be used by any number of threads; a stream, event, launch or graph
 * by one at a time. Destroy a handle when nobody uses it any more.
 *
 * Streams. Work on a stream happens in order and may go on after the call. NULL for a stream means: the device's
 * default stream, and wait until it is done. The cpu device is always done when a call returns.
 *
 * Traps. A kernel that makes a mistake (an access out of bounds on the cpu, a failed assertion anywhere) is reported as
 * TILEVM_TRAPPED by whoever waits for it: tilevm_stream_synchronize, or any call with stream NULL. Accesses that
 * GPUs tolerate do not trap on the cpu either: a tile that is wholly outside of its view is padding and stores nothing,
 * and elements without a specified value are zero. `tilevm run` warns of both.
 *
 * Sizes are bytes, shapes and strides count elements, strides NULL means row-major. Addresses are those of the device:
 * on the cpu ordinary pointers. */
#ifndef TILEVM_H_
#define TILEVM_H_

/* Members and their comments are in columns. */
/* clang-format off */
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TILEVM_API __attribute__((visibility("default")))
#else
#define TILEVM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- status ------------------------------------------------------------------------------------------------------ */

typedef int32_t tilevm_status;
enum {
  TILEVM_OK = 0,
  TILEVM_INVALID_ARGUMENT = 1, /* the caller's mistake: NULL, wrong type, rank, size, a missing argument */
  TILEVM_NOT_FOUND = 2,        /* no kernel, argument or file of that name */
  TILEVM_INVALID_MODULE = 3,   /* no .tbc file (a directory), a damaged or too new one, or one that the verifier rejects */
  TILEVM_UNAVAILABLE = 4,      /* no driver, no GPU, too old a driver; a file that may not be read */
  TILEVM_UNSUPPORTED = 5,      /* the module has no machine code for this device, or the device can't do that */
  TILEVM_OUT_OF_MEMORY = 6,
  TILEVM_TRAPPED = 7,          /* a kernel made a mistake while running */
  TILEVM_BAD_STATE = 8,        /* not now: the stream records a graph, the event was never recorded */
  TILEVM_INTERNAL = 9,         /* an unexpected answer of the driver */
  TILEVM_INTERRUPTED = 10      /* the caller's tilevm_interrupt_fn stopped the launch */
};

/* The version of this header's interface, which grows by additions only. */
#define TILEVM_ABI_VERSION 1
TILEVM_API uint32_t tilevm_abi_version(void);
/* "TILEVM_TRAPPED"; "unknown status" for an unknown status. */
TILEVM_API const char* tilevm_status_name(tilevm_status status);
/* The message of this thread's last failing call: "error[code]: what" and perhaps "\n  fix: how". Never NULL. */
TILEVM_API const char* tilevm_error(void);
/* The code in brackets, stable for programs: "cuda.no_library", "run.no_image", "vm.out_of_bounds", "file.read". "" if there is none. */
TILEVM_API const char* tilevm_error_code(void);

/* --- element types ----------------------------------------------------------------------------------------------- */

/* Integers are signless. i1 takes a byte in memory, tf32 a 32-bit word, 4-bit types half a byte. */
typedef int32_t tilevm_type;
enum {
  TILEVM_I1 = 0, TILEVM_I8 = 1, TILEVM_I16 = 2, TILEVM_I32 = 3, TILEVM_I64 = 4,
  TILEVM_F16 = 5, TILEVM_BF16 = 6, TILEVM_F32 = 7, TILEVM_TF32 = 8, TILEVM_F64 = 9,
  TILEVM_F8E4M3FN = 10, TILEVM_F8E5M2 = 11, TILEVM_POINTER = 12, TILEVM_F8E8M0FNU = 18, TILEVM_F4E2M1FN = 19,
  TILEVM_I4 = 22, TILEVM_F8E5M3FNU = 130
};
/* "f32"; NULL for an unknown type. */
TILEVM_API const char* tilevm_type_name(tilevm_type type);
/* Bits of one element in memory; 0 for an unknown type. */
TILEVM_API int32_t tilevm_type_bits(tilevm_type type);

/* --- devices ----------------------------------------------------------------------------------------------------- */

typedef struct tilevm_device tilevm_device;

/* "cpu", "cuda" (the first GPU), "cuda:N", or "auto": the first GPU if there is one, else the cpu. Opens the CUDA driver
 * at run time, only for "cuda" and "auto". TILEVM_UNAVAILABLE says what is missing. */
TILEVM_API tilevm_status tilevm_device_open(const char* name, tilevm_device** device);
TILEVM_API void tilevm_device_close(tilevm_device* device);

typedef struct tilevm_device_info {
  size_t struct_size;         /* set to sizeof(tilevm_device_info) by the caller */
  const char* name;           /* "cpu", "cuda:0"; lives as long as the device */
  const char* description;    /* "NVIDIA H100 80GB HBM3" */
  int32_t is_gpu;
  int32_t ordinal;
  int32_t multiprocessors;    /* threads of the VM on the cpu */
  int32_t compute_major, compute_minor;
  int32_t driver_version;     /* 13000: CUDA 13.0; 0 on the cpu */
  uint64_t memory_bytes;
} tilevm_device_info;
TILEVM_API tilevm_status tilevm_device_get_info(const tilevm_device* device, tilevm_device_info* info);

/* Receives what kernels print, never two texts at once, from any thread; NULL: standard output, where a terminal gets
 * control characters and bytes that are not UTF-8 as \xNN. Texts are the module's: any bytes. For kernels created from here
 * on. */
typedef void (*tilevm_print_fn)(void* user, const char* text, size_t bytes);
TILEVM_API tilevm_status tilevm_device_set_print(tilevm_device* device, tilevm_print_fn print, void* user);

/* Lets kernels that a module has no machine code for be compiled on this machine, by libtilec.so.1, which is opened here and
 * now: TILEVM_UNAVAILABLE if it is not there. Off until this is called; for kernels created from here on. Compiling takes
 * from tenths of a second to seconds, in a process of its own, which may crash or run out of memory: that is an error here
 * and no more. Compiled code is kept in a folder, for other processes too. On the cpu device this does nothing.
 * `options` may be NULL. */
typedef struct tilevm_compile_options {
  size_t struct_size;       /* set by the caller; what is 0 or NULL has a default */
  const char* library;      /* a path; else what TILEVM_LIBTILEC names, else libtilec.so.1 as the system finds it */
  const char* cache_folder; /* else what TILEVM_CACHE names, XDG_CACHE_HOME/tilevm, HOME/.cache/tilevm; "": keep nothing */
  uint64_t cache_bytes;     /* size limit; least recently used entries are evicted; default 1 GiB */
} tilevm_compile_options;
TILEVM_API tilevm_status tilevm_device_allow_compile(tilevm_device* device, const tilevm_compile_options* options);

/* --- modules and kernels ----------------------------------------------------------------------------------------- */

typedef struct tilevm_module tilevm_module;

/* A .tbc file in memory; the bytes may be freed afterwards. Untrusted input is safe: malformed data returns
 * TILEVM_INVALID_MODULE. `name` is for messages and may be NULL. */
TILEVM_API tilevm_status tilevm_module_from_bytes(const void* bytes, size_t size, const char* name, tilevm_module** module);
/* Mapped: the file must not be shortened while the module lives; replace it by renaming a new one over it. */
TILEVM_API tilevm_status tilevm_module_from_file(const char* path, tilevm_module** module);
TILEVM_API void tilevm_module_destroy(tilevm_module* module);
/* 0 for NULL. */
TILEVM_API size_t tilevm_module_num_kernels(const tilevm_module* module);
/* NULL if there is no such kernel; lives as long as the module. */
TILEVM_API const char* tilevm_module_kernel_name(const tilevm_module* module, size_t index);

typedef struct tilevm_kernel tilevm_kernel;

/* Ready to run on the device. `name` is its symbol or, if that is a mangled C++ name, what C++ calls the kernel, as long as
 * no other one is called so: "add", "lib::scale<float, 64>", "add(float const*, float*, int)". It may be NULL if the module
 * has one kernel. TILEVM_UNSUPPORTED on a GPU for which the
 * module has no machine code; the message lists what there is. With tilevm_device_allow_compile it is compiled instead, and
 * the compiler's errors are those of this function: TILEVM_UNSUPPORTED (what it refuses), TILEVM_UNAVAILABLE,
 * TILEVM_INTERNAL. */
TILEVM_API tilevm_status tilevm_kernel_create(tilevm_device* device, const tilevm_module* module, const char* name,
                                              tilevm_kernel** kernel);
TILEVM_API void tilevm_kernel_destroy(tilevm_kernel* kernel);

enum { TILEVM_IN = 0, TILEVM_OUT = 1, TILEVM_INOUT = 2 };

typedef struct tilevm_kernel_info {
  size_t struct_size;       /* set by the caller */
  const char* name;         /* lives as long as the kernel, as all strings here */
  uint32_t num_parameters;  /* raw ones: pointers, sizes, strides, scalars */
  uint32_t num_arrays;      /* arguments of the interface; 0 without one */
  uint32_t num_scalars;
  int32_t has_launch_rule;  /* the grid follows from the arguments */
} tilevm_kernel_info;
TILEVM_API tilevm_status tilevm_kernel_get_info(const tilevm_kernel* kernel, tilevm_kernel_info* info);

typedef struct tilevm_array_info {
  size_t struct_size;     /* set by the caller */
  const char* name;
  int32_t direction;      /* TILEVM_IN, TILEVM_OUT, TILEVM_INOUT */
  tilevm_type type;
  int32_t rank;
  int64_t fixed_shape[16]; /* -1: any */
} tilevm_array_info;
TILEVM_API tilevm_status tilevm_kernel_get_array(const tilevm_kernel* kernel, uint32_t index, tilevm_array_info* info);

typedef struct tilevm_scalar_info {
  size_t struct_size;     /* set by the caller */
  const char* name;
  tilevm_type type;
  int32_t optional;       /* has a default, or follows from the arrays */
} tilevm_scalar_info;
TILEVM_API tilevm_status tilevm_kernel_get_scalar(const tilevm_kernel* kernel, uint32_t index, tilevm_scalar_info* info);

/* --- buffers ----------------------------------------------------------------------------------------------------- */

typedef struct tilevm_buffer tilevm_buffer;
typedef struct tilevm_stream tilevm_stream;

/* Memory of the device, aligned to 256 at least, not initialised. */
TILEVM_API tilevm_status tilevm_buffer_create(tilevm_device* device, size_t size, tilevm_buffer** buffer);
/* Memory of somebody else, at an address of the device. When the buffer is destroyed `release` (may be NULL) is called. */
TILEVM_API tilevm_status tilevm_buffer_wrap(tilevm_device* device, void* address, size_t size,
                                            void (*release)(void* user), void* user, tilevm_buffer** buffer);
TILEVM_API void tilevm_buffer_destroy(tilevm_buffer* buffer);
/* NULL and 0 for NULL. */
TILEVM_API void* tilevm_buffer_data(const tilevm_buffer* buffer);
TILEVM_API size_t tilevm_buffer_size(const tilevm_buffer* buffer);
/* Between host memory and [offset, offset + size) of a buffer. With a stream, host memory must stay until the copy is
 * done. */
TILEVM_API tilevm_status tilevm_buffer_upload(tilevm_buffer* buffer, size_t offset, const void* from, size_t size,
                                              tilevm_stream* stream);
TILEVM_API tilevm_status tilevm_buffer_download(const tilevm_buffer* buffer, size_t offset, void* to, size_t size,
                                                tilevm_stream* stream);
/* Buffers of one device. */
TILEVM_API tilevm_status tilevm_buffer_copy(tilevm_buffer* to, size_t to_offset, const tilevm_buffer* from,
                                            size_t from_offset, size_t size, tilevm_stream* stream);
TILEVM_API tilevm_status tilevm_buffer_fill(tilevm_buffer* buffer, size_t offset, uint8_t value, size_t size,
                                            tilevm_stream* stream);

/* --- streams and events ------------------------------------------------------------------------------------------ */

TILEVM_API tilevm_status tilevm_stream_create(tilevm_device* device, tilevm_stream** stream);
/* A CUstream (cudaStream_t) of somebody else, who destroys it later. TILEVM_UNSUPPORTED on the cpu. */
TILEVM_API tilevm_status tilevm_stream_wrap(tilevm_device* device, void* native, tilevm_stream** stream);
TILEVM_API void tilevm_stream_destroy(tilevm_stream* stream);
/* Waits for everything so far. TILEVM_TRAPPED if a kernel on this stream trapped since the last call. */
TILEVM_API tilevm_status tilevm_stream_synchronize(tilevm_stream* stream);
/* The CUstream; NULL on the cpu and for NULL. */
TILEVM_API void* tilevm_stream_native(const tilevm_stream* stream);

typedef struct tilevm_event tilevm_event;
TILEVM_API tilevm_status tilevm_event_create(tilevm_device* device, tilevm_event** event);
TILEVM_API void tilevm_event_destroy(tilevm_event* event);
/* stream NULL: the default stream, without waiting. */
TILEVM_API tilevm_status tilevm_event_record(tilevm_event* event, tilevm_stream* stream);
TILEVM_API tilevm_status tilevm_event_synchronize(tilevm_event* event);
TILEVM_API tilevm_status tilevm_event_elapsed_ms(tilevm_event* start, tilevm_event* end, double* milliseconds);
/* Work on the stream from here on waits for the event as it was last recorded. */
TILEVM_API tilevm_status tilevm_stream_wait_event(tilevm_stream* stream, tilevm_event* event);

/* --- launches ---------------------------------------------------------------------------------------------------- */

typedef struct tilevm_array {
  void* data;               /* address on the device; may be NULL if the array has no elements */
  tilevm_type type;
  int32_t rank;             /* at most 16 */
  const int64_t* shape;     /* rank sizes */
  const int64_t* strides;   /* rank strides in elements, or NULL: row-major */
} tilevm_array;

/* The arguments of a kernel, and how to run it with them. Set arguments, then run, as often as you like; a launch costs
 * one call of the driver as long as no argument changes. A launch must not run on two streams at once. */
typedef struct tilevm_launch tilevm_launch;
TILEVM_API tilevm_status tilevm_launch_create(tilevm_kernel* kernel, tilevm_launch** launch);
TILEVM_API void tilevm_launch_destroy(tilevm_launch* launch);

/* An array argument by its name in the interface, of the type and rank that the interface states. The array must be in device memory; if it begins in a tilevm_buffer it
 * must end there too. Shape and strides are copied. Arrays of direction `out` get the initial value that the interface
 * names before each run. */
TILEVM_API tilevm_status tilevm_launch_set_array(tilevm_launch* launch, const char* name, const tilevm_array* array);
/* A scalar argument: rounded to its type (f64), checked to fit it as a signed or an unsigned number of that width (i64,
 * u64), or as bits. Integers may be given for floats, too. */
TILEVM_API tilevm_status tilevm_launch_set_i64(tilevm_launch* launch, const char* name, int64_t value);
TILEVM_API tilevm_status tilevm_launch_set_u64(tilevm_launch* launch, const char* name, uint64_t value);
TILEVM_API tilevm_status tilevm_launch_set_f64(tilevm_launch* launch, const char* name, double value);
TILEVM_API tilevm_status tilevm_launch_set_bits(tilevm_launch* launch, const char* name, uint64_t bits);
/* A raw parameter by position, for kernels without interface: an address, or the bits of a scalar. On the cpu device an
 * address must be in a tilevm_buffer (tilevm_buffer_wrap). */
TILEVM_API tilevm_status tilevm_launch_set_parameter(tilevm_launch* launch, uint32_t index, uint64_t word);
/* Instead of the launch rule, in tile blocks; 0 in one: nothing runs. */
TILEVM_API tilevm_status tilevm_launch_set_grid(tilevm_launch* launch, int64_t x, int64_t y, int64_t z);

/* A raw parameter that points to an array: as tilevm_launch_set_parameter with its address. Checks of the cpu hold accesses through the
 * parameter to that array, which may be a part of its memory, and messages call it `name`. Strides may be negative; `data` may
 * be NULL. */
TILEVM_API tilevm_status tilevm_launch_set_pointer(tilevm_launch* launch, uint32_t index, const char* name,
                                                   const tilevm_array* array);

/* Memory that a kernel without interface may touch, on the cpu device in place of a tilevm_buffer: raw parameters may point
 * into it, and messages call it by this name, type and shape. Adds to what was added before. */
TILEVM_API tilevm_status tilevm_launch_add_memory(tilevm_launch* launch, const char* name, const tilevm_array* array);

/* Which bytes of such memory have been written, for TILEVM_CHECK_FULL: `written` has a byte for each of the `bytes` from `begin`
 * on, 0: nobody has. Reading such a byte before it is written is vm.uninitialized. A run that ends well sets those that it wrote
 * to 1. `written` must live as long as the launch, and no other run may use it meanwhile. */
TILEVM_API tilevm_status tilevm_launch_set_written(tilevm_launch* launch, const void* begin, uint64_t bytes,
                                                   uint8_t* written);

enum { TILEVM_CHECK_DEFAULT = 0, TILEVM_CHECK_NONE = 1, TILEVM_CHECK_BOUNDS = 2, TILEVM_CHECK_FULL = 3 };
/* Asked about every 20 ms by the thread that waits for a kernel on the cpu; not 0: stop it, TILEVM_INTERRUPTED. */
typedef int32_t (*tilevm_interrupt_fn)(void* user);
/* Receives warnings: behaviour that is as on hardware but probably not meant. A text is "file:line:col: warning[code]: message"
 * and lines with kernel, block, operation and fix. Called once for each operation and run, when the run is over, by the thread
 * that ran it. */
typedef void (*tilevm_warning_fn)(void* user, const char* text);
/* The sides of an operation that chooses which a run with full checks took. Texts live until the callback returns. */
enum { TILEVM_CHOICE_BRANCH = 0, TILEVM_CHOICE_LOOP, TILEVM_CHOICE_MASK, TILEVM_CHOICE_SELECT, TILEVM_CHOICE_COMPARISON };
enum { TILEVM_SEEN_FALSE = 1, TILEVM_SEEN_TRUE = 2, TILEVM_SEEN_SEVERAL = 4 }; /* of a loop: no round, one, several */
typedef struct tilevm_coverage {
  size_t struct_size;
  int32_t choice;
  uint32_t sides;        /* bits; 0: it did not run */
  const char* kernel;
  const char* where;     /* file:line:col */
  const char* op;        /* mnemonic */
  const char* predicate; /* of a comparison: "less_than", …; else "" */
  /* Least and largest of a comparison's operands, and of left minus right in one element, as long as one side was seen alone;
   * the first above the second where nothing is known. */
  double left[2], right[2], gap[2];
} tilevm_coverage;
typedef void (*tilevm_coverage_fn)(void* user, const tilevm_coverage* coverage);
/* The value of unspecified elements: outside of a tensor, or masked off, without padding. */
enum { TILEVM_UNSPECIFIED_ZERO = 0, TILEVM_UNSPECIFIED_ONES = 1, TILEVM_UNSPECIFIED_RANDOM = 2 };
typedef struct tilevm_launch_options {
  size_t struct_size;            /* set by the caller; what is 0 or NULL has a default */
  int32_t check;                 /* default: bounds on the cpu, none on a GPU; a GPU takes no other: TILEVM_UNSUPPORTED */
  int32_t threads;               /* of the VM, at most; default: all cores. Little work takes fewer */
  tilevm_interrupt_fn interrupt; /* a GPU is not interrupted */
  void* interrupt_user;
  int32_t unspecified;           /* default: zero; all bits set (NaN); any bits, the same in every run. Not on a GPU */
  const char* order;             /* in which blocks start: "linear", "reverse", "random", "random:SEED"; copied. Default:
                                  * linear; full checks try several. Not on a GPU */
  tilevm_warning_fn warning;     /* default: warnings are dropped. A GPU gives none */
  void* warning_user;
  int32_t any_array;             /* not 0: a pointer may reach any other memory of the launch than its array; default: an error */
  tilevm_coverage_fn coverage;   /* called as warnings are, once for each operation that chooses; default: none is looked at */
  void* coverage_user;
} tilevm_launch_options;
TILEVM_API tilevm_status tilevm_launch_set_options(tilevm_launch* launch, const tilevm_launch_options* options);

/* Results of the arguments that are set: the grid, and the shape of an array that is not set (data NULL; allocate it, then
 * set it). The shape lives until the launch changes. */
TILEVM_API tilevm_status tilevm_launch_get_array(tilevm_launch* launch, const char* name, tilevm_array* array);
TILEVM_API tilevm_status tilevm_launch_get_grid(tilevm_launch* launch, int64_t grid[3]);

/* Optional. Validates the arguments, selects machine code and allocates workspace now; if not called, the next run does this. */
TILEVM_API tilevm_status tilevm_launch_prepare(tilevm_launch* launch);
TILEVM_API tilevm_status tilevm_launch_run(tilevm_launch* launch, tilevm_stream* stream);

/* --- graphs ------------------------------------------------------------------------------------------------------ */

/* Between begin and end, work on the stream is recorded instead of done (not with stream NULL). Prepare launches before.
 * A graph keeps what the launches in it need, workspaces included: they may be changed or destroyed while it is used. The same
 * holds for a graph that somebody else records with a CUstream of ours or of theirs (tilevm_stream_wrap). After such a graph is
 * destroyed, its memory is freed with the next launch that is prepared, or stream that is waited for. */
typedef struct tilevm_graph tilevm_graph;
TILEVM_API tilevm_status tilevm_stream_begin_capture(tilevm_stream* stream);
TILEVM_API tilevm_status tilevm_stream_end_capture(tilevm_stream* stream, tilevm_graph** graph);
TILEVM_API tilevm_status tilevm_graph_run(tilevm_graph* graph, tilevm_stream* stream);
TILEVM_API void tilevm_graph_destroy(tilevm_graph* graph);

/* Adds the launch to a CUgraph of yours, without recording: while any stream of a GPU records, nobody may wait for that GPU. The
 * launch becomes a chain of nodes, and nothing precedes the first of them. So give each launch a graph of its own and add
 * that as a node (cuGraphAddChildGraphNode). The graph keeps what it needs of the launch. Traps are not reported.
 * TILEVM_UNSUPPORTED on the cpu, and for kernels whose interface gives outputs or workspaces a value before they run. */
TILEVM_API tilevm_status tilevm_launch_add_to_graph(tilevm_launch* launch, void* graph);

/* --- DLPack ------------------------------------------------------------------------------------------------------ */

/* Tensors of other libraries, without copying. The structs are those of dlpack.h, 1.x and before. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* Takes the tensor over if it succeeds: its deleter is called when the buffer is destroyed. The tensor must be on the
 * device. `array` describes it; its shape and strides live as long as the buffer. Read-only tensors are accepted: don't
 * bind them to `out`. */
TILEVM_API tilevm_status tilevm_buffer_from_dlpack(tilevm_device* device, struct DLManagedTensorVersioned* tensor,
                                                   tilevm_buffer** buffer, tilevm_array* array);
TILEVM_API tilevm_status tilevm_buffer_from_dlpack_legacy(tilevm_device* device, struct DLManagedTensor* tensor,
                                                          tilevm_buffer** buffer, tilevm_array* array);
/* A tensor that shares a buffer; its memory lives until both the buffer and the tensor are gone. Whoever receives the
 * tensor calls its deleter once. array->data must be in the buffer. */
TILEVM_API tilevm_status tilevm_buffer_to_dlpack(const tilevm_buffer* buffer, const tilevm_array* array,
                                                 struct DLManagedTensorVersioned** tensor);
TILEVM_API tilevm_status tilevm_buffer_to_dlpack_legacy(const tilevm_buffer* buffer, const tilevm_array* array,
                                                        struct DLManagedTensor** tensor);

#ifdef __cplusplus
}
#endif

#endif /* TILEVM_H_ */
