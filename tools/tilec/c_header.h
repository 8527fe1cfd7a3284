// A file as a C header, for programs that carry it inside themselves.
//
//   std::string text = CHeader("vector_add.h", bytes, {"@vector_add: sm_80, sm_90a"});
//   // static const unsigned char vector_add_tbc[1234] = {…};   aligned to 64 bytes, at which it is used where it is
//   // static const size_t vector_add_tbc_size = 1234;
//
// The text is C11 and C++11, and the same for the same bytes. Thread-safe.
#ifndef TILE_TOOLS_TILEC_C_HEADER_H_
#define TILE_TOOLS_TILEC_C_HEADER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tile::tools {

// The array is called after the file: "dir/vector-add.h" gives vector_add_tbc. `contents`: lines for people.
std::string CHeader(absl::string_view path, absl::string_view bytes, const std::vector<std::string>& contents);

}  // namespace tile::tools

#endif  // TILE_TOOLS_TILEC_C_HEADER_H_
