#include "python/ext/core/stream.h"

#include <string.h>

#include "python/ext/core/device.h"
#include "python/ext/core/error.h"
#include "python/ext/core/interpreter.h"
#include "python/ext/core/warning.h"

PyTypeObject *StreamType, *EventType, *GraphType, *BufferType;

static void destroy_stream(void* handle) { tilevm_stream_destroy(handle); }
static void destroy_event(void* handle) { tilevm_event_destroy(handle); }
static void destroy_graph(void* handle) { tilevm_graph_destroy(handle); }
static void destroy_buffer(void* handle) { tilevm_buffer_destroy(handle); }
static void stream_dealloc(PyObject* self) {
  destroy_stream(((Handle*)self)->handle);
  free_object(self);
}
static void event_dealloc(PyObject* self) {
  destroy_event(((Handle*)self)->handle);
  free_object(self);
}
static void graph_dealloc(PyObject* self) {
  destroy_graph(((Handle*)self)->handle);
  free_object(self);
}
static void buffer_dealloc(PyObject* self) {
  destroy_buffer(((Handle*)self)->handle);
  free_object(self);
}

/* Waits for a call without the GIL. */
#define WITHOUT_GIL(self, call)                                   \
  tilevm_status status_;                                          \
  enter(self);                                                    \
  Py_BEGIN_ALLOW_THREADS status_ = (call);                        \
  Py_END_ALLOW_THREADS PyObject* result = none_or_raise(status_); \
  leave(self)

/* The stream of an argument that may be None; 0, or -1 with an exception. */
static int optional_stream(PyObject* object, tilevm_stream** stream) {
  *stream = NULL;
  if (object == Py_None) return 0;
  *stream = handle_of(object, StreamType);
  return *stream == NULL ? -1 : 0;
}

static PyObject* stream_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)keywords;
  PyObject *device, *native;
  if (!PyArg_ParseTuple(arguments, "OO:Stream", &device, &native)) return NULL;
  tilevm_device* d = handle_of(device, DeviceType);
  if (d == NULL) return NULL;
  void* address = native == Py_None ? NULL : PyLong_AsVoidPtr(native);
  if (PyErr_Occurred() != NULL) return NULL;
  tilevm_stream* stream = NULL;
  const tilevm_status status =
      native == Py_None ? tilevm_stream_create(d, &stream) : tilevm_stream_wrap(d, address, &stream);
  return status == TILEVM_OK ? new_handle(type, stream, destroy_stream) : raise_status(status);
}
static PyObject* stream_synchronize(PyObject* self, PyObject* unused) {
  (void)unused;
  WITHOUT_GIL(self, tilevm_stream_synchronize(((Handle*)self)->handle));
  return result;
}
static PyObject* stream_native(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyLong_FromVoidPtr(tilevm_stream_native(((Handle*)self)->handle));
}
static PyObject* stream_wait(PyObject* self, PyObject* event) {
  tilevm_event* e = handle_of(event, EventType);
  if (e == NULL) return NULL;
  WITHOUT_GIL(self, tilevm_stream_wait_event(((Handle*)self)->handle, e));
  return result;
}
static PyObject* stream_begin_capture(PyObject* self, PyObject* unused) {
  (void)unused;
  WITHOUT_GIL(self, tilevm_stream_begin_capture(((Handle*)self)->handle));
  if (result != NULL) ((Handle*)self)->capturing = 1;
  return result;
}
static PyObject* stream_end_capture(PyObject* self, PyObject* unused) {
  (void)unused;
  tilevm_graph* graph = NULL;
  WITHOUT_GIL(self, tilevm_stream_end_capture(((Handle*)self)->handle, &graph));
  ((Handle*)self)->capturing = 0;
  if (result == NULL) return NULL;
  Py_DECREF(result);
  return new_handle(GraphType, graph, destroy_graph);
}

static PyObject* graph_run(PyObject* self, PyObject* stream) {
  tilevm_stream* s;
  if (optional_stream(stream, &s) != 0) return NULL;
  tilevm_status status;
  enter(self);
  begin_work();
  Py_BEGIN_ALLOW_THREADS status = tilevm_graph_run(((Handle*)self)->handle, s);
  end_work();
  Py_END_ALLOW_THREADS PyObject* result = none_or_raise_told(status);
  leave(self);
  return result;
}

static PyObject* event_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)keywords;
  PyObject* device;
  if (!PyArg_ParseTuple(arguments, "O:Event", &device)) return NULL;
  tilevm_device* d = handle_of(device, DeviceType);
  if (d == NULL) return NULL;
  tilevm_event* event = NULL;
  const tilevm_status status = tilevm_event_create(d, &event);
  return status == TILEVM_OK ? new_handle(type, event, destroy_event) : raise_status(status);
}
static PyObject* event_record(PyObject* self, PyObject* stream) {
  tilevm_stream* s;
  if (optional_stream(stream, &s) != 0) return NULL;
  WITHOUT_GIL(self, tilevm_event_record(((Handle*)self)->handle, s));
  return result;
}
static PyObject* event_synchronize(PyObject* self, PyObject* unused) {
  (void)unused;
  WITHOUT_GIL(self, tilevm_event_synchronize(((Handle*)self)->handle));
  return result;
}
static PyObject* event_elapsed(PyObject* self, PyObject* end) {
  double milliseconds = 0;
  tilevm_event* e = handle_of(end, EventType);
  if (e == NULL) return NULL;
  const tilevm_status status = tilevm_event_elapsed_ms(((Handle*)self)->handle, e, &milliseconds);
  return status == TILEVM_OK ? PyFloat_FromDouble(milliseconds) : raise_status(status);
}

static PyObject* buffer_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)keywords;
  PyObject* device;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(arguments, "On:Buffer", &device, &size)) return NULL;
  tilevm_device* d = handle_of(device, DeviceType);
  if (d == NULL) return NULL;
  if (size < 0) {
    PyErr_SetString(PyExc_ValueError, "a buffer of negative size");
    return NULL;
  }
  tilevm_buffer* buffer = NULL;
  const tilevm_status status = tilevm_buffer_create(d, (size_t)size, &buffer);
  return status == TILEVM_OK ? new_handle(type, buffer, destroy_buffer) : raise_status(status);
}
static PyObject* buffer_address(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyLong_FromVoidPtr(tilevm_buffer_data(((Handle*)self)->handle));
}
/* copy(offset, host address, size, stream or None, up) */
static PyObject* buffer_copy(PyObject* self, PyObject* arguments) {
  Py_ssize_t offset, size;
  PyObject *address, *stream;
  int up;
  if (!PyArg_ParseTuple(arguments, "nOnOp:copy", &offset, &address, &size, &stream, &up)) return NULL;
  void* host = PyLong_AsVoidPtr(address);
  tilevm_stream* s;
  if (PyErr_Occurred() != NULL || optional_stream(stream, &s) != 0) return NULL;
  if (offset < 0 || size < 0) {
    PyErr_SetString(PyExc_ValueError, "a negative offset or size");
    return NULL;
  }
  tilevm_buffer* b = ((Handle*)self)->handle;
  WITHOUT_GIL(self, up ? tilevm_buffer_upload(b, (size_t)offset, host, (size_t)size, s)
                       : tilevm_buffer_download(b, (size_t)offset, host, (size_t)size, s));
  return result;
}

static PyMethodDef stream_methods[] = {
    {"synchronize", stream_synchronize, METH_NOARGS, "waits; raises what kernels on it did wrong"},
    {"native", stream_native, METH_NOARGS, "the CUstream as an int; 0 on the cpu"},
    {"wait", stream_wait, METH_O, "wait(event)"},
    {"begin_capture", stream_begin_capture, METH_NOARGS, "work is recorded from here on"},
    {"end_capture", stream_end_capture, METH_NOARGS, "-> Graph"},
    {NULL, NULL, 0, NULL},
};
static PyMethodDef graph_methods[] = {{"run", graph_run, METH_O, "run(stream or None)"}, {NULL, NULL, 0, NULL}};
static PyMethodDef event_methods[] = {
    {"record", event_record, METH_O, "record(stream or None)"},
    {"synchronize", event_synchronize, METH_NOARGS, "waits"},
    {"elapsed_ms", event_elapsed, METH_O, "elapsed_ms(end) -> float"},
    {NULL, NULL, 0, NULL},
};
static PyMethodDef buffer_methods[] = {
    {"address", buffer_address, METH_NOARGS, "on the device"},
    {"copy", buffer_copy, METH_VARARGS, "copy(offset, host address, bytes, stream or None, to the device?)"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot stream_slots[] = {{Py_tp_new, stream_new},
                                     {Py_tp_dealloc, stream_dealloc},
                                     {Py_tp_methods, stream_methods},
                                     {Py_tp_doc, "Stream(device, CUstream or None)"},
                                     {0, NULL}};
static PyType_Slot event_slots[] = {{Py_tp_new, event_new},
                                    {Py_tp_dealloc, event_dealloc},
                                    {Py_tp_methods, event_methods},
                                    {Py_tp_doc, "Event(device)"},
                                    {0, NULL}};
static PyType_Slot graph_slots[] = {{Py_tp_new, refuse_new},
                                    {Py_tp_dealloc, graph_dealloc},
                                    {Py_tp_methods, graph_methods},
                                    {Py_tp_doc, "recorded work"},
                                    {0, NULL}};
static PyType_Slot buffer_slots[] = {{Py_tp_new, buffer_new},
                                     {Py_tp_dealloc, buffer_dealloc},
                                     {Py_tp_methods, buffer_methods},
                                     {Py_tp_doc, "Buffer(device, bytes)"},
                                     {0, NULL}};
static PyType_Spec stream_spec = {"_tilevm.Stream", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT, stream_slots};
static PyType_Spec event_spec = {"_tilevm.Event", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT, event_slots};
static PyType_Spec graph_spec = {"_tilevm.Graph", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT, graph_slots};
static PyType_Spec buffer_spec = {"_tilevm.Buffer", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT, buffer_slots};

int add_stream(PyObject* module) {
  if (add_type(module, &stream_spec, &StreamType) != 0 || add_type(module, &event_spec, &EventType) != 0) return -1;
  return add_type(module, &graph_spec, &GraphType) != 0 ? -1 : add_type(module, &buffer_spec, &BufferType);
}
