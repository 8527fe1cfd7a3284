// Mathematical functions: those of CUDA's device library, or of the hardware where it is as good or asked for. f16 and
// bf16 are computed as float. What is long is called in tiles of many registers, so that the code does not repeat it.
#include <string>

#include "absl/strings/str_cat.h"
#include "codegen/emit/elementwise/float_codes.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

using ir::Elem;
using ir::Rounding;
using llvm::Value;

constexpr int kInlineRegisters = 8;  // of a tile, for which a long function is repeated in place

Elem ElemOf(const ir::Op& op) { return op.result(0)->type().elem(); }
bool IsShort(Elem e) { return e == Elem::kF16 || e == Elem::kBF16; }
Rounding RoundingOf(const ir::Op& op) { return ir::RoundingOp(op).rounding(); }

Value* Widen(Emitter& e, const ir::Op& op, Value* v) { return IsShort(ElemOf(op)) ? ToFloat(e, ElemOf(op), v) : v; }
Value* Narrow(Emitter& e, const ir::Op& op, Value* x) {
  return IsShort(ElemOf(op)) ? FromFloat(e, ElemOf(op), x, Rounding::kNearestEven, OutOfRange::kInfinity) : x;
}

llvm::Function* Declare(Emitter& e, const std::string& name, llvm::Type* result, Operands in) {
  if (llvm::Function* known = e.module()->getFunction(name)) return known;
  std::vector<llvm::Type*> types;
  for (Value* v : in) types.push_back(v->getType());
  auto* f = llvm::Function::Create(llvm::FunctionType::get(result, types, false), llvm::GlobalValue::ExternalLinkage,
                                   name, e.module());
  f->setDoesNotThrow();
  f->setDoesNotAccessMemory();
  f->setWillReturn();
  return f;
}

Value* Call(Emitter& e, llvm::Function* f, Operands in) {
  return e.b().CreateCall(f, llvm::ArrayRef<Value*>(in.data(), in.size()));
}

// Calls a function of the module that is no longer inlined; `body` makes it from its arguments at the first call.
template <class Body>
Value* CallOnce(Emitter& e, const std::string& name, llvm::Type* result, Operands in, Body body) {
  const bool made = e.module()->getFunction(name) != nullptr;
  llvm::Function* f = Declare(e, name, result, in);
  if (!made) {
    f->setLinkage(llvm::GlobalValue::InternalLinkage);
    f->addFnAttr(llvm::Attribute::NoInline);
    llvm::IRBuilder<>::InsertPointGuard guard(e.b());
    e.b().SetInsertPoint(llvm::BasicBlock::Create(e.context(), "entry", f));
    Registers args;
    for (llvm::Argument& a : f->args()) args.push_back(&a);
    e.b().CreateRet(body(args));
  }
  return Call(e, f, in);
}

// `name` of the device library, on floats or doubles. The result is of the first operand's type.
Value* Library(Emitter& e, const ir::Op& op, absl::string_view name, bool is_long, Operands in) {
  llvm::Type* type = in[0]->getType();
  const std::string full = absl::StrCat("__nv_", name, type->isFloatTy() ? "f" : "");
  const auto call = [&](Operands args) { return Call(e, Declare(e, full, type, args), args); };
  if (!is_long || e.layout(op.result(0)).registers() <= kInlineRegisters) return call(in);
  return CallOnce(e, absl::StrCat("tile.", full), type, in, call);
}

Value* Math(Emitter& e, const ir::Op& op, absl::string_view name, bool is_long, Operands in) {
  Registers wide;
  for (Value* v : in) wide.push_back(Widen(e, op, v));
  return Narrow(e, op, Library(e, op, name, is_long || ElemOf(op) == Elem::kF64, wide));
}

// Functions of the library whose code is so long that repeating it for each register costs more than a call.
constexpr bool IsLong(absl::string_view name) {
  for (absl::string_view known : {"sin", "cos", "tan", "atan2", "erfcx", "erfinv", "erfcinv", "normcdfinv", "lgamma",
                                  "tgamma", "j0", "j1", "y0", "y1", "cyl_bessel_i0", "cyl_bessel_i1"}) {
    if (name == known) return true;
  }
  return false;
}

// 2 to the power x, of a float.
Value* HardwareExp2(Emitter& e, Value* x, bool ftz) {
  return e.b().CreateIntrinsic(ftz ? llvm::Intrinsic::nvvm_ex2_approx_ftz : llvm::Intrinsic::nvvm_ex2_approx,
                               {x->getType()}, {x});
}

// a * a …, for the exponents that programs write: rounded once, for 3 and 4 twice. Null for others.
Value* SmallPower(Emitter& e, Value* a, int64_t n) {
  auto& b = e.b();
  llvm::Constant* one = llvm::ConstantFP::get(a->getType(), 1.0);
  switch (n) {
    case -1: return b.CreateFDiv(one, a);
    case 0: return one;
    case 1: return a;
    case 2: return b.CreateFMul(a, a);
    case 3: return b.CreateFMul(b.CreateFMul(a, a), a);
    case 4: return b.CreateFMul(b.CreateFMul(a, a), b.CreateFMul(a, a));
    default: return nullptr;
  }
}

}  // namespace

// Operations of the family math that are more than the device library's function of their name.
#define TILE_OWN_Exp ~, TILE_NOTHING
#define TILE_OWN_Exp2 ~, TILE_NOTHING
#define TILE_OWN_Fpowf ~, TILE_NOTHING
#define TILE_OWN_Fpowi ~, TILE_NOTHING
#define TILE_OWN_Jn ~, TILE_NOTHING
#define TILE_OWN_Rsqrt ~, TILE_NOTHING
#define TILE_OWN_Tanh ~, TILE_NOTHING
#define TILE_OWN_Yn ~, TILE_NOTHING

// All others, also new ones: Emit<Name> calls it.
#define TILE_NOTHING(...)
#define TILE_LIBRARY(Name, mnemonic) \
  Value* Emit##Name(Emitter& e, const ir::Op& op, Operands in) { return Math(e, op, mnemonic, IsLong(mnemonic), in); }
#define TILE_FAMILY_Math ~, TILE_LIBRARY
#define TILE_SECOND(first, second, ...) second
#define TILE_OR(...) TILE_SECOND(__VA_ARGS__, ~)
#define TILE_OP(number, Name, mnemonic, Format, Family, ...) \
  TILE_OR(TILE_OWN_##Name, TILE_OR(TILE_FAMILY_##Family, TILE_NOTHING))(Name, mnemonic)
#include "ir/ops.def"

Value* EmitFpowf(Emitter& e, const ir::Op& op, Operands in) { return Math(e, op, "pow", true, in); }
// Exact, so that rounding to 16 bits changes nothing.
Value* EmitRemf(Emitter& e, const ir::Op& op, Operands in) { return Math(e, op, "fmod", true, in); }

Value* EmitExp(Emitter& e, const ir::Op& op, Operands in) {
  if (RoundingOf(op) != Rounding::kApprox) return Math(e, op, "exp", false, in);
  auto& b = e.b();
  llvm::Constant* log2_e = llvm::ConstantFP::get(b.getFloatTy(), 1.4426950408889634);
  return HardwareExp2(e, b.CreateFMul(in[0], log2_e), false);
}

Value* EmitExp2(Emitter& e, const ir::Op& op, Operands in) {
  if (ElemOf(op) == Elem::kF64) return Math(e, op, "exp2", true, in);
  return Narrow(e, op, HardwareExp2(e, Widen(e, op, in[0]), ir::FlushToZeroOp(op).flush_to_zero()));
}

Value* EmitTanh(Emitter& e, const ir::Op& op, Operands in) {
  if (RoundingOf(op) != Rounding::kApprox) return Math(e, op, "tanh", false, in);
  return e.Ptx(e.b().getFloatTy(), "tanh.approx.f32 $0, $1;", "=f,f", {in[0]}, false);
}

Value* EmitRsqrt(Emitter& e, const ir::Op& op, Operands in) {
  if (ElemOf(op) == Elem::kF64) return Math(e, op, "rsqrt", true, in);
  const bool ftz = ir::FlushToZeroOp(op).flush_to_zero();
  const auto id = ftz ? llvm::Intrinsic::nvvm_rsqrt_approx_ftz_f : llvm::Intrinsic::nvvm_rsqrt_approx_f;
  return Narrow(e, op, e.b().CreateIntrinsic(id, {Widen(e, op, in[0])}));
}

// Of the order that the second operand is, which is the library's first one.
static Value* OfOrder(Emitter& e, const ir::Op& op, const std::string& name, Operands in) {
  Value* x = Widen(e, op, in[0]);
  const std::string full = absl::StrCat("__nv_", name, x->getType()->isFloatTy() ? "f" : "");
  const Registers args = {in[1], x};
  return Narrow(e, op, CallOnce(e, absl::StrCat("tile.", full), x->getType(), args, [&](Operands a) {
                  return Call(e, Declare(e, full, x->getType(), a), a);
                }));
}

// The library's recurrence divides by x: of 0 and an order from 2 on it gives NaN.
Value* EmitJn(Emitter& e, const ir::Op& op, Operands in) {
  auto& b = e.b();
  Value* result = OfOrder(e, op, "jn", in);
  Value *order = in[1], *zero = llvm::ConstantFP::get(in[0]->getType(), 0.0);
  Value* at_zero = b.CreateAnd(b.CreateFCmpOEQ(in[0], zero), b.CreateICmpSGT(order, e.I32(0)));
  return b.CreateSelect(at_zero, zero, result);
}
Value* EmitYn(Emitter& e, const ir::Op& op, Operands in) { return OfOrder(e, op, "yn", in); }

// a^n by pow. An exponent of more than 24 bits is no float, and would lose whether it is odd: then in double.
Value* EmitFpowi(Emitter& e, const ir::Op& op, Operands in) {
  auto& b = e.b();
  Value* a = Widen(e, op, in[0]);
  llvm::Type* type = a->getType();
  Value* n = b.CreateSExt(in[1], b.getInt32Ty());
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(n)) {
    if (Value* power = SmallPower(e, a, constant->getSExtValue())) return Narrow(e, op, power);
  }
  const bool is_float = type->isFloatTy();
  const bool wide = op.operand(1)->type().elem() == Elem::kI32;
  if (!wide || !is_float) return Narrow(e, op, Library(e, op, "pow", true, {a, b.CreateSIToFP(n, type)}));
  return Narrow(e, op, CallOnce(e, "tile.powi", type, {a, n}, [&](Operands args) -> Value* {
                  auto* f = llvm::cast<llvm::Argument>(args[0])->getParent();
                  auto* small = llvm::BasicBlock::Create(e.context(), "float", f);
                  auto* large = llvm::BasicBlock::Create(e.context(), "double", f);
                  auto* end = llvm::BasicBlock::Create(e.context(), "end", f);
                  Value* shifted = b.CreateAdd(args[1], e.I32(1 << 24));
                  b.CreateCondBr(b.CreateICmpULE(shifted, e.I32(1 << 25)), small, large);
                  const auto pow = [&](const char* name, llvm::Type* t, Value* x) {
                    const Registers both = {x, b.CreateSIToFP(args[1], t)};
                    return Call(e, Declare(e, name, t, both), both);
                  };
                  b.SetInsertPoint(small);
                  Value* from_float = pow("__nv_powf", type, args[0]);
                  b.CreateBr(end);
                  b.SetInsertPoint(large);
                  llvm::Type* wide_type = b.getDoubleTy();
                  Value* from_double =
                      b.CreateFPTrunc(pow("__nv_pow", wide_type, b.CreateFPExt(args[0], wide_type)), type);
                  b.CreateBr(end);
                  b.SetInsertPoint(end);
                  llvm::PHINode* result = b.CreatePHI(type, 2);
                  result->addIncoming(from_float, small);
                  result->addIncoming(from_double, large);
                  return result;
                }));
}

}  // namespace tile::codegen
