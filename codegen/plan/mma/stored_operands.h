// Where operands lie that threads store to shared memory for products (HasOperandsStored of staged_mma.h).
//
//   for (const StoredOperand& operand : StoredOperandsOf(mma)) …
//
// They lie in a memory that all such products use, in this order:
//   1. Operands that a loop does not change. They are stored once, before the outermost such loop. Nothing else takes their place while the
//      operation of the function's body runs that holds this loop. KeepStored decides it.
//   2. Operands that several products of a block take, permuted or not. The first of them stores each.
//   3. Operands of one product. Products use this part one after the other.
#ifndef TILE_CODEGEN_PLAN_MMA_STORED_OPERANDS_H_
#define TILE_CODEGEN_PLAN_MMA_STORED_OPERANDS_H_

#include <cstdint>
#include <vector>

#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

// An operand that threads store: its rows have at most `row_bytes` bytes. It begins `offset` bytes behind the begin of the memory.
struct StoredOperand {
  int index = 0;
  const ir::Value* tile = nullptr;  // that the operand is, permuted or not
  bool turned = false;              // an odd number of times
  int row_bytes = 0;
  int64_t offset = 0, bytes = 0;
  const ir::Op* loop =
      nullptr;  // before which it is stored; null: it is stored for this product, or for an earlier one
};
std::vector<StoredOperand> StoredOperandsOf(const ir::Op& mma);
// Those that are stored before this loop.
std::vector<StoredOperand> StoredBefore(const ir::Op& loop);
// The bytes at the begin of the memory which products of the block that follow do not use for other operands.
int64_t BytesOfShared(const ir::Block& block);

// Decides for the products of the function: an operand that a loop does not change is stored before it, if shared memory has room.
void KeepStored(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_STORED_OPERANDS_H_
