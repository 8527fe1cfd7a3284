/* A call of a kernel, read without deciding about it: a key, which is equal for calls that Python would bind, check and report in the
 * same way (types, element types, ranks, devices, what is read-only, names, options), and what may differ between them: addresses, sizes,
 * strides, numbers. These the library checks anew (tilevm_launch_set_array, …). What is not plain is left to Python. */
#ifndef TILE_PYTHON_EXT_CORE_REQUEST_H_
#define TILE_PYTHON_EXT_CORE_REQUEST_H_

#include "python/ext/core/object.h"

enum { kMaxSlots = 24, kMaxWords = 256, kMaxRank = 16 };

/* An array or number of a call. */
typedef struct Argument {
  enum { kNothing, kInteger, kFloat, kArray } kind;
  int32_t rank;
  int32_t row_major; /* without gaps; strides are not compared then */
  void* data;
  int64_t shape[kMaxRank], strides[kMaxRank]; /* in elements */
  int64_t integer;
  double number;
} Argument;

typedef struct Request {
  int num_words, num_slots;
  uint64_t words[kMaxWords];
  Argument slots[kMaxSlots];
  PyObject* objects[kMaxSlots]; /* borrowed */
  PyObject* keep;               /* a list of objects whose addresses are among the words, or NULL */
} Request;

/* Of PyType tp_call. 0, without an exception, if something in the call is of a kind that only Python knows. */
int read_request(PyObject* arguments, PyObject* named, Request* r);
void clear_request(Request* r);
/* An array that a library made just now, not for a key. */
int read_made(PyObject* array, Argument* a);
/* Equal but for the address. */
int same_form(const Argument* a, const Argument* b);

int add_request(PyObject* module);

#endif /* TILE_PYTHON_EXT_CORE_REQUEST_H_ */
