// libtilec.so: the compiler for runtimes that open it (runtime/jit/tilec_abi.h).
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "codegen/image.h"
#include "ir/diagnostic.h"
#include "ir/release.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/verify.h"
#include "runtime/jit/tilec_abi.h"

struct tilec_output {
  std::string bytes;
};

namespace tile::codegen {
namespace {

// The number that the linker gave this build.
std::string BuildId() {
  struct Search {
    uintptr_t inside;
    std::string id;
  } search{reinterpret_cast<uintptr_t>(&tilec_version), ""};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* s = static_cast<Search*>(data);
        bool ours = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& p = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + p.p_vaddr;
          ours |= p.p_type == PT_LOAD && s->inside >= begin && s->inside < begin + p.p_memsz;
        }
        if (!ours) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& p = info->dlpi_phdr[i];
          if (p.p_type != PT_NOTE) continue;
          const char* at = reinterpret_cast<const char*>(info->dlpi_addr + p.p_vaddr);
          const char* end = at + p.p_memsz;
          while (end - at >= static_cast<ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const char* name = at + sizeof note;
            const char* text = name + (note.n_namesz + 3) / 4 * 4;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
              s->id = absl::BytesToHexString({text, note.n_descsz});
              return 1;
            }
            at = text + (note.n_descsz + 3) / 4 * 4;
          }
        }
        return 1;
      },
      &search);
  return search.id;
}

// A tool or library beside the compiler: another file is another version. Starting ptxas to ask would take longer than this.
std::string FileVersion(const std::string& path) {
  struct stat s;
  if (path.empty() || stat(path.c_str(), &s) != 0) return "none";
  return absl::StrCat(path, " ", s.st_size, " ", s.st_mtim.tv_sec, ".", s.st_mtim.tv_nsec);
}

// Code for a lesser minor number runs on a greater one of the same major.
const Target* TargetFor(int compute_capability) {
  const Target* best = nullptr;
  for (const Target& t : AllTargets()) {
    if (t.sm / 10 == compute_capability / 10 && t.sm <= compute_capability && (best == nullptr || t.sm > best->sm)) best = &t;
  }
  return best;
}

absl::StatusOr<std::string> CompileFile(absl::Span<const uint8_t> tbc, absl::string_view kernel, int compute_capability) {
  if (!ir::LooksLikeTbc(tbc)) return absl::InvalidArgumentError("error[tilec.form]: the bytes are no .tbc file");
  absl::StatusOr<std::unique_ptr<ir::Module>> module = ir::ReadTbc(tbc, "<memory>");
  if (!module.ok()) return module.status();
  ir::Diagnostics diagnostics;
  ir::Verify(**module, &diagnostics);
  if (!diagnostics.ok()) return absl::InvalidArgumentError(diagnostics.ToString());
  const ir::Function* f = (*module)->FindFunction(kernel);
  if (f == nullptr) return absl::InvalidArgumentError(absl::StrCat("error[tilec.kernel]: the module has no kernel `", kernel, "`"));
  CompileOptions options;
  options.target = TargetFor(compute_capability);
  if (options.target == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("error[tilec.target]: the compiler knows no GPU of compute capability ", compute_capability / 10, ".",
                     compute_capability % 10));
  }
  absl::StatusOr<std::vector<BuiltImage>> built =
      BuildImages(**module, *f, options, FindAssembler().path.empty() ? ir::ImageKind::kPtx : ir::ImageKind::kCubin);
  if (!built.ok()) return built.status();
  std::vector<ir::Image> images;
  for (const BuiltImage& b : *built) images.push_back(b.image);
  return ir::WriteTbc(**module, {.images = images});
}

tilec_status StatusOf(const absl::Status& s) {
  switch (s.code()) {
    case absl::StatusCode::kOk: return TILEC_OK;
    case absl::StatusCode::kInternal: return TILEC_INTERNAL;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnavailable: return TILEC_ENVIRONMENT;
    default: return TILEC_REJECTED;
  }
}

}  // namespace
}  // namespace tile::codegen

uint32_t tilec_abi_version(void) { return TILEC_ABI_VERSION; }

const char* tilec_version(void) {
  namespace cg = tile::codegen;
  static const std::string* const version = new std::string(
      absl::StrCat("tilec ", tile::ir::kRelease, ", build ", cg::BuildId(), ", ", cg::CompilerVersion(), ", ptxas ",
                   cg::FileVersion(cg::FindAssembler().path), ", libdevice ", cg::FileVersion(cg::FindLibdevice())));
  return version->c_str();
}

tilec_status tilec_compile(const void* tbc, size_t size, const char* kernel, int32_t compute_capability,
                           tilec_output** output) {
  std::unique_ptr<tilec_output> made(new (std::nothrow) tilec_output);
  *output = nullptr;
  if (made == nullptr) return TILEC_ENVIRONMENT;
  tilec_status status = TILEC_REJECTED;
  if (tbc == nullptr || kernel == nullptr) {
    made->bytes = "error[tilec.arguments]: no module or no kernel";
  } else {
    absl::StatusOr<std::string> bytes =
        tile::codegen::CompileFile({static_cast<const uint8_t*>(tbc), size}, kernel, compute_capability);
    status = tile::codegen::StatusOf(bytes.status());
    made->bytes = bytes.ok() ? *std::move(bytes) : std::string(bytes.status().message());
  }
  *output = made.release();
  return status;
}

const char* tilec_output_bytes(const tilec_output* output) { return output->bytes.c_str(); }
size_t tilec_output_size(const tilec_output* output) { return output->bytes.size(); }
void tilec_output_free(tilec_output* output) { delete output; }
