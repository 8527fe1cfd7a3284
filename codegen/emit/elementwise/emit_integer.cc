// Integer arithmetic and bit operations, as vm/kernels/scalar.h defines them. i1 is arithmetic modulo 2 and has rules of its
// own, since LLVM's NVPTX knows it as a predicate. Promises of `overflow` become LLVM's nsw and nuw.
#include "absl/strings/str_cat.h"
#include "codegen/emit/context/emitter.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"

namespace tile::codegen {
namespace {

using llvm::Value;

bool IsI1(Value* v) { return v->getType()->isIntegerTy(1); }
int Width(Value* v) { return static_cast<int>(v->getType()->getIntegerBitWidth()); }
llvm::Constant* Number(Value* like, uint64_t n) { return llvm::ConstantInt::get(like->getType(), n); }
bool IsSigned(const ir::Op& op) { return ir::SignednessOp(op).signedness() == ir::Signedness::kSigned; }

bool NoSignedWrap(const ir::Op& op) {
  const ir::Overflow o = ir::OverflowOp(op).overflow();
  return o == ir::Overflow::kNoSignedWrap || o == ir::Overflow::kNoWrap;
}
bool NoUnsignedWrap(const ir::Op& op) {
  const ir::Overflow o = ir::OverflowOp(op).overflow();
  return o == ir::Overflow::kNoUnsignedWrap || o == ir::Overflow::kNoWrap;
}

Value* AndNot(Emitter& e, Value* a, Value* not_b) { return e.b().CreateAnd(a, e.b().CreateNot(not_b)); }

// `q` raised or lowered by one where `condition` holds.
Value* Adjust(Emitter& e, Value* q, Value* condition, bool up) {
  Value* one = e.b().CreateZExt(condition, q->getType());
  return up ? e.b().CreateAdd(q, one) : e.b().CreateSub(q, one);
}

// LLVM gives division by zero and minimum / -1 no meaning at all, not even a wrong number, so they stay out of it:
// x / 0 is 0, minimum / -1 the minimum.
Value* DivideSigned(Emitter& e, Value* a, Value* b, ir::Rounding rounding) {
  auto& ir = e.b();
  const auto* divisor = llvm::dyn_cast<llvm::ConstantInt>(b);
  if (rounding == ir::Rounding::kNegativeInf && divisor != nullptr && divisor->getValue().isPowerOf2() &&
      !divisor->isNegative()) {
    return ir.CreateAShr(a, divisor->getValue().logBase2());
  }
  // 0 and -1: there a * b is what the rules above want.
  Value* product = ir.CreateICmpULT(ir.CreateAdd(b, Number(b, 1)), Number(b, 2));
  Value* y = ir.CreateSelect(product, Number(b, 1), b);
  Value* q = ir.CreateSDiv(a, y);
  if (rounding != ir::Rounding::kZero) {
    Value* rest = ir.CreateSub(a, ir.CreateMul(q, y));
    const bool up = rounding == ir::Rounding::kPositiveInf;
    Value* apart = ir.CreateICmpSLT(ir.CreateXor(rest, y), Number(b, 0));
    Value* inexact = ir.CreateIsNotNull(rest);
    q = Adjust(e, q, up ? AndNot(e, inexact, apart) : ir.CreateAnd(inexact, apart), up);
  }
  return ir.CreateSelect(product, ir.CreateMul(a, b), q);
}

Value* DivideUnsigned(Emitter& e, Value* a, Value* b, ir::Rounding rounding) {
  auto& ir = e.b();
  Value* zero = ir.CreateIsNull(b);
  Value* y = ir.CreateSelect(zero, Number(b, 1), b);
  Value* q = ir.CreateUDiv(a, y);
  if (rounding == ir::Rounding::kPositiveInf) {
    q = Adjust(e, q, ir.CreateIsNotNull(ir.CreateSub(a, ir.CreateMul(q, y))), true);
  }
  return ir.CreateSelect(zero, Number(b, 0), q);
}

// As signed, i1 true is -1.
Value* MinMax(Emitter& e, const ir::Op& op, Operands in, bool max) {
  auto& b = e.b();
  const bool is_signed = IsSigned(op);
  if (IsI1(in[0])) return max != is_signed ? b.CreateOr(in[0], in[1]) : b.CreateAnd(in[0], in[1]);
  const auto id = max ? (is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax)
                      : (is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
  return b.CreateBinaryIntrinsic(id, in[0], in[1]);
}

}  // namespace

Value* EmitAbsi(Emitter& e, const ir::Op&, Operands in) {
  if (IsI1(in[0])) return in[0];
  // ptxas takes the result of `abs` for positive: of a minimum it widens, converts and compares it as such (seen with 13.0). It does not
  // know that this is one, and LLVM does not see it.
  const int bits = Width(in[0]);
  if (bits == 16) {
    return e.Ptx(in[0]->getType(), "{ .reg .b16 m; shr.s16 m, $1, 15; xor.b16 $0, $1, m; sub.s16 $0, $0, m; }", "=&h,h",
                 {in[0]}, false);
  }
  if (bits == 32 || bits == 64) {
    return e.Ptx(in[0]->getType(),
                 absl::StrCat("{ .reg .b", bits, " m; neg.s", bits, " m, $1; max.s", bits, " $0, $1, m; }"),
                 bits == 32 ? "=r,r" : "=l,l", {in[0]}, false);
  }
  return e.b().CreateBinaryIntrinsic(llvm::Intrinsic::abs, in[0], e.b().getFalse());
}

Value* EmitNegi(Emitter& e, const ir::Op& op, Operands in) {
  if (IsI1(in[0])) return in[0];
  return e.b().CreateSub(Number(in[0], 0), in[0], "", false, NoSignedWrap(op));
}

Value* EmitAddi(Emitter& e, const ir::Op& op, Operands in) {
  if (IsI1(in[0])) return e.b().CreateXor(in[0], in[1]);
  return e.b().CreateAdd(in[0], in[1], "", NoUnsignedWrap(op), NoSignedWrap(op));
}

Value* EmitSubi(Emitter& e, const ir::Op& op, Operands in) {
  if (IsI1(in[0])) return e.b().CreateXor(in[0], in[1]);
  return e.b().CreateSub(in[0], in[1], "", NoUnsignedWrap(op), NoSignedWrap(op));
}

Value* EmitMuli(Emitter& e, const ir::Op& op, Operands in) {
  if (IsI1(in[0])) return e.b().CreateAnd(in[0], in[1]);
  return e.b().CreateMul(in[0], in[1], "", NoUnsignedWrap(op), NoSignedWrap(op));
}

Value* EmitMulhii(Emitter& e, const ir::Op&, Operands in) {
  auto& b = e.b();
  const int n = Width(in[0]);
  if (n == 1) return b.getFalse();
  llvm::Type* wide = b.getIntNTy(n < 32 ? 32 : 2 * n);
  Value* product = b.CreateMul(b.CreateZExt(in[0], wide), b.CreateZExt(in[1], wide));
  return b.CreateTrunc(b.CreateLShr(product, n), in[0]->getType());
}

Value* EmitDivi(Emitter& e, const ir::Op& op, Operands in) {
  if (IsI1(in[0])) return e.b().CreateAnd(in[0], in[1]);  // 1 / 1 and -1 / -1 are 1
  const auto rounding = ir::DiviOp(op).rounding();
  return IsSigned(op) ? DivideSigned(e, in[0], in[1], rounding) : DivideUnsigned(e, in[0], in[1], rounding);
}

Value* EmitRemi(Emitter& e, const ir::Op& op, Operands in) {
  auto& b = e.b();
  if (IsI1(in[0])) return b.getFalse();
  // x % 0 and x % -1 are 0, as x % 1.
  Value* one = Number(in[1], 1);
  if (!IsSigned(op)) return b.CreateURem(in[0], b.CreateSelect(b.CreateIsNull(in[1]), one, in[1]));
  Value* trivial = b.CreateICmpULT(b.CreateAdd(in[1], one), Number(in[1], 2));
  return b.CreateSRem(in[0], b.CreateSelect(trivial, one, in[1]));
}

Value* EmitMaxi(Emitter& e, const ir::Op& op, Operands in) { return MinMax(e, op, in, true); }
Value* EmitMini(Emitter& e, const ir::Op& op, Operands in) { return MinMax(e, op, in, false); }

// 64 bits by any amount, as the instruction does it: amounts are 32 bits there, and LLVM cuts theirs off without a look.
Value* ShiftWide(Emitter& e, const char* text, Operands in) {
  auto& b = e.b();
  Value* amount =
      b.CreateTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, in[1], Number(in[1], 64)), b.getInt32Ty());
  return e.Ptx(b.getInt64Ty(), text, "=l,l,r", {in[0], amount}, false);
}

// PTX's shifts have the rule for large amounts, LLVM's have not; it knows how to drop the select again.
Value* EmitShli(Emitter& e, const ir::Op& op, Operands in) {
  auto& b = e.b();
  if (IsI1(in[0])) return AndNot(e, in[0], in[1]);
  if (Width(in[0]) == 64 && !llvm::isa<llvm::Constant>(in[1])) return ShiftWide(e, "shl.b64 $0, $1, $2;", in);
  Value* shifted = b.CreateShl(in[0], in[1], "", NoUnsignedWrap(op), NoSignedWrap(op));
  return b.CreateSelect(b.CreateICmpULT(in[1], Number(in[1], Width(in[1]))), shifted, Number(in[0], 0));
}

Value* EmitShri(Emitter& e, const ir::Op& op, Operands in) {
  auto& b = e.b();
  const int n = Width(in[0]);
  if (IsSigned(op)) {
    if (n == 1) return in[0];
    return b.CreateAShr(in[0], b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, in[1], Number(in[1], n - 1)));
  }
  if (n == 1) return AndNot(e, in[0], in[1]);
  if (n == 64 && !llvm::isa<llvm::Constant>(in[1])) return ShiftWide(e, "shr.u64 $0, $1, $2;", in);
  return b.CreateSelect(b.CreateICmpULT(in[1], Number(in[1], n)), b.CreateLShr(in[0], in[1]), Number(in[0], 0));
}

Value* EmitAndi(Emitter& e, const ir::Op&, Operands in) { return e.b().CreateAnd(in[0], in[1]); }
Value* EmitOri(Emitter& e, const ir::Op&, Operands in) { return e.b().CreateOr(in[0], in[1]); }
Value* EmitXori(Emitter& e, const ir::Op&, Operands in) { return e.b().CreateXor(in[0], in[1]); }

}  // namespace tile::codegen
