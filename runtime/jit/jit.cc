#include "runtime/jit/jit.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/platform/library.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "runtime/error.h"
#include "runtime/jit/tilec_abi.h"

namespace tile::runtime {
namespace {

constexpr auto kEnvironment = absl::StatusCode::kFailedPrecondition;
constexpr char kInstall[] =
    "install tilec with ./install, name the library in TILEVM_LIBTILEC, or compile with `tilec --embed`";

std::string Env(const char* name) {
  const char* v = std::getenv(name);
  return v == nullptr ? "" : v;
}

// Empty: there is no place.
std::string DefaultFolder() {
  if (std::string named = Env("TILEVM_CACHE"); !named.empty()) return named;
  if (std::string cache = Env("XDG_CACHE_HOME"); absl::StartsWith(cache, "/")) return cache + "/tilevm";
  if (std::string home = Env("HOME"); absl::StartsWith(home, "/")) return home + "/.cache/tilevm";
  return "";
}

absl::Span<const uint8_t> Bytes(absl::string_view s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

// Every part with its length before it, so that no two lists read alike.
ir::Sha256Digest KeyOf(std::initializer_list<absl::string_view> parts) {
  std::string all = "tilevm jit 1";
  for (const absl::string_view part : parts) absl::StrAppend(&all, "\n", part.size(), ":", part);
  return ir::Sha256(Bytes(all));
}

// Code that belongs to this function of this program, and to nothing else.
absl::StatusOr<std::shared_ptr<const Program>> ReadCompiled(const Program& program, const ir::Function& function,
                                                            std::string bytes) {
  auto kept = std::make_shared<std::string>(std::move(bytes));
  auto compiled = std::make_shared<Program>();
  compiled->module = program.module;
  compiled->memory.push_back(kept);
  if (absl::Status s = ReadImages(Bytes(*kept), "compiled code", compiled.get()); !s.ok()) return s;
  absl::StatusOr<ir::Sha256Digest> hash = ir::HashCode(*program.module);
  if (!hash.ok()) return hash.status();
  const auto belongs = [&](const ir::Image& i) {
    return i.kernel < program.module->functions.size() && program.module->functions[i.kernel].get() == &function;
  };
  if (compiled->images.empty() || !std::all_of(compiled->images.begin(), compiled->images.end(), belongs) ||
      compiled->code_hash != *hash) {
    return MakeError(absl::StatusCode::kInternal, "jit.bad_output", "the compiler's output is not for this kernel");
  }
  return compiled;
}

}  // namespace

struct Jit::Compiler {
  void* library = nullptr;
  decltype(&tilec_abi_version) abi_version = nullptr;
  decltype(&tilec_version) version = nullptr;
  decltype(&tilec_compile) compile = nullptr;
  decltype(&tilec_output_bytes) output_bytes = nullptr;
  decltype(&tilec_output_size) output_size = nullptr;
  decltype(&tilec_output_free) output_free = nullptr;

  absl::Status Load(const std::string& path) {
    platform::LibraryError error;
    library = platform::OpenLibrary(path, &error);
    if (library == nullptr) {
      if (error.is_absent)
        return MakeError(kEnvironment, "jit.no_compiler", absl::StrCat("there is no compiler here (", path, ")"),
                         kInstall);
      return MakeError(kEnvironment, "jit.bad_compiler", absl::StrCat("the compiler can't be loaded: ", error.reason),
                       kInstall);
    }
    bool whole = true;
    const auto find = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(platform::FindSymbol(library, symbol));
      whole &= function != nullptr;
    };
    find(abi_version, "tilec_abi_version");
    find(version, "tilec_version");
    find(compile, "tilec_compile");
    find(output_bytes, "tilec_output_bytes");
    find(output_size, "tilec_output_size");
    find(output_free, "tilec_output_free");
    if (!whole || abi_version() < TILEC_ABI_VERSION) {
      return MakeError(kEnvironment, "jit.bad_compiler",
                       absl::StrCat(path, " is no libtilec, or one of an older release"), kInstall);
    }
    return absl::OkStatus();
  }
  ~Compiler() {
    if (library != nullptr) platform::CloseLibrary(library);
  }
};

Jit::Jit() : compiler_(std::make_unique<Compiler>()) {}
Jit::~Jit() = default;

absl::StatusOr<std::shared_ptr<Jit>> Jit::Open(const JitOptions& options) {
  std::shared_ptr<Jit> jit(new Jit);
  std::string library = options.library;
  if (library.empty()) library = Env("TILEVM_LIBTILEC");
  if (library.empty()) library = "libtilec.so.1";
  if (absl::Status s = jit->compiler_->Load(library); !s.ok()) return s;
  jit->version_ = jit->compiler_->version();
  const std::string folder = options.cache_folder.empty() ? DefaultFolder() : options.cache_folder;
  if (!options.use_cache || folder.empty()) return jit;
  absl::StatusOr<std::unique_ptr<DiskCache>> cache = DiskCache::Open(folder, options.cache_bytes);
  if (cache.ok()) {
    jit->cache_ = *std::move(cache);
  } else {
    jit->SetCacheError(cache.status());
  }
  return jit;
}

absl::StatusOr<std::shared_ptr<const Program>> Jit::Compile(const Program& program, const ir::Function& function,
                                                            int sm) {
  absl::StatusOr<std::string> module = ir::WriteTbc(*program.module);
  if (!module.ok()) return module.status();
  const std::string kernel(function.name);
  // Lines of text are in no .tbc file, but in the places that code reports.
  const std::string where = program.module->source_name;
  const DiskCache::Key key = KeyOf({*module, where, kernel, absl::StrCat(sm), version_});
  if (cache_ != nullptr) {
    if (std::optional<std::string> found = cache_->Get(key)) {
      // What doesn't read is compiled again.
      absl::StatusOr<std::shared_ptr<const Program>> compiled = ReadCompiled(program, function, *std::move(found));
      if (compiled.ok()) {
        ++hits_;
        return compiled;
      }
    }
  }
  absl::StatusOr<std::string> output = RunCompiler(*module, kernel, sm);
  if (!output.ok()) return output.status();
  ++compilations_;
  absl::StatusOr<std::shared_ptr<const Program>> compiled = ReadCompiled(program, function, *output);
  if (compiled.ok() && cache_ != nullptr) {
    if (absl::Status s = cache_->Put(key, *output); !s.ok()) SetCacheError(s);
  }
  return compiled;
}

absl::StatusOr<std::string> Jit::RunCompiler(const std::string& module, const std::string& kernel, int sm) {
  tilec_output* output = nullptr;
  const tilec_status status = compiler_->compile(module.data(), module.size(), kernel.c_str(), sm, &output);
  if (output == nullptr)
    return MakeError(absl::StatusCode::kResourceExhausted, "jit.memory", "there is no memory for the compiler");
  std::string bytes(compiler_->output_bytes(output), compiler_->output_size(output));
  compiler_->output_free(output);
  if (status == TILEC_OK) return bytes;
  if (!absl::StrContains(bytes, "error[")) bytes = absl::StrCat("error[jit.compile]: ", bytes);
  return absl::Status(status == TILEC_REJECTED      ? absl::StatusCode::kUnimplemented
                      : status == TILEC_ENVIRONMENT ? kEnvironment
                                                    : absl::StatusCode::kInternal,
                      bytes);
}

void Jit::SetCacheError(const absl::Status& status) {
  std::lock_guard<std::mutex> lock(mutex_);
  cache_error_ = status;
}

absl::Status Jit::last_cache_error() {
  std::lock_guard<std::mutex> lock(mutex_);
  return cache_error_;
}

}  // namespace tile::runtime
