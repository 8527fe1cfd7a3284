// Between copy.cc and its kernels; users include copy.h.
#ifndef TILE_VM_KERNELS_COPY_KERNELS_H_
#define TILE_VM_KERNELS_COPY_KERNELS_H_

#include <cstdint>

#include "vm/kernels/isa.h"

namespace tile::vm {

// Two dimensions of a box. Steps are in bytes.
struct CopyPlane {
  int64_t rows = 1, columns = 1;
  int64_t dst_row = 0, dst_column = 0;
  int64_t src_row = 0, src_column = 0;
};

struct CopyKernels {
  // Columns are adjacent bytes on both sides; plane.columns counts bytes.
  void (*rows)(char* dst, const char* src, const CopyPlane& plane, bool streaming);
  // The same for one row, without the fence that ends streaming.
  void (*bytes)(char* dst, const char* src, int64_t n, bool streaming);
  void (*fence)();
  // Columns are adjacent elements in dst, rows are adjacent elements in src.
  void (*transpose)(char* dst, const char* src, const CopyPlane& plane, int elem_bytes);
  // Any steps, in row-major order.
  void (*strided)(char* dst, const char* src, const CopyPlane& plane, int elem_bytes);
  void (*fill)(char* dst, const char* pattern, int elem_bytes, int64_t n);
  void (*expand)(char* dst, const char* src, int elem_bytes, int64_t n, int64_t run, int64_t count);
  void (*load_nibbles)(uint8_t* dst, const uint8_t* packed, int64_t n);   // from a low half on
  void (*store_nibbles)(uint8_t* packed, const uint8_t* src, int64_t n);  // likewise; n even
};
TILE_VM_DECLARE_PER_ISA(extern const CopyKernels kCopyKernels)

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_COPY_KERNELS_H_
