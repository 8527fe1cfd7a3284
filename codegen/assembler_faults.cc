#include "codegen/assembler_faults.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tile::codegen {

void AvoidAssemblerFaults(llvm::Module* module) {
  std::vector<llvm::MinMaxIntrinsic*> narrow;
  for (llvm::Function& f : *module) {
    for (llvm::Instruction& i : llvm::instructions(f)) {
      auto* m = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&i);
      if (m != nullptr && m->getType()->isIntegerTy() && m->getType()->getIntegerBitWidth() < 32) narrow.push_back(m);
    }
  }
  for (llvm::MinMaxIntrinsic* m : narrow) {
    llvm::IRBuilder<> b(m);
    const auto wide = [&](llvm::Value* v) { return b.CreateIntCast(v, b.getInt32Ty(), m->isSigned()); };
    llvm::Value* result = b.CreateBinaryIntrinsic(m->getIntrinsicID(), wide(m->getLHS()), wide(m->getRHS()));
    m->replaceAllUsesWith(b.CreateTrunc(result, m->getType()));
    m->eraseFromParent();
  }
}

}  // namespace tile::codegen
