// Statuses, messages and element types of tilevm.h.
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "runtime/capi/handles.h"
#include "runtime/error.h"

namespace tile::runtime::capi {
namespace {

struct Failure {
  std::string message, code;
  bool no_memory = false;  // then there was none for these two
};
Failure& LastFailure() {
  thread_local Failure failure;
  return failure;
}

tilevm_status Translate(const absl::Status& status) {
  const absl::string_view code = ErrorCodeOf(status);
  switch (status.code()) {
    case absl::StatusCode::kOk: return TILEVM_OK;
    case absl::StatusCode::kInvalidArgument: return TILEVM_INVALID_ARGUMENT;
    case absl::StatusCode::kNotFound: return TILEVM_NOT_FOUND;
    case absl::StatusCode::kFailedPrecondition:
      for (const char* family : {"cuda.", "jit.", "codegen.", "file."}) {
        if (absl::StartsWith(code, family)) return TILEVM_UNAVAILABLE;
      }
      return TILEVM_BAD_STATE;
    case absl::StatusCode::kUnimplemented: return TILEVM_UNSUPPORTED;
    case absl::StatusCode::kResourceExhausted: return TILEVM_OUT_OF_MEMORY;
    case absl::StatusCode::kAborted: return TILEVM_TRAPPED;
    case absl::StatusCode::kCancelled: return TILEVM_INTERRUPTED;
    default: return TILEVM_INTERNAL;
  }
}

}  // namespace

tilevm_status Report(const absl::Status& status) {
  if (status.ok()) return TILEVM_OK;
  Failure& failure = LastFailure();
  failure.no_memory = false;
  failure.message = std::string(status.message());
  failure.code = std::string(ErrorCodeOf(status));
  if (failure.code.empty()) {
    failure.code = "run.arguments";
    failure.message = absl::StrCat("error[run.arguments]: ", failure.message);
  }
  return Translate(status);
}

tilevm_status NoMemoryLeft() {
  LastFailure().no_memory = true;
  return TILEVM_OUT_OF_MEMORY;
}

tilevm_status Invalid(absl::string_view what) {
  return Report(MakeError(absl::StatusCode::kInvalidArgument, "run.arguments", what));
}
tilevm_status NullArgument(absl::string_view name) { return Invalid(absl::StrCat("`", name, "` is NULL")); }

tilevm_status ReadArray(const tilevm_array* array, absl::string_view name, ArrayValue* value) {
  TILEVM_NEED(array);
  if (tilevm_type_name(array->type) == nullptr)
    return Invalid(absl::StrCat("array `", name, "` has type ", array->type, ", which is none"));
  if (array->rank < 0 || array->rank > ir::kMaxRank) {
    return Invalid(absl::StrCat("array `", name, "` has rank ", array->rank, "; it may be 0 to ", ir::kMaxRank));
  }
  if (array->rank > 0 && array->shape == nullptr) return Invalid(absl::StrCat("array `", name, "` has no shape"));
  value->address = reinterpret_cast<uint64_t>(array->data);
  value->shape.assign(array->shape, array->shape + array->rank);
  if (array->strides != nullptr) value->strides.assign(array->strides, array->strides + array->rank);
  int64_t elements = 1;
  for (const int64_t n : value->shape) {
    if (n < 0) return Invalid(absl::StrCat("array `", name, "` has a negative size"));
    if (__builtin_mul_overflow(elements, n == 0 ? 1 : n, &elements)) {
      return Invalid(absl::StrCat("array `", name, "` is larger than any memory"));
    }
  }
  return TILEVM_OK;
}

}  // namespace tile::runtime::capi

namespace capi = tile::runtime::capi;

uint32_t tilevm_abi_version(void) { return TILEVM_ABI_VERSION; }

const char* tilevm_status_name(tilevm_status status) {
  static constexpr const char* kNames[] = {
      "TILEVM_OK",          "TILEVM_INVALID_ARGUMENT", "TILEVM_NOT_FOUND",     "TILEVM_INVALID_MODULE",
      "TILEVM_UNAVAILABLE", "TILEVM_UNSUPPORTED",      "TILEVM_OUT_OF_MEMORY", "TILEVM_TRAPPED",
      "TILEVM_BAD_STATE",   "TILEVM_INTERNAL",         "TILEVM_INTERRUPTED"};
  return status >= 0 && static_cast<size_t>(status) < std::size(kNames) ? kNames[status] : "unknown status";
}

const char* tilevm_error(void) {
  const capi::Failure& failure = capi::LastFailure();
  if (!failure.no_memory) return failure.message.c_str();
  return "error[run.out_of_memory]: the process has no memory left\n  fix: allow it more, or use a smaller kernel or smaller "
         "arrays; --check=full takes up to 16 bytes for each byte that a kernel touches";
}
const char* tilevm_error_code(void) {
  const capi::Failure& failure = capi::LastFailure();
  return failure.no_memory ? "run.out_of_memory" : failure.code.c_str();
}

// Types have the numbers of NVIDIA's container and of the file format: ElemInfo::tag.
#define TILEVM_SAME(name, Name) static_assert(TILEVM_##name == tile::ir::ElemInfoOf(tile::ir::Elem::k##Name).tag)
TILEVM_SAME(I1, I1);
TILEVM_SAME(I64, I64);
TILEVM_SAME(F16, F16);
TILEVM_SAME(F32, F32);
TILEVM_SAME(TF32, TF32);
TILEVM_SAME(F8E4M3FN, F8E4M3FN);
TILEVM_SAME(F8E5M2, F8E5M2);
TILEVM_SAME(POINTER, Ptr);
TILEVM_SAME(F8E8M0FNU, F8E8M0FNU);
TILEVM_SAME(F4E2M1FN, F4E2M1FN);
TILEVM_SAME(I4, I4);
TILEVM_SAME(F8E5M3FNU, F8E5M3FNU);

const char* tilevm_type_name(tilevm_type type) {
  const auto elem = tile::ir::FindElemByTag(type);
  return elem ? tile::ir::ElemInfoOf(*elem).spelling : nullptr;
}

int32_t tilevm_type_bits(tilevm_type type) {
  const auto elem = tile::ir::FindElemByTag(type);
  return elem ? tile::ir::MemoryBits(*elem) : 0;
}
