#define _POSIX_C_SOURCE 200809L
#include "python/ext/core/interpreter.h"

#include <stdatomic.h>
#include <time.h>

#include "python/ext/platform/platform.h"

static atomic_int finalizing, working;
static unsigned long finalizer; /* the thread that ends the interpreter */
uint64_t forks;

int is_finalizing(void) { return atomic_load(&finalizing); }

void begin_work(void) { atomic_fetch_add(&working, 1); }
void end_work(void) {
  atomic_fetch_sub(&working, 1);
  if (!atomic_load(&finalizing) || PyThread_get_thread_ident() == finalizer) return;
  wait_forever(); /* as Python has its daemon threads do, when they ask for the GIL */
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

static PyMethodDef functions[] = {
    {"finalize", finalize, METH_NOARGS, "stops running kernels; nothing may be launched afterwards"},
    {"after_fork", after_fork, METH_NOARGS, "in the child"},
    {NULL, NULL, 0, NULL},
};
int add_interpreter(PyObject* module) { return PyModule_AddFunctions(module, functions); }
