/* The module: hooks into Python, errors, what ends with the interpreter. */
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "python/ext/core/call.h"
#include "python/ext/frontend/driver.h"
#include "python/ext/core/extension.h"
#include "python/ext/triton/words.h"

/* Of the interpreter; set by tilevm/__init__.py. */
static PyObject *make_error, *print_hook, *warn_hook;
static atomic_int finalizing, working;
static unsigned long finalizer; /* the thread that ends the interpreter */
uint64_t forks;

void* handle_of(PyObject* object, PyTypeObject* type) {
  if (!PyObject_TypeCheck(object, type)) {
    PyErr_Format(PyExc_TypeError, "an object of %R, not of %R", type, Py_TYPE(object));
    return NULL;
  }
  void* handle = ((Handle*)object)->handle;
  if (handle == NULL) PyErr_Format(PyExc_TypeError, "an object of %R that was not made", type);
  return handle;
}

PyObject* new_handle(PyTypeObject* type, void* handle, void (*destroy)(void*)) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Handle* self = (Handle*)allocate(type, 0);
  if (self == NULL) {
    destroy(handle);
    return NULL;
  }
  self->handle = handle;
  self->lock = PyThread_allocate_lock();
  if (self->lock != NULL) return (PyObject*)self;
  self->handle = NULL;
  Py_DECREF(self);
  destroy(handle);
  return PyErr_NoMemory();
}

void enter(PyObject* self) {
  Py_INCREF(self);
  PyThread_type_lock lock = ((Handle*)self)->lock;
  if (PyThread_acquire_lock(lock, NOWAIT_LOCK)) return;
  Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(lock, WAIT_LOCK);
  Py_END_ALLOW_THREADS
}

void leave(PyObject* self) {
  PyThread_release_lock(((Handle*)self)->lock);
  Py_DECREF(self);
}

void free_object(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (((Handle*)self)->lock != NULL) PyThread_free_lock(((Handle*)self)->lock);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

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

int tell_warnings(void) { return tell_warnings_to(warn_hook); }

PyObject* none_or_raise_told(tilevm_status status) {
  if (status != TILEVM_OK) {
    forget_warnings();
    return raise_status(status);
  }
  if (tell_warnings() != 0) return NULL;
  Py_RETURN_NONE;
}

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

int is_finalizing(void) { return atomic_load(&finalizing); }

void print_text(void* user, const char* text, size_t bytes) {
  if (atomic_load(&finalizing)) return;
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
  if (atomic_load(&finalizing)) return 1;
  PyGILState_STATE state = PyGILState_Ensure();
  const int stop = PyErr_CheckSignals() != 0 || raise_print_error() != 0; /* the exception stays for raise_status */
  PyGILState_Release(state);
  return stop;
}

void begin_work(void) { atomic_fetch_add(&working, 1); }
void end_work(void) {
  atomic_fetch_sub(&working, 1);
  if (!atomic_load(&finalizing) || PyThread_get_thread_ident() == finalizer) return;
  for (;;) pause(); /* as Python has its daemon threads do, when they ask for the GIL */
}

/* For atexit: kernels of daemon threads stop at their next look, at most a second later. */
static PyObject* finalize(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  finalizer = PyThread_get_thread_ident();
  atomic_store(&finalizing, 1);
  Py_BEGIN_ALLOW_THREADS const struct timespec pause = {0, 1000000};
  for (int i = 0; i < 1000 && atomic_load(&working) > 0; ++i) nanosleep(&pause, NULL);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

/* In a child of fork no thread of the parent goes on. */
static PyObject* after_fork(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  atomic_store(&working, 0);
  forks += 1;
  Py_RETURN_NONE;
}

static PyObject* set_hooks(PyObject* module, PyObject* arguments) {
  (void)module;
  PyObject *error, *print, *warn;
  if (!PyArg_ParseTuple(arguments, "OOO:set_hooks", &error, &print, &warn)) return NULL;
  Py_INCREF(error);
  Py_INCREF(print);
  Py_INCREF(warn);
  PyObject *old_error = make_error, *old_print = print_hook, *old_warn = warn_hook;
  make_error = error;
  print_hook = print;
  warn_hook = warn;
  Py_XDECREF(old_error);
  Py_XDECREF(old_print);
  Py_XDECREF(old_warn);
  Py_RETURN_NONE;
}

int add_type(PyObject* module, PyType_Spec* spec, PyTypeObject** type) {
  PyObject* made = PyType_FromSpec(spec);
  if (made == NULL) return -1;
  *type = (PyTypeObject*)made;
  Py_INCREF(made);
  if (PyModule_AddObject(module, strrchr(spec->name, '.') + 1, made) == 0) return 0;
  Py_DECREF(made);
  return -1;
}

static PyMethodDef functions[] = {
    {"set_hooks", set_hooks, METH_VARARGS,
     "set_hooks(make_error, print, warn): callables (status, code, text) -> exception, (text), (list of texts)"},
    {"finalize", finalize, METH_NOARGS, "stops running kernels; nothing may be launched afterwards"},
    {"after_fork", after_fork, METH_NOARGS, "in the child"},
    {"describe_dlpack", describe_dlpack, METH_O,
     "capsule -> (address, code, bits, shape, strides, device type, device, read-only)"},
    {"describe_array", describe_array, METH_O,
     "__array_struct__ -> (address, kind, bytes of an element, shape, strides in bytes, read-only)"},
    {"translate", translate, METH_VARARGS,
     "translate(bytes, name, form, version, no_debug, no_verify) -> (status, bytes, warnings)"},
    {"know_type", know_type, METH_O, "arrays of exactly this type are read in C from here on, if they can be"},
    {"driver_open", driver_open, METH_VARARGS,
     "driver_open(device, is_gpu, capability, real, check, threads, warn) -> address of a pointer to cuGetProcAddress_v2"},
    {"driver_options", driver_options, METH_VARARGS, "driver_options(check, threads): of launches from here on"},
    {"driver_watch", driver_watch, METH_O,
     "driver_watch(function or None): (address, bytes, argument, kernel) -> where a byte for each says whether it was written, or 0; for full checks"},
    {"fresh_fill", fresh_fill, METH_VARARGS, "fresh_fill(address, begin, end, seed, bools): random bytes"},
    {"fresh_intact", fresh_intact, METH_VARARGS,
     "fresh_intact(address, bytes, written, seed, bools): whether those that are not marked are still there"},
    {"driver_error", driver_error, METH_NOARGS, "what the last launch of this thread through it did wrong, or None"},
    {"driver_capture", driver_capture, METH_VARARGS,
     "driver_capture(stream, list or None): launches on the stream go into the list"},
    {"driver_check", driver_check, METH_O,
     "driver_check(stream or None): waits for the stream, or for all that launches used; raises what kernels reported"},
    {"driver_deadline", driver_deadline, METH_O,
     "driver_deadline(seconds): launches of this thread stop then, with TimeoutError; 0: no more"},
    {"as_cuda_dlpack", (PyCFunction)(void (*)(void))as_cuda_dlpack, METH_VARARGS | METH_KEYWORDS,
     "as_cuda_dlpack(to_dlpack, tensor): a capsule that says it were on a GPU"},
    {"triton_after_launch", triton_after_launch, METH_O,
     "triton_after_launch(function): called after this thread's next launch of Triton"},
    {"triton_plain_torch", triton_plain_torch, METH_O,
     "triton_plain_torch(type): of the context in which launchers ask torch about tensors"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_tilevm", "The C interface of tilevm.", -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__tilevm(void) {
  if (tilevm_abi_version() != TILEVM_ABI_VERSION) {
    PyErr_Format(PyExc_ImportError, "libtilevm has interface version %u, tilevm needs %u",
                 (unsigned)tilevm_abi_version(), (unsigned)TILEVM_ABI_VERSION);
    return NULL;
  }
  PyObject* module = PyModule_Create(&definition);
  if (module == NULL) return NULL;
  if (add_device(module) != 0 || add_launch(module) != 0 || add_stream(module) != 0 || add_call(module) != 0 ||
      add_triton(module) != 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
