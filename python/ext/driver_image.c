/* What cuTile takes for a cubin. tilevm.cutile makes it (cutile/_image.py), all numbers little-endian:
 *
 *   "TILEVM-CUTILE-1\0"  u64: bytes of all   u32: arguments   u32: bytes of their records
 *   records              u8: kind, rank, bits, 0   i32: type   u32: bytes of the name and its NUL   the name
 *   a .tbc               to the end, from a multiple of 32 on */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static const char kMagic[16] = "TILEVM-CUTILE-1";

static void free_image(Image* image) {
  if (image == NULL) return;
  for (Kernel* k = image->kernels; k != NULL;) {
    Kernel* next = k->next;
    destroy_variants(k);
    tilevm_kernel_destroy(k->kernel);
    free(k->name);
    free(k);
    k = next;
  }
  tilevm_module_destroy(image->module);
  free(image->arguments);
  free(image->bytes);
  free(image);
}

static int refuse(const char* why) {
  PyErr_SetString(PyExc_RuntimeError, why);
  return keep_error(CU_INVALID_IMAGE);
}

/* 0 if a record is cut off. */
static int read_arguments(Image* image, const char* at, const char* end) {
  for (int i = 0; i < image->num_arguments; ++i) {
    uint32_t name_bytes;
    int32_t type;
    if (end - at < 12) return 0;
    memcpy(&type, at + 4, 4);
    memcpy(&name_bytes, at + 8, 4);
    if ((size_t)(end - at - 12) < name_bytes || name_bytes == 0 || at[12 + name_bytes - 1] != 0) return 0;
    Argument* a = &image->arguments[i];
    a->kind = (unsigned char)at[0];
    a->rank = (unsigned char)at[1];
    a->bits = (unsigned char)at[2];
    a->type = type;
    a->name = at + 12;
    if (a->kind > kList || a->rank > 16) return 0;
    image->num_words += a->kind == kArray ? 1 + 2 * a->rank : a->kind == kList ? 2 : 1;
    image->has_lists |= a->kind == kList;
    at += 12 + name_bytes;
  }
  return 1;
}

int load_image(Image** result, const void* data, void* a, void* b, unsigned c, void* d, void* e, unsigned f) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
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
  if (image != NULL && count < size) image->arguments = calloc(count + 1, sizeof *image->arguments);
  if (image == NULL || image->bytes == NULL || image->arguments == NULL) {
    free_image(image);
    return refuse("a damaged image");
  }
  memcpy(image->bytes, data, size);
  image->num_arguments = (int)count;
  if (!read_arguments(image, image->bytes + 32, image->bytes + 32 + record_bytes)) {
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

int unload_image(Image* image) {
  free_image(image);
  return CU_SUCCESS;
}

int get_kernel(Kernel** result, Image* image, const char* name) {
  *result = NULL;
  for (Kernel* k = image->kernels; k != NULL; k = k->next) {
    if (strcmp(k->name, name) == 0) {
      *result = k;
      return CU_SUCCESS;
    }
  }
  Kernel* kernel = calloc(1, sizeof *kernel);
  if (kernel == NULL) return CU_OUT_OF_MEMORY;
  tilevm_status status;
  Py_BEGIN_ALLOW_THREADS status = tilevm_kernel_create(driver.device, image->module, name, &kernel->kernel);
  Py_END_ALLOW_THREADS if (status != TILEVM_OK) {
    free(kernel);
    raise_status(status);
    return keep_error(CU_NOT_FOUND);
  }
  tilevm_kernel_info info = {sizeof info};
  if (tilevm_kernel_get_info(kernel->kernel, &info) == TILEVM_OK && info.num_parameters != (uint32_t)image->num_words) {
    PyErr_Format(PyExc_RuntimeError, "kernel `%s` has %u parameters; its signature stands for %d", name,
                 (unsigned)info.num_parameters, image->num_words);
    tilevm_kernel_destroy(kernel->kernel);
    free(kernel);
    return keep_error(CU_INVALID_IMAGE);
  }
  kernel->name = strdup(name);
  kernel->image = image;
  kernel->next = image->kernels;
  image->kernels = kernel;
  *result = kernel;
  return CU_SUCCESS;
}
