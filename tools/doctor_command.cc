// tilec doctor: what code generation found on this machine, and what the absence of each means.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "codegen/disassemble.h"
#include "codegen/nvjitlink.h"
#include "codegen/ptxas.h"
#include "codegen/target.h"
#include "tools/tilec_commands.h"

namespace tile::tools {
namespace {

void Row(const char* what, const std::string& found, const char* without) {
  std::printf("%-12s %s\n", what, found.empty() ? (std::string("not found: ") + without).c_str() : found.c_str());
}

int Doctor(const Options&) {
  std::string targets;
  for (const codegen::Target& t : codegen::AllTargets()) targets += (targets.empty() ? "" : ", ") + std::to_string(t.sm);
  Row("targets", targets, "");
  Row("ptxas", codegen::FindPtxas(),
      "without it and nvJitLink no machine code, only --emit=ptx, which the driver compiles. Install the CUDA toolkit and set "
      "CUDA_HOME, or TILEC_PTXAS");
  Row("nvJitLink", codegen::FindNvJitLink(),
      "needed only where ptxas is missing. It comes with the CUDA toolkit, or alone; TILEC_NVJITLINK names it");
  Row("nvdisasm", codegen::FindDisassembler(), "needed only for --emit=sass. TILEC_NVDISASM names it, or cuobjdump");
  Row("libdevice", codegen::FindLibdevice(),
      "kernels with exp, sin and other math functions can't be compiled. Install the CUDA toolkit and set CUDA_HOME, or "
      "TILEC_LIBDEVICE");
  void* cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  Row("driver", cuda == nullptr ? "" : "libcuda.so.1", "kernels can be compiled but not run on a GPU here");
  if (cuda != nullptr) dlclose(cuda);
  return kOk;
}

}  // namespace

const Command kDoctorCommand = {"doctor", "", "tells what was found on this machine, and what is missing", {}, "", Doctor};

}  // namespace tile::tools
