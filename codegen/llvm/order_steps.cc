#include "codegen/llvm/order_steps.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "codegen/llvm/pure_instruction.h"
#include "codegen/llvm/taken_order.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace tile::codegen {
namespace {

using llvm::Instruction;

// Of a block, what stands in front of its last step.
void Order(llvm::BasicBlock& block, unsigned kind) {
  TakenOrder all;
  std::vector<Instruction*> waiting;
  Instruction* last = nullptr;
  for (Instruction& i : block) {
    if (llvm::isa<llvm::PHINode>(i)) continue;
    waiting.push_back(&i);
    if (!i.hasMetadata(kind)) continue;
    for (Instruction* w : waiting) all.Add(w);
    waiting.clear();
    last = &i;
  }
  const auto take_sums = [&] {
    for (int i = 0; i < all.size(); ++i) {
      if (all.taken(i) || all.at(i)->getOpcode() != Instruction::FAdd) continue;
      if (all.Needs(i).size() == 1) all.Take(i);
    }
  };
  for (int i = 0; i < all.size(); ++i) {
    if (IsPure(*all.at(i))) continue;
    std::vector<int> needs = all.Needs(i);
    needs.pop_back();  // itself, the last one
    all.TakeAll(needs);
    if (all.at(i)->hasMetadata(kind)) take_sums();
    all.Take(i);
  }
  for (int i = 0; i < all.size(); ++i) all.Take(i);
  all.MoveBefore(std::next(last->getIterator()));
}

}  // namespace

bool HasSteps(const llvm::BasicBlock& block, unsigned kind) {
  return std::any_of(block.begin(), block.end(), [&](const Instruction& i) { return i.hasMetadata(kind); });
}

void OrderSteps(llvm::Module* module, const char* kind) {
  const unsigned number = module->getContext().getMDKindID(kind);
  for (llvm::Function& f : *module) {
    for (llvm::BasicBlock& block : f) {
      if (HasSteps(block, number)) Order(block, number);
    }
  }
}

}  // namespace tile::codegen
