#include "python/ext/triton/launcher.h"

#include <stdlib.h>
#include <string.h>

#include "python/ext/core/array.h"
#include "python/ext/core/device.h"
#include "python/ext/core/error.h"
#include "python/ext/core/interpreter.h"
#include "python/ext/frontend/driver.h"
#include "python/ext/frontend/run.h"
#include "python/ext/triton/words.h"

typedef struct Function {
  PyObject_HEAD PyObject *program, *name;
  Runnable run;
} Function;
typedef struct Launcher {
  PyObject_HEAD Leaf arguments; /* a tuple */
  int num_words, num_pieces;
  int makes_pointers; /* of numbers */
  Questions ask;
} Launcher;
static PyTypeObject *FunctionType, *LauncherType;

/* TritonFunction(program, name) */
static PyObject* function_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)keywords;
  PyObject *program, *name;
  if (!PyArg_ParseTuple(arguments, "OU:TritonFunction", &program, &name)) return NULL;
  tilevm_module* module = handle_of(program, ProgramType);
  const char* text = module == NULL ? NULL : text_of(name);
  Function* self = text == NULL ? NULL : (Function*)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (self == NULL) return NULL;
  Py_INCREF(program);
  Py_INCREF(name);
  self->program = program;
  self->name = name;
  self->run.module = module;
  self->run.name = text;
  self->run.forks = forks;
  return (PyObject*)self;
}

static void free_of_type(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static void function_dealloc(PyObject* self) {
  Function* f = (Function*)self;
  release_runnable(&f->run);
  Py_XDECREF(f->program);
  Py_XDECREF(f->name);
  free_of_type(self);
}

/* TritonLauncher(arguments, makes_pointers, memory, shape, array, others) */
static PyObject* launcher_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)keywords;
  PyObject *leaf, *memory, *shape, *array, *others;
  int makes_pointers;
  if (!PyArg_ParseTuple(arguments, "OpOOOO:TritonLauncher", &leaf, &makes_pointers, &memory, &shape, &array, &others))
    return NULL;
  Launcher* self = (Launcher*)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (self == NULL) return NULL;
  self->makes_pointers = makes_pointers;
  Py_INCREF(memory);
  Py_INCREF(shape);
  Py_INCREF(array);
  Py_INCREF(others);
  self->ask = (Questions){memory, shape, array, others};
  if (read_leaf(leaf, &self->arguments) != 0) {
    Py_DECREF(self);
    return NULL;
  }
  count_words(&self->arguments, &self->num_words, &self->num_pieces);
  return (PyObject*)self;
}

static void launcher_dealloc(PyObject* self) {
  Launcher* l = (Launcher*)self;
  free_leaf(&l->arguments);
  Py_XDECREF(l->ask.memory);
  Py_XDECREF(l->ask.shape);
  Py_XDECREF(l->ask.array);
  Py_XDECREF(l->ask.others);
  free_of_type(self);
}

/* --- what the kernel may touch; an exception is set where these return TILEVM_INTERNAL */

typedef struct Bound {
  const Launcher* launcher;
  const Piece* pieces;
} Bound;

static tilevm_status add_named(tilevm_launch* launch, PyObject* name, PyObject* address, int type, PyObject* shape) {
  tilevm_array array;
  int64_t sizes[16], steps[16];
  const char* text = text_of(name);
  if (text == NULL || read_array(address, type, shape, Py_None, &array, sizes, steps) != 0) return TILEVM_INTERNAL;
  return add_array(launch, text, &array);
}

static tilevm_status add_piece(tilevm_launch* launch, const Questions* ask, const Piece* p) {
  PyObject* said = PyObject_CallFunction(ask->shape, "OOKKKi", p->object, p->leaf->name, (unsigned long long)p->address,
                                         (unsigned long long)p->begin, (unsigned long long)p->bytes,
                                         (int)tilevm_type_bits(p->leaf->type));
  PyObject *name, *shape, *begin = PyLong_FromUnsignedLongLong(p->begin);
  tilevm_status status = TILEVM_INTERNAL;
  if (said != NULL && begin != NULL && PyArg_ParseTuple(said, "UO:shape", &name, &shape)) {
    status = add_named(launch, name, begin, p->leaf->type, shape);
  }
  Py_XDECREF(begin);
  Py_XDECREF(said);
  return status;
}

/* Says which array the parameter points to, where that is not all of its memory. */
static tilevm_status name_array(tilevm_launch* launch, const Questions* ask, const Piece* p) {
  const char* name = text_of(p->leaf->name);
  if (name == NULL) return TILEVM_INTERNAL;
  int64_t sizes[16] = {0}, steps[16];
  tilevm_array array = {(void*)(uintptr_t)p->address, p->leaf->type, 1, sizes, NULL};
  if (p->address != 0 && p->part == 0) return TILEVM_OK;
  if (p->address == 0) return tilevm_launch_set_pointer(launch, (uint32_t)p->word, name, &array);
  PyObject* said = PyObject_CallFunctionObjArgs(ask->array, p->object, NULL);
  PyObject *shape, *strides, *address = PyLong_FromUnsignedLongLong(p->address);
  int type;
  tilevm_status status = TILEVM_INTERNAL;
  if (said == Py_None) {
    status = TILEVM_OK;
  } else if (said != NULL && address != NULL && PyArg_ParseTuple(said, "iOO:array", &type, &shape, &strides) &&
             read_array(address, type, shape, strides, &array, sizes, steps) == 0) {
    status = tilevm_launch_set_pointer(launch, (uint32_t)p->word, name, &array);
  }
  Py_XDECREF(address);
  Py_XDECREF(said);
  return status;
}

static tilevm_status add_others(tilevm_launch* launch, const Questions* ask) {
  PyObject* list = PyObject_CallObject(ask->others, NULL);
  const Py_ssize_t count = list == NULL ? -1 : PyList_Size(list);
  tilevm_status status = count < 0 ? TILEVM_INTERNAL : TILEVM_OK;
  for (Py_ssize_t i = 0; status == TILEVM_OK && i < count; ++i) {
    PyObject *name, *address, *shape;
    int type;
    status = PyArg_ParseTuple(PyList_GetItem(list, i), "UOiO:memory", &name, &address, &type, &shape)
                 ? add_named(launch, name, address, type, shape)
                 : TILEVM_INTERNAL;
  }
  Py_XDECREF(list);
  return status;
}

static tilevm_status add_memory(tilevm_launch* launch, const Call* call) {
  const Bound* bound = call->arguments;
  const Launcher* l = bound->launcher;
  tilevm_status status = TILEVM_OK;
  for (int i = 0; i < l->num_pieces && status == TILEVM_OK; ++i) {
    if (bound->pieces[i].bytes > 0) status = add_piece(launch, &l->ask, &bound->pieces[i]);
    if (status == TILEVM_OK) status = name_array(launch, &l->ask, &bound->pieces[i]);
  }
  return status == TILEVM_OK && l->makes_pointers ? add_others(launch, &l->ask) : status;
}

/* --- a launch */

/* 1: there are blocks; 0: none; -1: an exception. */
static int read_grid(PyObject* arguments, uint64_t grid[3]) {
  static const long long most[3] = {2147483647, 65535, 65535};
  long long sizes[3];
  int any = 1;
  for (int d = 0; d < 3; ++d) {
    PyObject* index = PyNumber_Index(PyTuple_GetItem(arguments, d));
    if (index == NULL) {
      PyErr_Clear();
      PyObject* text = PyUnicode_FromFormat(
          "error[triton.grid]: dimension %d of the grid is %A, must be an integer\n  fix: divide by triton.cdiv(n, BLOCK) "
          "or n // BLOCK",
          d, PyTuple_GetItem(arguments, d));
      if (text != NULL) raise_error(TILEVM_INVALID_ARGUMENT, "triton.grid", text_of(text));
      Py_XDECREF(text);
      return -1;
    }
    sizes[d] = PyLong_AsLongLong(index);
    Py_DECREF(index);
    if (PyErr_Occurred() != NULL) return -1;
    grid[d] = (uint64_t)sizes[d];
    any = any && sizes[d] != 0;
  }
  for (int d = 0; d < 3; ++d) {
    if (sizes[d] >= 0 && sizes[d] <= most[d]) continue;
    char text[256];
    PyOS_snprintf(
        text, sizeof text,
        "error[triton.grid]: no GPU takes the grid (%lld, %lld, %lld)\n  fix: stay below 2^31 in x, 65536 in y and z",
        sizes[0], sizes[1], sizes[2]);
    raise_error(TILEVM_INVALID_ARGUMENT, "triton.grid", text);
    return -1;
  }
  return any;
}

static int call_hook(PyObject* hook, PyObject* metadata) {
  if (hook == Py_None) return 0;
  PyObject* result = PyObject_CallFunctionObjArgs(hook, metadata, NULL);
  Py_XDECREF(result);
  return result == NULL ? -1 : 0;
}

enum { kX, kStream = 3, kFunction, kPacked, kMetadata, kEnterHook, kExitHook, kFirst };

static int read_arguments(const Launcher* l, PyObject* arguments, Words* out) {
  PyObject* guard;
  if (enter_plain_torch(&guard) != 0) return -1;
  int failed = 0;
  for (int i = 0; i < l->arguments.count && !failed; ++i) {
    failed = read_words(&l->arguments.items[i], PyTuple_GetItem(arguments, kFirst + i), &l->ask, out);
  }
  leave_plain_torch(guard);
  return failed;
}

static int run(const Launcher* l, PyObject* arguments, const uint64_t grid[3]) {
  uint64_t few_words[96];
  Piece few_pieces[24];
  const int count = l->num_words + 3 + 3 * l->num_pieces;
  Words w = {few_words, 0, few_pieces, 0};
  if (count > 96) w.words = malloc((size_t)count * sizeof *w.words);
  if (l->num_pieces > 24) w.pieces = malloc((size_t)l->num_pieces * sizeof *w.pieces);
  int failed = -1;
  if (w.words == NULL || w.pieces == NULL) {
    PyErr_NoMemory();
  } else if (read_arguments(l, arguments, &w) == 0) {
    Function* f = (Function*)PyTuple_GetItem(arguments, kFunction);
    void* stream = PyLong_AsVoidPtr(PyTuple_GetItem(arguments, kStream));
    memcpy(w.words + l->num_words, grid, 3 * sizeof *grid);
    for (int i = 0; i < l->num_pieces; ++i) {
      uint64_t* about = w.words + l->num_words + 3 + 3 * i;
      about[0] = w.pieces[i].begin;
      about[1] = w.pieces[i].bytes;
      about[2] = w.pieces[i].part;
    }
    const Bound bound = {l, w.pieces};
    const Call call = {&f->run, w.words, count, l->makes_pointers && !driver.is_gpu, add_memory, &bound, NULL};
    f->run.num_words = (uint32_t)l->num_words;
    failed = PyErr_Occurred() != NULL ? -1 : run_call(&call, stream);
  }
  if (w.words != few_words) free(w.words);
  if (w.pieces != few_pieces) free(w.pieces);
  return failed;
}

static _Thread_local PyObject* after_launch; /* called after the next launch of this thread, or NULL */

static PyObject* triton_after_launch(PyObject* module, PyObject* function) {
  (void)module;
  PyObject* before = after_launch;
  Py_INCREF(function);
  after_launch = function;
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

/* `failed`: the launch did. 0, or -1 with an exception. */
static int finish(int failed) {
  PyObject* function = after_launch;
  after_launch = NULL;
  if (function == NULL) return failed;
  PyObject* result = failed ? NULL : PyObject_CallObject(function, NULL);
  Py_DECREF(function);
  Py_XDECREF(result);
  return result == NULL ? -1 : 0;
}

/* (x, y, z, stream, function, packed metadata, launch metadata, enter hook, exit hook, arguments…), as Triton calls it. */
static PyObject* launcher_call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const Launcher* l = (Launcher*)self;
  const Py_ssize_t given = PyTuple_Size(arguments);
  if (keywords != NULL && PyDict_Size(keywords) > 0) {
    PyErr_SetString(PyExc_TypeError, "a launcher takes no named arguments");
    return NULL;
  }
  if (given != kFirst + l->arguments.count) {
    PyErr_Format(PyExc_TypeError, "%zd arguments of a kernel that has %d", given - kFirst, l->arguments.count);
    return NULL;
  }
  if (!PyObject_TypeCheck(PyTuple_GetItem(arguments, kFunction), FunctionType)) {
    PyErr_SetString(PyExc_TypeError, "the kernel was loaded by another back end");
    return NULL;
  }
  uint64_t grid[3];
  PyObject* metadata = PyTuple_GetItem(arguments, kMetadata);
  const int any = read_grid(arguments, grid);
  if (any < 0 || call_hook(PyTuple_GetItem(arguments, kEnterHook), metadata) != 0) return NULL;
  if (finish(any && run(l, arguments, grid) != 0) != 0) return NULL;
  if (call_hook(PyTuple_GetItem(arguments, kExitHook), metadata) != 0) return NULL;
  Py_RETURN_NONE;
}

static PyType_Slot function_slots[] = {{Py_tp_new, function_new},
                                       {Py_tp_dealloc, function_dealloc},
                                       {Py_tp_doc, "TritonFunction(program, name)"},
                                       {0, NULL}};
static PyType_Slot launcher_slots[] = {
    {Py_tp_new, launcher_new},
    {Py_tp_dealloc, launcher_dealloc},
    {Py_tp_call, launcher_call},
    {Py_tp_doc, "TritonLauncher(arguments, makes_pointers, memory, shape, array, others)"},
    {0, NULL}};
static PyType_Spec function_spec = {"_tilevm.TritonFunction", sizeof(Function), 0, Py_TPFLAGS_DEFAULT, function_slots};
static PyType_Spec launcher_spec = {"_tilevm.TritonLauncher", sizeof(Launcher), 0, Py_TPFLAGS_DEFAULT, launcher_slots};

static PyMethodDef functions[] = {
    {"triton_after_launch", triton_after_launch, METH_O,
     "triton_after_launch(function): called after this thread's next launch of Triton"},
    {NULL, NULL, 0, NULL},
};

int add_triton(PyObject* module) {
  if (add_words(module) != 0 || PyModule_AddFunctions(module, functions) != 0) return -1;
  if (add_type(module, &function_spec, &FunctionType) != 0) return -1;
  return add_type(module, &launcher_spec, &LauncherType);
}
