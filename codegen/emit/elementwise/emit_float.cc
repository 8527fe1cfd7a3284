// Float arithmetic. What rounds to nearest even is LLVM's plain instruction, which NVPTX prints with .rn and never
// fuses without fast-math flags; other roundings and flush_to_zero are instructions of PTX by name. f16 and bf16 are
// computed where the GPU can in their own type, which rounds once, else as float and rounded again: so does the VM, and
// for these operations it is the same (fma goes by way of rounding to odd). NaN results are quiet, their payload is the
// GPU's.
#include <algorithm>
#include <iterator>

#include "codegen/emit/elementwise/float_codes.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

using ir::Elem;
using ir::Rounding;
using llvm::Value;
using llvm::Intrinsic::ID;

Elem ElemOf(const ir::Op& op) { return op.result(0)->type().elem(); }
bool IsShort(Elem e) { return e == Elem::kF16 || e == Elem::kBF16; }
Rounding RoundingOf(const ir::Op& op) { return ir::RoundingOp(op).rounding(); }
bool Flushes(const ir::Op& op) { return ir::FlushToZeroOp(op).flush_to_zero(); }

Value* Narrow(Emitter& e, Elem elem, Value* x, Rounding rounding = Rounding::kNearestEven) {
  return FromFloat(e, elem, x, rounding, OutOfRange::kInfinity);
}

// --- instructions with a rounding -----------------------------------------------------------------------------------

enum Arithmetic { kAdd, kMul, kFma, kDiv, kSqrt };

// By the number of the rounding: nearest_even, zero, negative_inf, positive_inf.
struct RoundedIds {
  ID f32[4], f32_ftz[4], f64[4];
};
#define TILE_ROUNDED(name)                                                                                           \
  {                                                                                                                  \
    {llvm::Intrinsic::nvvm_##name##_rn_f, llvm::Intrinsic::nvvm_##name##_rz_f, llvm::Intrinsic::nvvm_##name##_rm_f,  \
     llvm::Intrinsic::nvvm_##name##_rp_f},                                                                           \
        {llvm::Intrinsic::nvvm_##name##_rn_ftz_f, llvm::Intrinsic::nvvm_##name##_rz_ftz_f,                           \
         llvm::Intrinsic::nvvm_##name##_rm_ftz_f, llvm::Intrinsic::nvvm_##name##_rp_ftz_f},                          \
    {                                                                                                                \
      llvm::Intrinsic::nvvm_##name##_rn_d, llvm::Intrinsic::nvvm_##name##_rz_d, llvm::Intrinsic::nvvm_##name##_rm_d, \
          llvm::Intrinsic::nvvm_##name##_rp_d                                                                        \
    }                                                                                                                \
  }
constexpr RoundedIds kRounded[] = {TILE_ROUNDED(add), TILE_ROUNDED(mul), TILE_ROUNDED(fma), TILE_ROUNDED(div),
                                   TILE_ROUNDED(sqrt)};
static_assert(static_cast<int>(Rounding::kZero) == 1 && static_cast<int>(Rounding::kNegativeInf) == 2 &&
              static_cast<int>(Rounding::kPositiveInf) == 3);

// Of floats or doubles.
Value* Rounded(Emitter& e, Arithmetic what, Rounding rounding, bool ftz, Operands in) {
  const RoundedIds& ids = kRounded[what];
  const ID* by_rounding = in[0]->getType()->isDoubleTy() ? ids.f64 : ftz ? ids.f32_ftz : ids.f32;
  return e.b().CreateIntrinsic(by_rounding[static_cast<int>(rounding)], llvm::ArrayRef<Value*>(in.data(), in.size()));
}

// LLVM's own, to nearest even, in any type.
Value* Plain(Emitter& e, Arithmetic what, Operands in) {
  auto& b = e.b();
  llvm::Type* type = in[0]->getType();
  switch (what) {
    case kAdd: return b.CreateFAdd(in[0], in[1]);
    case kMul: return b.CreateFMul(in[0], in[1]);
    case kFma: return b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {in[0], in[1], in[2]});
    case kDiv: return b.CreateFDiv(in[0], in[1]);
    case kSqrt: return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, in[0]);
  }
  return in[0];
}

// a * b + c as float, rounded to odd: it is exact if both directed roundings agree.
Value* FmaToOdd(Emitter& e, Operands in) {
  Value* down = Rounded(e, kFma, Rounding::kNegativeInf, false, in);
  Value* up = Rounded(e, kFma, Rounding::kPositiveInf, false, in);
  Value* cut = Rounded(e, kFma, Rounding::kZero, false, in);
  return SetLastBitIf(e, e.b().CreateFCmpONE(down, up), cut);
}

// Does the GPU compute this in 16 bits?
bool IsNative(Emitter& e, Elem elem, Arithmetic what) {
  return what != kDiv && what != kSqrt && (elem == Elem::kF16 || e.target().has(kBf16Fma));
}

Value* Compute(Emitter& e, const ir::Op& op, Arithmetic what, Operands in) {
  const Elem elem = ElemOf(op);
  const Rounding rounding = RoundingOf(op);
  const bool nearest = rounding == Rounding::kNearestEven;
  if (!IsShort(elem)) {
    const bool ftz = Flushes(op);
    return nearest && !ftz ? Plain(e, what, in) : Rounded(e, what, rounding, ftz, in);
  }
  if (nearest && IsNative(e, elem, what)) return Plain(e, what, in);
  Registers wide;
  for (Value* v : in) wide.push_back(ToFloat(e, elem, v));
  if (!nearest) return Narrow(e, elem, Rounded(e, what, rounding, false, wide), rounding);
  return Narrow(e, elem, what == kFma ? FmaToOdd(e, wide) : Plain(e, what, wide));
}

// --- sign, minimum, maximum -----------------------------------------------------------------------------------------

// As bits, so that NaN keeps its own. Hidden from LLVM, which would make neg.f32 of it: that may give any NaN.
Value* ChangeSign(Emitter& e, Operands in, bool clear) {
  auto& b = e.b();
  llvm::Type* type = in[0]->getType();
  Value* bits = e.ToBits(in[0]);
  // `and.b16` of what was converted to 16 bits is lost in the lower half of a pair (ptxas 13.0; 13.5 is right).
  const char* text[][2] = {
      {"xor.b16 $0, $1, 0x8000;",
       "{ .reg .b32 m; .reg .b16 u; mov.b32 m, {$1, $1}; and.b32 m, m, 0x7FFF7FFF; mov.b32 {$0, u}, m; }"},
      {"xor.b32 $0, $1, 0x80000000;", "and.b32 $0, $1, 0x7FFFFFFF;"},
      {"xor.b64 $0, $1, 0x8000000000000000;", "and.b64 $0, $1, 0x7FFFFFFFFFFFFFFF;"}};
  const char* constraints[] = {"=h,h", "=r,r", "=l,l"};
  const int size = type->isDoubleTy() ? 2 : type->isFloatTy() ? 1 : 0;
  return b.CreateBitCast(e.Ptx(bits->getType(), text[size][clear], constraints[size], {bits}, false), type);
}

// Nobody sees the sign of a NaN: of what is computed with it, it is not told.
bool OnlyForArithmetic(const ir::Value* v) {
  constexpr ir::Opcode kArithmetic[] = {ir::Opcode::kAddf, ir::Opcode::kSubf, ir::Opcode::kMulf, ir::Opcode::kFma,
                                        ir::Opcode::kDivf, ir::Opcode::kExp,  ir::Opcode::kExp2};
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    if (std::find(std::begin(kArithmetic), std::end(kArithmetic), use->owner->opcode()) == std::end(kArithmetic)) {
      return false;
    }
  }
  return true;
}

Value* MinMax(Emitter& e, const ir::Op& op, Operands in, bool max) {
  auto& b = e.b();
  const bool propagate = ir::OpView<ir::WithFields<ir::Field::kPropagateNan>>(op).propagate_nan();
  llvm::Type* type = in[0]->getType();
  if (propagate && !Flushes(op) && !type->isDoubleTy()) {
    return b.CreateBinaryIntrinsic(max ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, in[0], in[1]);
  }
  Value* result = nullptr;
  if (Flushes(op)) {
    const ID id = max ? llvm::Intrinsic::nvvm_fmax_ftz_f : llvm::Intrinsic::nvvm_fmin_ftz_f;
    result = b.CreateIntrinsic(id, {in[0], in[1]});
  } else {
    result = b.CreateBinaryIntrinsic(max ? llvm::Intrinsic::maximumnum : llvm::Intrinsic::minimumnum, in[0], in[1]);
  }
  return propagate ? b.CreateSelect(b.CreateFCmpUNO(in[0], in[1]), llvm::ConstantFP::getNaN(type), result) : result;
}

// ceil and floor; bf16 has no such instruction, and the result is one of its numbers.
Value* ToInteger(Emitter& e, const ir::Op& op, Operands in, ID id) {
  if (ElemOf(op) != Elem::kBF16) return e.b().CreateUnaryIntrinsic(id, in[0]);
  return Narrow(e, Elem::kBF16, e.b().CreateUnaryIntrinsic(id, ToFloat(e, Elem::kBF16, in[0])));
}

}  // namespace

Value* EmitAddf(Emitter& e, const ir::Op& op, Operands in) { return Compute(e, op, kAdd, in); }
Value* EmitMulf(Emitter& e, const ir::Op& op, Operands in) { return Compute(e, op, kMul, in); }
Value* EmitFma(Emitter& e, const ir::Op& op, Operands in) { return Compute(e, op, kFma, in); }

// a - b is a + -b in every rounding.
Value* EmitSubf(Emitter& e, const ir::Op& op, Operands in) {
  const bool native = !IsShort(ElemOf(op)) || IsNative(e, ElemOf(op), kAdd);
  if (RoundingOf(op) == Rounding::kNearestEven && !Flushes(op) && native) return e.b().CreateFSub(in[0], in[1]);
  return Compute(e, op, kAdd, {in[0], e.b().CreateFNeg(in[1])});
}

Value* EmitDivf(Emitter& e, const ir::Op& op, Operands in) {
  const bool ftz = Flushes(op);
  ID id;
  switch (RoundingOf(op)) {
    case Rounding::kApprox:
      // The quotient of one is no product.
      if (const auto* one = llvm::dyn_cast<llvm::ConstantFP>(in[0]);
          ftz && one != nullptr && one->isExactlyValue(1.0)) {
        return e.b().CreateIntrinsic(llvm::Intrinsic::nvvm_rcp_approx_ftz_f, {in[1]});
      }
      id = ftz ? llvm::Intrinsic::nvvm_div_approx_ftz_f : llvm::Intrinsic::nvvm_div_approx_f;
      break;
    case Rounding::kFull: id = ftz ? llvm::Intrinsic::nvvm_div_full_ftz : llvm::Intrinsic::nvvm_div_full; break;
    default: return Compute(e, op, kDiv, in);
  }
  return e.b().CreateIntrinsic(id, {in[0], in[1]});
}

Value* EmitSqrt(Emitter& e, const ir::Op& op, Operands in) {
  if (RoundingOf(op) != Rounding::kApprox) return Compute(e, op, kSqrt, in);
  const ID id = Flushes(op) ? llvm::Intrinsic::nvvm_sqrt_approx_ftz_f : llvm::Intrinsic::nvvm_sqrt_approx_f;
  return e.b().CreateIntrinsic(id, {in[0]});
}

Value* EmitAbsf(Emitter& e, const ir::Op&, Operands in) { return ChangeSign(e, in, true); }
Value* EmitNegf(Emitter& e, const ir::Op& op, Operands in) {
  return OnlyForArithmetic(op.result(0)) ? e.b().CreateFNeg(in[0]) : ChangeSign(e, in, false);
}
Value* EmitMaxf(Emitter& e, const ir::Op& op, Operands in) { return MinMax(e, op, in, true); }
Value* EmitMinf(Emitter& e, const ir::Op& op, Operands in) { return MinMax(e, op, in, false); }
Value* EmitCeil(Emitter& e, const ir::Op& op, Operands in) { return ToInteger(e, op, in, llvm::Intrinsic::ceil); }
Value* EmitFloor(Emitter& e, const ir::Op& op, Operands in) { return ToInteger(e, op, in, llvm::Intrinsic::floor); }

}  // namespace tile::codegen
