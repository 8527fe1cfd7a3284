#include "codegen/emit/elementwise/float_codes.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/halves.h"
#include "ir/float.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

using ir::Elem;
using ir::Rounding;
using llvm::Intrinsic::ID;

constexpr uint32_t kSign = 0x80000000, kInfinityBits = 0x7F800000, kNanBits = 0x7FC00000;

llvm::Value* Bits(Emitter& e, llvm::Value* x) { return e.b().CreateBitCast(x, e.b().getInt32Ty()); }
llvm::Value* Float(Emitter& e, llvm::Value* bits) { return e.b().CreateBitCast(bits, e.b().getFloatTy()); }
llvm::Value* AsType(Emitter& e, llvm::Value* bits, llvm::Type* type) { return e.b().CreateBitCast(bits, type); }

// --- to float -------------------------------------------------------------------------------------------------------

// Rounded to odd.
llvm::Value* FromDouble(Emitter& e, llvm::Value* x) {
  auto& b = e.b();
  llvm::Value* f = b.CreateIntrinsic(llvm::Intrinsic::nvvm_d2f_rz, {x});
  return SetLastBitIf(e, b.CreateFCmpUNE(b.CreateFPExt(f, b.getDoubleTy()), x), f);
}

// The upper half of a float. Of a pair that came as one word, the upper one is there already, and one instruction clears the lower one: LLVM
// would take it out of the word and shift it back.
llvm::Value* FromBf16(Emitter& e, llvm::Value* v) {
  auto& b = e.b();
  if (llvm::Value* word = WordOfHalf(v, 1)) return Float(e, b.CreateAnd(word, e.I32(0xFFFF0000)));
  return Float(e, b.CreateShl(b.CreateZExt(e.ToBits(v), b.getInt32Ty()), 16));
}

// f8E8M0FNU: the exponent of a float; 2^-127 is subnormal there.
llvm::Value* FromExponent(Emitter& e, llvm::Value* code) {
  auto& b = e.b();
  llvm::Value* bits = b.CreateZExt(code, b.getInt32Ty());
  llvm::Value* value = b.CreateSelect(b.CreateIsNull(bits), e.I32(1 << 22), b.CreateShl(bits, 23));
  return Float(e, b.CreateSelect(b.CreateICmpEQ(bits, e.I32(0xFF)), e.I32(kNanBits), value));
}

// The mantissa in place and the exponent corrected by an exact product, which also normalises subnormals.
llvm::Value* FromSmall(Emitter& e, const ir::FloatFormat& f, llvm::Value* code) {
  auto& b = e.b();
  llvm::Value* bits = b.CreateZExt(code, b.getInt32Ty());
  llvm::Value* magnitude = b.CreateAnd(bits, e.I32(f.magnitude_mask()));
  llvm::Value* scale = Float(e, e.I32(int64_t{127 + 127 - f.bias} << 23));
  llvm::Value* value = Bits(e, b.CreateFMul(Float(e, b.CreateShl(magnitude, 23 - f.mantissa_bits)), scale));
  if (f.has_sign) {
    value = b.CreateOr(value, b.CreateAnd(b.CreateShl(bits, 31 - f.magnitude_bits()), e.I32(kSign)));
  }
  if (f.has_nan) value = b.CreateSelect(b.CreateICmpUGT(magnitude, e.I32(f.largest())), e.I32(kNanBits), value);
  return Float(e, value);
}

// --- from float -----------------------------------------------------------------------------------------------------

// The upper half of a float, or with more zero bits below: tf32. `dropped` is how many bits are rounded away.
llvm::Value* RoundBits(Emitter& e, llvm::Value* x, int dropped, Rounding rounding) {
  auto& b = e.b();
  llvm::Value* bits = Bits(e, x);
  const uint32_t ones = (1u << dropped) - 1;
  llvm::Value* add = nullptr;  // a carry out of the dropped bits raises the rest, up to infinity
  switch (rounding) {
    case Rounding::kZero: break;
    case Rounding::kNearestAway: add = e.I32(1 << (dropped - 1)); break;
    case Rounding::kNegativeInf:
    case Rounding::kPositiveInf: {
      llvm::Value* negative = b.CreateAShr(bits, 31);
      add = b.CreateAnd(rounding == Rounding::kNegativeInf ? negative : b.CreateNot(negative), e.I32(ones));
      break;
    }
    default: add = b.CreateAdd(b.CreateAnd(b.CreateLShr(bits, dropped), e.I32(1)), e.I32(ones >> 1));
  }
  llvm::Value* rounded = add == nullptr ? bits : b.CreateAdd(bits, add);
  return b.CreateAnd(b.CreateSelect(IsNan(e, x), e.I32(kNanBits), rounded), e.I32(~ones));
}

llvm::Value* ToBf16(Emitter& e, llvm::Value* x, Rounding rounding) {
  auto& b = e.b();
  if (e.target().has(kBf16Fma)) {
    if (rounding == Rounding::kNearestEven) return b.CreateFPTrunc(x, b.getBFloatTy());
    if (rounding == Rounding::kZero) return b.CreateIntrinsic(llvm::Intrinsic::nvvm_f2bf16_rz, {x});
  }
  return AsType(e, b.CreateTrunc(b.CreateLShr(RoundBits(e, x, 16, rounding), 16), b.getInt16Ty()), b.getBFloatTy());
}

llvm::Value* ToF16(Emitter& e, llvm::Value* x, Rounding rounding) {
  auto& b = e.b();
  const char* text = rounding == Rounding::kZero          ? "cvt.rz.f16.f32 $0, $1;"
                     : rounding == Rounding::kNegativeInf ? "cvt.rm.f16.f32 $0, $1;"
                     : rounding == Rounding::kPositiveInf ? "cvt.rp.f16.f32 $0, $1;"
                                                          : nullptr;
  if (text == nullptr) return b.CreateFPTrunc(x, b.getHalfTy());
  return AsType(e, e.Ptx(b.getInt16Ty(), text, "=h,f", {x}, false), b.getHalfTy());
}

llvm::Value* ToTf32(Emitter& e, llvm::Value* x, Rounding rounding) {
  const bool even = rounding == Rounding::kNearestEven;
  if (!e.target().has(kTf32Convert) || (!even && rounding != Rounding::kZero))
    return Float(e, RoundBits(e, x, 13, rounding));
  return Float(
      e, e.Ptx(e.b().getInt32Ty(), even ? "cvt.rn.tf32.f32 $0, $1;" : "cvt.rz.tf32.f32 $0, $1;", "=r,f", {x}, false));
}

llvm::Value* ToExponent(Emitter& e, llvm::Value* x, Rounding rounding) {
  auto& b = e.b();
  llvm::Value* bits = Bits(e, x);
  llvm::Value* code = b.CreateLShr(bits, 23);
  if (rounding == Rounding::kPositiveInf) {
    // 2^-127 is subnormal as a float, and also what everything below becomes.
    llvm::Value* exact =
        b.CreateSelect(b.CreateIsNull(code), e.I32(1 << 22), b.CreateAnd(bits, e.I32(kSign | kInfinityBits)));
    code = b.CreateAdd(code, b.CreateZExt(b.CreateICmpUGT(bits, exact), b.getInt32Ty()));
  }
  code = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, code, e.I32(0xFE));
  // Read as unsigned, all that has no code follows: infinities, NaN, negative numbers; but -0 is a zero.
  llvm::Value* none = b.CreateICmpUGE(bits, e.I32(kInfinityBits));
  code = b.CreateSelect(none, e.I32(0xFF), code);
  code = b.CreateSelect(b.CreateICmpEQ(bits, e.I32(kSign)), e.I32(0), code);
  return b.CreateTrunc(code, b.getInt8Ty());
}

// The nearest code. Normal numbers are rounded by a carry, subnormal ones by an addition whose last place is theirs.
llvm::Value* ToSmall(Emitter& e, Elem to, llvm::Value* x, OutOfRange out_of_range) {
  auto& b = e.b();
  const ir::FloatFormat& f = ir::FloatFormatOf(to);
  const int dropped = 23 - f.mantissa_bits;
  const int smallest_normal = 128 - f.bias;  // exponent as float stores it
  llvm::Value* bits = Bits(e, x);
  llvm::Value* magnitude = b.CreateAnd(bits, e.I32(kSign - 1));

  llvm::Value* odd = b.CreateAnd(b.CreateLShr(magnitude, dropped), e.I32(1));
  llvm::Value* raised = b.CreateAdd(b.CreateAdd(magnitude, e.I32((1 << (dropped - 1)) - 1)), odd);
  llvm::Value* normal = b.CreateSub(b.CreateLShr(raised, dropped), e.I32((smallest_normal - 1) << f.mantissa_bits));
  llvm::Constant* magic = e.I32((smallest_normal + dropped) << 23);
  llvm::Value* subnormal = b.CreateSub(Bits(e, b.CreateFAdd(Float(e, magnitude), Float(e, magic))), magic);
  llvm::Value* code = b.CreateSelect(b.CreateICmpULT(magnitude, e.I32(smallest_normal << 23)), subnormal, normal);

  const uint32_t nan = static_cast<uint32_t>(ir::CanonicalNan(to));
  const uint32_t largest = static_cast<uint32_t>(f.largest());
  const uint32_t infinity = f.has_infinity ? static_cast<uint32_t>(f.infinity()) : f.has_nan ? nan : largest;
  llvm::Value* out = b.CreateICmpUGT(code, e.I32(largest));
  code = b.CreateSelect(out, e.I32(out_of_range == OutOfRange::kSaturate ? largest : infinity), code);
  code = b.CreateSelect(b.CreateICmpEQ(magnitude, e.I32(kInfinityBits)), e.I32(infinity), code);
  // NaN has no sign; nor has what an infinity becomes where it is NaN.
  llvm::Value* is_nan = b.CreateICmpUGT(magnitude, e.I32(kInfinityBits));
  if (f.has_nan && !f.has_infinity) is_nan = b.CreateOr(is_nan, b.CreateICmpEQ(code, e.I32(nan)));
  if (f.has_sign) {
    code = b.CreateOr(code, b.CreateAnd(b.CreateLShr(bits, 31 - f.magnitude_bits()), e.I32(1 << f.magnitude_bits())));
  } else {
    is_nan = b.CreateOr(is_nan, b.CreateICmpUGT(bits, e.I32(kSign)));
  }
  return b.CreateTrunc(b.CreateSelect(is_nan, e.I32(nan), code), b.getInt8Ty());
}

}  // namespace

llvm::Value* Fma(Emitter& e, llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  return e.b().CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

llvm::Value* IsNan(Emitter& e, llvm::Value* v) { return e.b().CreateFCmpUNO(v, v); }

llvm::Value* SetLastBitIf(Emitter& e, llvm::Value* inexact, llvm::Value* f) {
  auto& b = e.b();
  return Float(e, b.CreateOr(Bits(e, f), b.CreateZExt(inexact, b.getInt32Ty())));
}

namespace {

// What is clamped by this operation at this number; null: the value is not clamped so.
llvm::Value* Clamped(llvm::Value* v, llvm::Intrinsic::ID operation, double at) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(v);
  if (call == nullptr || call->getIntrinsicID() != operation) return nullptr;
  const auto* bound = llvm::dyn_cast<llvm::ConstantFP>(call->getArgOperand(1));
  return bound != nullptr && bound->isExactlyValue(at) ? call->getArgOperand(0) : nullptr;
}

// Numbers that are clamped to those of this type, which the GPU's conversion does as well, before that; nullopt: some are not.
std::optional<Registers> BeforeClamps(Elem to, Operands in) {
  const double most = to == Elem::kF8E5M2 ? 57344 : 448;
  Registers before;
  for (llvm::Value* v : in) {
    llvm::Value* below = Clamped(v, llvm::Intrinsic::minimum, most);
    before.push_back(below == nullptr ? nullptr : Clamped(below, llvm::Intrinsic::maximum, -most));
    if (before.back() == nullptr) return std::nullopt;
  }
  return before;
}

// Four codes in an i32; infinities become the largest number.
llvm::Value* FourToFinite(Emitter& e, Elem to, Operands x) {
  const std::string convert = absl::StrCat("cvt.rn.satfinite.", to == Elem::kF8E5M2 ? "e5m2" : "e4m3", "x2.f32 ");
  return e.Ptx(e.b().getInt32Ty(),
               absl::StrCat("{ .reg .b16 low, high; ", convert, "low, $2, $1; ", convert,
                            "high, $4, $3; mov.b32 $0, {low, high}; }"),
               "=r,f,f,f,f", x, false);
}

// Of the same four floats: what an infinity becomes, itself or NaN, has the code behind that of the largest number.
llvm::Value* WithInfinities(Emitter& e, llvm::Value* word, Operands x) {
  return e.Ptx(e.b().getInt32Ty(),
               "{ .reg .pred p, q, r, s; .reg .f32 x; abs.f32 x, $2; setp.eq.f32 p, x, 0f7F800000; abs.f32 x, $3;"
               " setp.eq.f32 q, x, 0f7F800000; abs.f32 x, $4; setp.eq.f32 r, x, 0f7F800000; abs.f32 x, $5;"
               " setp.eq.f32 s, x, 0f7F800000; mov.b32 $0, $1; @p add.u32 $0, $0, 0x1; @q add.u32 $0, $0, 0x100;"
               " @r add.u32 $0, $0, 0x10000; @s add.u32 $0, $0, 0x1000000; }",
               "=&r,r,f,f,f,f", {word, x[0], x[1], x[2], x[3]}, false);
}

// Some lane of the warp has one of these bits.
llvm::Value* AnyHas(Emitter& e, llvm::Value* bits, int64_t which) {
  auto& b = e.b();
  return AnyOfWarp(e, b.CreateIsNotNull(b.CreateAnd(bits, e.I32(which))));
}

}  // namespace

// The uppermost bit of the exponent says that a number is 2 or more, as weights of an attention never are; with the one below it, 32 or 512 or
// more. An infinity became the largest number, which has both.
Registers FoursToF8(Emitter& e, Elem to, Operands in) {
  constexpr size_t kFour = 4;
  constexpr int64_t kUppermost = 0x40404040;  // of each code
  auto& b = e.b();
  Registers words, exact;
  if (const auto before = BeforeClamps(to, in)) {
    for (size_t i = 0; i < in.size(); i += kFour)
      words.push_back(FourToFinite(e, to, Operands(*before).subspan(i, kFour)));
    return words;
  }
  llvm::Value *two_or_more = e.I32(0), *large = e.I32(0);
  for (size_t i = 0; i < in.size(); i += kFour) {
    words.push_back(FourToFinite(e, to, in.subspan(i, kFour)));
    two_or_more = b.CreateOr(two_or_more, words.back());
  }
  llvm::BasicBlock *before = b.GetInsertBlock(), *test = e.NewBlock("two_or_more"), *fix = e.NewBlock("large"),
                   *rounded = e.NewBlock("rounded");
  b.CreateCondBr(AnyHas(e, two_or_more, kUppermost), test, rounded);
  b.SetInsertPoint(test);
  for (llvm::Value* word : words) large = b.CreateOr(large, b.CreateAnd(word, b.CreateShl(word, 1)));
  b.CreateCondBr(AnyHas(e, large, kUppermost), fix, rounded);
  b.SetInsertPoint(fix);
  for (size_t i = 0; i < words.size(); ++i) exact.push_back(WithInfinities(e, words[i], in.subspan(kFour * i, kFour)));
  b.CreateBr(rounded);
  b.SetInsertPoint(rounded);
  for (size_t i = 0; i < words.size(); ++i) {
    llvm::PHINode* phi = b.CreatePHI(b.getInt32Ty(), 3);
    for (llvm::BasicBlock* from : {before, test}) phi->addIncoming(words[i], from);
    phi->addIncoming(exact[i], fix);
    words[i] = phi;
  }
  return words;
}

// The GPU's conversion saturates, infinities too, which are to be NaN, or to stay: the code behind the largest number's.
llvm::Value* PairToF8(Emitter& e, Elem to, llvm::Value* low, llvm::Value* high) {
  auto& b = e.b();
  if (const auto before = BeforeClamps(to, {low, high})) {
    const auto convert =
        to == Elem::kF8E5M2 ? llvm::Intrinsic::nvvm_ff_to_e5m2x2_rn : llvm::Intrinsic::nvvm_ff_to_e4m3x2_rn;
    return b.CreateIntrinsic(convert, {(*before)[1], (*before)[0]});
  }
  if (to == Elem::kF8E5M2) {
    return e.Ptx(b.getInt16Ty(),
                 "{ .reg .pred low, high; .reg .f32 x; cvt.rn.satfinite.e5m2x2.f32 $0, $2, $1;"
                 " abs.f32 x, $1; setp.eq.f32 low, x, 0f7F800000; abs.f32 x, $2; setp.eq.f32 high, x, 0f7F800000;"
                 " @low add.u16 $0, $0, 1; @high add.u16 $0, $0, 256; }",
                 "=h,f,f", {low, high}, false);
  }
  // x + 0 * x with one rounding is x, and NaN for an infinity.
  llvm::Constant* zero = llvm::ConstantFP::get(b.getFloatTy(), 0.0);
  const auto with_nan = [&](llvm::Value* x) { return Fma(e, x, zero, x); };
  return b.CreateIntrinsic(llvm::Intrinsic::nvvm_ff_to_e4m3x2_rn, {with_nan(high), with_nan(low)});
}

bool HasHalf(const Emitter& e, Elem from) {
  return from == Elem::kF8E5M2 || (from == Elem::kF8E4M3FN && e.target().has(kF8Convert));
}

llvm::Value* HalfOf(Emitter& e, Elem from, llvm::Value* v) {
  auto& b = e.b();
  llvm::Value* code = b.CreateZExt(v, b.getInt16Ty());
  if (from == Elem::kF8E5M2) return AsType(e, b.CreateShl(code, 8), b.getHalfTy());  // its upper half
  return b.CreateExtractElement(b.CreateIntrinsic(llvm::Intrinsic::nvvm_e4m3x2_to_f16x2_rn, {code}), uint64_t{0});
}

llvm::Value* HalvesOf(Emitter& e, Elem from, llvm::Value* codes) {
  auto& b = e.b();
  if (from == Elem::kF8E4M3FN) return b.CreateIntrinsic(llvm::Intrinsic::nvvm_e4m3x2_to_f16x2_rn, {codes});
  return HalvesOfWord(e, from, b.CreateZExt(codes, b.getInt32Ty()), false);
}

llvm::Value* HalvesOfWord(Emitter& e, Elem from, llvm::Value* word, bool upper) {
  auto& b = e.b();
  if (from == Elem::kF8E4M3FN)
    return HalvesOf(e, from, b.CreateTrunc(upper ? b.CreateLShr(word, 16) : word, b.getInt16Ty()));
  const int bytes = upper ? 0x3424 : 0x1404;  // each byte above one of the zeros
  return AsType(e, b.CreateIntrinsic(llvm::Intrinsic::nvvm_prmt, {word, e.I32(0), e.I32(bytes)}),
                llvm::FixedVectorType::get(b.getHalfTy(), 2));
}

llvm::Value* ToFloat(Emitter& e, Elem from, llvm::Value* v) {
  auto& b = e.b();
  switch (from) {
    case Elem::kF32:
    case Elem::kTF32: return v;
    case Elem::kF16: return b.CreateFPExt(v, b.getFloatTy());
    case Elem::kBF16: return FromBf16(e, v);
    case Elem::kF64: return FromDouble(e, v);
    case Elem::kF8E8M0FNU: return FromExponent(e, v);
    case Elem::kF8E5M2:
    case Elem::kF8E4M3FN:
      if (HasHalf(e, from)) return b.CreateFPExt(HalfOf(e, from, v), b.getFloatTy());
      [[fallthrough]];
    default: return FromSmall(e, ir::FloatFormatOf(from), v);
  }
}

llvm::Value* FromFloat(Emitter& e, Elem to, llvm::Value* x, Rounding rounding, OutOfRange out_of_range) {
  auto& b = e.b();
  switch (to) {
    case Elem::kF32: return x;
    case Elem::kF64: return b.CreateFPExt(x, b.getDoubleTy());
    case Elem::kF16: return ToF16(e, x, rounding);
    case Elem::kBF16: return ToBf16(e, x, rounding);
    case Elem::kTF32: return ToTf32(e, x, rounding);
    case Elem::kF8E8M0FNU: return ToExponent(e, x, rounding);
    case Elem::kF8E4M3FN:
    case Elem::kF8E5M2:
      if (e.target().has(kF8Convert) && out_of_range == OutOfRange::kSaturate) {
        return b.CreateTrunc(PairToF8(e, to, x, llvm::ConstantFP::get(b.getFloatTy(), 0.0)), b.getInt8Ty());
      }
      [[fallthrough]];
    default: return ToSmall(e, to, x, out_of_range);
  }
}

}  // namespace tile::codegen
