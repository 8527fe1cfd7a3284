// Addresses in the block's shared memory, as its account says (codegen/plan/staging/shared_account.h). Nothing is reserved here: an operation asks
// for what the account has for it.
//
//   llvm::Value* mine = e.shared().Address(e.I32(e.shared().PlaceOf(op, bytes)));
//   llvm::Value* memory = e.shared().Scratch(bytes);
//   absl::Status fault = e.shared().fault();         // at the end: whether somebody asked for what the account does not have
//
// Not thread-safe.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_SHARED_MEMORY_H_
#define TILE_CODEGEN_EMIT_CONTEXT_SHARED_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "codegen/plan/staging/shared_account.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tile::codegen {

class SharedMemory {
 public:
  SharedMemory(const SharedAccount& account, llvm::IRBuilder<>& builder) : account_(account), builder_(builder) {}

  const SharedAccount& account() const { return account_; }
  // Internal: a function of the emitter and the account differ about an operation.
  const absl::Status& fault() const { return fault_; }

  // Before the first operation.
  void Begin(llvm::Module* module);

  // Where the memory begins that the operation has for itself, so many bytes.
  uint32_t PlaceOf(const ir::Op& op, uint64_t bytes);
  llvm::Value* Address(llvm::Value* byte_offset);  // i32 -> ptr addrspace(3)
  // Valid until the next call; the caller places the barriers (Emitter::Scratch).
  llvm::Value* Scratch(uint64_t bytes);

 private:
  const SharedAccount& account_;
  llvm::IRBuilder<>& builder_;
  llvm::GlobalVariable* all_ = nullptr;
  absl::Status fault_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_SHARED_MEMORY_H_
