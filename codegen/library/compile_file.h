// One kernel of a .tbc file with its images, as libtilec.so gives them (runtime/jit/tilec_abi.h).
//
//   absl::StatusOr<std::string> with_images = CompileFile(bytes, "vector_add", 90);
//
// The bytes may be anything. Errors are complete messages: InvalidArgument and others for the input, NotFound and
// Unavailable for what this machine lacks, Internal for a mistake of the compiler. Thread-safe.
#ifndef TILE_CODEGEN_LIBRARY_COMPILE_FILE_H_
#define TILE_CODEGEN_LIBRARY_COMPILE_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tile::codegen {

absl::StatusOr<std::string> CompileFile(absl::Span<const uint8_t> tbc, absl::string_view kernel,
                                        int compute_capability);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LIBRARY_COMPILE_FILE_H_
