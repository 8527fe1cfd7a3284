#define _POSIX_C_SOURCE 200809L
#include "python/ext/cutile/image.h"

#include <stdlib.h>
#include <string.h>

#include "python/ext/core/error.h"
#include "python/ext/core/interpreter.h"
#include "python/ext/cutile/error.h"

static const char kMagic[16] = "TILEVM-CUTILE-1";

static void free_image(Image* image) {
  if (image == NULL) return;
  for (uint32_t i = 0; image->kernels != NULL && i < image->num_kernels; ++i) {
    release_runnable(&image->kernels[i].run);
    free(image->kernels[i].arguments);
  }
  tilevm_module_destroy(image->module);
  free(image->kernels);
  free(image->bytes);
  free(image);
}

static int refuse(const char* why) {
  PyErr_SetString(PyExc_RuntimeError, why);
  return keep_error(CU_INVALID_IMAGE);
}

/* The name of `size` bytes at *at, which moves behind it; NULL if it is cut off. */
static const char* read_name(const char** at, const char* end, uint32_t size) {
  const char* name = *at;
  if (size == 0 || (size_t)(end - name) < size || name[size - 1] != 0) return NULL;
  *at += size;
  return name;
}

/* These return 0 if a record is cut off or wrong. */
static int read_argument(Kernel* kernel, Parameter* a, const char** at, const char* end) {
  uint32_t name_bytes;
  int32_t type;
  if (end - *at < 12) return 0;
  memcpy(&type, *at + 4, 4);
  memcpy(&name_bytes, *at + 8, 4);
  a->kind = (unsigned char)(*at)[0];
  a->rank = (unsigned char)(*at)[1];
  a->bits = (unsigned char)(*at)[2];
  a->type = type;
  *at += 12;
  a->name = read_name(at, end, name_bytes);
  if (a->name == NULL || a->kind > kListParameter || a->rank > 16) return 0;
  kernel->run.num_words += a->kind == kArrayParameter ? 1 + 2 * (uint32_t)a->rank : a->kind == kListParameter ? 2 : 1;
  kernel->has_lists |= a->kind == kListParameter;
  return 1;
}

static int read_kernel(Kernel* kernel, const char** at, const char* end) {
  uint32_t count, name_bytes;
  if (end - *at < 8) return 0;
  memcpy(&count, *at, 4);
  memcpy(&name_bytes, *at + 4, 4);
  *at += 8;
  kernel->run.name = read_name(at, end, name_bytes);
  if (kernel->run.name == NULL || count > (size_t)(end - *at)) return 0;
  kernel->arguments = calloc((size_t)count + 1, sizeof *kernel->arguments);
  if (kernel->arguments == NULL) return 0;
  kernel->num_arguments = (int)count;
  for (uint32_t i = 0; i < count; ++i) {
    if (!read_argument(kernel, &kernel->arguments[i], at, end)) return 0;
  }
  kernel->run.forks = forks;
  return 1;
}

static int read_kernels(Image* image, const char* at, const char* end) {
  for (uint32_t i = 0; i < image->num_kernels; ++i) {
    if (!read_kernel(&image->kernels[i], &at, end)) return 0;
  }
  return 1;
}

int load_image(Image** result, const void* data) {
  uint64_t size;
  uint32_t count, record_bytes;
  *result = NULL;
  if (memcmp(data, kMagic, sizeof kMagic) != 0) {
    return refuse("machine code of another compiler: tilevm.cutile runs what was compiled under it");
  }
  memcpy(&size, (const char*)data + 16, 8);
  memcpy(&count, (const char*)data + 24, 4);
  memcpy(&record_bytes, (const char*)data + 28, 4);
  const uint64_t start = (32 + (uint64_t)record_bytes + 31) / 32 * 32;
  Image* image = calloc(1, sizeof *image);
  if (image != NULL && size > start) image->bytes = malloc(size);
  if (image != NULL && count < size) image->kernels = calloc((size_t)count + 1, sizeof *image->kernels);
  if (image == NULL || image->bytes == NULL || image->kernels == NULL) {
    free_image(image);
    return refuse("a damaged image");
  }
  image->num_kernels = count;
  memcpy(image->bytes, data, size);
  if (!read_kernels(image, image->bytes + 32, image->bytes + 32 + record_bytes)) {
    free_image(image);
    return refuse("a damaged image");
  }
  const tilevm_status status = tilevm_module_from_bytes(image->bytes + start, size - start, "cutile", &image->module);
  if (status != TILEVM_OK) {
    raise_status(status);
    free_image(image);
    return keep_error(CU_INVALID_IMAGE);
  }
  *result = image;
  return CU_SUCCESS;
}

void unload_image(Image* image) { free_image(image); }

int get_kernel(Kernel** result, Image* image, const char* name) {
  *result = NULL;
  Kernel* kernel = image->kernels;
  while (kernel != image->kernels + image->num_kernels && strcmp(kernel->run.name, name) != 0) ++kernel;
  if (kernel == image->kernels + image->num_kernels) return CU_NOT_FOUND;
  kernel->run.module = image->module;
  if (renew_runnable(&kernel->run) != 0) return keep_error(CU_NOT_FOUND);
  *result = kernel;
  return CU_SUCCESS;
}
