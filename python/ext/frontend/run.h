/* Launches that are kept: a launch that was prepared is kept with its words (parameters, grid, and what else makes launches of its
 * kernel differ), and run again when they come again. On the cpu the GIL is released while the kernel runs; a launch on a GPU does not
 * wait, and keeps it. For cuTile (cutile/launch.c) and Triton (triton/launcher.c). */
#ifndef TILE_PYTHON_EXT_FRONTEND_RUN_H_
#define TILE_PYTHON_EXT_FRONTEND_RUN_H_

#include "python/ext/core/object.h"

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
/* A word as the kernel has it: its low bits. */
uint64_t low_bits(uint64_t word, int bits);

int add_run(PyObject* module);

#endif /* TILE_PYTHON_EXT_FRONTEND_RUN_H_ */
