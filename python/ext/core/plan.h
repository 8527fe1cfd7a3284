/* Plan: what Python found out about a call. Calls that are alike (request.c) take a launch of the library out of it,
 * set what differs, and run it; the library checks sizes, strides and numbers. What it does not accept is left to
 * Python, which then reports.
 *
 * Used under the GIL; what runs without it, a launch, was taken out of its plan before. */
#ifndef TILE_PYTHON_EXT_CORE_PLAN_H_
#define TILE_PYTHON_EXT_CORE_PLAN_H_

#include "python/ext/core/request.h"

/* Of a Plan. 1: it ran, with the result, or NULL and an exception. 0, without an exception: it did not. */
int run_plan(PyObject* plan, const Request* r, PyObject** result);
extern PyTypeObject* PlanType;

int add_plan(PyObject* module);

#endif /* TILE_PYTHON_EXT_CORE_PLAN_H_ */
