#include "python/ext/core/launch.h"

#include <stdlib.h>
#include <string.h>

#include "python/ext/core/array.h"
#include "python/ext/core/device.h"
#include "python/ext/core/environment.h"
#include "python/ext/core/coverage.h"
#include "python/ext/core/error.h"
#include "python/ext/core/interpreter.h"
#include "python/ext/core/print.h"
#include "python/ext/core/stream.h"
#include "python/ext/core/warning.h"

PyTypeObject* LaunchType;

typedef struct Launch {
  Handle handle;
  PyObject*
      given; /* the only argument of the call that is remembered, Py_None for a call without one; NULL: none is remembered */
  PyObject* on;     /* its stream; NULL: the call waits */
  PyObject* result; /* what it returns */
} Launch;

static tilevm_launch* launch_of(PyObject* self) { return ((Handle*)self)->handle; }
static void destroy_launch(void* handle) { tilevm_launch_destroy(handle); }

static void set_call(Launch* self, PyObject* given, PyObject* on, PyObject* result) {
  PyObject *old_given = self->given, *old_on = self->on, *old_result = self->result;
  Py_XINCREF(given);
  Py_XINCREF(on);
  Py_XINCREF(result);
  self->given = given;
  self->on = on;
  self->result = result;
  Py_XDECREF(old_given);
  Py_XDECREF(old_on);
  Py_XDECREF(old_result);
}

static int launch_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((Launch*)self)->given);
  Py_VISIT(((Launch*)self)->on);
  Py_VISIT(((Launch*)self)->result);
  return 0;
}
static int launch_clear(PyObject* self) {
  set_call((Launch*)self, NULL, NULL, NULL);
  return 0;
}
static void launch_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  launch_clear(self);
  destroy_launch(((Handle*)self)->handle);
  free_object(self);
}

/* Launch(kernel, check, threads, …): subclasses may take more. */
static PyObject* launch_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)keywords;
  PyObject* kernel;
  tilevm_launch_options o = {sizeof o};
  o.any_array = asks_any_array();
  o.interrupt = ask_interrupt;
  o.warning = collect_warning;
  o.coverage = coverage_callback();
  if (!PyArg_ParseTuple(arguments, "Oii:Launch", &kernel, &o.check, &o.threads)) return NULL;
  tilevm_kernel* k = handle_of(kernel, KernelType);
  if (k == NULL) return NULL;
  o.order = order_of_blocks(o.check);
  tilevm_launch* launch = NULL;
  tilevm_status status = tilevm_launch_create(k, &launch);
  if (status == TILEVM_OK) status = tilevm_launch_set_options(launch, &o);
  if (status == TILEVM_OK) return new_handle(type, launch, destroy_launch);
  tilevm_launch_destroy(launch);
  return raise_status(status);
}

/* A call under the lock. */
#define LOCKED(self, call)                   \
  do {                                       \
    enter(self);                             \
    PyObject* result_ = none_or_raise(call); \
    leave(self);                             \
    return result_;                          \
  } while (0)

typedef tilevm_status (*TakesArray)(tilevm_launch*, const char*, const tilevm_array*);
static PyObject* with_array(PyObject* self, PyObject* arguments, TakesArray take) {
  const char* name;
  PyObject *address, *shape, *strides;
  int type;
  tilevm_array array;
  int64_t sizes[16], steps[16];
  if (!PyArg_ParseTuple(arguments, "sOiOO", &name, &address, &type, &shape, &strides)) return NULL;
  if (read_array(address, type, shape, strides, &array, sizes, steps) != 0) return NULL;
  LOCKED(self, take(launch_of(self), name, &array));
}
static PyObject* set_array(PyObject* self, PyObject* arguments) {
  return with_array(self, arguments, tilevm_launch_set_array);
}
static PyObject* add_memory(PyObject* self, PyObject* arguments) {
  return with_array(self, arguments, tilevm_launch_add_memory);
}

static PyObject* set_scalar(PyObject* self, PyObject* arguments) {
  const char* name;
  PyObject* value;
  if (!PyArg_ParseTuple(arguments, "sO:set_scalar", &name, &value)) return NULL;
  if (PyFloat_Check(value)) LOCKED(self, tilevm_launch_set_f64(launch_of(self), name, PyFloat_AsDouble(value)));
  int overflow = 0;
  const long long i = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (i == -1 && PyErr_Occurred() != NULL) return NULL;
  if (overflow == 0) LOCKED(self, tilevm_launch_set_i64(launch_of(self), name, i));
  const unsigned long long bits = PyLong_AsUnsignedLongLong(value); /* 2^63 and more: only 64 bits hold it */
  if (PyErr_Occurred() != NULL) return NULL;
  LOCKED(self, tilevm_launch_set_bits(launch_of(self), name, bits));
}

static PyObject* set_bits(PyObject* self, PyObject* arguments) {
  const char* name;
  unsigned long long bits;
  if (!PyArg_ParseTuple(arguments, "sK:set_bits", &name, &bits)) return NULL;
  LOCKED(self, tilevm_launch_set_bits(launch_of(self), name, bits));
}

static PyObject* set_parameter(PyObject* self, PyObject* arguments) {
  unsigned int index;
  unsigned long long word;
  if (!PyArg_ParseTuple(arguments, "IK:set_parameter", &index, &word)) return NULL;
  LOCKED(self, tilevm_launch_set_parameter(launch_of(self), index, word));
}

static PyObject* set_grid(PyObject* self, PyObject* arguments) {
  long long x, y, z;
  if (!PyArg_ParseTuple(arguments, "LLL:set_grid", &x, &y, &z)) return NULL;
  LOCKED(self, tilevm_launch_set_grid(launch_of(self), x, y, z));
}

static PyObject* get_array(PyObject* self, PyObject* arguments) {
  const char* name;
  tilevm_array array = {0};
  if (!PyArg_ParseTuple(arguments, "s:get_array", &name)) return NULL;
  enter(self);
  const tilevm_status status = tilevm_launch_get_array(launch_of(self), name, &array);
  PyObject* result = status != TILEVM_OK ? raise_status(status)
                                         : Py_BuildValue("iN", (int)array.type, tuple_of(array.shape, array.rank));
  leave(self);
  return result;
}

static PyObject* get_grid(PyObject* self, PyObject* unused) {
  (void)unused;
  int64_t grid[3];
  enter(self);
  const tilevm_status status = tilevm_launch_get_grid(launch_of(self), grid);
  PyObject* result = status == TILEVM_OK ? tuple_of(grid, 3) : raise_status(status);
  leave(self);
  return result;
}

static PyObject* prepare(PyObject* self, PyObject* unused) {
  (void)unused;
  tilevm_status status;
  enter(self);
  Py_BEGIN_ALLOW_THREADS status = tilevm_launch_prepare(launch_of(self));
  Py_END_ALLOW_THREADS PyObject* result = none_or_raise(status);
  leave(self);
  return result;
}

/* Without a stream it waits. */
static tilevm_status run_on(PyObject* self, PyObject* on) {
  tilevm_stream* stream = on == NULL ? NULL : ((Handle*)on)->handle;
  tilevm_status status;
  enter(self);
  if (on != NULL) enter(on);
  begin_work();
  Py_BEGIN_ALLOW_THREADS status = tilevm_launch_run(launch_of(self), stream);
  end_work();
  Py_END_ALLOW_THREADS if (on != NULL) leave(on);
  leave(self);
  return status;
}

/* run() waits; run(stream) does not. */
static PyObject* run(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (count > 1) {
    PyErr_SetString(PyExc_TypeError, "run takes a stream, or nothing");
    return NULL;
  }
  PyObject* on = count == 1 && arguments[0] != Py_None ? arguments[0] : NULL;
  if (on != NULL && handle_of(on, StreamType) == NULL) return NULL;
  return none_or_raise_told(run_on(self, on));
}

/* remember(given, on, result): a call whose only argument is `given` (None: a call without one) runs on the stream `on` (None: waits)
 * and returns `result`. remember(): no call does. */
static PyObject* remember(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 0 && count != 3) {
    PyErr_SetString(PyExc_TypeError, "remember takes what a call is given, its stream and its result, or nothing");
    return NULL;
  }
  PyObject* on = count == 3 && arguments[1] != Py_None ? arguments[1] : NULL;
  if (on != NULL && handle_of(on, StreamType) == NULL) return NULL;
  set_call((Launch*)self, count == 3 ? arguments[0] : NULL, on, count == 3 ? arguments[2] : NULL);
  Py_RETURN_NONE;
}

/* Of the streams of others every call may bring a new number object. */
static int same_argument(PyObject* given, PyObject* now) {
  if (given == now) return 1;
  return PyLong_CheckExact(given) && PyLong_CheckExact(now) && PyObject_RichCompareBool(given, now, Py_EQ) == 1;
}

static PyObject* launch_call(PyObject* self, PyObject* arguments, PyObject* named) {
  const Launch* l = (const Launch*)self;
  const Py_ssize_t count = PyTuple_Size(arguments);
  if (l->given != NULL && count <= 1 && (named == NULL || PyDict_Size(named) == 0) &&
      (l->on == NULL || !((Handle*)l->on)->capturing) &&
      same_argument(l->given, count == 0 ? Py_None : PyTuple_GetItem(arguments, 0))) {
    PyObject *on = l->on,
             *result = l->result; /* while the GIL is released another thread may have another call remembered */
    Py_XINCREF(on);
    Py_INCREF(result);
    PyObject* none = none_or_raise_told(run_on(self, on));
    Py_XDECREF(on);
    Py_XDECREF(none);
    if (none != NULL) return result;
    Py_DECREF(result);
    return NULL;
  }
  PyObject* method = PyObject_GetAttrString(self, "_call");
  PyObject* result = method == NULL ? NULL : PyObject_Call(method, arguments, named);
  Py_XDECREF(method);
  return result;
}

static PyMethodDef methods[] = {
    {"set_array", set_array, METH_VARARGS, "set_array(name, address, type, shape, strides or None)"},
    {"add_memory", add_memory, METH_VARARGS, "add_memory(name, address, type, shape, strides or None)"},
    {"set_scalar", set_scalar, METH_VARARGS, "set_scalar(name, int or float)"},
    {"set_bits", set_bits, METH_VARARGS, "set_bits(name, bits)"},
    {"set_parameter", set_parameter, METH_VARARGS, "set_parameter(index, word)"},
    {"set_grid", set_grid, METH_VARARGS, "set_grid(x, y, z)"},
    {"get_array", get_array, METH_VARARGS, "get_array(name) -> (type, shape)"},
    {"get_grid", get_grid, METH_NOARGS, "get_grid() -> (x, y, z)"},
    {"prepare", prepare, METH_NOARGS, "checks everything, chooses machine code"},
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL,
     "run(stream=None): without a stream, waits until it is done"},
    {"remember", (PyCFunction)(void (*)(void))remember, METH_FASTCALL,
     "remember(given, stream, result): calls that are given this run at once; remember(): none do"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {{Py_tp_new, launch_new},
                              {Py_tp_dealloc, launch_dealloc},
                              {Py_tp_traverse, launch_traverse},
                              {Py_tp_clear, launch_clear},
                              {Py_tp_call, launch_call},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "Launch(kernel, check, threads)"},
                              {0, NULL}};
static PyType_Spec spec = {"_tilevm.Launch", sizeof(Launch), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

int add_launch(PyObject* module) { return add_type(module, &spec, &LaunchType); }
