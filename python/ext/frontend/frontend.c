#include "python/ext/frontend/frontend.h"

#include "python/ext/frontend/as_cuda.h"
#include "python/ext/frontend/driver.h"
#include "python/ext/frontend/fresh.h"
#include "python/ext/frontend/run.h"

int add_frontend(PyObject* module) {
  return add_driver(module) != 0 || add_run(module) != 0 || add_fresh(module) != 0 ? -1 : add_as_cuda(module);
}
