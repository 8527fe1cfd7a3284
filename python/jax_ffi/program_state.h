/* What program.c reads and run.c uses. */
#ifndef TILE_PYTHON_JAX_FFI_PROGRAM_STATE_H_
#define TILE_PYTHON_JAX_FFI_PROGRAM_STATE_H_

#include <pthread.h>

#include "tilevm.h"

enum { kMaxSlots = 64, kMaxScalars = 64, kMaxRank = 16, kMaxBatches = 8, kMaxDevices = 16, kMaxIdle = 4 };

/* An array of the interface: `arg` and `ret` are places among the operands and results, -1 for none. */
typedef struct Slot {
  const char* name;
  tilevm_type type;
  int rank, arg, ret;
} Slot;

/* The value of a scalar. */
typedef struct Number {
  char* name;
  int is_float;
  int64_t i;
  double f;
} Number;

/* A launch that nobody uses now, and what its arrays are. On a GPU it runs on one stream, `native`. */
typedef struct Bound {
  struct Bound* next;
  tilevm_launch* launch;
  int device;
  void* native;
  tilevm_stream* stream;
  struct {
    int is_set;
    void* data;
    int64_t shape[kMaxRank];
  } arrays[]; /* one for each slot */
} Bound;

/* The kernel on one device, made by its first call there. */
typedef struct Place {
  tilevm_device* device;
  tilevm_kernel* kernel;
} Place;

typedef struct Program {
  tilevm_module* module;
  char* name;
  int is_gpu, num_scalars, num_slots;
  int32_t check, threads;
  Number scalars[kMaxScalars];
  Slot slots[kMaxSlots];
  int num_args, num_rets;
  pthread_mutex_t mutex; /* of what follows */
  Place on[kMaxDevices];
  Bound* idle;
  int has_warned;
} Program;

#endif /* TILE_PYTHON_JAX_FFI_PROGRAM_STATE_H_ */
