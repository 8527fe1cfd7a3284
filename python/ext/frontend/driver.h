/* The part of the CUDA driver that cuTile Python's extension calls, on top of tilevm: cuTile binds the arguments of a
 * launch in its own compiled code, and what it hands to the driver comes here. Device, streams and kept launches are those of
 * Triton's launches, too (triton.c).
 *
 *   driver.c          the table of functions, and those of a machine without a GPU
 *   driver_image.c    what cuTile takes for a cubin: a .tbc with names and types of the arguments
 *   driver_launch.c   arguments of launches
 *   driver_run.c      launches: prepared ones are kept, by their parameters
 *   fresh.c           memory that nobody has written, for full checks
 *
 * On the cpu every function is one of ours; on a GPU all but those of libraries, kernels and launches are the driver's. */
#ifndef TILE_PYTHON_EXT_FRONTEND_DRIVER_H_
#define TILE_PYTHON_EXT_FRONTEND_DRIVER_H_

#include "python/ext/core/extension.h"

/* Results of the driver that are used here. */
enum {
  CU_SUCCESS = 0,
  CU_INVALID_VALUE = 1,
  CU_OUT_OF_MEMORY = 2,
  CU_INVALID_IMAGE = 200,
  CU_NOT_FOUND = 500,
  CU_LAUNCH_FAILED = 719,
  CU_NOT_SUPPORTED = 801,
};

/* An argument of a kernel as cuTile passes it: one word, or for an array its address, shape and strides, or for a list the
 * address of a table of arrays and its length. */
typedef struct Parameter {
  enum { kScalarParameter, kArrayParameter, kListParameter } kind;
  int rank;
  int bits; /* of a scalar; of shapes and strides */
  int type; /* of tilevm.h */
  const char* name;
} Parameter;

/* A launch with parameters bound, and who uses it. */
typedef struct Variant {
  uint64_t* words;
  int num_words;
  const void* stream; /* on a GPU: of its work, which its workspaces are used by */
  uint64_t options;   /* of the driver, when it was made */
  tilevm_launch* launch;
  uint64_t last_use;
  int busy;
} Variant;
enum { kVariants = 64 }; /* a model calls one kernel for each of its layers, with other arrays */

/* A kernel of a module, which whoever has this keeps, and launches of it. Zero but for module, name and num_words at first. */
typedef struct Runnable {
  tilevm_module* module;
  const char* name;
  uint32_t num_words;    /* parameters */
  tilevm_kernel* kernel; /* NULL until it is asked for */
  uint64_t forks;        /* when it was made */
  Variant variants[kVariants];
} Runnable;

typedef struct Call {
  Runnable* of;
  const uint64_t* words; /* parameters, grid, and what else makes launches differ */
  int num_words;         /* all of them */
  int once;              /* the launch is not kept */
  tilevm_status (*add_memory)(tilevm_launch* launch,
                              const struct Call* call); /* what the kernel may touch, by add_array(); on the cpu */
  const void* arguments;                                /* for add_memory */
  void* graph; /* what it becomes part of instead of being run, or NULL; on a GPU */
} Call;
/* With the GIL, which is released while a kernel runs. 0, or -1 with an exception. */
int run_call(const Call* call, void* stream);
/* Has the kernel made; in a child of fork again, because a thread that is gone may have held locks of it. 0, or -1 with an exception. */
int renew_runnable(Runnable* r);
void release_runnable(Runnable* r);
/* For Call.add_memory. TILEVM_INTERNAL: an exception is set. */
tilevm_status add_array(tilevm_launch* launch, const char* name, const tilevm_array* array);

/* What cuTile holds as CUkernel and as CUlibrary. */
typedef struct Kernel {
  Runnable run;
  Parameter* arguments;
  int num_arguments;
  int has_lists;
} Kernel;
typedef struct Image {
  char* bytes; /* of which names are part */
  tilevm_module* module;
  Kernel* kernels;
  uint32_t num_kernels;
} Image;

/* Of the table. One a process: cuTile has one, too. */
typedef struct Driver {
  tilevm_device* device;
  uint64_t forks; /* when it was opened */
  int is_gpu;
  int capability[2];
  int32_t check, threads;
  uint64_t options; /* counts changes of check and threads: launches that are kept were made with those of then */
  PyObject* warn;   /* called with a list of texts after a launch that had something to say */
  PyObject*
      written_at; /* (address, bytes, argument, kernel) -> where a byte for each says whether it was written, or 0; NULL: all were */
  void* capture_stream; /* launches on it are kept in capture_list instead of run; the cpu only */
  PyObject* capture_list;
  int (*is_capturing)(void* stream, int* status); /* the driver's, on a GPU */
} Driver;
extern Driver driver;

/* Keeps the exception that is set, for the caller of cuTile's function in this thread; returns `result`. */
int keep_error(int result);

/* A word as the kernel has it: its low bits. */
uint64_t low_bits(uint64_t word, int bits);

/* With the GIL; results of the driver. */
int load_image(Image** image, const void* data);
void unload_image(Image* image);
int get_kernel(Kernel** kernel, Image* image, const char* name);
typedef struct LaunchConfig { /* CUlaunchConfig */
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  void* attributes;
  unsigned num_attributes;
} LaunchConfig;
/* `graph`: the launch is added to it (tilevm_launch_add_to_graph) instead of run; NULL: it runs. */
int launch_kernel(const LaunchConfig* config, Kernel* kernel, void** parameters, void* graph);
/* In a child of fork: opens the device again. A GPU that the parent used can't be used. 0, or -1 with an exception. */
int renew_device(void);

/* Of the module. */
PyObject* driver_open(PyObject* module, PyObject* arguments);
PyObject* driver_options(PyObject* module, PyObject* arguments);
PyObject* driver_watch(PyObject* module, PyObject* function);
PyObject* driver_error(PyObject* module, PyObject* unused);
PyObject* driver_capture(PyObject* module, PyObject* arguments);
PyObject* driver_check(PyObject* module, PyObject* stream);
PyObject* driver_deadline(PyObject* module, PyObject* seconds);
PyObject* fresh_fill(PyObject* module, PyObject* arguments);
PyObject* fresh_intact(PyObject* module, PyObject* arguments);
PyObject* as_cuda_dlpack(PyObject* module, PyObject* arguments, PyObject* keywords);

#endif /* TILE_PYTHON_EXT_FRONTEND_DRIVER_H_ */
