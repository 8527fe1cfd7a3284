/* The part of XLA's interface of custom calls that the handler uses, version 0.3: what xla/ffi/api/c_api.h of jaxlib declares under the
 * same names without the prefix Tv. Building a wheel needs no jaxlib by that; python/tests/test_jax.py compares every member and constant
 * with the header of the jaxlib that is installed. XLA of a later minor version takes the handler, too: 0.4 calls TvExtension_Base
 * InternalExtension.
 *
 * Structs say their size in their first member, and grow at their end only. */
#ifndef TILE_PYTHON_JAX_FFI_XLA_FFI_H_
#define TILE_PYTHON_JAX_FFI_XLA_FFI_H_

#include <stddef.h>
#include <stdint.h>

enum { kFfiMajor = 0, kFfiMinor = 3 };

typedef struct TvExtension_Base {
  size_t struct_size;
  int type; /* kExtensionMetadata */
  struct TvExtension_Base* next;
} TvExtension_Base;
enum { kExtensionMetadata = 1 };

typedef struct TvApi_Version {
  size_t struct_size;
  TvExtension_Base* extension_start;
  int major_version, minor_version;
} TvApi_Version;

typedef struct TvTypeId {
  int64_t type_id;
} TvTypeId;

typedef struct TvTypeInfo {
  size_t struct_size;
  TvExtension_Base* extension_start;
  void (*deleter)(void* object);
} TvTypeInfo;

typedef struct TvMetadata {
  size_t struct_size;
  TvApi_Version api_version;
  uint32_t traits;
  TvTypeId state_type_id;
} TvMetadata;

typedef struct TvMetadata_Extension {
  TvExtension_Base extension_base;
  TvMetadata* metadata;
} TvMetadata_Extension;

typedef struct TvBuffer {
  size_t struct_size;
  TvExtension_Base* extension_start;
  int dtype;
  void* data;
  int64_t rank;
  int64_t* dims;
} TvBuffer;

typedef struct TvByteSpan {
  const char* ptr;
  size_t len;
} TvByteSpan;

typedef struct TvScalar {
  int dtype;
  void* value;
} TvScalar;

typedef struct TvArray {
  int dtype;
  size_t size;
  void* data;
} TvArray;

typedef struct TvArgs {
  size_t struct_size;
  TvExtension_Base* extension_start;
  int64_t size;
  int* types; /* all 1: buffers */
  void** args;
} TvArgs;

typedef struct TvRets {
  size_t struct_size;
  TvExtension_Base* extension_start;
  int64_t size;
  int* types;
  void** rets;
} TvRets;

enum {
  kDataPred = 1,
  kDataS8 = 2,
  kDataS16 = 3,
  kDataS32 = 4,
  kDataS64 = 5,
  kDataU8 = 6,
  kDataU16 = 7,
  kDataU32 = 8,
  kDataU64 = 9,
  kDataF16 = 10,
  kDataF32 = 11,
  kDataF64 = 12,
  kDataBf16 = 16,
  kDataF8E5M2 = 19,
  kDataF8E4M3FN = 20,
  kDataF8E8M0FNU = 33
};

enum { kAttrArray = 1, kAttrDictionary = 2, kAttrScalar = 3, kAttrString = 4 };
typedef struct TvAttrs {
  size_t struct_size;
  TvExtension_Base* extension_start;
  int64_t size;
  int* types;
  TvByteSpan** names;
  void** attrs;
} TvAttrs;

typedef struct TvError TvError;
typedef struct TvExecutionContext TvExecutionContext;

typedef struct TvError_Create_Args {
  size_t struct_size;
  TvExtension_Base* extension_start;
  const char* message;
  int errc;
} TvError_Create_Args;
enum {
  kErrorInvalidArgument = 3,
  kErrorNotFound = 5,
  kErrorResourceExhausted = 8,
  kErrorUnimplemented = 12,
  kErrorInternal = 13,
  kErrorUnavailable = 14
};

enum { kStageInstantiate = 0, kStageExecute = 3 };

typedef struct TvState_Set_Args {
  size_t struct_size;
  TvExtension_Base* extension_start;
  TvExecutionContext* ctx;
  int stage;
  TvTypeId* type_id;
  void* state;
} TvState_Set_Args;

typedef struct TvState_Get_Args {
  size_t struct_size;
  TvExtension_Base* extension_start;
  TvExecutionContext* ctx;
  int stage;
  TvTypeId* type_id;
  void* state;
} TvState_Get_Args;

typedef struct TvStream_Get_Args {
  size_t struct_size;
  TvExtension_Base* extension_start;
  TvExecutionContext* ctx;
  void* stream;
} TvStream_Get_Args;

typedef struct TvDeviceOrdinal_Get_Args {
  size_t struct_size;
  TvExtension_Base* extension_start;
  TvExecutionContext* ctx;
  int32_t device_ordinal;
} TvDeviceOrdinal_Get_Args;

typedef struct TvApi {
  size_t struct_size;
  TvExtension_Base* extension_start;
  TvApi_Version api_version;
  const void* internal_api;
  TvError* (*Error_Create)(TvError_Create_Args*);
  void* before_stream[3]; /* Error_GetMessage, Error_Destroy, Handler_Register */
  TvError* (*Stream_Get)(TvStream_Get_Args*);
  void* before_state[2]; /* Type_Register, ExecutionContext_Get */
  TvError* (*State_Set)(TvState_Set_Args*);
  TvError* (*State_Get)(TvState_Get_Args*);
  void* before_ordinal[8]; /* DeviceMemory_Allocate … RunId_Get */
  TvError* (*DeviceOrdinal_Get)(TvDeviceOrdinal_Get_Args*);
} TvApi;

typedef struct TvCallFrame {
  size_t struct_size;
  TvExtension_Base* extension_start;
  const TvApi* api;
  TvExecutionContext* ctx;
  int stage;
  TvArgs args;
  TvRets rets;
  TvAttrs attrs;
} TvCallFrame;

#endif /* TILE_PYTHON_JAX_FFI_XLA_FFI_H_ */
