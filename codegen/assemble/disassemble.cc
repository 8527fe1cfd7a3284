#include "codegen/assemble/disassemble.h"

#include <sys/wait.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/assemble/child_process.h"

namespace tile::codegen {
namespace {

constexpr char kVariable[] = "TILEC_NVDISASM";

}  // namespace

std::string FindDisassembler() {
  const std::string found = FindCudaProgram("nvdisasm", kVariable);
  return found.empty() ? FindCudaProgram("cuobjdump", kVariable) : found;
}

absl::StatusOr<std::string> Disassemble(const std::string& cubin) {
  const std::string program = FindDisassembler();
  if (program.empty()) {
    return absl::NotFoundError(
        "error[codegen.nvdisasm]: no nvdisasm and no cuobjdump was found, so machine code can't be shown. Install the CUDA "
        "toolkit's binary utilities, or name one of these programs in TILEC_NVDISASM; --emit=ptx needs neither");
  }
  TemporaryFolder folder;
  if (!folder.ok()) return absl::UnavailableError("error[codegen.io]: no temporary folder could be made");
  const std::string in = folder.File("kernel.cubin"), out = folder.File("text"), log = folder.File("log");
  WriteAll(in, cubin);
  int status = 0;
  // cuobjdump takes the name of an option, nvdisasm shows code without one.
  std::vector<std::string> words = {program};
  words.push_back(absl::EndsWith(program, "cuobjdump") ? "-sass" : "-c");
  words.push_back(in);
  if (!Run(std::move(words), out, log, &status) || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return absl::UnavailableError(absl::StrCat("error[codegen.nvdisasm]: ", program, " failed: ", ReadAll(log)));
  }
  return ReadAll(out);
}

}  // namespace tile::codegen
