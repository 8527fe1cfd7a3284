/* The module: what each room adds to it. A new frontend is a folder beside cutile/, and a row here. */
#include "python/ext/core/core.h"
#include "python/ext/cutile/table.h"
#include "python/ext/frontend/frontend.h"
#include "python/ext/triton/launcher.h"

static int (*const rooms[])(PyObject* module) = {add_core, add_frontend, add_cutile, add_triton};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_tilevm", "The C interface of tilevm.", -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__tilevm(void) {
  if (tilevm_abi_version() != TILEVM_ABI_VERSION) {
    PyErr_Format(PyExc_ImportError, "libtilevm has interface version %u, tilevm needs %u",
                 (unsigned)tilevm_abi_version(), (unsigned)TILEVM_ABI_VERSION);
    return NULL;
  }
  PyObject* module = PyModule_Create(&definition);
  if (module == NULL) return NULL;
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; ++i) {
    if (rooms[i](module) == 0) continue;
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
