#include <windows.h>

#include <system_error>

#include "ir/platform/library.h"

namespace tile::platform {

void* OpenLibrary(const std::string& path, LibraryError* error) {
  const HMODULE library = LoadLibraryA(path.c_str());
  if (library == nullptr) {
    const DWORD code = GetLastError();
    error->reason = std::system_category().message(static_cast<int>(code));
    error->is_absent = code == ERROR_MOD_NOT_FOUND && GetFileAttributesA(path.c_str()) == INVALID_FILE_ATTRIBUTES;
    return nullptr;
  }
  // As with RTLD_NODELETE.
  HMODULE kept;
  GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN, path.c_str(), &kept);
  return reinterpret_cast<void*>(library);
}

void* FindSymbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(library), name));
}

void CloseLibrary(void* library) { FreeLibrary(reinterpret_cast<HMODULE>(library)); }

}  // namespace tile::platform
