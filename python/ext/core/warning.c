#include "python/ext/core/warning.h"

#include <string.h>

#include "python/ext/core/error.h"
#include "python/ext/core/interpreter.h"
#include "python/ext/core/print.h"

static PyObject* warn_hook;           /* of the interpreter */
static _Thread_local PyObject* texts; /* of the launches that run in this thread */

void collect_warning(void* user, const char* text) {
  (void)user;
  if (is_finalizing()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject* string = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  if (texts == NULL) texts = PyList_New(0);
  if (string == NULL || texts == NULL || PyList_Append(texts, string) != 0) PyErr_WriteUnraisable(NULL);
  Py_XDECREF(string);
  PyGILState_Release(state);
}

void forget_warnings(void) { Py_CLEAR(texts); }

int tell_warnings_to(PyObject* teller) {
  PyObject* told = texts;
  texts = NULL;
  if (raise_print_error() != 0) {
    Py_XDECREF(told);
    return -1;
  }
  if (told == NULL) return 0;
  PyObject* result = teller == NULL ? NULL : PyObject_CallFunctionObjArgs(teller, told, NULL);
  Py_DECREF(told);
  Py_XDECREF(result);
  return result == NULL && PyErr_Occurred() != NULL;
}

int tell_warnings(void) { return tell_warnings_to(warn_hook); }

PyObject* none_or_raise_told(tilevm_status status) {
  if (status != TILEVM_OK) {
    forget_warnings();
    return raise_status(status);
  }
  if (tell_warnings() != 0) return NULL;
  Py_RETURN_NONE;
}

void set_warn_function(PyObject* function) {
  PyObject* before = warn_hook;
  Py_INCREF(function);
  warn_hook = function;
  Py_XDECREF(before);
}
