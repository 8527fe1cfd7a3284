#include "codegen/assemble/nvjitlink.h"

#include <dlfcn.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "codegen/assemble/cuda_files.h"

namespace tile::codegen {
namespace {

constexpr const char* kNames[] = {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"};
constexpr int32_t kInputPtx = 2;  // of the library's interface

using Handle = void*;

// The functions of the library that are used here; results other than 0 are errors.
struct Api {
  int32_t (*create)(Handle*, uint32_t, const char**) = nullptr;
  int32_t (*destroy)(Handle*) = nullptr;
  int32_t (*add_data)(Handle, int32_t, const void*, size_t, const char*) = nullptr;
  int32_t (*complete)(Handle) = nullptr;
  int32_t (*cubin_size)(Handle, size_t*) = nullptr;
  int32_t (*cubin)(Handle, void*) = nullptr;
  int32_t (*error_size)(Handle, size_t*) = nullptr;
  int32_t (*error)(Handle, char*) = nullptr;
  int32_t (*info_size)(Handle, size_t*) = nullptr;
  int32_t (*info)(Handle, char*) = nullptr;
};

absl::StatusOr<Api> Open(const std::string& library) {
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    return absl::UnavailableError(absl::StrCat("error[codegen.nvjitlink]: ", library, " can't be opened: ", dlerror()));
  }
  Api api;
  std::string missing;
  const auto find = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_reference_t<decltype(*function)>>(dlsym(opened, name));
    if (*function == nullptr) missing = name;
  };
  find("nvJitLinkCreate", &api.create);
  find("nvJitLinkDestroy", &api.destroy);
  find("nvJitLinkAddData", &api.add_data);
  find("nvJitLinkComplete", &api.complete);
  find("nvJitLinkGetLinkedCubinSize", &api.cubin_size);
  find("nvJitLinkGetLinkedCubin", &api.cubin);
  find("nvJitLinkGetErrorLogSize", &api.error_size);
  find("nvJitLinkGetErrorLog", &api.error);
  find("nvJitLinkGetInfoLogSize", &api.info_size);
  find("nvJitLinkGetInfoLog", &api.info);
  if (!missing.empty()) {
    return absl::UnavailableError(absl::StrCat("error[codegen.nvjitlink]: ", library, " has no function ", missing));
  }
  return api;
}

// Opened once and never closed: its threads may outlive a compilation.
absl::StatusOr<Api> OpenOnce(const std::string& library) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const known = new std::map<std::string, absl::StatusOr<Api>>;
  std::lock_guard<std::mutex> lock(*mutex);
  if (auto it = known->find(library); it != known->end()) return it->second;
  return known->emplace(library, Open(library)).first->second;
}

template <class T>
std::string Text(Handle handle, int32_t (*size)(Handle, size_t*), int32_t (*get)(Handle, T*)) {
  size_t n = 0;
  if (size(handle, &n) != 0 || n == 0) return "";
  std::string text(n, '\0');
  if (get(handle, text.data()) != 0) return "";
  return text;
}

// Texts end with a zero byte, which counts.
std::string WithoutEnd(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace

std::string FindNvJitLink() {
  if (const std::string path = Environment("TILEC_NVJITLINK"); !path.empty()) return IsReadable(path) ? path : "";
  for (const char* name : kNames) {
    for (const char* folder : {"lib64/", "lib/"}) {
      if (std::string path = FindBelowCuda(absl::StrCat(folder, name), /*executable=*/false); !path.empty())
        return path;
    }
  }
  for (const char* name : kNames) {
    const absl::StatusOr<Api> api = OpenOnce(name);
    Dl_info where;
    if (api.ok()) return dladdr(reinterpret_cast<void*>(api->create), &where) != 0 ? where.dli_fname : name;
  }
  return "";
}

absl::StatusOr<Linked> AssembleInProcess(const std::string& library, const std::string& ptx,
                                         const std::vector<std::string>& options) {
  absl::StatusOr<Api> api = OpenOnce(library);
  if (!api.ok()) return api.status();
  std::vector<const char*> words;
  for (const std::string& o : options) words.push_back(o.c_str());
  Handle handle = nullptr;
  if (api->create(&handle, static_cast<uint32_t>(words.size()), words.data()) != 0) {
    return absl::InternalError(absl::StrCat("error[codegen.nvjitlink]: ", library, " does not take its options"));
  }
  Linked result;
  const bool ok =
      api->add_data(handle, kInputPtx, ptx.data(), ptx.size(), "kernel.ptx") == 0 && api->complete(handle) == 0;
  const std::string error = WithoutEnd(Text(handle, api->error_size, api->error));
  result.log = WithoutEnd(Text(handle, api->info_size, api->info));
  if (ok) result.cubin = Text(handle, api->cubin_size, api->cubin);
  api->destroy(&handle);
  if (!ok || result.cubin.empty()) {
    return absl::InternalError(absl::StrCat("error[codegen.nvjitlink]: ", library,
                                            " rejects the PTX of this kernel, which is ",
                                            "an error of the code generator:\n", error, result.log));
  }
  return result;
}

}  // namespace tile::codegen
