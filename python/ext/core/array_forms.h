/* How other libraries describe their arrays in memory. */
#ifndef TILE_PYTHON_EXT_CORE_ARRAY_FORMS_H_
#define TILE_PYTHON_EXT_CORE_ARRAY_FORMS_H_

#include <stddef.h>
#include <stdint.h>

#include "python/ext/core/object.h"

/* NumPy's PyArrayInterface (__array_struct__), version 2. */
typedef struct ArrayInterface {
  int two;
  int rank;
  char kind;
  int item_bytes;
  int flags;
  Py_ssize_t *shape, *strides;
  void* data;
  PyObject* description;
} ArrayInterface;
enum { kNotSwapped = 0x200, kWriteable = 0x400 };

/* The structs of dlpack.h, 1.x and before. */
typedef struct Tensor {
  void* data;
  int32_t device_type, device_id;
  int32_t rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} Tensor;
typedef struct Versioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(struct Versioned*);
  uint64_t flags; /* 1: read-only */
  Tensor tensor;
} Versioned;

/* What a type of arrays offers to C under the name __dlpack_c_exchange_api__, since DLPack 1.2: the part that is used
 * here, and what stands before it. */
typedef struct Exchange {
  uint32_t major, minor;
  const void* older;
  void (*allocate)(void);
  void (*from_object)(void);
  void (*to_object)(void);
  int (*describe)(void* object, Tensor* tensor); /* may be NULL; not 0: failed, with an exception */
  int (*current_stream)(int32_t device_type, int32_t device_id, void** stream);
} Exchange;

#endif /* TILE_PYTHON_EXT_CORE_ARRAY_FORMS_H_ */
