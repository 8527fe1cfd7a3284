#include "tools/module/load.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/cpp_name.h"
#include "ir/diagnostic.h"
#include "ir/limits.h"
#include "tools/cli/report.h"
#include "tools/data/files.h"

namespace tile::tools {

std::unique_ptr<LoadedModule> Load(const std::string& path, int* exit, const LoadOptions& options) {
  const std::string name = NameOf(path);
  absl::StatusOr<AlignedBuffer> file = ReadWholeFile(path, ir::kMaxFileBytes);
  if (!file.ok()) {
    *exit = FailAt(path == "-" ? "stdin" : path, kRejected, "file.read", file.status());
    return nullptr;
  }
  ir::Diagnostics diagnostics;
  absl::StatusOr<ir::ProgramRead> program = ir::ReadProgram(file->span(), name, options.verify, &diagnostics);
  const bool warns = program.ok() && options.verify && options.warnings && !diagnostics.list().empty();
  if (!diagnostics.ok() || warns) PrintDiagnostics(diagnostics.ToString());
  if (!program.ok()) {
    if (diagnostics.ok()) PrintDiagnostics(program.status().message());
    *exit = kRejected;
    return nullptr;
  }
  auto loaded = std::make_unique<LoadedModule>();
  loaded->module = std::move(program->module);
  loaded->form = program->form;
  loaded->version = program->version;
  loaded->file = *std::move(file);
  return loaded;
}

std::string NameOf(const std::string& path) { return path == "-" ? "<stdin>" : path; }

const ir::Function* PickKernel(const ir::Module& module, const std::string& file, const std::string& name, int* exit) {
  if (module.functions.empty()) {
    *exit = FailAt(file, kRejected, "run.no_kernel", "the file has no kernels");
    return nullptr;
  }
  const std::string list = absl::StrCat("kernels: ", ir::ListKernels(module));
  if (!name.empty()) {
    const std::vector<const ir::Function*> found = ir::FindKernels(module, name);
    if (found.size() == 1) return found[0];
    *exit = found.empty() ? FailAt(file, kRejected, "run.no_kernel", absl::StrCat("no kernel `", name, "`"), list)
                          : FailAt(file, kUsage, "run.which_kernel",
                                   absl::StrCat(found.size(), " kernels are called `", name, "`"),
                                   absl::StrCat("give template arguments, parameters or the symbol; ", list));
    return nullptr;
  }
  if (module.functions.size() == 1) return module.functions[0].get();
  *exit = FailAt(file, kUsage, "run.which_kernel", absl::StrCat("the file has ", module.functions.size(), " kernels"),
                 absl::StrCat("name one with --kernel; ", list));
  return nullptr;
}

}  // namespace tile::tools
