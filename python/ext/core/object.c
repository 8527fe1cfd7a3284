#include "python/ext/core/object.h"

#include <string.h>

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

PyObject* refuse_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)arguments;
  (void)keywords;
  PyErr_Format(PyExc_TypeError, "cannot create an object of %R", type);
  return NULL;
}

const char* text_of(PyObject* str) {
  const char* text = NULL;
  return PyArg_Parse(str, "s", &text) ? text : NULL;
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

int add_type(PyObject* module, PyType_Spec* spec, PyTypeObject** type) {
  PyObject* made = PyType_FromSpec(spec);
  if (made == NULL) return -1;
  *type = (PyTypeObject*)made;
  Py_INCREF(made);
  if (PyModule_AddObject(module, strrchr(spec->name, '.') + 1, made) == 0) return 0;
  Py_DECREF(made);
  return -1;
}
