// Conversions between element types, and pointers.
#include <algorithm>

#include "codegen/emit/context/bytes.h"
#include "codegen/emit/elementwise/float_codes.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

using ir::Elem;
using ir::Rounding;
using llvm::Value;

Elem From(const ir::Op& op) { return op.operand(0)->type().elem(); }
Elem To(const ir::Op& op) { return op.result(0)->type().elem(); }
bool IsSigned(const ir::Op& op) { return ir::SignednessOp(op).signedness() == ir::Signedness::kSigned; }
bool IsIeee(Elem e) { return ir::IsFp(e) || e == Elem::kTF32; }

// --- integers to floats ---------------------------------------------------------------------------------------------

Value* ToNearest(Emitter& e, Value* v, llvm::Type* type, bool is_signed) {
  auto& b = e.b();
  // Two values; LLVM loses the sign of an i1 on its way to bf16.
  if (v->getType()->isIntegerTy(1)) {
    return b.CreateSelect(v, llvm::ConstantFP::get(type, is_signed ? -1.0 : 1.0), llvm::ConstantFP::get(type, 0.0));
  }
  return is_signed ? b.CreateSIToFP(v, type) : b.CreateUIToFP(v, type);
}

// As float, rounded to odd: cut off, and the way back shows whether anything was.
Value* ToOdd(Emitter& e, Value* v, bool is_signed) {
  auto& b = e.b();
  const unsigned bits = v->getType()->getIntegerBitWidth();
  if (bits <= 16) return ToNearest(e, v, b.getFloatTy(), is_signed);
  const auto id = bits == 32 ? (is_signed ? llvm::Intrinsic::nvvm_i2f_rz : llvm::Intrinsic::nvvm_ui2f_rz)
                             : (is_signed ? llvm::Intrinsic::nvvm_ll2f_rz : llvm::Intrinsic::nvvm_ull2f_rz);
  Value* f = b.CreateIntrinsic(id, {v});
  Value* back = is_signed ? b.CreateFPToSI(f, v->getType()) : b.CreateFPToUI(f, v->getType());
  return SetLastBitIf(e, b.CreateICmpNE(back, v), f);
}

// What is beyond all numbers of f16 as a number that is still beyond them. Such integers are exact in f32.
Value* WithinHalf(Emitter& e, Value* v, bool is_signed) {
  constexpr int64_t kBeyond = 1 << 17;
  auto& b = e.b();
  if (v->getType()->getIntegerBitWidth() <= 16) return v;
  llvm::Value* most = llvm::ConstantInt::get(v->getType(), kBeyond);
  if (!is_signed) return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, v, most);
  llvm::Value* least = llvm::ConstantInt::getSigned(v->getType(), -kBeyond);
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, v, most), least);
}

// --- floats to integers ---------------------------------------------------------------------------------------------

// Truncated to 32 or 64 bits; out of range gives the nearest bound, NaN 0. The instruction does this but for NaN, which
// gives 0 only from float to 32 bits. Of a float chosen between 0 and -1, ptxas 13.0 makes an unsigned number with all bits
// set: negative ones become 0 before, and NaN with them.
Value* Truncate(Emitter& e, Value* v, bool is_signed, bool wide) {
  auto& b = e.b();
  const bool from_double = v->getType()->isDoubleTy();
  const char* text[2][2][2] = {
      {{"{ .reg .f32 m; max.f32 m, $1, 0f00000000; cvt.rzi.u32.f32 $0, m; }", "cvt.rzi.s32.f32 $0, $1;"},
       {"{ .reg .f32 m; max.f32 m, $1, 0f00000000; cvt.rzi.u64.f32 $0, m; }", "cvt.rzi.s64.f32 $0, $1;"}},
      {{"cvt.rzi.u32.f64 $0, $1;", "cvt.rzi.s32.f64 $0, $1;"}, {"cvt.rzi.u64.f64 $0, $1;", "cvt.rzi.s64.f64 $0, $1;"}}};
  const char* constraints[2][2] = {{"=r,f", "=l,f"}, {"=r,d", "=l,d"}};
  llvm::Type* type = wide ? b.getInt64Ty() : b.getInt32Ty();
  Value* i = e.Ptx(type, text[from_double][wide][is_signed], constraints[from_double][wide], {v}, false);
  return from_double || (wide && is_signed) ? b.CreateSelect(IsNan(e, v), llvm::ConstantInt::get(type, 0), i) : i;
}

// --- i4, whose register has zeros above it --------------------------------------------------------------------------

Value* Low4(Emitter& e, Value* v) { return e.b().CreateAnd(v, llvm::ConstantInt::get(v->getType(), 15)); }

Value* Extend4(Emitter& e, Value* v, bool is_signed) {
  auto& b = e.b();
  return is_signed ? b.CreateAShr(b.CreateShl(v, 4), 4) : v;
}

}  // namespace

Value* EmitBitcast(Emitter& e, const ir::Op& op, Operands in) {
  return e.FromBits(e.ToBits(in[0]), e.RegisterType(To(op)));
}

Value* EmitExti(Emitter& e, const ir::Op& op, Operands in) {
  auto& b = e.b();
  Value* v = From(op) == Elem::kI4 ? Extend4(e, in[0], IsSigned(op)) : in[0];
  v = b.CreateIntCast(v, e.RegisterType(To(op)), IsSigned(op));
  return To(op) == Elem::kI4 ? Low4(e, v) : v;
}

// Promises of `overflow` are not used: they hardly help.
Value* EmitTrunci(Emitter& e, const ir::Op& op, Operands in) {
  Value* v = e.b().CreateIntCast(in[0], e.RegisterType(To(op)), false);
  return To(op) == Elem::kI4 ? Low4(e, v) : v;
}

namespace {

// It was widened from a type all of whose numbers are numbers of tf32, which has 11 binary digits.
bool FitsTF32(const ir::Value* v) {
  const ir::Op* def = v->def();
  while (ir::PermuteOp::Is(def) || ir::ReshapeOp::Is(def)) def = def->operand(0)->def();
  if (ir::IToFOp::Is(def)) return ir::MemoryBits(From(*def)) <= 8;
  return ir::FToFOp::Is(def) && ir::MemoryBits(From(*def)) <= 16;
}

}  // namespace

Value* EmitFToF(Emitter& e, const ir::Op& op, Operands in) {
  auto& b = e.b();
  const Elem from = From(op), to = To(op);
  if (from == Elem::kF32 && to == Elem::kTF32 && FitsTF32(op.operand(0))) return in[0];
  Rounding rounding = ir::FToFOp(op).rounding();
  if (to == Elem::kF64) return b.CreateFPExt(ToFloat(e, from, in[0]), b.getDoubleTy());
  if (from == Elem::kF64 && to == Elem::kF32) {
    switch (rounding) {
      case Rounding::kZero: return b.CreateIntrinsic(llvm::Intrinsic::nvvm_d2f_rz, {in[0]});
      case Rounding::kNegativeInf: return b.CreateIntrinsic(llvm::Intrinsic::nvvm_d2f_rm, {in[0]});
      case Rounding::kPositiveInf: return b.CreateIntrinsic(llvm::Intrinsic::nvvm_d2f_rp, {in[0]});
      default: return b.CreateFPTrunc(in[0], b.getFloatTy());
    }
  }
  if (to == Elem::kF16 && HasHalf(e, from)) return HalfOf(e, from, in[0]);
  // Elsewhere only exact conversions have the rarer modes.
  const bool rounds =
      to == Elem::kF8E8M0FNU || (from == Elem::kF32 && to == Elem::kTF32) || rounding == Rounding::kZero;
  if (!rounds) rounding = Rounding::kNearestEven;
  return FromFloat(e, to, ToFloat(e, from, in[0]), rounding,
                   IsIeee(to) ? OutOfRange::kInfinity : OutOfRange::kSaturate);
}

bool TakesPairs(const Emitter& e, const ir::Op& op) {
  if (op.opcode() != ir::Opcode::kFToF) return false;
  if (To(op) == Elem::kF16) return HasHalf(e, From(op));
  return (To(op) == Elem::kF8E5M2 || To(op) == Elem::kF8E4M3FN) && From(op) != Elem::kF64 && e.target().has(kF8Convert);
}

Registers EmitPairs(Emitter& e, const ir::Op& op, Operands in, bool branches) {
  constexpr size_t kLeastTogether = 16;
  auto& b = e.b();
  Registers out;
  if (branches && To(op) != Elem::kF16 && in.size() >= kLeastTogether) {
    Registers floats;
    for (llvm::Value* v : in) floats.push_back(ToFloat(e, From(op), v));
    for (llvm::Value* word : FoursToF8(e, To(op), floats)) {
      for (int i = 0; i < kBytesOfWord; ++i) out.push_back(ByteOfWord(e, word, i));
    }
    return out;
  }
  if (TakesWords(e, op)) {
    for (llvm::Value* word : EmitWords(e, op, WordsOfBytes(in))) {
      llvm::Value* halves = b.CreateBitCast(word, llvm::FixedVectorType::get(b.getHalfTy(), 2));
      for (uint64_t i : {0, 1}) out.push_back(b.CreateExtractElement(halves, i));
    }
    if (!out.empty()) return out;
  }
  for (size_t r = 0; r < in.size(); r += 2) {
    const size_t second = std::min(r + 1, in.size() - 1);
    if (To(op) == Elem::kF16) {
      llvm::Type* i16 = b.getInt16Ty();
      llvm::Value* codes = b.CreateOr(b.CreateZExt(in[r], i16), b.CreateShl(b.CreateZExt(in[second], i16), 8));
      llvm::Value* halves = HalvesOf(e, From(op), codes);
      for (uint64_t i : {0, 1}) out.push_back(b.CreateExtractElement(halves, i));
    } else {
      llvm::Value* codes = PairToF8(e, To(op), ToFloat(e, From(op), in[r]), ToFloat(e, From(op), in[second]));
      for (uint64_t i : {0, 8}) out.push_back(b.CreateTrunc(b.CreateLShr(codes, i), b.getInt8Ty()));
    }
  }
  out.resize(in.size());
  return out;
}

bool TakesWords(const Emitter& e, const ir::Op& op) {
  return op.opcode() == ir::Opcode::kFToF && To(op) == Elem::kF16 && HasHalf(e, From(op));
}

Registers EmitWords(Emitter& e, const ir::Op& op, Operands in) {
  Registers out;
  for (llvm::Value* word : in) {
    for (bool upper : {false, true})
      out.push_back(e.b().CreateBitCast(HalvesOfWord(e, From(op), word, upper), e.b().getInt32Ty()));
  }
  return out;
}

// Saturates always: without the attribute, a value out of range is the program's mistake. To i1 that is x != 0.
Value* EmitFToI(Emitter& e, const ir::Op& op, Operands in) {
  auto& b = e.b();
  const bool is_signed = IsSigned(op);
  const int bits = ir::ElemInfoOf(To(op)).bits;
  Value* x = From(op) == Elem::kF64 ? in[0] : ToFloat(e, From(op), in[0]);
  if (bits == 1 && !ir::FToIOp(op).saturating()) {
    return b.CreateFCmpUNE(x, llvm::ConstantFP::get(x->getType(), 0.0));
  }
  Value* i = Truncate(e, x, is_signed, bits == 64);
  if (bits >= 32) return i;
  if (bits == 1) return is_signed ? b.CreateICmpSLT(i, e.I32(0)) : b.CreateIsNotNull(i);
  const int64_t above = int64_t{1} << (is_signed ? bits - 1 : bits);
  i = b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, i, e.I32(above - 1));
  if (is_signed) i = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, i, e.I32(-above));
  return b.CreateTrunc(i, b.getIntNTy(bits));
}

Value* EmitIToF(Emitter& e, const ir::Op& op, Operands in) {
  const Elem to = To(op);
  if (to == Elem::kF32 || to == Elem::kF64) return ToNearest(e, in[0], e.RegisterType(to), IsSigned(op));
  if (to == Elem::kF16) {
    return FromFloat(e, to, ToNearest(e, WithinHalf(e, in[0], IsSigned(op)), e.b().getFloatTy(), IsSigned(op)),
                     Rounding::kNearestEven, OutOfRange::kInfinity);
  }
  return FromFloat(e, to, ToOdd(e, in[0], IsSigned(op)), Rounding::kNearestEven, OutOfRange::kInfinity);
}

Value* EmitIntToPtr(Emitter&, const ir::Op&, Operands in) { return in[0]; }
Value* EmitPtrToInt(Emitter&, const ir::Op&, Operands in) { return in[0]; }
Value* EmitPtrToPtr(Emitter&, const ir::Op&, Operands in) { return in[0]; }

Value* EmitOffset(Emitter& e, const ir::Op& op, Operands in) {
  auto& b = e.b();
  const int bytes = std::max(1, ir::MemoryBits(op.result(0)->type().element().pointee) / 8);
  return b.CreateAdd(in[0], b.CreateMul(b.CreateSExt(in[1], b.getInt64Ty()), e.I64(bytes)));
}

}  // namespace tile::codegen
