// Shared memory of a block while its kernel is emitted: what operations have for themselves, rings of stages, and scratch memory
// through which threads exchange elements. Where the latter two begin is known at the end only; until then symbols stand for them.
//
//   llvm::Value* mine = e.shared().Address(e.I32(e.shared().Reserve(bytes, 16)));   // for the whole run of the block
//   llvm::Value* stages = e.shared().ReserveRing(fetch, bytes, 16).stages;
//   e.shared().Place();                                                             // behind the last operation
//   absl::Status fits = e.shared().Check(module, function);
//
// Scratch memory lies in the place of rings if no ring is in use any more where it is. Not thread-safe.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_SHARED_MEMORY_H_
#define TILE_CODEGEN_EMIT_CONTEXT_SHARED_MEMORY_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "codegen/target/target.h"
#include "ir/module.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tile::codegen {

class SharedMemory {
 public:
  // `persistent`: blocks follow each other, so that a ring may be in use everywhere.
  SharedMemory(const Target& target, bool persistent, llvm::IRBuilder<>& builder)
      : target_(target), persistent_(persistent), builder_(builder) {}

  // Before the first operation: the symbols, and behind which operation of the function's body no ring is in use any more.
  void Begin(const ir::Function& function, llvm::Module* module);
  // On whose behalf memory is asked for from now on; gives who it was before.
  const ir::Op* ServeFor(const ir::Op* op);
  // An operation of a body has been emitted.
  void Passed(const ir::Op* op);

  // Bytes for the whole run of the block, at a fixed offset.
  uint32_t Reserve(uint64_t bytes, uint64_t alignment);
  llvm::Value* Address(llvm::Value* byte_offset);  // i32 -> ptr addrspace(3)
  // Memory of the ring of a loop that fetches ahead, aligned to 1024, and for its barriers (an offset); of one fetch_ahead
  // always the same.
  struct Ring {
    llvm::Value* stages = nullptr;
    uint32_t barriers = 0;
    bool is_new = false;
  };
  Ring ReserveRing(const ir::Op& fetch, uint64_t bytes, uint64_t barrier_bytes);
  // The same for loops whose threads copy ahead, in functions without the other kind: they all use the same memory. Whether
  // another did is said in `used`.
  llvm::Value* ReserveCopies(uint64_t bytes, bool* used);
  // Valid until the next call; barriers are the caller's business (Emitter::Scratch).
  llvm::Value* Scratch(uint64_t bytes);

  uint64_t bytes() const;  // of all
  // What Scratch can still give, as far as is known.
  uint64_t Left() const;

  // Behind the last operation: addresses take the place of the symbols.
  void Place();
  // InvalidArgument if the target has less, which names the greatest users.
  absl::Status Check(const ir::Module& source, const ir::Function& function) const;

 private:
  // Who asked for memory, and what for.
  struct User {
    const ir::Op* op = nullptr;
    uint64_t bytes = 0;
    const char* what = "";
  };

  const Target& target_;
  const bool persistent_;
  llvm::IRBuilder<>& builder_;
  llvm::GlobalVariable *all_ = nullptr, *ring_ = nullptr, *scratch_ = nullptr;
  absl::flat_hash_map<const ir::Op*, Ring> ring_of_;
  const ir::Op* last_ring_ = nullptr;  // of the function's body, the last operation with a ring; null behind it
  bool scratch_beside_rings_ = false;  // scratch memory is used where they are in use, too
  uint64_t reserved_bytes_ = 0, scratch_bytes_ = 0, ring_bytes_ = 0;
  const ir::Op* user_ = nullptr;
  std::vector<User> users_;  // of what is reserved for one alone
  User scratch_user_, ring_user_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_SHARED_MEMORY_H_
