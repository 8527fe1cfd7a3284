/* The device on which the frontends of a process run their kernels, and how: one for all of them (tilevm/_frontend/state.py). On a GPU it
 * also finds the driver's own functions, for frontends that need them. */
#ifndef TILE_PYTHON_EXT_FRONTEND_DRIVER_H_
#define TILE_PYTHON_EXT_FRONTEND_DRIVER_H_

#include "python/ext/core/object.h"

typedef int (*GetProcAddress)(const char* name, void** function, int version, uint64_t flags, void* status);

/* One a process: cuTile has one, too. */
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
  GetProcAddress real;                            /* cuGetProcAddress_v2; NULL without a GPU */
  int (*is_capturing)(void* stream, int* status); /* the driver's, on a GPU */
} Driver;
extern Driver driver;

/* A function of the real driver, as of CUDA 12.0; stays NULL where there is none. */
void find_real(const char* name, void* pointer);
/* In a child of fork: opens the device again. A GPU that the parent used can't be used. 0, or -1 with an exception. */
int renew_device(void);

int add_driver(PyObject* module);

#endif /* TILE_PYTHON_EXT_FRONTEND_DRIVER_H_ */
