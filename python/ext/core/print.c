#include "python/ext/core/print.h"

#include <stdio.h>

#include "python/ext/core/interpreter.h"

static PyObject* print_hook; /* of the interpreter */

/* What the function of set_print raised while a kernel runs on the cpu; the launch stops, and raises it. */
static PyObject* print_error;

/* The exception that is set. -1: there is one already. */
static int keep_print_error(void) {
  if (print_error != NULL) return -1;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != NULL) PyException_SetTraceback(value, trace);
  print_error = value;
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return 0;
}

int raise_print_error(void) {
  PyObject* error = print_error;
  if (error == NULL) return 0;
  print_error = NULL;
  PyErr_SetObject((PyObject*)Py_TYPE(error), error);
  Py_DECREF(error);
  return -1;
}

void print_text(void* user, const char* text, size_t bytes) {
  if (is_finalizing()) return;
  if (user != NULL && PyGILState_GetThisThreadState() == NULL) {
    /* A thread of the GPU's driver, for which streams wait. Who waits for them may hold the GIL, so that this may not. */
    fwrite(text, 1, bytes, stdout);
    return;
  }
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* string = PyUnicode_DecodeUTF8(text, (Py_ssize_t)bytes, "replace");
  PyObject* result =
      string == NULL || print_hook == NULL ? NULL : PyObject_CallFunctionObjArgs(print_hook, string, NULL);
  if (PyErr_Occurred() != NULL && (user != NULL || keep_print_error() != 0)) PyErr_WriteUnraisable(print_hook);
  Py_XDECREF(result);
  Py_XDECREF(string);
  PyErr_Restore(type, value, trace);
  PyGILState_Release(state);
}

int32_t ask_interrupt(void* user) {
  (void)user;
  if (is_finalizing()) return 1;
  PyGILState_STATE state = PyGILState_Ensure();
  const int stop = PyErr_CheckSignals() != 0 || raise_print_error() != 0; /* the exception stays for raise_status */
  PyGILState_Release(state);
  return stop;
}

void set_print_function(PyObject* function) {
  PyObject* before = print_hook;
  Py_INCREF(function);
  print_hook = function;
  Py_XDECREF(before);
}
