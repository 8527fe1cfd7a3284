// Addresses in the block's shared memory, whose account (codegen/plan/staging/shared_account.h) is kept while the kernel is emitted. Where
// rings and scratch memory begin is known at the end only; until then symbols stand for them.
//
//   llvm::Value* mine = e.shared().Address(e.I32(e.shared().Reserve(bytes, 16)));   // for the whole run of the block
//   llvm::Value* stages = e.shared().ReserveStages(alloc, bytes);
//   e.shared().Place();                                                             // behind the last operation
//   absl::Status fits = e.shared().account().Check(function);
//
// Not thread-safe.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_SHARED_MEMORY_H_
#define TILE_CODEGEN_EMIT_CONTEXT_SHARED_MEMORY_H_

#include <cstdint>

#include "codegen/plan/staging/shared_account.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tile::codegen {

class SharedMemory {
 public:
  SharedMemory(const Target& target, bool persistent, llvm::IRBuilder<>& builder)
      : account_(target, persistent), builder_(builder) {}

  SharedAccount& account() { return account_; }
  const SharedAccount& account() const { return account_; }

  // Before the first operation.
  void Begin(const ir::Function& function, llvm::Module* module);

  // Bytes for the whole run of the block, at a fixed offset.
  uint32_t Reserve(uint64_t bytes, uint64_t alignment);
  // Bytes for a value (SharedAccount::ReserveKept), at a fixed offset.
  SharedAccount::Kept ReserveKept(const ir::Value* v, const ir::Block* of_loops, uint64_t bytes, uint64_t alignment) {
    return account_.ReserveKept(v, of_loops, bytes, alignment);
  }
  llvm::Value* Address(llvm::Value* byte_offset);  // i32 -> ptr addrspace(3)
  // Memory for the stages of a loop that fetches ahead, aligned to 1024.
  llvm::Value* ReserveStages(const ir::Op& alloc, uint64_t bytes);
  // Memory for the stages of a loop whose threads copy ahead.
  llvm::Value* ReserveCopies(uint64_t bytes);
  // Valid until the next call; the caller places the barriers (Emitter::Scratch).
  llvm::Value* Scratch(uint64_t bytes);

  // Behind the last operation: addresses take the place of the symbols.
  void Place();

 private:
  SharedAccount account_;
  llvm::IRBuilder<>& builder_;
  llvm::GlobalVariable *all_ = nullptr, *ring_ = nullptr, *scratch_ = nullptr;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_SHARED_MEMORY_H_
