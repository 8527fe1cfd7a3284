#include "codegen/emit/elementwise/quotients.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/halves.h"
#include "codegen/emit/elementwise/exponentials.h"
#include "codegen/emit/elementwise/float_codes.h"
#include "codegen/emit/elementwise/quotient_range.h"
#include "ir/op_views.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

using llvm::Value;

constexpr size_t kGroup = 8;
// b is not negative, so that a zero's sign comes out right.
constexpr int kExponentOfA = QuotientRange::kNumerator, kExponentOfB = QuotientRange::kDivisor;
constexpr uint32_t BitsOfPower(int exponent) { return static_cast<uint32_t>(127 + exponent) << 23; }

Value* Reciprocal(Emitter& e, Value* b) {
  Value* rough = e.b().CreateIntrinsic(llvm::Intrinsic::nvvm_rcp_approx_ftz_f, {b});
  Value* error = Fma(e, e.b().CreateFNeg(b), rough, llvm::ConstantFP::get(b->getType(), 1.0));
  return Fma(e, rough, error, rough);
}

// How it is found out that a group's numerators are in range.
enum class Numerators {
  kSummed,    // magnitudes, and their sum
  kGreatest,  // none has a sign, so that the greatest integer tells
  kKnown,     // they are
};

// PTX of a group. Operands: n quotients; n numerators; then, of one divisor for all, what the sum of the numerators must be less than (nothing is
// if the divisor is not fit), or a predicate where they are known, the divisor and its reciprocal; else n divisors and n reciprocals.
class GroupText {
 public:
  GroupText(size_t n, bool one_divisor, Numerators numerators) : n_(n), one_(one_divisor), numerators_(numerators) {
    text_ = "{ .reg .pred fit; .reg .b32 u, least, most; .reg .f32 s, x;";
    if (numerators_ == Numerators::kKnown) {
      absl::StrAppend(&text_, " @", Arg(2 * n_), " bra FIT;");
    } else {
      Test();
    }
    for (size_t i = 0; i < n_; ++i)
      absl::StrAppend(&text_, " div.rn.f32 ", Arg(i), ", ", Numerator(i), ", ", Divisor(i), ";");
    absl::StrAppend(&text_, " bra DONE; FIT:");
    for (size_t i = 0; i < n_; ++i) Quotient(i);
    absl::StrAppend(&text_, " DONE: }");
  }

  const std::string& text() const { return text_; }
  std::string constraints() const {
    std::string all;
    for (size_t i = 0; i < n_; ++i) absl::StrAppend(&all, i == 0 ? "" : ",", "=&f");
    for (size_t i = 0; i < n_ + (one_ ? 3 : 2 * n_); ++i)
      absl::StrAppend(&all, i == n_ && numerators_ == Numerators::kKnown ? ",b" : ",f");
    return all;
  }

 private:
  static std::string Arg(size_t i) { return absl::StrCat("$", i); }
  static std::string Float(uint32_t bits) { return absl::StrCat("0f", absl::Hex(bits, absl::kZeroPad8)); }
  std::string Numerator(size_t i) const { return Arg(n_ + i); }
  std::string Divisor(size_t i) const { return Arg(one_ ? 2 * n_ + 1 : 2 * n_ + i); }
  std::string ReciprocalOf(size_t i) const { return Arg(one_ ? 2 * n_ + 2 : 3 * n_ + i); }

  void Test() {
    if (numerators_ == Numerators::kGreatest) {
      TestWithoutSigns();
    } else {
      TestNumerators();
    }
    if (one_) {
      absl::StrAppend(&text_, " setp.lt.and.f32 fit, s, ", Arg(2 * n_), ", fit;");
    } else {
      absl::StrAppend(&text_, " setp.lt.and.f32 fit, s, ", Float(BitsOfPower(kExponentOfA)), ", fit;");
      TestDivisors();
    }
    absl::StrAppend(&text_, " @fit bra FIT;");
  }
  // The bits without the sign, less one, of which zero has the most; and a sum that is infinite or NaN if one of them is.
  void TestNumerators() {
    for (size_t i = 0; i < n_; ++i) {
      absl::StrAppend(&text_, " mov.b32 u, ", Numerator(i), "; add.u32 u, u, u; sub.u32 u, u, 1; ",
                      i == 0 ? "mov.b32 least, u;" : "min.u32 least, least, u;", " abs.f32 ", i == 0 ? "s" : "x", ", ",
                      Numerator(i), ";", i == 0 ? "" : " add.f32 s, s, x;");
    }
    absl::StrAppend(&text_, " setp.ge.u32 fit, least, ", 2 * BitsOfPower(-kExponentOfA) - 1, ";");
  }
  // The greatest instead of the sum, as the integer that is in its order: of those there is one of three. NaN divided by what fits is NaN.
  void TestWithoutSigns() {
    for (size_t i = 0; i < n_; ++i) {
      absl::StrAppend(&text_, " mov.b32 u, ", Numerator(i), "; ",
                      i == 0 ? "mov.b32 most, u;" : "max.s32 most, most, u;", " sub.u32 u, u, 1; ",
                      i == 0 ? "mov.b32 least, u;" : "min.u32 least, least, u;");
    }
    absl::StrAppend(&text_, " setp.ge.u32 fit, least, ", BitsOfPower(-kExponentOfA) - 1, "; mov.b32 s, most;");
  }
  void TestDivisors() {
    for (size_t i = 0; i < n_; ++i) {
      absl::StrAppend(&text_, " mov.b32 u, ", Divisor(i), "; sub.u32 u, u, ", BitsOfPower(-kExponentOfB), "; ",
                      i == 0 ? "mov.b32 most, u;" : "max.u32 most, most, u;");
    }
    absl::StrAppend(&text_, " setp.le.and.u32 fit, most, ", BitsOfPower(kExponentOfB) - BitsOfPower(-kExponentOfB),
                    ", fit;");
  }
  void Quotient(size_t i) {
    absl::StrAppend(&text_, " mul.rn.f32 ", Arg(i), ", ", Numerator(i), ", ", ReciprocalOf(i), "; neg.f32 x, ",
                    Numerator(i), "; fma.rn.f32 s, ", Divisor(i), ", ", Arg(i), ", x; neg.f32 x, ", ReciprocalOf(i),
                    "; fma.rn.f32 ", Arg(i), ", x, s, ", Arg(i), ";");
  }

  const size_t n_;
  const bool one_;
  const Numerators numerators_;
  std::string text_;
};

// A power, as it is or in a row of its own.
bool HasNoSigns(const ir::Value* v) {
  while (const ir::Op* def = v->def()) {
    if (ir::ExpOp::Is(def) || ir::Exp2Op::Is(def)) return true;
    if (!ir::ReshapeOp::Is(def) && !ir::BroadcastOp::Is(def)) return false;
    v = def->operand(0);
  }
  return false;
}

Value* IsFit(Emitter& e, Value* divisor) {
  auto& b = e.b();
  Value* above = b.CreateSub(e.ToBits(divisor), e.I32(BitsOfPower(-kExponentOfB)));
  return b.CreateICmpULE(above, e.I32(BitsOfPower(kExponentOfB) - BitsOfPower(-kExponentOfB)));
}

// What the sum of numerators must be less than, or their greatest.
Value* Limit(Emitter& e, Value* divisor) {
  const auto constant = [&](double x) { return llvm::ConstantFP::get(divisor->getType(), x); };
  return e.b().CreateSelect(IsFit(e, divisor), constant(std::ldexp(1.0, kExponentOfA)), constant(0));
}

// i1: all are powers that are in range as they are; null: that is not known.
Value* ArePlain(Emitter& e, Operands numerators) {
  llvm::SetVector<Value*> all;
  for (Value* v : numerators) {
    Value* plain = IsPlain(v);
    if (plain == nullptr) return nullptr;
    all.insert(plain);
  }
  return e.b().CreateAnd(all.getArrayRef());
}

}  // namespace

bool DividesTogether(Emitter& e, const ir::Op& op) {
  if (!ir::DivfOp::Is(&op) || op.result(0)->type().elem() == ir::Elem::kF64) return false;
  if (ir::RoundingOp(op).rounding() != ir::Rounding::kNearestEven || ir::FlushToZeroOp(op).flush_to_zero())
    return false;
  const auto is_constant = [&](int i) {
    const Registers& all = e.regs(op.operand(i));
    return std::any_of(all.begin(), all.end(), [](Value* v) { return llvm::isa<llvm::Constant>(v); });
  };
  return e.layout(op.result(0)).registers() > 1 && !is_constant(0) && !is_constant(1);
}

Registers EmitQuotients(Emitter& e, const ir::Op& op, Operands a, Operands b) {
  const ir::Elem elem = op.result(0)->type().elem();
  const bool no_signs = HasNoSigns(op.operand(0));
  Value* plain = no_signs ? ArePlain(e, a) : nullptr;
  llvm::DenseMap<Value*, Value*> floats, reciprocals;
  const auto to_float = [&](Value* v) {
    Value*& known = floats[v];
    if (known == nullptr) known = ToFloat(e, elem, v);
    return known;
  };
  Registers out;
  for (size_t first = 0; first < a.size(); first += kGroup) {
    const size_t n = std::min(kGroup, a.size() - first);
    const Operands divisors = b.subspan(first, n);
    const bool one = std::all_of(divisors.begin(), divisors.end(), [&](Value* v) { return v == divisors[0]; });
    Registers in, inverse;
    for (Value* v : a.subspan(first, n)) in.push_back(to_float(v));
    const auto numerators = one && plain != nullptr                   ? Numerators::kKnown
                            : no_signs && e.target().has(kMaxOfThree) ? Numerators::kGreatest
                                                                      : Numerators::kSummed;
    if (numerators == Numerators::kKnown) {
      in.push_back(e.b().CreateAnd(plain, IsFit(e, to_float(divisors[0]))));
    } else if (one) {
      in.push_back(Limit(e, to_float(divisors[0])));
    }
    for (Value* v : divisors.subspan(0, one ? 1 : n)) {
      in.push_back(to_float(v));
      Value*& known = reciprocals[v];
      if (known == nullptr) known = Reciprocal(e, to_float(v));
      inverse.push_back(known);
    }
    in.insert(in.end(), inverse.begin(), inverse.end());
    llvm::Type* type = e.b().getFloatTy();
    const GroupText group(n, one, numerators);
    llvm::Type* result = n == 1 ? type : llvm::StructType::get(e.context(), std::vector<llvm::Type*>(n, type));
    Value* all = e.Ptx(result, group.text(), group.constraints(), in, false);
    for (size_t i = 0; i < n; ++i) {
      Value* q = n == 1 ? all : e.b().CreateExtractValue(all, static_cast<unsigned>(i));
      out.push_back(FromFloat(e, elem, q, ir::Rounding::kNearestEven, OutOfRange::kInfinity));
    }
  }
  return out;
}

Registers NarrowQuotients(Emitter& e, const ir::Op& op) {
  const ir::Elem to = op.result(0)->type().elem();
  if (!ir::FToFOp::Is(&op) || (to != ir::Elem::kF16 && to != ir::Elem::kBF16) || !e.target().has(kBf16Fma)) return {};
  const Registers& in = e.regs(op.operand(0));
  const auto group = [](Value* v) -> Value* {
    const auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(v);
    return part != nullptr && v->getType()->isFloatTy() ? part->getOperand(0) : nullptr;
  };
  if (ir::FToFOp(&op).rounding() != ir::Rounding::kNearestEven || in.size() % 2 != 0) return {};
  for (size_t r = 0; r < in.size(); r += 2) {
    if (group(in[r]) == nullptr || group(in[r]) != group(in[r + 1])) return {};
  }
  auto& b = e.b();
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  llvm::Type* type = e.RegisterType(to);
  Registers out;
  for (size_t r = 0; r < in.size(); r += 2) {
    auto* last = llvm::cast<llvm::Instruction>(in[r + 1]);
    b.SetInsertPoint(last->getParent(), std::next(last->getIterator()));
    Value* word = PackWord(e, {b.CreateFPTrunc(in[r], type), b.CreateFPTrunc(in[r + 1], type)});
    for (int half : {0, 1}) out.push_back(HalfOfWord(e, word, half, type));
  }
  return out;
}

}  // namespace tile::codegen
