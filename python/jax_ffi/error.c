#include "error.h"

TvError* make_error(const TvApi* api, int code, const char* text) {
  TvError_Create_Args made = {sizeof made, NULL, text, code};
  return api->Error_Create(&made);
}

TvError* library_error(const TvApi* api, tilevm_status status) {
  static const int kCodes[] = {
      [TILEVM_INVALID_ARGUMENT] = kErrorInvalidArgument, [TILEVM_NOT_FOUND] = kErrorNotFound,
      [TILEVM_INVALID_MODULE] = kErrorInvalidArgument,   [TILEVM_UNAVAILABLE] = kErrorUnavailable,
      [TILEVM_UNSUPPORTED] = kErrorUnimplemented,        [TILEVM_OUT_OF_MEMORY] = kErrorResourceExhausted,
      [TILEVM_TRAPPED] = kErrorInvalidArgument,
  };
  const int known = status > 0 && status < (int)(sizeof kCodes / sizeof *kCodes) ? kCodes[status] : 0;
  return make_error(api, known != 0 ? known : kErrorInternal, tilevm_error());
}
