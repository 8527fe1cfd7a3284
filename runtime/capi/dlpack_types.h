// The binary interface of DLPack 1.x (https://dmlc.github.io/dlpack), in our own words: what tensors of other libraries
// look like in memory. Names of structs are DLPack's, because tilevm.h names them; don't include beside dlpack.h.
#ifndef TILE_RUNTIME_CAPI_DLPACK_TYPES_H_
#define TILE_RUNTIME_CAPI_DLPACK_TYPES_H_

#include <stddef.h>
#include <stdint.h>

enum : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };

enum : uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e5m2 = 12,
  kDLFloat8_e8m0fnu = 14,
  kDLFloat4_e2m1fn = 17,
};

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // elements; null: row-major
  uint64_t byte_offset;
};
static_assert(sizeof(DLTensor) == 48);

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
static_assert(sizeof(DLManagedTensor) == 64);

struct DLPackVersion {
  uint32_t major, minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32 && sizeof(DLManagedTensorVersioned) == 80);

inline constexpr uint64_t kDLPackSubbytePadded = 4;  // a byte for each element of fewer bits

#endif  // TILE_RUNTIME_CAPI_DLPACK_TYPES_H_
