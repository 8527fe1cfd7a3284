#include "tools/module/load.h"

#include "absl/strings/str_cat.h"
#include "ir/cpp_name.h"
#include "ir/diagnostic.h"
#include "ir/foreign_file.h"
#include "ir/limits.h"
#include "ir/tbc/reader.h"
#include "ir/text/check.h"
#include "ir/text/parser.h"
#include "ir/tileir/reader.h"
#include "ir/ttir/reader.h"
#include "ir/verify/verify.h"
#include "tools/cli/report.h"
#include "tools/data/files.h"

namespace tile::tools {

namespace {

constexpr absl::string_view kPass = "pass a file that `tilevm as`, a frontend or `nvcc --tilebc` wrote";

}  // namespace

std::unique_ptr<LoadedModule> Load(const std::string& path, int* exit, const LoadOptions& options) {
  const std::string name = NameOf(path);
  absl::StatusOr<AlignedBuffer> file = ReadWholeFile(path, ir::kMaxFileBytes);
  if (!file.ok()) {
    *exit = FailAt(path == "-" ? "stdin" : path, kRejected, "file.read", file.status());
    return nullptr;
  }
  const absl::Span<const uint8_t> bytes = file->span();
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto loaded = std::make_unique<LoadedModule>();
  ir::Diagnostics diagnostics;
  if (ir::LooksLikeTbc(bytes)) {
    loaded->form = InputForm::kTbc;
    auto module = ir::ReadTbc(bytes, name);
    if (!module.ok()) {
      *exit = FailAt(name, kRejected, "tbc.read", module.status());
      return nullptr;
    }
    loaded->module = *std::move(module);
  } else if (ir::LooksLikeTileIr(bytes)) {
    loaded->form = InputForm::kTileIr;
    ir::TileIrInfo info;
    auto module = ir::ReadTileIr(bytes, name, &info);
    if (!module.ok()) {
      *exit = FailAt(name, kRejected, "tileir.read", module.status());
      return nullptr;
    }
    loaded->tileir_version = info.version;
    loaded->module = *std::move(module);
  } else if (ir::LooksLikeText(text) && ir::LooksLikeTtir(text)) {
    loaded->form = InputForm::kTtir;
    loaded->module = ir::ReadTtir(text, name, &diagnostics);
  } else if (!bytes.empty() && ir::LooksLikeText(text)) {
    loaded->module =
        options.verify ? ir::ParseAndVerify(text, name, &diagnostics) : ir::Parse(text, name, &diagnostics);
  } else if (bytes.empty() || ir::FindForeignKernel(bytes, name) == nullptr) {
    *exit = FailAt(name, kRejected, "file.form",
                   bytes.empty() ? "the file is empty"
                                 : "not a kernel: neither .tbc, nor tile text, nor Tile IR bytecode, nor TTIR",
                   kPass);
    return nullptr;
  }
  if (loaded->module == nullptr) {
    const ir::ForeignFile* foreign =
        loaded->form == InputForm::kTtir ? nullptr : ir::FindForeignKernel(bytes, name);  // TTIR says it better
    if (foreign != nullptr) {
      const std::string fix = foreign->ForKernel(name);
      *exit = FailAt(name, kRejected, "file.form", absl::StrCat("not a kernel but ", foreign->what),
                     fix.empty() ? kPass : fix);
      return nullptr;
    }
    PrintDiagnostics(diagnostics.ToString());
    *exit = kRejected;
    return nullptr;
  }
  if (loaded->module->source_name.empty()) loaded->module->source_name = name;
  if (options.verify) {
    if (loaded->form != InputForm::kText) ir::Verify(*loaded->module, &diagnostics);
    if (!diagnostics.ok() || (options.warnings && !diagnostics.list().empty()))
      PrintDiagnostics(diagnostics.ToString());
    if (!diagnostics.ok()) {
      *exit = kRejected;
      return nullptr;
    }
  }
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
