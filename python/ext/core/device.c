#include "python/ext/core/device.h"

#include <string.h>

#include "python/ext/core/error.h"
#include "python/ext/core/print.h"

PyTypeObject *DeviceType, *ProgramType, *KernelType;

static void destroy_device(void* handle) { tilevm_device_close(handle); }
static void destroy_program(void* handle) { tilevm_module_destroy(handle); }
static void destroy_kernel(void* handle) { tilevm_kernel_destroy(handle); }

static void device_dealloc(PyObject* self) {
  destroy_device(((Handle*)self)->handle);
  free_object(self);
}
static void program_dealloc(PyObject* self) {
  destroy_program(((Handle*)self)->handle);
  free_object(self);
}
static void kernel_dealloc(PyObject* self) {
  destroy_kernel(((Handle*)self)->handle);
  free_object(self);
}

static PyObject* device_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)keywords;
  const char* name;
  if (!PyArg_ParseTuple(arguments, "s:Device", &name)) return NULL;
  tilevm_device* device = NULL;
  tilevm_status status;
  Py_BEGIN_ALLOW_THREADS status = tilevm_device_open(name, &device);
  tilevm_device_info info = {sizeof info};
  if (status == TILEVM_OK) status = tilevm_device_get_info(device, &info);
  if (status == TILEVM_OK) status = tilevm_device_set_print(device, print_text, info.is_gpu ? device : NULL);
  Py_END_ALLOW_THREADS if (status == TILEVM_OK) return new_handle(type, device, destroy_device);
  tilevm_device_close(device);
  return raise_status(status);
}

static PyObject* device_info(PyObject* self, PyObject* unused) {
  (void)unused;
  tilevm_device_info i = {sizeof i};
  const tilevm_status status = tilevm_device_get_info(((Handle*)self)->handle, &i);
  if (status != TILEVM_OK) return raise_status(status);
  return Py_BuildValue("{s:s,s:s,s:N,s:i,s:i,s:(ii),s:i,s:K}", "name", i.name, "description", i.description, "is_gpu",
                       PyBool_FromLong(i.is_gpu), "ordinal", (int)i.ordinal, "multiprocessors", (int)i.multiprocessors,
                       "compute_capability", (int)i.compute_major, (int)i.compute_minor, "driver_version",
                       (int)i.driver_version, "memory_bytes", (unsigned long long)i.memory_bytes);
}

static PyObject* device_allow_compile(PyObject* self, PyObject* arguments) {
  tilevm_compile_options o = {sizeof o};
  unsigned long long bytes;
  if (!PyArg_ParseTuple(arguments, "zzK:allow_compile", &o.library, &o.cache_folder, &bytes)) return NULL;
  o.cache_bytes = bytes;
  tilevm_status status;
  Py_BEGIN_ALLOW_THREADS status = tilevm_device_allow_compile(((Handle*)self)->handle, &o);
  Py_END_ALLOW_THREADS return none_or_raise(status);
}

static PyObject* program_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)keywords;
  const char *bytes, *name;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(arguments, "y#s:Program", &bytes, &size, &name)) return NULL;
  tilevm_module* module = NULL;
  tilevm_status status;
  Py_BEGIN_ALLOW_THREADS status = tilevm_module_from_bytes(bytes, (size_t)size, name, &module);
  Py_END_ALLOW_THREADS return status == TILEVM_OK ? new_handle(type, module, destroy_program) : raise_status(status);
}

static PyObject* kernel_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)keywords;
  PyObject *device, *program;
  const char* name;
  if (!PyArg_ParseTuple(arguments, "OOs:Kernel", &device, &program, &name)) return NULL;
  tilevm_device* d = handle_of(device, DeviceType);
  tilevm_module* m = d == NULL ? NULL : handle_of(program, ProgramType);
  if (m == NULL) return NULL;
  tilevm_kernel* kernel = NULL;
  tilevm_status status;
  Py_BEGIN_ALLOW_THREADS status = tilevm_kernel_create(d, m, name, &kernel);
  Py_END_ALLOW_THREADS return status == TILEVM_OK ? new_handle(type, kernel, destroy_kernel) : raise_status(status);
}

static PyMethodDef device_methods[] = {
    {"info", device_info, METH_NOARGS, "a dict"},
    {"allow_compile", device_allow_compile, METH_VARARGS,
     "allow_compile(library, cache_folder, cache_bytes); None, None, 0: defaults"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot device_slots[] = {{Py_tp_new, device_new},
                                     {Py_tp_dealloc, device_dealloc},
                                     {Py_tp_methods, device_methods},
                                     {Py_tp_doc, "Device(name)"},
                                     {0, NULL}};
static PyType_Spec device_spec = {"_tilevm.Device", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT, device_slots};

static PyType_Slot program_slots[] = {
    {Py_tp_new, program_new}, {Py_tp_dealloc, program_dealloc}, {Py_tp_doc, "Program(tbc, name)"}, {0, NULL}};
static PyType_Spec program_spec = {"_tilevm.Program", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT, program_slots};

static PyType_Slot kernel_slots[] = {
    {Py_tp_new, kernel_new}, {Py_tp_dealloc, kernel_dealloc}, {Py_tp_doc, "Kernel(device, program, name)"}, {0, NULL}};
static PyType_Spec kernel_spec = {"_tilevm.Kernel", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT, kernel_slots};

int add_device(PyObject* module) {
  if (add_type(module, &device_spec, &DeviceType) != 0) return -1;
  if (add_type(module, &program_spec, &ProgramType) != 0) return -1;
  return add_type(module, &kernel_spec, &KernelType);
}
