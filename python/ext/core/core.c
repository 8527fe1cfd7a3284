#include "python/ext/core/core.h"

#include "python/ext/core/array.h"
#include "python/ext/core/call.h"
#include "python/ext/core/coverage.h"
#include "python/ext/core/device.h"
#include "python/ext/core/error.h"
#include "python/ext/core/interpreter.h"
#include "python/ext/core/launch.h"
#include "python/ext/core/plan.h"
#include "python/ext/core/print.h"
#include "python/ext/core/request.h"
#include "python/ext/core/stream.h"
#include "python/ext/core/translate.h"
#include "python/ext/core/warning.h"

static PyObject* set_hooks(PyObject* module, PyObject* arguments) {
  (void)module;
  PyObject *error, *print, *warn;
  if (!PyArg_ParseTuple(arguments, "OOO:set_hooks", &error, &print, &warn)) return NULL;
  set_make_error(error);
  set_print_function(print);
  set_warn_function(warn);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_hooks", set_hooks, METH_VARARGS,
     "set_hooks(make_error, print, warn): callables (status, code, text) -> exception, (text), (list of texts)"},
    {NULL, NULL, 0, NULL},
};
static int add_hooks(PyObject* module) { return PyModule_AddFunctions(module, functions); }

int add_core(PyObject* module) {
  static int (*const parts[])(PyObject*) = {add_hooks,  add_interpreter, add_arrays,  add_translate,
                                            add_device, add_launch,      add_stream,  add_request,
                                            add_plan,   add_call,        add_coverage};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (parts[i](module) != 0) return -1;
  }
  return 0;
}
