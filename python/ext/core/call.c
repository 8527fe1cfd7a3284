#include "python/ext/core/call.h"

#include "python/ext/core/plan.h"
#include "python/ext/core/request.h"

static PyTypeObject* CallableType;
enum { kMaxPlans = 64 };

typedef struct Callable {
  PyObject_HEAD PyObject* plans; /* a dict by keys, or NULL */
} Callable;

static PyObject* key_of(const Request* r) {
  return PyBytes_FromStringAndSize((const char*)r->words, (Py_ssize_t)((size_t)r->num_words * sizeof r->words[0]));
}

/* _call(key or None, keep or None, arguments, named) */
static PyObject* call_slowly(PyObject* self, PyObject* key, PyObject* keep, PyObject* arguments, PyObject* named) {
  PyObject* empty = named == NULL ? PyDict_New() : NULL;
  PyObject* method = PyObject_GetAttrString(self, "_call");
  PyObject* result = NULL;
  if (method != NULL && (named != NULL || empty != NULL)) {
    result = PyObject_CallFunctionObjArgs(method, key == NULL ? Py_None : key, keep == NULL ? Py_None : keep, arguments,
                                          named == NULL ? empty : named, NULL);
  }
  Py_XDECREF(empty);
  Py_XDECREF(method);
  return result;
}

static PyObject* callable_call(PyObject* self, PyObject* arguments, PyObject* named) {
  Request r;
  PyObject *key = NULL, *result = NULL;
  if (read_request(arguments, named, &r)) {
    key = key_of(&r);
    PyObject* plans = ((Callable*)self)->plans;
    PyObject* plan = key == NULL || plans == NULL ? NULL : PyDict_GetItemWithError(plans, key);
    PyErr_Clear();
    if (plan != NULL) {
      Py_INCREF(plan);
      const int done = run_plan(plan, &r, &result);
      Py_DECREF(plan);
      if (done) goto end;
    }
  }
  result = call_slowly(self, key, r.keep, arguments, named);
end:
  Py_XDECREF(key);
  clear_request(&r);
  return result;
}

/* remember(key, plan): for calls that are like the one just bound. */
static PyObject* remember(PyObject* self, PyObject* arguments) {
  PyObject *key, *plan, **plans = &((Callable*)self)->plans;
  if (!PyArg_ParseTuple(arguments, "SO!:remember", &key, PlanType, &plan)) return NULL;
  if (*plans == NULL) *plans = PyDict_New();
  if (*plans == NULL) return NULL;
  if (PyDict_Size(*plans) >= kMaxPlans) PyDict_Clear(*plans);
  if (PyDict_SetItem(*plans, key, plan) != 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* num_plans(PyObject* self, PyObject* unused) {
  (void)unused;
  PyObject* plans = ((Callable*)self)->plans;
  return PyLong_FromSsize_t(plans == NULL ? 0 : PyDict_Size(plans));
}

static void callable_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject* plans = ((Callable*)self)->plans;
  ((Callable*)self)->plans = NULL;
  Py_XDECREF(plans);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyObject* callable_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)arguments, (void)keywords;
  return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

static PyMethodDef callable_methods[] = {
    {"_remember", remember, METH_VARARGS, "_remember(key, plan)"},
    {"_num_plans", num_plans, METH_NOARGS, "how many calls are remembered"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot callable_slots[] = {{Py_tp_new, callable_new},
                                       {Py_tp_dealloc, callable_dealloc},
                                       {Py_tp_call, callable_call},
                                       {Py_tp_methods, callable_methods},
                                       {Py_tp_doc, "calls the method _call, or a plan that it remembered"},
                                       {0, NULL}};
static PyType_Spec callable_spec = {"_tilevm.Callable", sizeof(Callable), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                    callable_slots};

int add_call(PyObject* module) { return add_type(module, &callable_spec, &CallableType); }
