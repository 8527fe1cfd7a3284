#include "python/ext/frontend/fresh.h"

typedef struct Pattern {
  uint64_t seed, word, at; /* `word`: of the 8 bytes from `at` on, a multiple of 8 */
  uint8_t mask;            /* 1 for bools, which are 0 or 1 */
} Pattern;

static uint64_t mixed(uint64_t x) { /* splitmix64 */
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static uint8_t byte_at(Pattern* p, uint64_t i) {
  if ((i & ~(uint64_t)7) != p->at) {
    p->at = i & ~(uint64_t)7;
    p->word = mixed(p->seed + (p->at + 8) * 0x9e3779b97f4a7c15);
  }
  return (uint8_t)(p->word >> 8 * (i & 7)) & p->mask;
}

static Pattern pattern_of(uint64_t seed, int bools) {
  const Pattern p = {seed, 0, ~(uint64_t)0, bools ? 1 : 0xff};
  return p;
}

/* fresh_fill(address, begin, end, seed, bools): bytes `begin` to `end` from the address on. */
static PyObject* fresh_fill(PyObject* module, PyObject* arguments) {
  (void)module;
  unsigned long long address, begin, end, seed;
  int bools;
  if (!PyArg_ParseTuple(arguments, "KKKKp:fresh_fill", &address, &begin, &end, &seed, &bools)) return NULL;
  uint8_t* bytes = (uint8_t*)(uintptr_t)address;
  Pattern p = pattern_of(seed, bools);
  for (uint64_t i = begin; i < end; ++i) bytes[i] = byte_at(&p, i);
  Py_RETURN_NONE;
}

/* fresh_intact(address, bytes, written, seed, bools): whether all bytes that are not marked as written are as fresh_fill() left them. */
static PyObject* fresh_intact(PyObject* module, PyObject* arguments) {
  (void)module;
  unsigned long long address, count, marks, seed;
  int bools;
  if (!PyArg_ParseTuple(arguments, "KKKKp:fresh_intact", &address, &count, &marks, &seed, &bools)) return NULL;
  const uint8_t* bytes = (const uint8_t*)(uintptr_t)address;
  const uint8_t* written = (const uint8_t*)(uintptr_t)marks;
  Pattern p = pattern_of(seed, bools);
  for (uint64_t i = 0; i < count; ++i) {
    if (written[i] == 0 && bytes[i] != byte_at(&p, i)) Py_RETURN_FALSE;
  }
  Py_RETURN_TRUE;
}

static PyMethodDef functions[] = {
    {"fresh_fill", fresh_fill, METH_VARARGS, "fresh_fill(address, begin, end, seed, bools): random bytes"},
    {"fresh_intact", fresh_intact, METH_VARARGS,
     "fresh_intact(address, bytes, written, seed, bools): whether those that are not marked are still there"},
    {NULL, NULL, 0, NULL},
};
int add_fresh(PyObject* module) { return PyModule_AddFunctions(module, functions); }
