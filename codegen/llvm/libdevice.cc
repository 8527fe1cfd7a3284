#include "codegen/llvm/libdevice.h"

#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/Internalize.h"

namespace tile::codegen {

absl::Status LinkLibdevice(const std::string& path, llvm::Module* module) {
  bool needed = false;
  for (const llvm::Function& f : *module) needed = needed || (f.isDeclaration() && f.getName().starts_with("__nv_"));
  if (!needed) return absl::OkStatus();
  if (path.empty()) {
    return absl::NotFoundError(
        "error[codegen.libdevice]: this kernel needs CUDA's device library for its math functions, and libdevice.10.bc "
        "was not found. Install the CUDA toolkit and name its folder in CUDA_HOME, or the file in TILEC_LIBDEVICE");
  }
  llvm::SMDiagnostic why;
  // Bodies are read as they are linked: of hundreds of functions a kernel calls a few.
  std::unique_ptr<llvm::Module> library =
      llvm::getLazyIRFileModule(path, why, module->getContext(), /*ShouldLazyLoadMetadata=*/true);
  if (library == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("error[codegen.libdevice]: ", path, ": ", why.getMessage().str()));
  }
  library->setTargetTriple(module->getTargetTriple());
  library->setDataLayout(module->getDataLayout());
  if (llvm::Linker::linkModules(*module, std::move(library), llvm::Linker::Flags::LinkOnlyNeeded,
                                [](llvm::Module& m, const llvm::StringSet<>& names) {
                                  llvm::internalizeModule(m, [&](const llvm::GlobalValue& v) {
                                    return !v.hasName() || !names.contains(v.getName());
                                  });
                                })) {
    return absl::InternalError(absl::StrCat("error[codegen.libdevice]: ", path, " can't be linked"));
  }
  return absl::OkStatus();
}

void CallManyMathFunctions(llvm::Module* module) {
  const auto is_math = [](const llvm::Function& f) { return !f.isDeclaration() && f.getName().starts_with("__nv_"); };
  uint64_t copies = 0;
  for (const llvm::Function& f : *module) {
    if (is_math(f)) copies += uint64_t{f.getInstructionCount()} * f.getNumUses();
  }
  if (copies <= kManyInstructions) return;
  for (llvm::Function& f : *module) {
    if (!is_math(f)) continue;
    f.removeFnAttr(llvm::Attribute::AlwaysInline);
    f.addFnAttr(llvm::Attribute::NoInline);
  }
}

}  // namespace tile::codegen
