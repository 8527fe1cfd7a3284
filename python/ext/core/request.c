#include "python/ext/core/request.h"

#include <stdlib.h>
#include <string.h>

#include "python/ext/core/array_forms.h"
#include "python/ext/core/environment.h"
#include "python/ext/core/interpreter.h"
#include "python/ext/core/stream.h"

/* Types whose arrays are read here. They stay. */
typedef struct Known {
  PyTypeObject* type;
  const Exchange* exchange; /* NULL: by __array_struct__ */
  int of_torch;
} Known;
enum { kMaxKnown = 16 };
static Known known[kMaxKnown];
static int num_known;

static PyObject* options; /* name -> number */
static PyObject *array_struct, *dtype_name, *is_neg, *requires_grad, *handle_name, *cuda_stream;
enum { kOut = 1, kStream = 2 }; /* numbers of options; others have none of their own here */

static int prepare_names(void) {
  static const char* const kOptions[] = {"out", "stream", "grid", "device", "check", "threads", "arguments", "memory"};
  options = PyDict_New();
  if (options == NULL) return -1;
  for (int i = 0; i < 8; ++i) {
    PyObject* number = PyLong_FromLong(i + 1);
    if (number == NULL || PyDict_SetItemString(options, kOptions[i], number) != 0) return -1;
    Py_DECREF(number);
  }
  array_struct = PyUnicode_InternFromString("__array_struct__");
  dtype_name = PyUnicode_InternFromString("dtype");
  is_neg = PyUnicode_InternFromString("is_neg");
  requires_grad = PyUnicode_InternFromString("requires_grad");
  handle_name = PyUnicode_InternFromString("handle");
  cuda_stream = PyUnicode_InternFromString("cuda_stream");
  return cuda_stream == NULL ? -1 : 0;
}

static PyObject* know_type(PyObject* module, PyObject* type) {
  (void)module;
  if (!PyType_Check(type)) {
    PyErr_SetString(PyExc_TypeError, "know_type takes a type");
    return NULL;
  }
  for (int i = 0; i < num_known; ++i) {
    if ((PyObject*)known[i].type == type) Py_RETURN_TRUE;
  }
  if (num_known == kMaxKnown) Py_RETURN_FALSE;
  Known k = {(PyTypeObject*)type, NULL, PyObject_HasAttr(type, is_neg)};
  PyObject* capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
  if (capsule != NULL) {
    k.exchange = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    Py_DECREF(capsule);
    if (k.exchange != NULL && (k.exchange->major != 1 || k.exchange->describe == NULL)) k.exchange = NULL;
  }
  PyErr_Clear();
  if (k.exchange == NULL && (k.of_torch || !PyObject_HasAttr(type, array_struct))) Py_RETURN_FALSE;
  Py_INCREF(type);
  known[num_known++] = k;
  Py_RETURN_TRUE;
}

static void add_word(Request* r, uint64_t word) {
  if (r->num_words < kMaxWords) r->words[r->num_words] = word;
  ++r->num_words; /* too many: seen at the end */
}

/* The address of an object, which then lives as long as the key. */
static int add_object(Request* r, PyObject* object) {
  if (r->keep == NULL) r->keep = PyList_New(0);
  if (r->keep == NULL || PyList_Append(r->keep, object) != 0) return 0;
  add_word(r, (uint64_t)(uintptr_t)object);
  return 1;
}

static void find_row_major(Argument* a) {
  int64_t step = 1;
  int gaps = 0, empty = 0;
  for (int32_t d = a->rank - 1; d >= 0; --d) {
    gaps |= a->shape[d] != 1 && a->strides[d] != step;
    empty |= a->shape[d] == 0;
    step = (int64_t)((uint64_t)step * (uint64_t)a->shape[d]);
  }
  a->row_major = empty || !gaps;
}

static int is_negative(const Argument* a) {
  for (int32_t d = 0; d < a->rank; ++d) {
    if (a->strides[d] < 0 && a->shape[d] > 1) return 1;
  }
  return 0;
}

static int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* Words: rank and read-only; kind and size, or the dtype where these do not say it. */
static int read_numpy(PyObject* value, Argument* a, Request* r) {
  PyObject* capsule = PyObject_GetAttr(value, array_struct);
  if (capsule == NULL) return 0;
  const ArrayInterface* s = PyCapsule_GetPointer(capsule, NULL);
  int ok = s != NULL && s->two == 2 && (s->flags & kNotSwapped) != 0 && s->rank >= 0 && s->rank <= kMaxRank &&
           s->item_bytes > 0;
  if (ok) {
    a->data = s->data;
    a->rank = s->rank;
    for (int d = 0; d < s->rank; ++d) {
      a->shape[d] = s->shape[d];
      a->strides[d] = floor_of(s->strides[d], s->item_bytes);
      ok &= s->shape[d] <= 1 || s->strides[d] % s->item_bytes == 0;
    }
    if (r != NULL) {
      const int plain = s->kind == 'b' || s->kind == 'i' || s->kind == 'u' || s->kind == 'f';
      add_word(r, (uint64_t)s->rank << 1 | ((s->flags & kWriteable) == 0));
      add_word(r, plain ? (uint64_t)(unsigned char)s->kind << 32 | (uint64_t)s->item_bytes : 0);
      PyObject* dtype = ok && !plain ? PyObject_GetAttr(value, dtype_name) : NULL;
      if (!plain) ok = ok && dtype != NULL && add_object(r, dtype);
      Py_XDECREF(dtype);
    }
  }
  Py_DECREF(capsule);
  return ok;
}

/* Words: rank and whether it requires a gradient; type; device. */
static int read_exchange(PyObject* value, const Known* k, Argument* a, Request* r) {
  Tensor t;
  memset(&t, 0, sizeof t);
  int wants_gradient = 0;
  if (k->of_torch && r != NULL) {
    PyObject* negated = PyObject_CallMethodObjArgs(value, is_neg, NULL);
    PyObject* grad = negated == Py_False ? PyObject_GetAttr(value, requires_grad) : NULL;
    const int ok = grad != NULL;
    wants_gradient = grad == Py_True;
    Py_XDECREF(negated);
    Py_XDECREF(grad);
    if (!ok) return 0;
  }
  if (k->exchange->describe(value, &t) != 0 || t.lanes != 1 || t.rank < 0 || t.rank > kMaxRank) return 0;
  a->data = (char*)t.data + t.byte_offset;
  a->rank = t.rank;
  int64_t step = 1;
  for (int32_t d = t.rank - 1; d >= 0; --d) {
    a->shape[d] = t.shape[d];
    a->strides[d] = t.strides == NULL ? step : t.strides[d];
    step = (int64_t)((uint64_t)step * (uint64_t)t.shape[d]);
  }
  if (r != NULL) {
    add_word(r, (uint64_t)t.rank << 1 | (uint64_t)wants_gradient);
    add_word(r, (uint64_t)t.code << 8 | t.bits);
    add_word(r, (uint64_t)(uint32_t)t.device_type << 32 | (uint32_t)t.device_id);
  }
  return 1;
}

static int read_array_of(PyObject* value, Argument* a, Request* r) {
  PyTypeObject* type = Py_TYPE(value);
  for (int i = 0; i < num_known; ++i) {
    if (known[i].type != type) continue;
    if (r != NULL) add_word(r, (uint64_t)kArray | (uint64_t)i << 8);
    a->kind = kArray;
    if (!(known[i].exchange == NULL ? read_numpy(value, a, r) : read_exchange(value, &known[i], a, r))) return 0;
    find_row_major(a);
    return !is_negative(a);
  }
  return 0;
}

int read_made(PyObject* array, Argument* a) {
  const int ok = read_array_of(array, a, NULL);
  PyErr_Clear();
  return ok;
}

int same_form(const Argument* a, const Argument* b) {
  if (a->kind != b->kind) return 0;
  if (a->kind == kInteger) return a->integer == b->integer;
  if (a->kind == kFloat) return memcmp(&a->number, &b->number, sizeof a->number) == 0;
  if (a->kind != kArray) return 1;
  const size_t bytes = sizeof(int64_t) * (size_t)a->rank;
  return a->rank == b->rank && a->row_major == b->row_major && memcmp(a->shape, b->shape, bytes) == 0 &&
         (a->row_major || memcmp(a->strides, b->strides, bytes) == 0);
}

/* An argument of the kernel. */
static int read_slot(PyObject* value, Request* r) {
  if (r->num_slots == kMaxSlots) return 0;
  Argument* a = &r->slots[r->num_slots];
  r->objects[r->num_slots++] = value;
  if (value == Py_None) {
    a->kind = kNothing;
    add_word(r, kNothing);
    return 1;
  }
  if (PyFloat_CheckExact(value)) {
    a->kind = kFloat;
    a->number = PyFloat_AsDouble(value);
    add_word(r, kFloat);
    return 1;
  }
  if (PyLong_CheckExact(value) || PyBool_Check(value)) {
    a->kind = kInteger;
    a->integer = PyLong_AsLongLong(value);
    add_word(r, kInteger);
    return a->integer != -1 || PyErr_Occurred() == NULL;
  }
  return read_array_of(value, a, r);
}

static int add_number(PyObject* value, Request* r) {
  const long long number = PyLong_AsLongLong(value);
  add_word(r, 2);
  add_word(r, (uint64_t)number);
  return number != -1 || PyErr_Occurred() == NULL;
}

/* Streams: numbers, ours by their handle, others by the number of their CUstream. */
static int read_stream(PyObject* value, Request* r) {
  PyObject* handle = PyObject_GetAttr(value, handle_name);
  if (handle != NULL) {
    const int ok = PyObject_TypeCheck(handle, StreamType);
    add_word(r, 3);
    const int added = ok && add_object(r, handle);
    Py_DECREF(handle);
    return added;
  }
  PyErr_Clear();
  PyObject* native = PyObject_GetAttr(value, cuda_stream);
  const int ok = native != NULL && PyLong_CheckExact(native) && add_number(native, r);
  Py_XDECREF(native);
  return ok;
}

/* Options stand in the key with their values. */
static int read_option(long option, PyObject* value, Request* r) {
  add_word(r, 0x200 | (uint64_t)option);
  if (option == kOut) {
    if (!PyTuple_CheckExact(value)) {
      add_word(r, 0);
      return read_slot(value, r);
    }
    const Py_ssize_t n = PyTuple_Size(value);
    add_word(r, 1 + (uint64_t)n);
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (!read_slot(PyTuple_GetItem(value, i), r)) return 0;
    }
    return 1;
  }
  if (value == Py_None) {
    add_word(r, 0);
    return 1;
  }
  if (PyLong_CheckExact(value)) return add_number(value, r);
  if (option == kStream) return read_stream(value, r);
  if (PyUnicode_CheckExact(value)) {
    add_word(r, 1);
    return add_object(r, value);
  }
  if (!PyTuple_CheckExact(value)) return 0;
  const Py_ssize_t n = PyTuple_Size(value);
  add_word(r, 0x100 + (uint64_t)n);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PyTuple_GetItem(value, i);
    if (!PyLong_CheckExact(item) || !add_number(item, r)) return 0;
  }
  return 1;
}

/* What else the outcome of Python's checks depends on. */
static int read_surroundings(Request* r) {
  static const char* const kNames[] = {"TILEVM_CHECK", "TILEVM_ORDER"};
  add_word(r, forks);
  add_word(r, (uint64_t)asks_any_array());
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
    const char* value = getenv(kNames[i]);
    const size_t length = value == NULL ? 0 : strlen(value);
    uint64_t text[4] = {0, 0, 0, 0};
    if (length > sizeof text) return 0;
    if (length > 0) memcpy(text, value, length);
    for (size_t k = 0; k < sizeof text / sizeof text[0]; ++k) add_word(r, text[k]);
  }
  return 1;
}

static int read_all(PyObject* arguments, PyObject* named, Request* r) {
  const Py_ssize_t n = PyTuple_Size(arguments);
  if (!read_surroundings(r)) return 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!read_slot(PyTuple_GetItem(arguments, i), r)) return 0;
  }
  Py_ssize_t at = 0;
  PyObject *name, *value;
  while (named != NULL && PyDict_Next(named, &at, &name, &value)) {
    PyObject* option = PyDict_GetItemWithError(options, name);
    if (option != NULL) {
      if (!read_option(PyLong_AsLong(option), value, r)) return 0;
      continue;
    }
    if (PyErr_Occurred() != NULL) return 0;
    add_word(r, 0x100);
    if (!add_object(r, name) || !read_slot(value, r)) return 0;
  }
  return r->num_words <= kMaxWords;
}

int read_request(PyObject* arguments, PyObject* named, Request* r) {
  r->num_words = r->num_slots = 0;
  r->keep = NULL;
  const int ok = read_all(arguments, named, r);
  if (!ok) PyErr_Clear();
  return ok;
}

void clear_request(Request* r) {
  Py_XDECREF(r->keep);
  r->keep = NULL;
}

static PyMethodDef functions[] = {
    {"know_type", know_type, METH_O, "arrays of exactly this type are read in C from here on, if they can be"},
    {NULL, NULL, 0, NULL},
};
int add_request(PyObject* module) { return prepare_names() != 0 ? -1 : PyModule_AddFunctions(module, functions); }
