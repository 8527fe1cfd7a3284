// Loads and stores of a thread, as inline PTX: one instruction for neighbours in memory.
//
//   MemoryAccess how = AccessOf(e, op, shared);
//   Registers r = Load(e, how, {address, 16}, elem, /*count=*/4, inside, padding);   // @p ld.global.v4.b32 {…}, [a+16]
//   Store(e, how, {address, 0}, elem, registers, inside);
//
// Inline, because LLVM drops orderings and scopes of some forms, and so that a predicate guards an access without a branch.
// A strong access (other than weak) is made of accesses of the size of the element, so that it matches those of others.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_PTX_ACCESS_H_
#define TILE_CODEGEN_EMIT_CONTEXT_PTX_ACCESS_H_

#include <cstdint>
#include <string>

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

struct MemoryAccess {
  bool shared = false;
  ir::MemoryOrdering ordering = ir::MemoryOrdering::kWeak;
  std::string scope = {};      // "cta", "cluster", "gpu", "sys"; empty if weak
  const ir::Op* op = nullptr;  // whose access it is, so that Order knows of it; null: threads exchange elements

  bool strong() const { return ordering != ir::MemoryOrdering::kWeak; }
  const char* space() const { return shared ? ".shared" : ".global"; }
  // ".relaxed.gpu"; empty if weak.
  std::string qualifiers() const;
};

// Ordering and scope of the operation, which has such attributes.
MemoryAccess AccessOf(const Emitter& e, const ir::Op& op, bool shared);

// Address of an element: i64, in shared memory i32, and a distance in bytes.
struct Address {
  llvm::Value* base = nullptr;
  int64_t offset = 0;
};
// The address as one value.
llvm::Value* AddressValue(Emitter& e, const Address& at);
// "[$3+16]", where the base is operand 3; "l" or "r" is its constraint.
std::string AddressText(const Address& at, int operand);
const char* AddressConstraint(const Address& at);

// Most elements that one instruction moves.
int MaxVector(const MemoryAccess& how, ir::Elem elem);

// `count` neighbours, from a multiple of their size on. Where `predicate` (i1; null: true) is false: no access, the
// result is `otherwise` (as many registers; empty: anything). 4-bit elements: an even number.
Registers Load(Emitter& e, const MemoryAccess& how, Address at, ir::Elem elem, int count, llvm::Value* predicate,
               Operands otherwise);
void Store(Emitter& e, const MemoryAccess& how, Address at, ir::Elem elem, Operands values, llvm::Value* predicate);

// A vector of 4, 8 or 16 bytes on its way to shared memory (cp.async) where `predicate` is true (null: always); where `inside` is not
// (null: it is), nothing is read, and zeros come.
void CopyToShared(Emitter& e, const Address& to, const Address& from, int bytes, llvm::Value* predicate,
                  llvm::Value* inside);
// What this thread copied since the last call is a group; waits until no more than so many groups are on their way.
void EndCopies(Emitter& e);
void AwaitCopies(Emitter& e, int groups);

// a && b, where null is true.
llvm::Value* And(Emitter& e, llvm::Value* a, llvm::Value* b);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_PTX_ACCESS_H_
