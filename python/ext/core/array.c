/* Arrays of others: what their capsules say, without importing the library they come from. */
#include "python/ext/core/array_forms.h"

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

PyObject* describe_array(PyObject* module, PyObject* capsule) {
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

PyObject* describe_dlpack(PyObject* module, PyObject* capsule) {
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
