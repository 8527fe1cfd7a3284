#include "codegen/emit/elementwise/exponentials.h"

#include <algorithm>

#include "codegen/emit/context/convert.h"
#include "codegen/emit/elementwise/float_codes.h"
#include "codegen/emit/elementwise/quotient_range.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"

namespace tile::codegen {
namespace {

using llvm::Value;

constexpr size_t kGroup = 8, kLeastGroup = 4;
// Powers are then numbers that quotients are right of.
constexpr double kMostPlain = 59;
static_assert(kMostPlain < QuotientRange::kNumerator * 0.693);
// Beyond these a power is zero, or infinite.
constexpr double kLeast = -105, kMost = 90;
// log2(e) to 24 bits, and the rest.
constexpr double kLog2E = 0x1.715476p0, kLog2ERest = 0x1.4ae0cp-26;
// Its last bit is one: what is added to it, rounded down, is an integer in its low bits.
constexpr double kInteger = 0x1.8p23;

llvm::Constant* Float(Emitter& e, double x) { return llvm::ConstantFP::get(e.b().getFloatTy(), x); }

// i1, the same for the warp: none is beyond the range, or NaN.
Value* AllArePlain(Emitter& e, Operands x) {
  auto& b = e.b();
  Value* most = nullptr;
  for (Value* v : x) {
    Value* size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v);
    most = most == nullptr ? size : b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, most, size);
  }
  return AllOfWarp(e, b.CreateFCmpOLE(most, Float(e, kMostPlain)));
}

// 2^j 2^f: the second factor, between 1 and 2, and the bits of a float whose lowest ones are j.
struct Split {
  Value *fraction, *integer;
};
Split SplitPower(Emitter& e, Value* x) {
  auto& b = e.b();
  Value* integer = b.CreateIntrinsic(llvm::Intrinsic::nvvm_fma_rm_f, {x, Float(e, kLog2E), Float(e, kInteger)});
  Value* whole = b.CreateFSub(integer, Float(e, kInteger));
  Value* rest = Fma(e, x, Float(e, kLog2ERest), Fma(e, x, Float(e, kLog2E), b.CreateFNeg(whole)));
  return {b.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx_ftz, {x->getType()}, {rest}), e.ToBits(integer)};
}

Value* PlainPower(Emitter& e, Value* x) {
  auto& b = e.b();
  const Split s = SplitPower(e, x);
  return e.FromBits(b.CreateAdd(b.CreateShl(s.integer, 23), e.ToBits(s.fraction)), x->getType());
}

// Of any number. Two multiplications, of which the first is exact: j has more bits than an exponent.
Value* AnyPower(Emitter& e, Value* x) {
  auto& b = e.b();
  Value* clamped = b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, x, Float(e, kLeast));
  const Split s = SplitPower(e, b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, clamped, Float(e, kMost)));
  Value* j = b.CreateAShr(b.CreateShl(s.integer, 16), 16);
  Value* half = b.CreateAShr(j, 1);
  Value* power = s.fraction;
  for (Value* part : {half, b.CreateSub(j, half)}) {
    Value* factor = b.CreateShl(b.CreateAdd(part, e.I32(127)), 23);
    power = b.CreateFMul(power, e.FromBits(factor, x->getType()));
  }
  return power;
}

bool IsDivided(const ir::Value* power) {
  for (const ir::Use* use = power->uses(); use != nullptr; use = use->next) {
    if (ir::DivfOp::Is(use->owner) && use->owner->operand(0) == power) return true;
  }
  return false;
}

}  // namespace

bool RaisesTogether(Emitter& e, const ir::Op& op) {
  if (!ir::ExpOp::Is(&op) || op.result(0)->type().elem() == ir::Elem::kF64 || !IsDivided(op.result(0))) return false;
  if (ir::RoundingOp(op).rounding() == ir::Rounding::kApprox || !e.target().has(kBf16Fma)) return false;
  const Registers& in = e.regs(op.operand(0));
  return in.size() >= kLeastGroup &&
         std::none_of(in.begin(), in.end(), [](const Value* v) { return llvm::isa<llvm::Constant>(v); });
}

Registers EmitExponentials(Emitter& e, const ir::Op& op, Operands x) {
  auto& b = e.b();
  const ir::Elem elem = op.result(0)->type().elem();
  llvm::MDBuilder weights(e.context());
  Registers out;
  for (size_t first = 0; first < x.size(); first += kGroup) {
    Registers floats, powers[2];
    for (Value* v : x.subspan(first, std::min(kGroup, x.size() - first))) floats.push_back(ToFloat(e, elem, v));
    llvm::BasicBlock *plain = e.NewBlock("plain"), *others = e.NewBlock("others"), *raised = e.NewBlock("raised");
    b.CreateCondBr(AllArePlain(e, floats), plain, others, weights.createLikelyBranchWeights());
    for (const bool any : {false, true}) {
      b.SetInsertPoint(any ? others : plain);
      for (Value* v : floats) powers[any].push_back(any ? AnyPower(e, v) : PlainPower(e, v));
      b.CreateBr(raised);
    }
    b.SetInsertPoint(raised);
    for (Value* v : Merged(e, powers[0], plain, powers[1], others))
      out.push_back(FromFloat(e, elem, v, ir::Rounding::kNearestEven, OutOfRange::kInfinity));
  }
  return out;
}

Value* IsPlain(Value* power) {
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(power);
  if (phi == nullptr || phi->getNumIncomingValues() != 2) return nullptr;
  const llvm::BasicBlock *plain = phi->getIncomingBlock(0), *before = plain->getSinglePredecessor();
  const auto* branch = before == nullptr ? nullptr : llvm::dyn_cast<llvm::BranchInst>(before->getTerminator());
  const bool is_ours = branch != nullptr && branch->isConditional() && branch->getSuccessor(0) == plain &&
                       branch->getSuccessor(1) == phi->getIncomingBlock(1);
  return is_ours ? branch->getCondition() : nullptr;
}

}  // namespace tile::codegen
