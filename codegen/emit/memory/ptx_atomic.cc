#include "codegen/emit/memory/ptx_atomic.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace tile::codegen {
namespace {

using ir::Elem;
using ir::RmwMode;

// ".add.u32": operation and type; empty: there is no such instruction.
std::string Instruction(const Target& target, std::optional<RmwMode> mode, Elem elem) {
  const int bits = ir::MemoryBits(elem);
  auto with = [&](const char* op, const char* kind) { return absl::StrCat(".", op, ".", kind, bits); };
  if (!mode.has_value()) return with("cas", "b");
  switch (*mode) {
    case RmwMode::kAnd: return with("and", "b");
    case RmwMode::kOr: return with("or", "b");
    case RmwMode::kXor: return with("xor", "b");
    case RmwMode::kXchg: return with("exch", "b");
    case RmwMode::kMax: return with("max", "s");
    case RmwMode::kMin: return with("min", "s");
    case RmwMode::kUmax: return with("max", "u");
    case RmwMode::kUmin: return with("min", "u");
    case RmwMode::kInc: return with("inc", "u");
    case RmwMode::kDec: return with("dec", "u");
    case RmwMode::kAdd:
    case RmwMode::kSub:
    case RmwMode::kAddf:
      switch (elem) {
        case Elem::kF16: return ".add.noftz.f16";
        case Elem::kBF16: return target.has(kBf16Atomics) ? ".add.noftz.bf16" : "";
        case Elem::kF32: return ".add.f32";
        case Elem::kF64: return ".add.f64";
        default: return with("add", "u");
      }
  }
  return "";
}

// red knows neither exchanges nor anything that acquires.
bool HasRed(const AtomicUpdate& u) {
  return u.mode.has_value() && *u.mode != RmwMode::kXchg &&
         (u.how.ordering == ir::MemoryOrdering::kRelaxed || u.how.ordering == ir::MemoryOrdering::kRelease);
}

const char* Constraint(int bits) { return bits == 64 ? "l" : bits == 32 ? "r" : "h"; }

// old + value of bf16, rounded once: a sum of two in f32 has enough bits that rounding it again to nearest even is the
// same. Subnormals stay. $A: address, $V: value, $D: result, $Q: qualifiers and space.
constexpr char kBf16Loop[] =
    "{ .reg .pred again, isnan; .reg .b16 seen, next, zero; .reg .b32 wide, other, odd; "
    "mov.b16 zero, 0; mov.b32 other, {zero, $V}; "
    "ld.relaxed$S.b16 $D, $A; "
    "again_: mov.b16 seen, $D; mov.b32 wide, {zero, seen}; add.rn.f32 wide, wide, other; "
    "setp.nan.f32 isnan, wide, wide; "
    "bfe.u32 odd, wide, 16, 1; add.u32 wide, wide, odd; add.u32 wide, wide, 0x7fff; "
    "@isnan mov.b32 wide, 0x7fff0000; "
    "mov.b32 {zero, next}, wide; mov.b16 zero, 0; "
    "atom$Q.cas.b16 $D, $A, seen, next; "
    "setp.ne.b16 again, $D, seen; @again bra again_; }";

}  // namespace

llvm::Value* EmitAtomic(Emitter& e, const AtomicUpdate& u, Address at, llvm::Value* value, llvm::Value* expected,
                        llvm::Value* predicate, llvm::Value* otherwise) {
  auto& b = e.b();
  if (u.how.op != nullptr) e.order().Did(*u.how.op);
  // There is no subtraction; the negative of the smallest integer is itself, and right. k - v is k + (-v) in floats.
  if (u.mode == RmwMode::kSub) value = ir::IsFloat(u.elem) ? b.CreateFNeg(value) : b.CreateNeg(value);
  const int bits = ir::MemoryBits(u.elem);
  llvm::Type* type = e.RegisterType(u.elem);
  const char* c = Constraint(bits);
  const std::string instruction = Instruction(e.target(), u.mode, u.elem);
  const std::string qualified = absl::StrCat(u.how.qualifiers(), u.how.space());

  if (!u.wants_old && !instruction.empty() && HasRed(u)) {
    std::string text = absl::StrCat("red", qualified, instruction, " ", AddressText(at, 0), ", $1;");
    std::string constraints = absl::StrCat(AddressConstraint(at), ",", c);
    Registers in = {at.base, e.ToBits(value)};
    if (predicate != nullptr) {
      text = absl::StrCat("@$2 ", text);
      absl::StrAppend(&constraints, ",b");
      in.push_back(predicate);
    }
    e.Ptx(b.getVoidTy(), text, constraints, in, true);
    return nullptr;
  }

  // $0: old, $1: address, $2: value, then compared value, predicate, otherwise.
  std::string constraints = absl::StrCat("=&", c, ",", AddressConstraint(at), ",", c);
  Registers in = {at.base, e.ToBits(value)};
  auto operand = [&](llvm::Value* v, const char* constraint) {
    absl::StrAppend(&constraints, ",", constraint);
    in.push_back(v);
    return absl::StrCat("$", in.size());
  };
  std::string text;
  if (instruction.empty()) {
    const std::string scope = absl::StrCat(".", u.how.scope, u.how.space());
    text = absl::StrReplaceAll(
        kBf16Loop, {{"$A", AddressText(at, 1)}, {"$V", "$2"}, {"$D", "$0"}, {"$Q", qualified}, {"$S", scope}});
  } else if (expected != nullptr) {
    const std::string cmp = operand(e.ToBits(expected), c);
    text = absl::StrCat("atom", qualified, instruction, " $0, ", AddressText(at, 1), ", ", cmp, ", $2;");
  } else {
    text = absl::StrCat("atom", qualified, instruction, " $0, ", AddressText(at, 1), ", $2;");
  }
  if (predicate != nullptr) {
    const std::string p = operand(predicate, "b");
    const std::string before =
        absl::StrCat("mov.b", bits, " $0, ", otherwise == nullptr ? "0" : operand(e.ToBits(otherwise), c), "; ");
    text = instruction.empty() ? absl::StrCat("{ ", before, "@!", p, " bra skip_; ", text, " skip_: }")
                               : absl::StrCat("{ ", before, "@", p, " ", text, " }");
  }
  llvm::Value* old = e.Ptx(b.getIntNTy(static_cast<unsigned>(bits)), text, constraints, in, true);
  return u.wants_old ? e.FromBits(old, type) : nullptr;
}

}  // namespace tile::codegen
