#include "python/ext/triton/words.h"

#include <stdlib.h>
#include <string.h>

#include "python/ext/core/error.h"
#include "python/ext/frontend/driver.h"
#include "python/ext/frontend/run.h"

static PyObject *data_ptr, *untyped_storage, *nbytes, *is_cuda, *is_pinned, *base_name, *shape_name, *stride_name,
    *strides_name, *round_name;
static PyObject* plain_torch; /* a type of context managers, or NULL without torch */

static int prepare_names(void) {
  data_ptr = PyUnicode_InternFromString("data_ptr");
  untyped_storage = PyUnicode_InternFromString("untyped_storage");
  nbytes = PyUnicode_InternFromString("nbytes");
  is_cuda = PyUnicode_InternFromString("is_cuda");
  is_pinned = PyUnicode_InternFromString("is_pinned");
  base_name = PyUnicode_InternFromString("base");
  shape_name = PyUnicode_InternFromString("shape");
  stride_name = PyUnicode_InternFromString("stride");
  strides_name = PyUnicode_InternFromString("strides");
  round_name = PyUnicode_InternFromString("round_f32_to_tf32");
  return round_name == NULL ? -1 : 0;
}

static PyObject* triton_plain_torch(PyObject* module, PyObject* guard) {
  (void)module;
  PyObject* before = plain_torch;
  Py_INCREF(guard);
  plain_torch = guard;
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

int enter_plain_torch(PyObject** guard) {
  *guard = NULL;
  if (plain_torch == NULL) return 0;
  PyObject* made = PyObject_CallObject(plain_torch, NULL);
  PyObject* entered = made == NULL ? NULL : PyObject_CallMethod(made, "__enter__", NULL);
  if (entered == NULL) {
    Py_XDECREF(made);
    return -1;
  }
  Py_DECREF(entered);
  *guard = made;
  return 0;
}

void leave_plain_torch(PyObject* guard) {
  if (guard == NULL) return;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* left = PyObject_CallMethod(guard, "__exit__", "OOO", Py_None, Py_None, Py_None);
  if (left == NULL) PyErr_WriteUnraisable(guard);
  Py_XDECREF(left);
  Py_DECREF(guard);
  PyErr_Restore(type, value, trace);
}

/* --- signatures */

int read_leaf(PyObject* text, Leaf* leaf) {
  int kind;
  PyObject *name, *more;
  memset(leaf, 0, sizeof *leaf);
  if (!PyArg_ParseTuple(text, "iiiOO:argument", &kind, &leaf->type, &leaf->bits, &name, &more)) return -1;
  Py_INCREF(name);
  leaf->name = name;
  leaf->kind = kind;
  if (kind != kTuple) {
    leaf->count = (int)PyLong_AsLong(more);
    return PyErr_Occurred() != NULL ? -1 : 0;
  }
  const Py_ssize_t count = PyList_Size(more);
  if (count < 0) return -1;
  leaf->items = calloc((size_t)count + 1, sizeof *leaf->items);
  if (leaf->items == NULL) return PyErr_NoMemory(), -1;
  leaf->count = (int)count;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (read_leaf(PyList_GetItem(more, i), &leaf->items[i]) != 0) return -1;
  }
  return 0;
}

void free_leaf(Leaf* leaf) {
  for (int i = 0; leaf->items != NULL && i < leaf->count; ++i) free_leaf(&leaf->items[i]);
  free(leaf->items);
  Py_XDECREF(leaf->name);
  memset(leaf, 0, sizeof *leaf);
}

void count_words(const Leaf* leaf, int* words, int* pieces) {
  if (leaf->kind == kTuple) {
    for (int i = 0; i < leaf->count; ++i) count_words(&leaf->items[i], words, pieces);
  } else if (leaf->kind != kConstant) {
    *words += leaf->kind == kDescriptor ? 1 + 4 * leaf->count : 1;
    *pieces += leaf->kind == kDescriptor || leaf->kind == kPointer;
  }
}

/* --- numbers */

static int read_integer(const Leaf* leaf, PyObject* argument, uint64_t* word) {
  PyObject* index = PyNumber_Index(argument);
  if (index == NULL) {
    PyErr_Format(PyExc_TypeError, "argument `%U`: an integer, not %R", leaf->name, argument);
    return -1;
  }
  if (leaf->kind == kUnsigned) {
    *word = PyLong_AsUnsignedLongLongMask(index);
  } else {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
    const int spare = 64 - (leaf->bits < 8 ? 8 : leaf->bits);
    if (overflow != 0 || (long long)((uint64_t)value << spare) >> spare != value) {
      PyErr_Format(PyExc_OverflowError, "argument `%U`: %S does not fit i%d", leaf->name, argument, leaf->bits);
    }
    *word = (uint64_t)value;
  }
  Py_DECREF(index);
  *word = low_bits(*word, leaf->bits);
  return PyErr_Occurred() != NULL ? -1 : 0;
}

/* Rounded to nearest, ties to even; of what is too large 0x7c00. */
static uint16_t half_of(double value) {
  uint64_t u;
  memcpy(&u, &value, sizeof u);
  const uint16_t sign = (uint16_t)(u >> 48 & 0x8000);
  const int exponent = (int)(u >> 52 & 0x7ff) - 1023;
  uint64_t mantissa = u & (((uint64_t)1 << 52) - 1);
  if (exponent == 1024) return (uint16_t)(sign | (mantissa != 0 ? 0x7e00 : 0x7c00));
  if (exponent > 15) return (uint16_t)(sign | 0x7c00);
  if (exponent < -25) return sign;
  mantissa |= (uint64_t)1 << 52;
  const int shift = exponent >= -14 ? 42 : 42 - 14 - exponent;
  const uint64_t rest = mantissa & (((uint64_t)1 << shift) - 1), tie = (uint64_t)1 << (shift - 1);
  uint64_t kept = mantissa >> shift;
  kept += rest > tie || (rest == tie && (kept & 1) != 0);
  return (uint16_t)(sign | (exponent >= -14 ? ((uint64_t)(exponent + 15) << 10) + kept - 1024 : kept));
}

static int read_float(const Leaf* leaf, PyObject* argument, uint64_t* word) {
  const double value = PyFloat_AsDouble(argument);
  if (value == -1.0 && PyErr_Occurred() != NULL) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "argument `%U`: a number, not %R", leaf->name, argument);
    return -1;
  }
  if (leaf->type == TILEVM_F64) {
    memcpy(word, &value, sizeof value);
    return 0;
  }
  if (leaf->type == TILEVM_F16) {
    *word = half_of(value);
    if ((*word & 0x7fff) != 0x7c00 || value - value != 0) return 0;
    PyErr_Format(PyExc_OverflowError, "argument `%U`: %S is too large for fp16", leaf->name, argument);
    return -1;
  }
  const float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  *word = leaf->type == TILEVM_BF16 ? bits >> 16 : bits; /* Triton cuts what bf16 has no room for */
  return 0;
}

/* --- pointers */

/* An integer that a method of the object gives. */
static int ask_number(PyObject* object, PyObject* method, uint64_t* value) {
  PyObject* number = PyObject_CallMethodObjArgs(object, method, NULL);
  if (number == NULL) return -1;
  *value = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  return PyErr_Occurred() != NULL ? -1 : 0;
}

/* Of what has no storage as torch's tensors do. */
static int ask_python(const Leaf* leaf, PyObject* object, const Questions* ask, Piece* piece) {
  PyObject* found = PyObject_CallFunctionObjArgs(ask->memory, object, leaf->name, NULL);
  unsigned long long address, begin, bytes, part;
  const int ok = found != NULL && PyArg_ParseTuple(found, "KKKK:memory", &address, &begin, &bytes, &part);
  Py_XDECREF(found);
  if (!ok) return -1;
  piece->address = address;
  piece->begin = begin;
  piece->bytes = bytes;
  piece->part = part;
  return 0;
}

/* Which part of its storage a tensor of torch is. */
static int read_part(PyObject* tensor, Piece* piece) {
  PyObject* size = PyObject_GetAttr(tensor, nbytes);
  if (size == NULL) {
    PyErr_Clear(); /* only looks like a tensor */
    return 0;
  }
  const uint64_t bytes = PyLong_AsUnsignedLongLong(size);
  Py_DECREF(size);
  if (PyErr_Occurred() != NULL) return -1;
  if (bytes == piece->bytes && piece->address == piece->begin) return 0;
  PyObject* shape = PyObject_GetAttr(tensor, shape_name);
  PyObject* steps = shape == NULL ? NULL : PyObject_CallMethodObjArgs(tensor, stride_name, NULL);
  PyObject* both = steps == NULL ? NULL : PyTuple_Pack(2, shape, steps);
  const Py_hash_t hash = both == NULL ? -1 : PyObject_Hash(both);
  Py_XDECREF(both);
  Py_XDECREF(steps);
  Py_XDECREF(shape);
  piece->part = (uint64_t)hash | 1;
  return PyErr_Occurred() != NULL ? -1 : 0;
}

/* On a GPU: whether torch says that the GPU cannot read it. */
static int refuse_host(const Leaf* leaf, PyObject* object) {
  PyObject* there = PyObject_GetAttr(object, is_cuda);
  if (there == NULL) PyErr_Clear(); /* no tensor of torch */
  const int host = there == Py_False;
  Py_XDECREF(there);
  if (!host) return 0;
  PyObject* pinned = PyObject_CallMethodObjArgs(object, is_pinned, NULL);
  if (pinned == NULL) return -1;
  Py_DECREF(pinned);
  if (pinned == Py_True) return 0;
  PyErr_Format(PyExc_ValueError, "Pointer argument `%U` cannot be accessed from Triton (cpu tensor?)", leaf->name);
  return -1;
}

static int read_pointer(const Leaf* leaf, PyObject* object, const Questions* ask, Piece* piece) {
  piece->leaf = leaf;
  piece->object = object;
  piece->address = piece->begin = piece->bytes = piece->part = 0;
  if (object == Py_None) return 0;
  if (driver.is_gpu && PyLong_Check(object)) {
    piece->address = PyLong_AsUnsignedLongLong(object);
    return PyErr_Occurred() != NULL ? -1 : 0;
  }
  if (driver.is_gpu && PyObject_HasAttr(object, data_ptr)) {
    if (ask_number(object, data_ptr, &piece->address) != 0) return -1;
    return piece->address == 0 ? 0 : refuse_host(leaf, object); /* a tensor without elements has no place */
  }
  PyObject* method = PyLong_Check(object) ? NULL : PyObject_GetAttr(object, untyped_storage);
  if (method == NULL) {
    PyErr_Clear();
    return ask_python(leaf, object, ask, piece);
  }
  PyObject* storage = PyObject_CallObject(method, NULL);
  Py_DECREF(method);
  if (storage != NULL && !PyObject_HasAttr(storage, nbytes)) { /* only looks like a tensor */
    Py_DECREF(storage);
    return ask_python(leaf, object, ask, piece);
  }
  const int ok = storage != NULL && ask_number(object, data_ptr, &piece->address) == 0 &&
                 ask_number(storage, data_ptr, &piece->begin) == 0 && ask_number(storage, nbytes, &piece->bytes) == 0;
  Py_XDECREF(storage);
  if (!ok) return -1;
  if (piece->begin != 0) return read_part(object, piece);
  piece->bytes = 0; /* of torch's meta device */
  return 0;
}

/* --- descriptors */

static int read_sizes(const Leaf* leaf, PyObject* descriptor, PyObject* name, uint64_t* sizes) {
  PyObject* list = PyObject_GetAttr(descriptor, name);
  const Py_ssize_t count = list == NULL ? -1 : PySequence_Size(list);
  if (count >= 0 && count != leaf->count)
    PyErr_Format(PyExc_ValueError, "descriptor `%U`: %zd %U", leaf->name, count, name);
  for (Py_ssize_t i = 0; PyErr_Occurred() == NULL && i < count; ++i) {
    PyObject* item = PySequence_GetItem(list, i);
    PyObject* index = item == NULL ? NULL : PyNumber_Index(item);
    if (index != NULL) sizes[i] = (uint64_t)PyLong_AsLongLong(index);
    Py_XDECREF(index);
    Py_XDECREF(item);
  }
  Py_XDECREF(list);
  return PyErr_Occurred() != NULL ? -1 : 0;
}

static int refuse_rounding(const Leaf* leaf, PyObject* descriptor) {
  PyObject* rounds = PyObject_GetAttr(descriptor, round_name);
  if (rounds == NULL) PyErr_Clear(); /* not of every version */
  const int rounding = rounds == Py_True;
  Py_XDECREF(rounds);
  if (!rounding) return 0;
  PyObject* text = PyUnicode_FromFormat(
      "error[triton.descriptor]: descriptor `%U` that a program made with round_f32_to_tf32=True is not supported\n  fix: make it in the "
      "kernel, by tl.make_tensor_descriptor, or leave the rounding to tl.dot",
      leaf->name);
  PyObject* bytes = text == NULL ? NULL : PyUnicode_AsUTF8String(text);
  if (bytes != NULL) raise_error(TILEVM_UNSUPPORTED, "triton.descriptor", PyBytes_AsString(bytes));
  Py_XDECREF(text);
  Py_XDECREF(bytes);
  return -1;
}

static int read_descriptor(const Leaf* leaf, PyObject* descriptor, const Questions* ask, Words* out) {
  const int rank = leaf->count;
  uint64_t* words = out->words + out->num_words;
  Piece* piece = &out->pieces[out->num_pieces++];
  piece->word = out->num_words;
  PyObject* base = PyObject_GetAttr(descriptor, base_name);
  if (base == NULL) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "argument `%U`: a TensorDescriptor, not %R", leaf->name, descriptor);
    return -1;
  }
  const int failed = read_pointer(leaf, base, ask, piece);
  Py_DECREF(base); /* the descriptor keeps it */
  if (failed || read_sizes(leaf, descriptor, shape_name, words + 1) != 0 ||
      read_sizes(leaf, descriptor, strides_name, words + 1 + rank) != 0 || refuse_rounding(leaf, descriptor) != 0) {
    return -1;
  }
  words[0] = piece->address;
  for (int i = 0; i < rank; ++i) {
    words[1 + 2 * rank + i] = low_bits(words[1 + i], 32);
    words[1 + 3 * rank + i] = words[1 + rank + i];
  }
  out->num_words += 1 + 4 * rank;
  return 0;
}

int read_words(const Leaf* leaf, PyObject* argument, const Questions* ask, Words* out) {
  switch (leaf->kind) {
    case kConstant: return 0;
    case kDescriptor: return read_descriptor(leaf, argument, ask, out);
    case kSigned:
    case kUnsigned: return read_integer(leaf, argument, &out->words[out->num_words++]);
    case kFloating: return read_float(leaf, argument, &out->words[out->num_words++]);
    case kPointer: {
      Piece* piece = &out->pieces[out->num_pieces++];
      piece->word = out->num_words;
      if (read_pointer(leaf, argument, ask, piece) != 0) return -1;
      out->words[out->num_words++] = piece->address;
      return 0;
    }
    default: break;
  }
  if (!PyTuple_Check(argument) || PyTuple_Size(argument) != leaf->count) {
    PyErr_Format(PyExc_TypeError, "argument `%U`: a tuple of %d, not %R", leaf->name, leaf->count, argument);
    return -1;
  }
  for (int i = 0; i < leaf->count; ++i) {
    if (read_words(&leaf->items[i], PyTuple_GetItem(argument, i), ask, out) != 0) return -1;
  }
  return 0;
}

static PyMethodDef functions[] = {
    {"triton_plain_torch", triton_plain_torch, METH_O,
     "triton_plain_torch(type): of the context in which launchers ask torch about tensors"},
    {NULL, NULL, 0, NULL},
};
int add_words(PyObject* module) { return prepare_names() != 0 ? -1 : PyModule_AddFunctions(module, functions); }
