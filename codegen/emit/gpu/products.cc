// Products that run while their warp executes other instructions.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/pipeline/async_products.h"
#include "codegen/gpu/op_views.h"

namespace tile::codegen {

void LowerMmaWait(Emitter& e, const ir::Op& op) {
  const gpu::MmaWaitOp wait(op);
  Registers all, words;
  for (int i = 0; i < op.num_operands(); ++i) {
    Registers& to = i < op.num_results() ? all : words;
    to.insert(to.end(), e.regs(op.operand(i)).begin(), e.regs(op.operand(i)).end());
  }
  all = WaitForProducts(e, static_cast<int>(wait.pending()), std::move(all), words);
  auto at = all.begin();
  for (int i = 0; i < op.num_results(); ++i) {
    const auto n = static_cast<int64_t>(e.regs(op.operand(i)).size());
    e.Set(op.result(i), Registers(at, at + n));
    at += n;
  }
}

// Products take the words (emit/lower/lower_mma.cc).
void LowerWordsTile(Emitter&, const ir::Op&) {}

void LowerHeldWords(Emitter&, const ir::Op&) {}

void LowerUnset(Emitter& e, const ir::Op& op) {
  const ir::Value* v = op.result(0);
  e.Set(v, Registers(static_cast<size_t>(e.layout(v).registers()),
                     llvm::PoisonValue::get(e.RegisterType(v->type().element()))));
}

// LLVM orders what has no effects by its users alone: values of 16 or 32 bits are used here.
void LowerMadeHere(Emitter& e, const ir::Op& op) {
  std::string constraints;
  Registers made;
  for (int i = 0; i < op.num_operands(); ++i) {
    for (llvm::Value* v : e.regs(op.operand(i))) {
      const unsigned bits = v->getType()->getPrimitiveSizeInBits();
      if ((bits != 16 && bits != 32) || llvm::isa<llvm::Constant>(v)) continue;
      absl::StrAppend(&constraints, made.empty() ? "" : ",", bits == 16 ? "h" : v->getType()->isFloatTy() ? "f" : "r");
      made.push_back(v);
    }
  }
  if (!made.empty()) e.Ptx(e.b().getVoidTy(), "", constraints, made, true);
}

void LowerHideNumber(Emitter& e, const ir::Op& op) { e.Set(op.result(0), Through(e, "", {e.scalar(op.operand(0))})); }

void LowerOwnRegisters(Emitter& e, const ir::Op& op) {
  e.Set(op.result(0), InRegistersOfTheirOwn(e, e.regs(op.operand(0))));
}

}  // namespace tile::codegen
