#include <dlfcn.h>
#include <unistd.h>

#include "ir/platform/library.h"

namespace tile::platform {
namespace {

// What glibc and macOS say if there is no file. A path that does not exist and a name that no folder has read alike.
constexpr const char* kAbsent[] = {"cannot open shared object file: No such file", "(no such file)"};

bool IsAbsent(const std::string& path, const std::string& reason) {
  for (const char* text : kAbsent) {
    if (reason.find(text) == std::string::npos) continue;
    return path.find('/') == std::string::npos || access(path.c_str(), F_OK) != 0;
  }
  return false;
}

}  // namespace

void* OpenLibrary(const std::string& path, LibraryError* error) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library != nullptr) return library;
  const char* text = dlerror();
  error->reason = text != nullptr ? text : "unknown reason";
  error->is_absent = IsAbsent(path, error->reason);
  return nullptr;
}

void* FindSymbol(void* library, const char* name) { return dlsym(library, name); }

void CloseLibrary(void* library) { dlclose(library); }

}  // namespace tile::platform
