#include "codegen/emit/elementwise/pairs.h"

#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/halves.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Elem;
using llvm::Value;

bool ChangesSign(const ir::Op& op) { return ir::NegfOp::Is(&op) || ir::AbsfOp::Is(&op); }
bool IsArithmetic(const ir::Op& op) {
  return ir::AddfOp::Is(&op) || ir::SubfOp::Is(&op) || ir::MulfOp::Is(&op) || ir::FmaOp::Is(&op);
}

bool HasInstruction(const Emitter& e, const ir::Op& op) {
  const Elem elem = op.result(0)->type().elem();
  if (elem != Elem::kF16 && elem != Elem::kBF16) return false;
  if (ChangesSign(op)) return true;
  if (!IsArithmetic(op)) return false;
  return ir::RoundingOp(op).rounding() == ir::Rounding::kNearestEven &&
         (elem == Elem::kF16 || e.target().has(ir::FmaOp::Is(&op) ? kBf16Fma : kBf16Arith));
}

bool IsRounded(const Emitter& e, Value* v) { return e.target().has(kBf16Fma) && llvm::isa<llvm::FPTruncInst>(v); }

bool AreOne(const Emitter& e, Value* low, Value* high) {
  return WordOfHalves(low, high) != nullptr || (IsRounded(e, low) && IsRounded(e, high));
}

// Every pair of every operand is one word, but for those of equal halves, and one at least is no such.
bool AllAreOne(Emitter& e, const ir::Op& op) {
  const size_t n = e.layout(op.result(0)).registers();
  for (size_t r = 0; r < n; r += 2) {
    bool any = false;
    for (int i = 0; i < op.num_operands(); ++i) {
      const Registers& in = e.regs(op.operand(i));
      const bool one = AreOne(e, in[r], in[r + 1]);
      if (!one && in[r] != in[r + 1]) return false;
      any = any || one;
    }
    if (!any) return false;
  }
  return true;
}

// Bits, so that NaN keeps its own.
Value* ChangeSigns(Emitter& e, Value* word, bool clear) {
  return clear ? e.b().CreateAnd(word, e.I32(0x7FFF7FFF)) : e.b().CreateXor(word, e.I32(0x80008000));
}

Value* Compute(Emitter& e, const ir::Op& op, EmitFn emit, const Registers& words) {
  if (ChangesSign(op)) return ChangeSigns(e, words[0], ir::AbsfOp::Is(&op));
  auto& b = e.b();
  llvm::Type* type = llvm::FixedVectorType::get(e.RegisterType(op.result(0)->type().elem()), 2);
  Registers in;
  for (Value* word : words) in.push_back(b.CreateBitCast(word, type));
  return b.CreateBitCast(emit(e, op, in), b.getInt32Ty());
}

Registers EmitOnFloats(Emitter& e, const ir::Op& op, EmitFn emit) {
  const size_t n = e.layout(op.result(0)).registers();
  if (n % 2 != 0) return {};
  Registers out;
  for (size_t r = 0; r < n; r += 2) {
    Registers pairs;
    for (int i = 0; i < op.num_operands(); ++i) {
      const Registers& in = e.regs(op.operand(i));
      pairs.push_back(PairOfFloats(e, in[r], in[r + 1]));
    }
    Value* result = emit(e, op, pairs);
    for (const uint64_t element : {0, 1}) out.push_back(e.b().CreateExtractElement(result, element));
  }
  return out;
}

}  // namespace

bool TakesPairsOfFloats(const Emitter& e, const ir::Op& op) {
  if (!e.target().has(kF32Pairs) || !IsArithmetic(op) || op.result(0)->type().elem() != Elem::kF32) return false;
  return ir::RoundingOp(op).rounding() == ir::Rounding::kNearestEven && !ir::FlushToZeroOp(op).flush_to_zero();
}

Value* PairOfFloats(Emitter& e, Value* first, Value* second) {
  llvm::Type* type = llvm::FixedVectorType::get(e.b().getFloatTy(), 2);
  return e.b().CreateInsertElement(e.b().CreateInsertElement(llvm::PoisonValue::get(type), first, uint64_t{0}), second,
                                   uint64_t{1});
}

Registers EmitOnPairs(Emitter& e, const ir::Op& op, EmitFn emit) {
  if (TakesPairsOfFloats(e, op)) return EmitOnFloats(e, op, emit);
  if (!HasInstruction(e, op) || e.layout(op.result(0)).registers() % 2 != 0 || !AllAreOne(e, op)) return {};
  Registers out;
  llvm::Type* type = e.RegisterType(op.result(0)->type().elem());
  const size_t n = e.layout(op.result(0)).registers();
  for (size_t r = 0; r < n; r += 2) {
    Registers words;
    for (int i = 0; i < op.num_operands(); ++i) {
      words.push_back(PackWord(e, Operands(e.regs(op.operand(i))).subspan(r, 2)));
    }
    Value* word = Compute(e, op, emit, words);
    for (int half : {0, 1}) out.push_back(HalfOfWord(e, word, half, type));
  }
  return out;
}

}  // namespace tile::codegen
