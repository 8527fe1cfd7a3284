// Loads in a for that bring operands of its matrix products, moved into one operation whose region can be run for later
// values of the induction variable: what fetch_ahead.h and copy_ahead.h have in common.
//
//   LoopLoads loop(module, op);
//   if (loop.WhyNot(*mma, 0, load, /*outside=*/IsSliceable).empty()) …
//   ir::Op* fetch = loop.Move(GpuOpcode::kFetchAhead, {{mma, 0}, {mma, 1}});
//
// Not thread-safe with other changes of the module.
#ifndef TILE_CODEGEN_PASSES_MOVE_LOADS_H_
#define TILE_CODEGEN_PASSES_MOVE_LOADS_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "codegen/target/gpu_ops.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

struct ProductOperand {
  ir::Op* mma = nullptr;
  int index = 0;  // 0, 1
};

class LoopLoads {
 public:
  LoopLoads(ir::Module* module, ir::Op* loop) : module_(module), loop_(loop), body_(loop->region(0)) {}

  // Why `load`, which brings operand i, can't move; "" if it can. It may if nothing else uses what it loads, no token
  // orders it behind a write, and its view and indices follow by scalar operations from the induction variable and from
  // values of before the loop for which `outside` holds.
  std::string WhyNot(const ir::Op& mma, int i, const ir::Op& load,
                     absl::FunctionRef<bool(const ir::Value*)> outside) const;

  // Returns the new operation at the front of the body; its results are the operands, in this order.
  ir::Op* Move(GpuOpcode code, absl::Span<const ProductOperand> operands);

 private:
  bool InLoop(const ir::Value* v) const;
  bool CanCopy(const ir::Value* v, absl::FunctionRef<bool(const ir::Value*)> outside) const;
  ir::Value* Copy(ir::Value* v);
  void Remove(ir::Value* v);

  ir::Module* module_;
  ir::Op* loop_;
  ir::Block* body_;
  ir::Block* region_ = nullptr;
  absl::flat_hash_map<const ir::Value*, ir::Value*> copies_;
};

// One of the loops stands in the other, or they are one.
bool StandsInOrHolds(const ir::Op* loop, const ir::Op* other);

// Whether a product, or operand of one, takes this optional step (`why` is empty, and the trace lets it), with a
// remark.
bool TakesFetch(const ir::Module& module, const ir::Op& mma, const char* step, const char* what, std::string why,
                Trace* trace);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MOVE_LOADS_H_
