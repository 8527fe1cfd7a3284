// The constructs around the operation that is being emitted, innermost last: where continue, break and yield go.
//
//   e.control().loops.push_back({next, exit, std::move(carried), std::move(results)});
//   e.b().CreateBr(e.control().loops.back().next);       // a continue
#ifndef TILE_CODEGEN_EMIT_CONTEXT_CONTROL_STACK_H_
#define TILE_CODEGEN_EMIT_CONTEXT_CONTROL_STACK_H_

#include <vector>

#include "codegen/emit/context/order.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Instructions.h"

namespace tile::codegen {

// Of each value (emit/context/carried.h).
using Phis = std::vector<std::vector<llvm::PHINode*>>;

struct ControlStack {
  struct Loop {
    llvm::BasicBlock *next = nullptr, *exit = nullptr;
    Phis carried, results;
  };
  struct Merge {
    llvm::BasicBlock* after = nullptr;
    Phis results;
    Order::Pending pending;
  };

  std::vector<Loop> loops;
  std::vector<Merge> merges;
  llvm::Value* elected = nullptr;  // i1, in the region of an elect: this thread begins copies
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_CONTROL_STACK_H_
