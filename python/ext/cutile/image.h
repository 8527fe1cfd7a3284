/* What cuTile takes for a cubin. tilevm.cutile makes it (cutile/_image.py), all numbers little-endian:
 *
 *   "TILEVM-CUTILE-1\0"  u64: bytes of all   u32: kernels   u32: bytes of their records
 *   of each kernel       u32: arguments   u32: bytes of its name and NUL   the name   its arguments
 *   of each argument     u8: kind, rank, bits, 0   i32: type   u32: bytes of its name and NUL   the name
 *   a .tbc               to the end, from a multiple of 32 on */
#ifndef TILE_PYTHON_EXT_CUTILE_IMAGE_H_
#define TILE_PYTHON_EXT_CUTILE_IMAGE_H_

#include "python/ext/frontend/run.h"

/* An argument of a kernel as cuTile passes it: one word, or for an array its address, shape and strides, or for a list the
 * address of a table of arrays and its length. */
typedef struct Parameter {
  enum { kScalarParameter, kArrayParameter, kListParameter } kind;
  int rank;
  int bits; /* of a scalar; of shapes and strides */
  int type; /* of tilevm.h */
  const char* name;
} Parameter;

/* What cuTile holds as CUkernel and as CUlibrary. */
typedef struct Kernel {
  Runnable run;
  Parameter* arguments;
  int num_arguments;
  int has_lists;
} Kernel;
typedef struct Image {
  char* bytes; /* of which names are part */
  tilevm_module* module;
  Kernel* kernels;
  uint32_t num_kernels;
} Image;

/* With the GIL; results of the driver. */
int load_image(Image** image, const void* data);
void unload_image(Image* image);
int get_kernel(Kernel** kernel, Image* image, const char* name);

#endif /* TILE_PYTHON_EXT_CUTILE_IMAGE_H_ */
