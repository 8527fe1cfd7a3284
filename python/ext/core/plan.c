#include "python/ext/core/plan.h"

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

PyTypeObject* PlanType;
enum { kMaxIdle = 4, kMaxMade = 8 };

/* What a slot of the request is to the launch. */
typedef struct Role {
  const char* name; /* NULL: nothing */
  int type;         /* of an array; kScalar. Of kernels without interface kSingle, kDouble, kWord - bits */
} Role;
enum { kScalar = -1, kSingle = -2, kDouble = -3, kWord = -100 };

/* An output that each call allocates: allocate(shape, *tail, **named), or allocate(*shape, **named) without tail. */
typedef struct Made {
  const char* name;
  int type;
  PyObject *allocate, *tail, *named; /* tail, named: NULL if there are none */
} Made;

/* A launch that nobody uses now, and what it is bound to. */
typedef struct Idle {
  tilevm_launch* launch;
  Argument* slots;               /* as many as the plan has, then those of outputs */
  PyObject* arguments[kMaxMade]; /* of Made::allocate */
} Idle;

typedef struct Plan {
  PyObject_HEAD PyObject *kernel, *keep,
      *stream; /* stream: NULL: wait; a Stream: don't; a function that gives one: wait for it */
  tilevm_launch_options options;
  enum { kInterface, kRaw, kRawWithMemory } raw; /* slots are parameters; their memory is added */
  int has_grid;
  int64_t grid[3];
  int num_slots, num_made, num_outputs, num_idle;
  Role roles[kMaxSlots];
  Made made[kMaxMade];
  int outputs[kMaxSlots + kMaxMade]; /* a slot, or -1 - an index of made */
  Idle idle[kMaxIdle];
} Plan;

static void drop(Plan* p, Idle* i) {
  tilevm_launch_destroy(i->launch);
  free(i->slots);
  for (int m = 0; m < p->num_made; ++m) Py_XDECREF(i->arguments[m]);
  memset(i, 0, sizeof *i);
}

static void plan_dealloc(PyObject* self) {
  Plan* p = (Plan*)self;
  PyTypeObject* type = Py_TYPE(self);
  for (int i = 0; i < p->num_idle; ++i) drop(p, &p->idle[i]);
  for (int m = 0; m < p->num_made; ++m) {
    Py_XDECREF(p->made[m].allocate);
    Py_XDECREF(p->made[m].tail);
    Py_XDECREF(p->made[m].named);
  }
  Py_XDECREF(p->kernel);
  Py_XDECREF(p->keep);
  Py_XDECREF(p->stream);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* PyArg_ParseTuple of what must be a tuple. */
static PyObject* a_tuple(PyObject* object) {
  if (PyTuple_Check(object)) return object;
  PyErr_SetString(PyExc_TypeError, "a plan is made of tuples");
  return NULL;
}

static int read_roles(Plan* p, PyObject* roles) {
  const Py_ssize_t n = PyTuple_Size(roles);
  if (n > kMaxSlots) return -1;
  p->num_slots = (int)n;
  for (int i = 0; i < p->num_slots; ++i) {
    PyObject* role = PyTuple_GetItem(roles, i);
    if (role == Py_None) continue;
    if (a_tuple(role) == NULL || !PyArg_ParseTuple(role, "si", &p->roles[i].name, &p->roles[i].type)) return -1;
  }
  return 0;
}

static PyObject* kept(PyObject* object) {
  if (object == Py_None) return NULL;
  Py_INCREF(object);
  return object;
}

static int read_mades(Plan* p, PyObject* mades) {
  const Py_ssize_t n = PyTuple_Size(mades);
  if (n > kMaxMade) return -1;
  for (; p->num_made < n; ++p->num_made) {
    Made* m = &p->made[p->num_made];
    PyObject *allocate, *tail, *named;
    if (a_tuple(PyTuple_GetItem(mades, p->num_made)) == NULL) return -1;
    if (!PyArg_ParseTuple(PyTuple_GetItem(mades, p->num_made), "siOOO", &m->name, &m->type, &allocate, &tail, &named))
      return -1;
    if (tail != Py_None && a_tuple(tail) == NULL) return -1;
    m->allocate = kept(allocate);
    m->tail = kept(tail);
    m->named = kept(named);
  }
  return 0;
}

/* Plan(kernel, check, threads, grid or None, roles, made, outputs, stream, keep). `keep` holds the strings among
 * others. */
static PyObject* plan_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)keywords;
  PyObject *kernel, *grid, *roles, *made, *outputs, *stream, *keep;
  int check, threads, raw;
  if (!PyArg_ParseTuple(arguments, "OiiOiO!O!O!OO:Plan", &kernel, &check, &threads, &grid, &raw, &PyTuple_Type, &roles,
                        &PyTuple_Type, &made, &PyTuple_Type, &outputs, &stream, &keep)) {
    return NULL;
  }
  if (handle_of(kernel, KernelType) == NULL) return NULL;
  Plan* p = (Plan*)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (p == NULL) return NULL;
  p->kernel = kept(kernel);
  p->keep = Py_BuildValue("OOO", keep, roles, made);
  p->stream = kept(stream);
  p->raw = raw;
  p->options.struct_size = sizeof p->options;
  p->options.check = check;
  p->options.threads = threads;
  p->options.any_array = asks_any_array();
  p->options.interrupt = ask_interrupt;
  p->options.warning = collect_warning;
  p->options.coverage = coverage_callback();
  int ok = p->keep != NULL && read_roles(p, roles) == 0 && read_mades(p, made) == 0;
  if (ok && grid != Py_None) {
    p->has_grid = 1;
    ok = a_tuple(grid) != NULL && PyArg_ParseTuple(grid, "LLL", &p->grid[0], &p->grid[1], &p->grid[2]);
  }
  const Py_ssize_t n = PyTuple_Size(outputs);
  ok = ok && n <= kMaxSlots + kMaxMade;
  for (p->num_outputs = 0; ok && p->num_outputs < n; ++p->num_outputs) {
    const long o = PyLong_AsLong(PyTuple_GetItem(outputs, p->num_outputs));
    ok = o < p->num_slots && o >= -p->num_made && PyErr_Occurred() == NULL;
    p->outputs[p->num_outputs] = (int)o;
  }
  if (ok) return (PyObject*)p;
  if (PyErr_Occurred() == NULL)
    PyErr_SetString(PyExc_ValueError, "a plan of too many arguments, or with outputs that are none");
  Py_DECREF(p);
  return NULL;
}

static int set_array(tilevm_launch* launch, const char* name, int type, const Argument* a) {
  const tilevm_array array = {a->data, type, a->rank, a->shape, a->row_major ? NULL : a->strides};
  return tilevm_launch_set_array(launch, name, &array) == TILEVM_OK;
}

static uint64_t bits_of_single(double value) {
  const float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  return bits;
}

/* A parameter of a kernel without interface. */
static int set_raw(const Plan* p, tilevm_launch* launch, uint32_t index, const Argument* a) {
  const Role* role = &p->roles[index];
  if (a->kind == kArray) {
    const tilevm_array array = {a->data, role->type, a->rank, a->shape, a->row_major ? NULL : a->strides};
    if (p->raw == kRawWithMemory && tilevm_launch_add_memory(launch, role->name, &array) != TILEVM_OK) return 0;
    return role->type >= 0 && tilevm_launch_set_parameter(launch, index, (uint64_t)(uintptr_t)a->data) == TILEVM_OK;
  }
  uint64_t word = 0;
  const double number = a->kind == kFloat ? a->number : (double)a->integer;
  if (role->type == kSingle) {
    word = bits_of_single(number);
  } else if (role->type == kDouble) {
    memcpy(&word, &number, sizeof word);
  } else {
    const int bits = kWord - role->type;
    if (a->kind == kFloat || bits < 1 || bits > 64) return 0;
    word = a->kind == kNothing ? 0 : (uint64_t)a->integer;
    if (bits < 64) {
      if (a->integer < -((int64_t)1 << (bits - 1)) || a->integer >= (int64_t)1 << bits) return 0;
      word &= ((uint64_t)1 << bits) - 1;
    }
  }
  return tilevm_launch_set_parameter(launch, index, word) == TILEVM_OK;
}

static int set_slot(const Plan* p, tilevm_launch* launch, int slot, const Argument* a) {
  if (p->raw != kInterface) return set_raw(p, launch, (uint32_t)slot, a);
  const Role* role = &p->roles[slot];
  if (role->name == NULL) return a->kind == kNothing;
  if (role->type != kScalar) return a->kind == kArray && set_array(launch, role->name, role->type, a);
  if (a->kind == kFloat) return tilevm_launch_set_f64(launch, role->name, a->number) == TILEVM_OK;
  return a->kind == kInteger && tilevm_launch_set_i64(launch, role->name, a->integer) == TILEVM_OK;
}

/* A launch of its own for these sizes and numbers: one that is idle, else a new one. 0, without an exception, on
 * failure. */
static int take(Plan* p, const Request* r, Idle* taken) {
  for (int i = p->num_idle - 1; i >= 0; --i) {
    int same = 1;
    for (int s = 0; same && s < p->num_slots; ++s) {
      const Argument* last = &p->idle[i].slots[s];
      same = same_form(last, &r->slots[s]);
      if (p->raw != kInterface && last->kind == kArray)
        same &= last->data == r->slots[s].data; /* memory is never taken away */
    }
    if (!same) continue;
    *taken = p->idle[i];
    p->idle[i] = p->idle[--p->num_idle];
    for (int s = 0; s < p->num_slots; ++s) { /* addresses */
      if (r->slots[s].kind != kArray || taken->slots[s].data == r->slots[s].data) continue;
      if (!set_slot(p, taken->launch, s, &r->slots[s])) return 0;
      taken->slots[s].data = r->slots[s].data;
    }
    return 1;
  }
  memset(taken, 0, sizeof *taken);
  tilevm_launch_options options = p->options;
  options.order = order_of_blocks(options.check);
  taken->slots = calloc((size_t)(p->num_slots + p->num_made + 1), sizeof(Argument));
  if (taken->slots == NULL || tilevm_launch_create(((Handle*)p->kernel)->handle, &taken->launch) != TILEVM_OK ||
      tilevm_launch_set_options(taken->launch, &options) != TILEVM_OK) {
    return 0;
  }
  if (p->has_grid && tilevm_launch_set_grid(taken->launch, p->grid[0], p->grid[1], p->grid[2]) != TILEVM_OK) return 0;
  for (int s = 0; s < p->num_slots; ++s) {
    if (!set_slot(p, taken->launch, s, &r->slots[s])) return 0;
    taken->slots[s] = r->slots[s];
  }
  return 1;
}

/* Afterwards, for the next call. */
static void give_back(Plan* p, Idle* taken) {
  if (p->num_idle == kMaxIdle) { /* the oldest goes */
    Idle oldest = p->idle[0];
    memmove(p->idle, p->idle + 1, (kMaxIdle - 1) * sizeof(Idle));
    p->num_idle = kMaxIdle - 1;
    drop(p, &oldest);
  }
  p->idle[p->num_idle++] = *taken;
}

/* The arguments of Made::allocate, for the shape that the launch rule gives. */
static PyObject* allocation(const Made* m, tilevm_launch* launch) {
  tilevm_array array = {0};
  if (tilevm_launch_get_array(launch, m->name, &array) != TILEVM_OK) return NULL;
  PyObject* shape = tuple_of(array.shape, array.rank);
  if (shape == NULL || (m->tail == NULL && array.rank > 0)) return shape;
  const Py_ssize_t n = m->tail == NULL ? 0 : PyTuple_Size(m->tail);
  PyObject* arguments = PyTuple_New(1 + n);
  if (arguments == NULL || PyTuple_SetItem(arguments, 0, shape) != 0) {
    if (arguments == NULL) Py_DECREF(shape);
    Py_XDECREF(arguments);
    return NULL;
  }
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PyTuple_GetItem(m->tail, i);
    Py_INCREF(item);
    PyTuple_SetItem(arguments, 1 + i, item);
  }
  return arguments;
}

static int make_outputs(Plan* p, Idle* taken, PyObject* made[kMaxMade]) {
  for (int i = 0; i < p->num_made; ++i) {
    const Made* m = &p->made[i];
    if (taken->arguments[i] == NULL) taken->arguments[i] = allocation(m, taken->launch);
    if (taken->arguments[i] == NULL) return 0;
    made[i] = PyObject_Call(m->allocate, taken->arguments[i], m->named);
    Argument a, *last = &taken->slots[p->num_slots + i];
    if (made[i] == NULL || !read_made(made[i], &a)) return 0;
    if (last->kind == kArray && last->data == a.data) continue;
    if (!set_array(taken->launch, m->name, m->type, &a)) return 0;
    *last = a;
  }
  return 1;
}

/* TILEVM_OK; `prepared` tells whether the arguments were accepted. Without the GIL. */
static tilevm_status run(tilevm_launch* launch, PyObject* on, int wait, int* prepared) {
  tilevm_stream* stream = on == NULL ? NULL : ((Handle*)on)->handle;
  tilevm_status status;
  if (on != NULL) enter(on);
  begin_work();
  Py_BEGIN_ALLOW_THREADS status = tilevm_launch_prepare(launch);
  *prepared = status == TILEVM_OK;
  if (status == TILEVM_OK) status = tilevm_launch_run(launch, stream);
  if (status == TILEVM_OK && wait && stream != NULL) status = tilevm_stream_synchronize(stream);
  end_work();
  Py_END_ALLOW_THREADS if (on != NULL) leave(on);
  return status;
}

static PyObject* output(Plan* p, const Request* r, PyObject* const* made, int i) {
  const int o = p->outputs[i];
  PyObject* object = o >= 0 ? r->objects[o] : made[-1 - o];
  Py_INCREF(object);
  return object;
}

static PyObject* results(Plan* p, const Request* r, PyObject* const* made) {
  if (p->num_outputs == 0) Py_RETURN_NONE;
  if (p->num_outputs == 1) return output(p, r, made, 0);
  PyObject* tuple = PyTuple_New(p->num_outputs);
  for (int i = 0; tuple != NULL && i < p->num_outputs; ++i) PyTuple_SetItem(tuple, i, output(p, r, made, i));
  return tuple;
}

int run_plan(PyObject* plan, const Request* r, PyObject** result) {
  Plan* p = (Plan*)plan;
  PyObject *made[kMaxMade] = {NULL}, *on = NULL;
  Idle taken;
  int prepared = 0, done = 0;
  if (p->stream != NULL && PyCallable_Check(p->stream)) {
    on = PyObject_CallObject(p->stream, NULL);
  } else if (p->stream != NULL) {
    on = kept(p->stream);
  }
  if (p->stream == NULL || (on != NULL && PyObject_TypeCheck(on, StreamType) && !((Handle*)on)->capturing)) {
    int ok = take(p, r, &taken) && make_outputs(p, &taken, made);
    if (ok) {
      const tilevm_status status = run(taken.launch, on, on != p->stream, &prepared);
      ok = status == TILEVM_OK;
      done = prepared;
      if (!ok) forget_warnings();
      if (done) *result = !ok ? raise_status(status) : tell_warnings() == 0 ? results(p, r, made) : NULL;
    }
    if (ok) {
      give_back(p, &taken);
    } else {
      PyObject *type, *value, *trace;
      PyErr_Fetch(&type, &value, &trace);
      drop(p, &taken);
      PyErr_Restore(type, value, trace);
    }
  }
  for (int i = 0; i < p->num_made; ++i) Py_XDECREF(made[i]);
  Py_XDECREF(on);
  if (!done) PyErr_Clear();
  return done;
}

static PyType_Slot plan_slots[] = {
    {Py_tp_new, plan_new}, {Py_tp_dealloc, plan_dealloc}, {Py_tp_doc, "a call that was bound"}, {0, NULL}};
static PyType_Spec plan_spec = {"_tilevm.Plan", sizeof(Plan), 0, Py_TPFLAGS_DEFAULT, plan_slots};

int add_plan(PyObject* module) {
  if (PyModule_AddIntConstant(module, "max_made", kMaxMade) != 0) return -1;
  return add_type(module, &plan_spec, &PlanType);
}
