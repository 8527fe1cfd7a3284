#include "python/ext/core/coverage.h"

#include "python/ext/core/interpreter.h"

static PyObject* hook; /* receives a tuple; NULL: nobody */

static void pass_on(void* user, const tilevm_coverage* c) {
  (void)user;
  if (is_finalizing()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject* receiver = hook;
  Py_XINCREF(receiver);
  PyObject* result = receiver == NULL
                         ? NULL
                         : PyObject_CallFunction(receiver, "iIssss(dd)(dd)(dd)", (int)c->choice, (unsigned)c->sides,
                                                 c->kernel, c->where, c->op, c->predicate, c->left[0], c->left[1],
                                                 c->right[0], c->right[1], c->gap[0], c->gap[1]);
  if (receiver != NULL && result == NULL) PyErr_WriteUnraisable(receiver);
  Py_XDECREF(result);
  Py_XDECREF(receiver);
  PyGILState_Release(state);
}

tilevm_coverage_fn coverage_callback(void) { return hook == NULL ? NULL : pass_on; }

static PyObject* set_coverage(PyObject* module, PyObject* function) {
  (void)module;
  PyObject* before = hook;
  hook = function == Py_None ? NULL : function;
  Py_XINCREF(hook);
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_coverage", set_coverage, METH_O,
     "set_coverage(function or None): of launches on the cpu that are made from now on and run with full checks; called as\n"
     "(choice, sides, kernel, where, op, predicate, left, right, gap), see tilevm_coverage of tilevm.h"},
    {NULL, NULL, 0, NULL},
};

int add_coverage(PyObject* module) { return PyModule_AddFunctions(module, functions); }
