#include "ir/ttir/contract.h"

#include <vector>

#include "ir/ops.h"

namespace tile::ir::ttir {
namespace {

// The product that operand i is, if nothing else uses it; null otherwise.
Op* ProductAt(const Op& sum, int i, const absl::flat_hash_set<const Op*>& ops) {
  Op* def = sum.operand(i)->def();
  if (def == nullptr || def->opcode() != Opcode::kMulf || def->block() != sum.block() || !ops.contains(def))
    return nullptr;
  const Use* use = def->result(0)->uses();
  return use != nullptr && use->next == nullptr ? def : nullptr;
}

bool IsSum(const Op& op) {
  if (op.opcode() != Opcode::kAddf && op.opcode() != Opcode::kSubf) return false;
  const Elem e = op.result(0)->type().elem();
  return e == Elem::kF32 || e == Elem::kF64;
}

}  // namespace

void ContractProducts(Module* module, Function* function, const absl::flat_hash_set<const Op*>& ops) {
  std::vector<Op*> sums;
  Walk(function->body(), [&](Op* op) {
    if (ops.contains(op) && IsSum(*op)) sums.push_back(op);
  });
  for (Op* sum : sums) {
    int at = 0;
    Op* product = ProductAt(*sum, 0, ops);
    if (product == nullptr) product = ProductAt(*sum, at = 1, ops);
    if (product == nullptr) continue;
    Block* apart = module->CreateBlock({});
    Builder b(module, apart);
    b.set_loc(sum->loc);
    Value *x = product->operand(0), *y = product->operand(1), *other = sum->operand(1 - at);
    if (sum->opcode() == Opcode::kSubf && at == 0) other = ops::Negf(b, other);
    if (sum->opcode() == Opcode::kSubf && at == 1) x = ops::Negf(b, x);
    Value* result = ops::Fma(b, x, y, other);
    while (!apart->empty()) {
      Op* made = apart->front();
      made->Unlink();
      made->pos = sum->pos;
      module->InsertBefore(sum->block(), sum, made);
    }
    sum->result(0)->ReplaceAllUsesWith(result);
    sum->Erase();
    product->Erase();
  }
}

}  // namespace tile::ir::ttir
