// Errors of the runtime: a status whose message is a diagnostic as the tools print it. The code in brackets is stable,
// for programs and for people who search.
//
//   return MakeError(absl::StatusCode::kFailedPrecondition, "cuda.no_device", "the driver found no GPU", "plug one in");
//   // error[cuda.no_device]: the driver found no GPU
//   //   fix: plug one in
//
// The status codes: InvalidArgument, the caller's mistake. NotFound, a name that does not exist. FailedPrecondition,
// something is missing on this machine. Unimplemented, neither the device nor the module can do it. ResourceExhausted,
// no memory. Aborted, the kernel trapped. Internal, an unexpected answer of the driver.
#ifndef TILE_RUNTIME_ERROR_H_
#define TILE_RUNTIME_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tile::runtime {

inline absl::Status MakeError(absl::StatusCode status, absl::string_view code, absl::string_view message,
                              absl::string_view fix = "") {
  return absl::Status(status, absl::StrCat("error[", code, "]: ", message, fix.empty() ? "" : "\n  fix: ", fix));
}

// The stable code of an error; "" if it has none.
inline absl::string_view ErrorCodeOf(const absl::Status& status) {
  absl::string_view text = status.message();
  const size_t at = text.find("error[");
  if (at == absl::string_view::npos) return "";
  text.remove_prefix(at + 6);
  const size_t end = text.find(']');
  return end == absl::string_view::npos ? absl::string_view() : text.substr(0, end);
}

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_ERROR_H_
