/* Reading a kernel from the attributes of a call: what does not change from call to call. run.c has the rest. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

static int is_called(const TvByteSpan* name, const char* text) {
  return name->len == strlen(text) && memcmp(name->ptr, text, name->len) == 0;
}

static char* copied(const char* text, size_t size) {
  char* copy = malloc(size + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text, size);
  copy[size] = 0;
  return copy;
}

/* A number of an attribute; 0 if it is none. */
static int read_number(int type, void* attr, Number* number) {
  const TvScalar* scalar = attr;
  if (type != kAttrScalar || (scalar->dtype != kDataS64 && scalar->dtype != kDataF64)) return 0;
  number->is_float = scalar->dtype == kDataF64;
  if (number->is_float) {
    memcpy(&number->f, scalar->value, sizeof number->f);
  } else {
    memcpy(&number->i, scalar->value, sizeof number->i);
  }
  return 1;
}

/* NULL, or what is wrong with the attribute. */
static const char* read_attribute(Program* p, const TvByteSpan* name, int type, void* attr, const TvArray** bytes) {
  static const char kScalar[] = "scalar.";
  Number number;
  if (is_called(name, "program")) {
    *bytes = attr;
    return type == kAttrArray && (*bytes)->dtype == kDataU8 ? NULL : "`program` is no array of u8";
  }
  if (is_called(name, "kernel")) {
    const TvByteSpan* text = attr;
    if (type != kAttrString) return "`kernel` is no text";
    p->name = copied(text->ptr, text->len);
    return p->name != NULL ? NULL : "no memory";
  }
  if (!read_number(type, attr, &number)) return "an attribute is neither an i64 nor an f64";
  if (is_called(name, "check") || is_called(name, "threads")) {
    if (number.is_float) return "`check` and `threads` are i64";
    *(name->ptr[0] == 'c' ? &p->check : &p->threads) = (int32_t)number.i;
    return NULL;
  }
  if (name->len < sizeof kScalar || memcmp(name->ptr, kScalar, sizeof kScalar - 1) != 0)
    return "an attribute is not known";
  if (p->num_scalars == kMaxScalars) return "too many scalars";
  number.name = copied(name->ptr + sizeof kScalar - 1, name->len - (sizeof kScalar - 1));
  if (number.name == NULL) return "no memory";
  p->scalars[p->num_scalars++] = number;
  return NULL;
}

Program* program_read(const TvCallFrame* frame, int is_gpu, TvError** error) {
  Program* p = calloc(1, sizeof *p);
  if (p == NULL || pthread_mutex_init(&p->mutex, NULL) != 0) {
    free(p);
    *error = make_error(frame->api, kErrorResourceExhausted, "error[jax.memory]: no memory");
    return NULL;
  }
  p->is_gpu = is_gpu;
  const TvArray* bytes = NULL;
  const char* wrong = NULL;
  for (int64_t i = 0; i < frame->attrs.size && wrong == NULL; ++i) {
    wrong = read_attribute(p, frame->attrs.names[i], frame->attrs.types[i], frame->attrs.attrs[i], &bytes);
  }
  if (wrong == NULL && bytes == NULL) wrong = "there is no attribute `program`";
  if (wrong != NULL) {
    char text[160];
    snprintf(text, sizeof text, "error[jax.attributes]: %s\n  fix: make the call by tilevm.jax of the same release",
             wrong);
    *error = make_error(frame->api, kErrorInvalidArgument, text);
  } else {
    const tilevm_status status = tilevm_module_from_bytes(bytes->data, bytes->size, "jax", &p->module);
    if (status == TILEVM_OK) return p;
    *error = library_error(frame->api, status);
  }
  program_free(p);
  return NULL;
}

void bound_free(Bound* bound) {
  tilevm_launch_destroy(bound->launch);
  tilevm_stream_destroy(bound->stream);
  free(bound);
}

void program_free(Program* p) {
  if (p == NULL) return;
  while (p->idle != NULL) {
    Bound* next = p->idle->next;
    bound_free(p->idle);
    p->idle = next;
  }
  for (int d = 0; d < kMaxDevices; ++d) {
    tilevm_kernel_destroy(p->on[d].kernel);
    tilevm_device_close(p->on[d].device);
  }
  for (int i = 0; i < p->num_scalars; ++i) free(p->scalars[i].name);
  tilevm_module_destroy(p->module);
  free(p->name);
  pthread_mutex_destroy(&p->mutex);
  free(p);
}
