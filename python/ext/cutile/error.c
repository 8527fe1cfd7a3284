#include "python/ext/cutile/error.h"

static _Thread_local PyObject* pending; /* what the last call of this thread did wrong */

int keep_error(int result) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != NULL && value != NULL) PyException_SetTraceback(value, trace);
  Py_XDECREF(pending);
  pending = value;
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return result;
}

static PyObject* driver_error(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  PyObject* error = pending;
  pending = NULL;
  if (error != NULL) return error;
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"driver_error", driver_error, METH_NOARGS, "what the last launch of this thread through it did wrong, or None"},
    {NULL, NULL, 0, NULL},
};
int add_error(PyObject* module) { return PyModule_AddFunctions(module, functions); }
