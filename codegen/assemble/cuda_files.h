// Where the files of a CUDA toolkit are: below CUDA_HOME, CUDA_PATH, /usr/local/cuda, in this order. Thread-safe as long as
// nobody changes the environment.
#ifndef TILE_CODEGEN_ASSEMBLE_CUDA_FILES_H_
#define TILE_CODEGEN_ASSEMBLE_CUDA_FILES_H_

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"

namespace tile::codegen {

// "" if it is not set.
inline std::string Environment(const char* name) {
  const char* v = std::getenv(name);
  return v == nullptr ? "" : v;
}

inline bool IsReadable(const std::string& path) { return access(path.c_str(), R_OK) == 0; }
inline bool IsExecutable(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

// The whole path; "" if no folder has it.
inline std::string FindBelowCuda(const std::string& file, bool executable) {
  for (const std::string& root : {Environment("CUDA_HOME"), Environment("CUDA_PATH"), std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    std::string path = absl::StrCat(root, "/", file);
    if (executable ? IsExecutable(path) : IsReadable(path)) return path;
  }
  return "";
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ASSEMBLE_CUDA_FILES_H_
