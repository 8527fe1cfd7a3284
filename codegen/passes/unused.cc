#include "codegen/passes/unused.h"

#include <vector>

#include "ir/op_views.h"

namespace tile::codegen {

bool IsUnused(const ir::Op& op) {
  const uint16_t stays = ir::kReads | ir::kWrites | ir::kEffect | ir::kTerminator;
  return op.info()->has(ir::kPure) && (op.info()->traits & stays) == 0 && op.unused();
}

void EraseUnused(ir::Block* block) {
  std::vector<ir::Op*> ops;
  for (ir::Op* inside : *block) ops.push_back(inside);
  for (auto it = ops.rbegin(); it != ops.rend(); ++it) {  // users come after what they use
    if (IsUnused(**it)) (*it)->Erase();
  }
}

void EraseLoad(ir::Module* module, ir::Op* load) {
  ir::Value* token = ir::AccessOp(load).result_token();
  if (token != nullptr && token->has_uses()) {
    ir::Value* before = ir::AccessOp(load).token();
    if (before == nullptr) {
      const ir::Type type = module->types().Token();
      ir::Op* make = module->CreateOp({.info = ir::GetOp(ir::Opcode::kMakeToken),
                                       .operands = {},
                                       .operand_ends = {},
                                       .results = {&type, 1},
                                       .attrs = {},
                                       .loc = load->loc,
                                       .pos = load->pos});
      module->InsertBefore(load->block(), load, make);
      before = make->result(0);
    }
    token->ReplaceAllUsesWith(before);
  }
  load->Erase();
}

}  // namespace tile::codegen
