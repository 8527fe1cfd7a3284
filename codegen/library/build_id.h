// The number that the linker gave a program or library (--build-id), read from its file: two builds that differ have
// different ones. Thread-safe.
#ifndef TILE_CODEGEN_LIBRARY_BUILD_ID_H_
#define TILE_CODEGEN_LIBRARY_BUILD_ID_H_

#include <string>

namespace tile::codegen {

// Hexadecimal; "" if there is no such file, or none in it.
std::string BuildIdOf(const std::string& path);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LIBRARY_BUILD_ID_H_
