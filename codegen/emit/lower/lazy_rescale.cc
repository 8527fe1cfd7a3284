#include "codegen/emit/lower/lazy_rescale.h"

#include "absl/container/flat_hash_set.h"
#include "codegen/emit/context/convert.h"
#include "codegen/plan/mma/lazy_rescale.h"
#include "llvm/IR/MDBuilder.h"

namespace tile::codegen {

void RescaleLazily(Emitter& e, const ir::Op& op, llvm::Value* (*multiply)(Emitter&, const ir::Op&, Operands)) {
  auto& b = e.b();
  const int at = FactorsIn(op);
  const Registers factors = e.regs(op.operand(at)), values = e.regs(op.operand(1 - at));
  llvm::Value* ones = b.getTrue();
  absl::flat_hash_set<llvm::Value*> tested;
  for (llvm::Value* f : factors) {
    if (tested.insert(f).second) ones = b.CreateAnd(ones, b.CreateFCmpOEQ(f, llvm::ConstantFP::get(f->getType(), 1)));
  }
  llvm::Value* all = AllOfWarp(e, ones);
  llvm::BasicBlock *before = b.GetInsertBlock(), *scale = e.NewBlock("scale"), *scaled = e.NewBlock("scaled");
  b.CreateCondBr(all, scaled, scale, llvm::MDBuilder(e.context()).createLikelyBranchWeights());
  b.SetInsertPoint(scale);
  Registers products;
  for (size_t r = 0; r < values.size(); ++r) products.push_back(multiply(e, op, {values[r], factors[r]}));
  b.CreateBr(scaled);
  scale = b.GetInsertBlock();
  b.SetInsertPoint(scaled);
  e.Set(op.result(0), Merged(e, values, before, products, scale));
}

}  // namespace tile::codegen
