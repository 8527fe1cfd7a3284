/* Calls of kernels whose like was bound before. A call is read into a Request: a key, which is equal for calls that
 * Python would bind, check and report in the same way (types, element types, ranks, devices, what is read-only, names,
 * options), and what may differ between them: addresses, sizes, strides, numbers. These the library checks anew
 * (tilevm_launch_set_array, …). */
#ifndef TILE_PYTHON_EXT_CORE_CALL_H_
#define TILE_PYTHON_EXT_CORE_CALL_H_

#include "python/ext/core/extension.h"

enum { kMaxSlots = 24, kMaxMade = 8, kMaxWords = 256, kMaxRank = 16 };

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

/* Of a Plan. 1: it ran, with the result, or NULL and an exception. 0, without an exception: it did not. */
int run_plan(PyObject* plan, const Request* r, PyObject** result);
extern PyTypeObject* PlanType;
int add_plan(PyObject* module);

/* A function of the module. */
PyObject* know_type(PyObject* module, PyObject* type);
int add_request(void);

#endif /* TILE_PYTHON_EXT_CORE_CALL_H_ */
