#include "codegen/passes/expand/replace_body.h"

#include <vector>

#include "codegen/gpu/ops.h"

namespace tile::codegen {
namespace {

using ir::Op;

void DropOperands(Op* op) {
  for (int r = 0; r < op->num_regions(); ++r) {
    if (op->region(r) != nullptr) ir::Walk(op->region(r), [](Op* inside) { inside->DropOperands(); });
  }
  op->DropOperands();
}

}  // namespace

void ReplaceBody(ir::Function* function, const std::function<void(ir::Builder&)>& build) {
  ir::Block* body = function->body();
  std::vector<Op*> old;
  for (Op* op : *body) {
    if (!IsGpuOp(op, GpuOpcode::kKernel) && op != body->back()) old.push_back(op);
  }
  ir::Module* module = function->module();
  ir::Builder b(module, module->CreateBlock({}));
  b.set_loc(function->loc);
  build(b);
  while (Op* op = b.block()->front()) {
    op->Unlink();
    module->InsertBefore(body, body->back(), op);
  }
  for (Op* op : old) DropOperands(op);
  for (Op* op : old) op->Unlink();
}

}  // namespace tile::codegen
