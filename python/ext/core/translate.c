#include "python/ext/core/translate.h"

#include <tilevm_forms.h>

#include "python/ext/core/error.h"

static PyObject* translate(PyObject* module, PyObject* arguments) {
  (void)module;
  tilevm_translate_options o = {sizeof o};
  const char* bytes;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(arguments, "y#siipp:translate", &bytes, &size, &o.name, &o.form, &o.version, &o.no_debug,
                        &o.no_verify)) {
    return NULL;
  }
  tilevm_bytes* output = NULL;
  tilevm_status status;
  Py_BEGIN_ALLOW_THREADS status = tilevm_translate(bytes, (size_t)size, &o, &output);
  Py_END_ALLOW_THREADS;
  if (status == TILEVM_OUT_OF_MEMORY) {
    return raise_error(
        status, "forms.out_of_memory",
        "error[forms.out_of_memory]: the process has no memory left to read the program\n  fix: allow it more");
  }
  PyObject* result = Py_BuildValue("iy#s", (int)status, tilevm_bytes_data(output),
                                   (Py_ssize_t)tilevm_bytes_size(output), tilevm_bytes_warnings(output));
  tilevm_bytes_destroy(output);
  return result;
}

static PyMethodDef functions[] = {
    {"translate", translate, METH_VARARGS,
     "translate(bytes, name, form, version, no_debug, no_verify) -> (status, bytes, warnings)"},
    {NULL, NULL, 0, NULL},
};
int add_translate(PyObject* module) { return PyModule_AddFunctions(module, functions); }
