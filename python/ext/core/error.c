#include "python/ext/core/error.h"

#include <string.h>

static PyObject* make_error; /* of the interpreter */

PyObject* raise_status(tilevm_status status) {
  if (PyErr_Occurred() != NULL) return NULL; /* of a callback: KeyboardInterrupt */
  return raise_error(status, tilevm_error_code(), tilevm_error());
}

PyObject* raise_error(tilevm_status status, const char* code, const char* message) {
  PyObject* error = make_error == NULL ? NULL
                                       : PyObject_CallFunction(make_error, "iss#", (int)status, code, message,
                                                               (Py_ssize_t)strlen(message));
  if (error != NULL) {
    PyErr_SetObject((PyObject*)Py_TYPE(error), error);
    Py_DECREF(error);
  } else if (PyErr_Occurred() == NULL) {
    PyErr_SetString(PyExc_RuntimeError, message);
  }
  return NULL;
}

PyObject* none_or_raise(tilevm_status status) {
  if (status != TILEVM_OK) return raise_status(status);
  Py_RETURN_NONE;
}

void set_make_error(PyObject* function) {
  PyObject* before = make_error;
  Py_INCREF(function);
  make_error = function;
  Py_XDECREF(before);
}
