#include "python/ext/core/array.h"

#include <string.h>

#include "python/ext/core/array_forms.h"

static int read_sizes(PyObject* tuple, int64_t values[16], int32_t* count) {
  const Py_ssize_t n = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
  if (n < 0 || n > 16) {
    PyErr_SetString(n < 0 ? PyExc_TypeError : PyExc_ValueError,
                    n < 0 ? "shape and strides are tuples of integers" : "an array has at most 16 dimensions");
    return -1;
  }
  for (Py_ssize_t i = 0; i < n; ++i) {
    values[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    if (values[i] == -1 && PyErr_Occurred() != NULL) return -1;
  }
  *count = (int32_t)n;
  return 0;
}

int read_array(PyObject* address, int type, PyObject* shape, PyObject* strides, tilevm_array* array, int64_t sizes[16],
               int64_t steps[16]) {
  int32_t rank = 0;
  memset(array, 0, sizeof *array);
  array->data = PyLong_AsVoidPtr(address);
  if (array->data == NULL && PyErr_Occurred() != NULL) return -1;
  array->type = type;
  if (read_sizes(shape, sizes, &array->rank) != 0) return -1;
  array->shape = sizes;
  if (strides == Py_None) return 0;
  if (read_sizes(strides, steps, &rank) != 0) return -1;
  if (rank != array->rank) {
    PyErr_Format(PyExc_ValueError, "%d strides of an array of rank %d", (int)rank, (int)array->rank);
    return -1;
  }
  array->strides = steps;
  return 0;
}

PyObject* tuple_of(const int64_t* values, int32_t count) {
  PyObject* tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple != NULL && i < count; ++i) {
    PyObject* item = PyLong_FromLongLong(values[i]);
    if (item == NULL || PyTuple_SetItem(tuple, i, item) != 0) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}

/* --- of other libraries, which are not imported for it */

enum { kMostDimensions = 64 };

/* What anybody may have written. `sizes`: where the shape is. */
static int check_rank(int rank, const void* sizes) {
  if (rank >= 0 && rank <= kMostDimensions && (rank == 0 || sizes != NULL)) return 0;
  if (rank < 0 || rank > kMostDimensions) {
    PyErr_Format(PyExc_ValueError, "it has %d dimensions; arrays have 0 to %d", rank, (int)kMostDimensions);
  } else {
    PyErr_Format(PyExc_ValueError, "it has %d dimensions and no shape", rank);
  }
  return -1;
}

static PyObject* tuple_of_sizes(const Py_ssize_t* values, int count) {
  int64_t wide[kMostDimensions];
  for (int i = 0; i < count; ++i) wide[i] = values[i];
  return tuple_of(wide, count);
}

static PyObject* describe_array(PyObject* module, PyObject* capsule) {
  (void)module;
  const ArrayInterface* a = PyCapsule_GetPointer(capsule, NULL);
  if (a == NULL) return NULL;
  if (a->two != 2) {
    PyErr_SetString(PyExc_ValueError, "__array_struct__ is of another version");
    return NULL;
  }
  if ((a->flags & kNotSwapped) == 0) {
    PyErr_SetString(PyExc_ValueError, "the array is big-endian");
    return NULL;
  }
  if (check_rank(a->rank, a->shape) != 0 || check_rank(a->rank, a->strides) != 0) return NULL;
  PyObject* address = PyLong_FromVoidPtr(a->data);
  PyObject* shape = tuple_of_sizes(a->shape, a->rank);
  PyObject* strides = shape == NULL ? NULL : tuple_of_sizes(a->strides, a->rank);
  if (address == NULL || shape == NULL || strides == NULL) {
    Py_XDECREF(address);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return NULL;
  }
  return Py_BuildValue("NCiNNN", address, a->kind, a->item_bytes, shape, strides,
                       PyBool_FromLong((a->flags & kWriteable) == 0));
}

static PyObject* describe_dlpack(PyObject* module, PyObject* capsule) {
  (void)module;
  const Tensor* t;
  int read_only = 0;
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    const Versioned* v = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (v->major != 1) {
      PyErr_Format(PyExc_ValueError, "a tensor of DLPack %u.%u; tilevm knows 1.x and before", (unsigned)v->major,
                   (unsigned)v->minor);
      return NULL;
    }
    t = &v->tensor;
    read_only = (v->flags & 1) != 0;
  } else {
    t = PyCapsule_GetPointer(capsule, "dltensor"); /* Tensor is the first member of DLManagedTensor */
    if (t == NULL) return NULL;
  }
  if (t->lanes != 1) {
    PyErr_SetString(PyExc_ValueError, "a tensor of vectors");
    return NULL;
  }
  if (check_rank(t->rank, t->shape) != 0) return NULL;
  PyObject* address = PyLong_FromVoidPtr((char*)t->data + t->byte_offset);
  PyObject* shape = tuple_of(t->shape, t->rank);
  PyObject* strides = shape == NULL ? NULL : Py_None;
  if (strides != NULL && t->strides != NULL) {
    strides = tuple_of(t->strides, t->rank);
  } else if (strides != NULL) {
    Py_INCREF(strides);
  }
  if (address == NULL || strides == NULL) {
    Py_XDECREF(address);
    Py_XDECREF(shape);
    return NULL;
  }
  return Py_BuildValue("NiiNNiiN", address, (int)t->code, (int)t->bits, shape, strides, (int)t->device_type,
                       (int)t->device_id, PyBool_FromLong(read_only));
}

static PyMethodDef functions[] = {
    {"describe_dlpack", describe_dlpack, METH_O,
     "capsule -> (address, code, bits, shape, strides, device type, device, read-only)"},
    {"describe_array", describe_array, METH_O,
     "__array_struct__ -> (address, kind, bytes of an element, shape, strides in bytes, read-only)"},
    {NULL, NULL, 0, NULL},
};
int add_arrays(PyObject* module) { return PyModule_AddFunctions(module, functions); }
