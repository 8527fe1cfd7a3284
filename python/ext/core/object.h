/* _tilevm: the C interface of tilevm (runtime/tilevm.h) as Python types, one for one. What users see is made from them
 * in Python (python/tilevm); nothing here decides anything. This header is the ground: objects that own a handle of the library.
 *
 * Stable ABI of CPython 3.9: no buffers, no vectorcall, heap types only. Every call that can take long releases the
 * GIL; callbacks of the library (prints, interrupts) take it. Handles of the library may be destroyed in any order, so
 * objects here need not refer to each other.
 *
 * Rooms: core/ ◄── frontend/ (what cuTile and Triton share) ◄── cutile/, triton/ ◄── module.c. A header declares what the source of
 * its name defines, and no files need each other in a circle; tests/repo/circles.py counts. */
#ifndef TILE_PYTHON_EXT_CORE_OBJECT_H_
#define TILE_PYTHON_EXT_CORE_OBJECT_H_

#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <tilevm.h>

/* CPython 3.9 has these calling conventions as 3.10 does, where they joined the stable ABI. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

/* An object that owns a handle. */
typedef struct Handle {
  PyObject_HEAD void* handle;
  PyThread_type_lock lock; /* of handles that one thread may use at a time: launches, streams, events, graphs */
  int capturing;           /* of a stream: it records a graph */
} Handle;
/* Waits, without the GIL, until no other thread uses the object; it lives until leave. */
void enter(PyObject* self);
void leave(PyObject* self);

/* The handle of an object of a type here; NULL and TypeError if it is none, or was never made. */
void* handle_of(PyObject* object, PyTypeObject* type);
/* A new object of a type (tp_new) that owns the handle. Destroys it on failure. */
PyObject* new_handle(PyTypeObject* type, void* handle, void (*destroy)(void*));
/* tp_new of types that only functions here make: always a TypeError. */
PyObject* refuse_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords);
/* UTF-8 of a str, which the str owns; NULL and an exception if there is none. */
const char* text_of(PyObject* str);
/* Frees the object, after its handle was destroyed. */
void free_object(PyObject* self);

/* Adds a type to the module: 0, or -1 with an exception. */
int add_type(PyObject* module, PyType_Spec* spec, PyTypeObject** type);

#endif /* TILE_PYTHON_EXT_CORE_OBJECT_H_ */
