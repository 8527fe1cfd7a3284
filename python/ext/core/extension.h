/* _tilevm: the C interface of tilevm (runtime/tilevm.h) as Python types, one for one. What users see is made from them
 * in Python (the package beside this folder); nothing here decides anything.
 *
 * Stable ABI of CPython 3.10: no buffers, no vectorcall, heap types only. Every call that can take long releases the
 * GIL; callbacks of the library (prints, interrupts) take it. Handles of the library may be destroyed in any order, so
 * objects here need not refer to each other. */
#ifndef TILE_PYTHON_EXT_CORE_EXTENSION_H_
#define TILE_PYTHON_EXT_CORE_EXTENSION_H_

#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <tilevm.h>

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
/* Frees the object, after its handle was destroyed. */
void free_object(PyObject* self);

extern uint64_t forks; /* of this process's ancestors: what they prepared is not used here */

/* NULL with an exception for a status that is none of TILEVM_OK: what the factory makes of status and message. Call it
 * in the thread of the failed call, with the GIL. */
PyObject* raise_status(tilevm_status status);
/* An error of our own, in the same form: "error[CODE]: what\n  fix: how". */
PyObject* raise_error(tilevm_status status, const char* code, const char* message);
/* None, or raise_status. */
PyObject* none_or_raise(tilevm_status status);

/* The callbacks of the library. */
void print_text(void* user, const char* text, size_t bytes);
int32_t ask_interrupt(void* user);
void collect_warning(void* user, const char* text);
/* The order of blocks that TILEVM_ORDER names for launches with all checks. NULL: several, or the usual one. */
const char* order_of_blocks(int32_t check);
/* Raises what the function of set_print raised, if anything. 0, or -1 with the exception. */
int raise_print_error(void);
/* What was collected in this thread: told to a function that takes a list of texts, or to the package's; or forgotten. Not 0, with an
 * exception, if a warning is to be an error. With the GIL, no exception set. */
int tell_warnings_to(PyObject* teller);
int tell_warnings(void);
void forget_warnings(void);
/* Whether the environment lets pointers lead from their array into another: TILEVM_ANY_ARRAY. */
int asks_any_array(void);
/* The interpreter ends: no callback may take the GIL any more. */
int is_finalizing(void);
/* None, or raise_status; tells warnings of what succeeded. */
PyObject* none_or_raise_told(tilevm_status status);
/* Around a call that runs kernels, without the GIL. What goes on when the interpreter ends is stopped and waited for, and its
 * thread never comes back. */
void begin_work(void);
void end_work(void);

/* tilevm_array from (address, type, shape, strides or None); shape and strides are written to the caller's. 0, or -1
 * with an exception. */
int read_array(PyObject* address, int type, PyObject* shape, PyObject* strides, tilevm_array* array, int64_t sizes[16],
               int64_t steps[16]);
/* A tuple of ints. */
PyObject* tuple_of(const int64_t* values, int32_t count);

extern PyTypeObject *DeviceType, *ProgramType, *KernelType, *LaunchType, *StreamType, *EventType, *GraphType,
    *BufferType;
/* Each adds its types to the module: 0, or -1 with an exception. */
int add_device(PyObject* module);
int add_launch(PyObject* module);
int add_stream(PyObject* module);
int add_call(PyObject* module);
int add_type(PyObject* module, PyType_Spec* spec, PyTypeObject** type);

/* Functions of the module. */
PyObject* describe_dlpack(PyObject* module, PyObject* capsule);
PyObject* describe_array(PyObject* module, PyObject* capsule);
PyObject* translate(PyObject* module, PyObject* arguments);

#endif /* TILE_PYTHON_EXT_CORE_EXTENSION_H_ */
