// Libraries that are opened at run time. One source file for each family of systems implements this header.
//
//   platform::LibraryError error;
//   void* library = platform::OpenLibrary("libcuda.so.1", &error);
//   if (library == nullptr) return error.is_absent ? … : …;     // error.reason is the system's text
//   void* function = platform::FindSymbol(library, "cuInit");
#ifndef TILE_IR_PLATFORM_LIBRARY_H_
#define TILE_IR_PLATFORM_LIBRARY_H_

#include <string>

namespace tile::platform {

struct LibraryError {
  bool is_absent = false;  // there is no such file, rather than one that can't be loaded
  std::string reason;
};

// Its code stays mapped, so that threads and handlers of its own may outlive CloseLibrary. Null with `*error` if it can't be opened.
void* OpenLibrary(const std::string& path, LibraryError* error);
// Null if the library has no such symbol.
void* FindSymbol(void* library, const char* name);
void CloseLibrary(void* library);

}  // namespace tile::platform

#endif  // TILE_IR_PLATFORM_LIBRARY_H_
