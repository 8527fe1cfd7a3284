#include "python/ext/frontend/driver.h"

#include <string.h>

#include "python/ext/core/device.h"
#include "python/ext/core/error.h"
#include "python/ext/core/interpreter.h"
#include "python/ext/core/print.h"

Driver driver;

void find_real(const char* name, void* pointer) {
  void* function = NULL;
  if (driver.real != NULL && driver.real(name, &function, 12000, 0, NULL) == 0)
    memcpy(pointer, &function, sizeof function);
}

int renew_device(void) {
  if (driver.forks == forks) return 0;
  tilevm_device* device = NULL;
  tilevm_status status = TILEVM_OK;
  if (driver.is_gpu) {
    raise_error(TILEVM_BAD_STATE, "cutile.fork",
                "error[cutile.fork]: a GPU that was used before fork() can't be used in the child\n"
                "  fix: start processes by multiprocessing's \"spawn\", or fork before the first use of the GPU");
    return -1;
  }
  status = tilevm_device_open("cpu", &device);
  if (status == TILEVM_OK) status = tilevm_device_set_print(device, print_text, NULL);
  if (status != TILEVM_OK) {
    raise_status(status);
    return -1;
  }
  driver.device = device; /* the other one stays: a thread that is gone may have held its locks */
  driver.forks = forks;
  return 0;
}

/* driver_open(device, is_gpu, capability, address of the real cuGetProcAddress or 0, check, threads, warn). Device and
 * function are kept for ever. */
static PyObject* driver_open(PyObject* module, PyObject* arguments) {
  (void)module;
  PyObject *device, *address;
  Driver made;
  memset(&made, 0, sizeof made);
  if (!PyArg_ParseTuple(arguments, "Op(ii)OiiO:driver_open", &device, &made.is_gpu, &made.capability[0],
                        &made.capability[1], &address, &made.check, &made.threads, &made.warn)) {
    return NULL;
  }
  made.device = handle_of(device, DeviceType);
  made.forks = forks;
  void* getter = made.device == NULL ? NULL : PyLong_AsVoidPtr(address);
  if (PyErr_Occurred() != NULL) return NULL;
  Py_INCREF(device);
  Py_INCREF(made.warn);
  memcpy(&made.real, &getter, sizeof made.real);
  driver = made;
  find_real("cuStreamIsCapturing", &driver.is_capturing);
  Py_RETURN_NONE;
}

/* driver_options(check, threads): of launches from here on. */
static PyObject* driver_options(PyObject* module, PyObject* arguments) {
  (void)module;
  if (!PyArg_ParseTuple(arguments, "ii:driver_options", &driver.check, &driver.threads)) return NULL;
  ++driver.options;
  Py_RETURN_NONE;
}

/* driver_watch(function or None): Driver.written_at. */
static PyObject* driver_watch(PyObject* module, PyObject* function) {
  (void)module;
  PyObject* before = driver.written_at;
  Py_INCREF(function);
  driver.written_at = function == Py_None ? NULL : function;
  if (function == Py_None) Py_DECREF(function);
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

static PyObject* driver_capture(PyObject* module, PyObject* arguments) {
  (void)module;
  PyObject *stream, *list;
  if (!PyArg_ParseTuple(arguments, "OO:driver_capture", &stream, &list)) return NULL;
  void* native = PyLong_AsVoidPtr(stream);
  if (PyErr_Occurred() != NULL) return NULL;
  if (list != Py_None && !PyList_Check(list)) {
    PyErr_SetString(PyExc_TypeError, "launches are captured in a list");
    return NULL;
  }
  PyObject* before = driver.capture_list;
  Py_INCREF(list);
  driver.capture_list = list == Py_None ? NULL : list;
  if (list == Py_None) Py_DECREF(list);
  driver.capture_stream = native;
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"driver_open", driver_open, METH_VARARGS, "driver_open(device, is_gpu, capability, real, check, threads, warn)"},
    {"driver_options", driver_options, METH_VARARGS, "driver_options(check, threads): of launches from here on"},
    {"driver_watch", driver_watch, METH_O,
     "driver_watch(function or None): (address, bytes, argument, kernel) -> where a byte for each says whether it was written, or 0; for full checks"},
    {"driver_capture", driver_capture, METH_VARARGS,
     "driver_capture(stream, list or None): launches on the stream go into the list"},
    {NULL, NULL, 0, NULL},
};
int add_driver(PyObject* module) { return PyModule_AddFunctions(module, functions); }
