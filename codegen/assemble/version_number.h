// "8.4" as a number that can be compared: 84. Of CUDA and of PTX.
#ifndef TILE_CODEGEN_ASSEMBLE_VERSION_NUMBER_H_
#define TILE_CODEGEN_ASSEMBLE_VERSION_NUMBER_H_

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace tile::codegen {

// major * 10 + minor; 0 if the text is no version.
inline int VersionNumber(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  int major = 0, minor = 0;
  const bool is_one = parts.size() == 2 && absl::SimpleAtoi(parts[0], &major) && absl::SimpleAtoi(parts[1], &minor);
  return is_one ? major * 10 + minor : 0;
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ASSEMBLE_VERSION_NUMBER_H_
