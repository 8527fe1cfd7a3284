// libtilec.so: the compiler for runtimes that open it (runtime/jit/tilec_abi.h). It holds no compiler itself: each
// compilation is a process of its own (codegen/library/worker.h), so that nothing that happens there can end the host's.
#include <sys/stat.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/assemble/ptxas.h"
#include "codegen/library/build_id.h"
#include "codegen/library/worker.h"
#include "codegen/llvm/llvm_version.h"
#include "ir/release.h"
#include "runtime/jit/tilec_abi.h"

struct tilec_output {
  std::string bytes;
};

namespace tile::codegen {
namespace {

// A tool or library beside the compiler: another file is another version. Starting ptxas to ask would take longer than
// this.
std::string FileVersion(const std::string& path) {
  struct stat s;
  if (path.empty() || stat(path.c_str(), &s) != 0) return "none";
  return absl::StrCat(path, " ", s.st_size, " ", s.st_mtim.tv_sec, ".", s.st_mtim.tv_nsec);
}

struct Compiler {
  std::string build_id, version;
};

// As it was found first: caches keep what it made under its version.
const Compiler& TheCompiler() {
  static const Compiler* const compiler = [] {
    auto* c = new Compiler;
    c->build_id = BuildIdOf(FindWorker());
    c->version = absl::StrCat("tilec ", ir::kRelease, ", build ", c->build_id.empty() ? "none" : c->build_id, ", ",
                              LlvmVersion(), ", ptxas ", FileVersion(FindAssembler().path), ", libdevice ",
                              FileVersion(FindLibdevice()));
    return c;
  }();
  return *compiler;
}

}  // namespace
}  // namespace tile::codegen

uint32_t tilec_abi_version(void) { return TILEC_ABI_VERSION; }

const char* tilec_version(void) {
  // Nothing may be thrown through C.
  try {
    return tile::codegen::TheCompiler().version.c_str();
  } catch (const std::bad_alloc&) {
    return "tilec, without memory";
  }
}

tilec_status tilec_compile(const void* tbc, size_t size, const char* kernel, int32_t compute_capability,
                           tilec_output** output) {
  if (output == nullptr) return TILEC_REJECTED;
  *output = nullptr;
  try {
    auto made = std::make_unique<tilec_output>();
    tilec_status status = TILEC_REJECTED;
    if (tbc == nullptr || kernel == nullptr) {
      made->bytes = "error[tilec.arguments]: no module or no kernel";
    } else {
      namespace cg = tile::codegen;
      cg::Answer answer = cg::AskWorker(cg::FindWorker(), cg::TheCompiler().build_id,
                                        {static_cast<const uint8_t*>(tbc), size}, kernel, compute_capability);
      status = answer.status;
      made->bytes = std::move(answer.bytes);
    }
    *output = made.release();
    return status;
  } catch (const std::bad_alloc&) {
    return TILEC_ENVIRONMENT;
  }
}

const char* tilec_output_bytes(const tilec_output* output) { return output->bytes.c_str(); }
size_t tilec_output_size(const tilec_output* output) { return output->bytes.size(); }
void tilec_output_free(tilec_output* output) { delete output; }
