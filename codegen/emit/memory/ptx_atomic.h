// One atomic update of one element, as inline PTX: `atom`, or `red` where nobody asks for the old value. LLVM's own
// atomics lose orderings and scopes on their way to PTX.
//
//   AtomicUpdate u{.mode = ir::RmwMode::kAdd, .elem = ir::Elem::kI32, .how = AccessOf(e, op, false)};
//   llvm::Value* old = EmitAtomic(e, u, address, value, nullptr, predicate, otherwise);
//
// What has no instruction is a loop around compare-and-swap: bf16 additions before sm_90.
#ifndef TILE_CODEGEN_EMIT_MEMORY_PTX_ATOMIC_H_
#define TILE_CODEGEN_EMIT_MEMORY_PTX_ATOMIC_H_

#include <optional>

#include "codegen/emit/context/ptx_access.h"

namespace tile::codegen {

struct AtomicUpdate {
  std::optional<ir::RmwMode> mode;  // absent: compare-and-swap
  ir::Elem elem = ir::Elem::kI32;
  MemoryAccess how;
  bool wants_old = true;
};

// The old value as a register of the element's type; null if it is not wanted. Where `predicate` (null: true) is false:
// no access, the result is `otherwise` (null: anything). `expected` is of compare-and-swap only.
llvm::Value* EmitAtomic(Emitter& e, const AtomicUpdate& u, Address at, llvm::Value* value, llvm::Value* expected,
                        llvm::Value* predicate, llvm::Value* otherwise);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MEMORY_PTX_ATOMIC_H_
