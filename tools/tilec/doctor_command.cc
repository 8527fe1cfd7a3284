// tilec doctor: what code generation found on this machine, and what the absence of each means.
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "codegen/assemble/disassemble.h"
#include "codegen/assemble/nvjitlink.h"
#include "codegen/assemble/ptxas.h"
#include "codegen/target/target.h"
#include "ir/escape.h"
#include "ir/release.h"
#include "runtime/cuda/gpus.h"
#include "tools/cli/report.h"
#include "tools/data/json.h"
#include "tools/tilec/tilec_commands.h"

namespace tile::tools {
namespace {

struct Finding {
  const char* what;
  std::string found;    // empty: it is not here
  std::string without;  // what that means
};

std::vector<Finding> LookAround() {
  std::vector<Finding> all = {
      {"ptxas", codegen::FindPtxas(),
       "without it and nvJitLink no machine code, only --emit=ptx, which the driver compiles. Install the CUDA toolkit and set "
       "CUDA_HOME, or TILEC_PTXAS"},
      {"nvJitLink", codegen::FindNvJitLink(),
       "needed only where ptxas is missing. It comes with the CUDA toolkit, or alone; TILEC_NVJITLINK names it"},
      {"nvdisasm", codegen::FindDisassembler(), "needed only for --emit=sass. TILEC_NVDISASM names it, or cuobjdump"},
      {"libdevice", codegen::FindLibdevice(),
       "kernels with exp, sin and other math functions can't be compiled. Install the CUDA toolkit and set CUDA_HOME, or "
       "TILEC_LIBDEVICE"}};
  const absl::StatusOr<runtime::GpuList> list = runtime::ListGpus();
  if (!list.ok()) {
    // "error[cuda.no_library]: …": the reason is the text after the code.
    absl::string_view why = list.status().message();
    why = why.substr(0, why.find('\n'));
    if (const size_t end = why.find("]: "); end != absl::string_view::npos) why.remove_prefix(end + 3);
    all.push_back({"driver", "", absl::StrCat(why, "; kernels can be compiled but not run on a GPU here")});
    return all;
  }
  all.push_back(
      {"driver", absl::StrFormat("CUDA %d.%d", list->driver_version / 1000, list->driver_version % 1000 / 10), ""});
  for (const runtime::Gpu& gpu : list->gpus) {
    const codegen::Target* t = codegen::TargetOfGpu(gpu.sm);
    all.push_back({"gpu",
                   absl::StrCat(gpu.name, ", sm_", gpu.sm,
                                t == nullptr ? ", for which there is no target" : absl::StrCat(": --sm=", t->name())),
                   ""});
  }
  return all;
}

int Doctor(const Options& options) {
  const std::vector<Finding> findings = LookAround();
  if (!options.has("json")) {
    std::printf("%-12s %s\n", "targets", codegen::TargetNames().c_str());
    for (const Finding& f : findings) {
      std::printf("%-12s %s\n", f.what,
                  ir::Escaped(f.found.empty() ? absl::StrCat("not found: ", f.without) : f.found).c_str());
    }
    return kOk;
  }
  std::vector<std::string> targets, rows;
  for (const codegen::Target& t : codegen::AllTargets())
    targets.push_back(absl::StrCat("{\"sm\":", t.sm, ",\"arch\":\"", t.arch, "\"}"));
  for (const Finding& f : findings) {
    const auto text = [](const std::string& s) { return s.empty() ? std::string("null") : JsonQuote(ir::Escaped(s)); };
    rows.push_back(absl::StrCat("{\"what\":\"", f.what, "\",\"found\":", text(f.found),
                                ",\"without\":", text(f.found.empty() ? f.without : ""), "}"));
  }
  PrintJson(absl::StrCat("{\"release\":\"", ir::kRelease, "\",\"targets\":[", absl::StrJoin(targets, ","),
                         "],\"findings\":[", absl::StrJoin(rows, ","), "]}"));
  return kOk;
}

}  // namespace

const Command kDoctorCommand = {
    "doctor",
    "",
    "lists what was found on this machine, and what is missing",
    {{"json", 0, nullptr,
      "as one JSON object: release, targets, findings (what, found or null, without: what its absence means)"}},
    "",
    Doctor};

}  // namespace tile::tools
