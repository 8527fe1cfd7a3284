#include "python/ext/frontend/as_cuda.h"

/* as_cuda_dlpack(to_dlpack, tensor): the capsule that to_dlpack gives for the tensor, as one of memory of a GPU. Who says more
 * than the tensor (torch's own __dlpack__) gets what to_dlpack gives. */
static PyObject* as_cuda_dlpack(PyObject* module, PyObject* arguments, PyObject* keywords) {
  (void)module;
  PyObject *function, *tensor;
  if (!PyArg_ParseTuple(arguments, "OO:as_cuda_dlpack", &function, &tensor)) return NULL;
  if (keywords != NULL && PyDict_Size(keywords) > 0) {
    PyObject* only = PyTuple_Pack(1, tensor);
    PyObject* result = only == NULL ? NULL : PyObject_Call(function, only, keywords);
    Py_XDECREF(only);
    return result;
  }
  PyObject* capsule = PyObject_CallFunctionObjArgs(function, tensor, NULL);
  if (capsule == NULL) return NULL;
  struct {
    void* data;
    int32_t device_type, device_id;
  }* dl = PyCapsule_GetPointer(capsule, "dltensor");
  if (dl == NULL) {
    Py_DECREF(capsule);
    return NULL;
  }
  dl->device_type = 2; /* kDLCUDA */
  dl->device_id = 0;
  return capsule;
}

static PyMethodDef functions[] = {
    {"as_cuda_dlpack", (PyCFunction)(void (*)(void))as_cuda_dlpack, METH_VARARGS | METH_KEYWORDS,
     "as_cuda_dlpack(to_dlpack, tensor): a capsule that says it were on a GPU"},
    {NULL, NULL, 0, NULL},
};
int add_as_cuda(PyObject* module) { return PyModule_AddFunctions(module, functions); }
