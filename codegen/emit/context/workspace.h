// The workspace: device memory of the hardware's block. How much there is for each is known at the end only; until then a symbol stands
// for it.
//
//   llvm::Value* mine = e.workspace().Reserve(bytes, 16);   // i64, an address
//   e.workspace().Place();                                  // after the last operation
//
// Not thread-safe.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_WORKSPACE_H_
#define TILE_CODEGEN_EMIT_CONTEXT_WORKSPACE_H_

#include <cstdint>

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Value.h"

namespace tile::codegen {

class Emitter;

class Workspace {
 public:
  explicit Workspace(Emitter& e) : e_(e) {}

  // Address (i64) of so many bytes that belong to this block alone.
  llvm::Value* Reserve(uint64_t bytes, uint64_t alignment);
  void Place();
  uint64_t bytes() const { return bytes_; }  // of a block

 private:
  Emitter& e_;
  uint64_t bytes_ = 0;
  llvm::GlobalVariable* size_ = nullptr;  // its address stands for bytes()
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_WORKSPACE_H_
