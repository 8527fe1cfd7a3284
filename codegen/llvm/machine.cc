#include "codegen/llvm/machine.h"

#include <mutex>

#include "absl/strings/str_cat.h"
#include "codegen/llvm/large_function.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"

extern "C" void LLVMInitializeNVPTXTarget();
extern "C" void LLVMInitializeNVPTXTargetInfo();
extern "C" void LLVMInitializeNVPTXTargetMC();
extern "C" void LLVMInitializeNVPTXAsmPrinter();

namespace tile::codegen {
namespace {

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Target& target, int opt_level) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target* t = llvm::TargetRegistry::lookupTarget(triple, error);
  if (t == nullptr) return absl::InternalError(absl::StrCat("error[codegen.llvm]: ", error));
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(t->createTargetMachine(
      triple, target.arch, absl::StrCat("+ptx", target.ptx), options, llvm::Reloc::PIC_, std::nullopt,
      // What more there is above the default, another value numbering, changes nothing behind Optimise.
      opt_level == 0 ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default));
}

// Straight-line strength reduction looks at the instructions behind each of those that it considers. Where calls with a hundred
// operands are among them, as matrix instructions are, that takes a seventh of LLVM's time; and the addresses of fragments, which are
// made by xor, give it nothing to do.
bool HasMatrixInstructions(const llvm::Module& module) {
  for (const llvm::Function& f : module) {
    for (const llvm::Instruction& i : llvm::instructions(f)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
      const auto* text = call == nullptr ? nullptr : llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
      if (text != nullptr && llvm::StringRef(text->getAsmString()).contains("mma.")) return true;
    }
  }
  return false;
}

// For each sum of a long block, reassociation looks at the whole chain of sums before it.
bool HasLongBlocks(const llvm::Module& module) {
  constexpr size_t kLong = 4096;
  return llvm::any_of(module, [](const llvm::Function& f) {
    return llvm::any_of(f, [](const llvm::BasicBlock& block) { return block.size() > kLong; });
  });
}

// Leaves passes out that take more time than they are worth.
class PassChoice : public llvm::OptPassGate {
 public:
  explicit PassChoice(const llvm::Module& module)
      : reduces_strength_(!HasMatrixInstructions(module)), reassociates_(!HasLongBlocks(module)) {}
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return (pass != "slsr" || reduces_strength_) && (pass != "nary-reassociate" || reassociates_);
  }
  bool isEnabled() const override { return true; }

 private:
  const bool reduces_strength_, reassociates_;
};

void KeepFirstError(const llvm::DiagnosticInfo* info, void* error) {
  auto* text = static_cast<std::string*>(error);
  if (info->getSeverity() != llvm::DS_Error || !text->empty()) return;
  llvm::raw_string_ostream out(*text);
  llvm::DiagnosticPrinterRawOStream printer(out);
  info->print(printer);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LlvmCode>> LlvmCode::Make(const Target& target, const std::string& name, int opt_level) {
  auto machine = MakeTargetMachine(target, opt_level);
  if (!machine.ok()) return machine.status();
  std::unique_ptr<LlvmCode> code(new LlvmCode);
  code->machine_ = *std::move(machine);
  code->context_.setDiagnosticHandlerCallBack(KeepFirstError, &code->error_);
  code->module_ = std::make_unique<llvm::Module>(name, code->context_);
  code->module_->setTargetTriple(code->machine_->getTargetTriple());
  code->module_->setDataLayout(code->machine_->createDataLayout());
  code->module_->addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 0u);
  return code;
}

std::string LlvmCode::Text() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  module_->print(out, nullptr);
  return text;
}

std::string LlvmCode::Faults() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(*module_, &out) && text.empty()) text = "unknown";
  return text;
}

absl::StatusOr<std::string> LlvmCode::Ptx() {
  if (is_large_) {
    machine_->setOptLevel(llvm::CodeGenOptLevel::None);
    SplitLongBlocks(module_.get());
  }
  CopyBusyFunctions(module_.get());
  llvm::SmallString<0> out;
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  if (machine_->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return absl::InternalError("error[codegen.llvm]: LLVM can't print PTX");
  }
  PassChoice choice(*module_);
  context_.setOptPassGate(choice);
  passes.run(*module_);
  if (!error_.empty()) {
    return absl::InternalError(
        absl::StrCat("error[codegen.llvm]: LLVM refuses the code of ", module_->getName().str(), ": ", error_));
  }
  return std::string(out.str());
}

}  // namespace tile::codegen
