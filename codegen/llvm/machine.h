// An LLVM module for one target, and what makes PTX of it.
//
//   absl::StatusOr<std::unique_ptr<LlvmCode>> code = LlvmCode::Make(target, "name", /*opt_level=*/3);
//   … code->module() …
//   absl::StatusOr<std::string> ptx = code->Ptx();
//
// Errors that LLVM reports while it works, with its own handler the end of the process, come from Ptx().
#ifndef TILE_CODEGEN_LLVM_MACHINE_H_
#define TILE_CODEGEN_LLVM_MACHINE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "codegen/target/target.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tile::codegen {

class LlvmCode {
 public:
  static absl::StatusOr<std::unique_ptr<LlvmCode>> Make(const Target& target, const std::string& name, int opt_level);

  llvm::Module& module() { return *module_; }
  llvm::TargetMachine& machine() { return *machine_; }
  std::string Text() const;
  // What is wrong with the module; "" if nothing is.
  std::string Faults() const;
  // Its functions are large (large_function.h): few of LLVM's passes run.
  void set_large() { is_large_ = true; }
  // Uses the module up.
  absl::StatusOr<std::string> Ptx();

 private:
  LlvmCode() = default;

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<llvm::Module> module_;
  std::string error_;
  bool is_large_ = false;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_MACHINE_H_
