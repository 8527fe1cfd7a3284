#include "codegen/emit/lower/integer_max.h"

#include <algorithm>

#include "codegen/emit/context/convert.h"
#include "llvm/IR/MDBuilder.h"

namespace tile::codegen {
namespace {

using llvm::Value;

constexpr size_t kChains = 4;  // of one row, which don't wait for each other
constexpr int64_t kInfinity = 0x7F800000;

Value* Greater(Emitter& e, Value* x, Value* y) { return e.b().CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y); }

// i1, the same for the warp: none of these is negative. Asked where the loop brings them, long before it is needed.
Value* NoneIsNegative(Emitter& e, const Registers& old) {
  auto& b = e.b();
  const llvm::IRBuilderBase::InsertPointGuard guard(b);
  auto* phi = llvm::dyn_cast<llvm::PHINode>(old[0]);
  const bool together = phi != nullptr && std::all_of(old.begin(), old.end(), [&](const Value* v) {
                          const auto* other = llvm::dyn_cast<llvm::PHINode>(v);
                          return other != nullptr && other->getParent() == phi->getParent();
                        });
  if (together) b.SetInsertPoint(phi->getParent(), phi->getParent()->getFirstInsertionPt());
  Value* none = b.getTrue();
  for (Value* v : old) none = b.CreateAnd(none, b.CreateICmpSGE(e.ToBits(v), e.I32(0)));
  return AllOfWarp(e, none);
}

// The greatest of a row, of three at a time.
Value* GreatestOf(Emitter& e, Value* first, const Registers& row) {
  std::vector<Value*> chains;
  for (size_t c = 0; c < std::min(kChains, row.size()); ++c) {
    Value* greatest = c == 0 ? Greater(e, first, e.ToBits(row[0])) : e.ToBits(row[c]);
    for (size_t i = c + kChains; i < row.size(); i += kChains) greatest = Greater(e, greatest, e.ToBits(row[i]));
    chains.push_back(greatest);
  }
  Value* greatest = chains[0];
  for (size_t c = 1; c < chains.size(); ++c) greatest = Greater(e, greatest, chains[c]);
  return greatest;
}

}  // namespace

Registers MaximaAsIntegers(Emitter& e, const std::vector<Registers>& rows, absl::Span<const uint32_t> exchanges,
                           const Registers& old, const std::function<Registers()>& as_floats) {
  auto& b = e.b();
  llvm::BasicBlock *integers = e.NewBlock("integers"), *floats = e.NewBlock("floats"), *found = e.NewBlock("found");
  // What is rare stands apart: a branch that is taken costs.
  llvm::MDBuilder weights(e.context());
  if (old.empty()) {
    b.CreateBr(integers);
  } else {
    b.CreateCondBr(NoneIsNegative(e, old), integers, floats, weights.createLikelyBranchWeights());
  }

  b.SetInsertPoint(integers);
  Registers greatest;
  for (size_t k = 0; k < rows.size(); ++k)
    greatest.push_back(GreatestOf(e, e.ToBits(old.empty() ? rows[k][0] : old[k]), rows[k]));
  const auto any_is_wrong = [&] {  // NaN, or negative
    Value* wrong = b.getFalse();
    for (Value* v : greatest) wrong = b.CreateOr(wrong, b.CreateICmpUGT(v, e.I32(kInfinity)));
    return AnyOfWarp(e, wrong);
  };
  // Beside what lanes exchange, if none can be negative. Else a thread may have had nothing but what stands behind the end of a row.
  Value* wrong = old.empty() ? nullptr : any_is_wrong();
  for (const uint32_t lanes : exchanges) {
    for (Value*& v : greatest) v = Greater(e, v, ShuffleXor(e, v, lanes));
  }
  if (wrong == nullptr) wrong = any_is_wrong();
  for (size_t k = 0; k < rows.size(); ++k) greatest[k] = e.FromBits(greatest[k], rows[k][0]->getType());
  b.CreateCondBr(wrong, floats, found, weights.createUnlikelyBranchWeights());
  integers = b.GetInsertBlock();

  b.SetInsertPoint(floats);
  const Registers usual = as_floats();
  floats = b.GetInsertBlock();
  b.CreateBr(found);

  b.SetInsertPoint(found);
  return Merged(e, greatest, integers, usual, floats);
}

}  // namespace tile::codegen
