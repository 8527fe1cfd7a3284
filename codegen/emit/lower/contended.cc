#include "codegen/emit/lower/contended.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/memory/ptx_atomic.h"
#include "ir/op_views.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

using ir::Opcode;
using ir::Value;

constexpr int64_t kMostAddresses = 4096;  // 16 KB of shared memory
constexpr int64_t kLeastShare = 4;        // elements for each address, so that it pays

bool MovesOnly(const ir::Op& op) { return op.info()->has(ir::kMoves); }

// The scalar that all elements of a tile are, or null.
const Value* ScalarOf(const Value* v) {
  while (!v->type().is_scalar()) {
    if (v->def() == nullptr || !MovesOnly(*v->def())) return nullptr;
    v = v->def()->operand(0);
  }
  return v;
}

std::optional<uint64_t> ConstantOf(const Value* v) {
  const ir::Op* def = v->def();
  while (def != nullptr && MovesOnly(*def)) def = def->operand(0)->def();
  const auto constant = ir::As<ir::ConstantOp>(def);
  if (!constant || !constant->value().splat) return std::nullopt;
  uint64_t bits = 0;
  const ir::Dense& d = constant->value();
  std::copy(d.bytes.begin(), d.bytes.begin() + ir::StorageBytes(d.elem), reinterpret_cast<uint8_t*>(&bits));
  return bits;
}

// Elements lie in [0, n) for the n returned, whatever the data; 0: not known.
int64_t RangeOf(const Value* v, int depth = 0) {
  const ir::Op* def = v->def();
  if (def == nullptr || depth > 16) return 0;
  if (MovesOnly(*def)) return RangeOf(def->operand(0), depth + 1);
  if (const auto extended = ir::As<ir::ExtiOp>(def)) {
    const int bits = ir::ElemInfoOf(extended->from()->type().elem()).bits;
    const int64_t inside = RangeOf(extended->from(), depth + 1);
    if (inside > 0 && inside <= int64_t{1} << (bits - 1)) return inside;
    return extended->signedness() == ir::Signedness::kUnsigned && bits < 32 ? int64_t{1} << bits : 0;
  }
  if (const auto masked = ir::As<ir::AndiOp>(def)) {
    for (const Value* v : {masked->lhs(), masked->rhs()}) {
      const auto mask = ConstantOf(v);
      if (mask && *mask < static_cast<uint64_t>(kMostAddresses)) return static_cast<int64_t>(*mask) + 1;
    }
  }
  if (const auto rest = ir::As<ir::RemiOp>(def); rest && rest->signedness() == ir::Signedness::kUnsigned) {
    const auto divisor = ConstantOf(rest->rhs());
    if (divisor && *divisor > 0 && *divisor <= static_cast<uint64_t>(kMostAddresses))
      return static_cast<int64_t>(*divisor);
  }
  return 0;
}

// The operation as one update of one element.
AtomicUpdate UpdateOf(Emitter& e, const ir::Op& op) {
  AtomicUpdate u;
  u.elem = ir::AtomicRmwOp(op).arg()->type().elem();
  u.mode = ir::AtomicRmwOp(op).mode();
  u.how = AccessOf(e, op, false);
  u.wants_old = false;
  return u;
}

bool CombineInTable(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::AtomicRmwOp update(op);
  const Value *arg = update.arg(), *mask = update.mask();
  const ir::Op* offset = update.pointers()->def();
  if (update.mode() != ir::RmwMode::kAdd || arg->type().elem() != ir::Elem::kI32 || offset == nullptr ||
      offset->opcode() != Opcode::kOffset) {
    return false;
  }
  const Value* base = ScalarOf(offset->operand(0));
  const Value* index = offset->operand(1);
  const int64_t addresses = RangeOf(index);
  if (base == nullptr || addresses == 0 || addresses > kMostAddresses ||
      arg->type().num_elements() < kLeastShare * addresses) {
    return false;
  }
  if (!e.TakesStep("combine-in-shared", op)) return false;
  if (e.wants_remarks()) {
    e.Remark(op, "contended",
             absl::StrCat("at most ", addresses, " addresses for ", arg->type().num_elements(),
                          " elements: added up in shared memory first"));
  }

  // A table of zeros.
  llvm::Value* table = e.Scratch(static_cast<uint64_t>(addresses) * 4);
  const int64_t threads = e.num_threads();
  auto entry = [&](int64_t first) { return b.CreateAdd(e.thread(), e.I32(first)); };
  auto slot = [&](llvm::Value* i) { return b.CreateGEP(b.getInt32Ty(), table, i); };
  auto each = [&](auto body) {  // for every entry, by one thread
    for (int64_t first = 0; first < addresses; first += threads) {
      llvm::Value* i = entry(first);
      llvm::BasicBlock *inside = e.NewBlock("entry"), *next = e.NewBlock("next");
      b.CreateCondBr(first + threads <= addresses ? b.getTrue() : b.CreateICmpULT(i, e.I32(addresses)), inside, next);
      b.SetInsertPoint(inside);
      body(i);
      b.CreateBr(next);
      b.SetInsertPoint(next);
    }
  };
  each([&](llvm::Value* i) { b.CreateAlignedStore(e.I32(0), slot(i), llvm::Align(4)); });
  e.Barrier();

  const Layout& layout = e.layout(arg);
  const Copies copies(layout);
  llvm::Value* first = e.HoldsFirstCopy(layout);
  for (int r : copies.firsts()) {
    const auto i = static_cast<size_t>(r);
    llvm::Value* at = b.CreatePtrToInt(slot(b.CreateZExtOrTrunc(e.regs(index)[i], b.getInt32Ty())), b.getInt32Ty());
    llvm::Value* active = And(e, first, mask == nullptr ? nullptr : e.regs(mask)[i]);
    if (active == nullptr) active = b.getTrue();
    e.Ptx(b.getVoidTy(), "@$2 red.relaxed.cta.shared.add.u32 [$0], $1;", "r,r,b", {at, e.regs(arg)[i], active}, true);
  }
  e.Barrier();

  const AtomicUpdate u = UpdateOf(e, op);
  each([&](llvm::Value* i) {
    llvm::Value* sum = b.CreateAlignedLoad(b.getInt32Ty(), slot(i), llvm::Align(4));
    llvm::Value* at = b.CreateAdd(e.scalar(base), b.CreateShl(b.CreateZExt(i, b.getInt64Ty()), 2));
    EmitAtomic(e, u, Address{at, 0}, sum, nullptr, b.CreateIsNotNull(sum), nullptr);
  });
  return true;
}

// How two updates of one place are one.
struct Combination {
  llvm::Value* identity;
  std::function<llvm::Value*(llvm::Value*, llvm::Value*)> combine;
};

std::optional<Combination> CombinationOf(Emitter& e, ir::RmwMode mode, ir::Elem elem) {
  if (elem != ir::Elem::kI32 && elem != ir::Elem::kI64) return std::nullopt;
  auto& b = e.b();
  auto* type = llvm::cast<llvm::IntegerType>(e.RegisterType(elem));
  const unsigned bits = type->getBitWidth();
  auto value = [&](const llvm::APInt& v) { return llvm::ConstantInt::get(type, v); };
  auto which = [&b](llvm::Intrinsic::ID id) {
    return [&b, id](llvm::Value* x, llvm::Value* y) { return b.CreateBinaryIntrinsic(id, x, y); };
  };
  switch (mode) {
    case ir::RmwMode::kAdd:
      return Combination{value(llvm::APInt(bits, 0)), [&b](auto* x, auto* y) { return b.CreateAdd(x, y); }};
    case ir::RmwMode::kOr:
      return Combination{value(llvm::APInt(bits, 0)), [&b](auto* x, auto* y) { return b.CreateOr(x, y); }};
    case ir::RmwMode::kXor:
      return Combination{value(llvm::APInt(bits, 0)), [&b](auto* x, auto* y) { return b.CreateXor(x, y); }};
    case ir::RmwMode::kAnd:
      return Combination{value(llvm::APInt::getAllOnes(bits)), [&b](auto* x, auto* y) { return b.CreateAnd(x, y); }};
    case ir::RmwMode::kMax:
      return Combination{value(llvm::APInt::getSignedMinValue(bits)), which(llvm::Intrinsic::smax)};
    case ir::RmwMode::kMin:
      return Combination{value(llvm::APInt::getSignedMaxValue(bits)), which(llvm::Intrinsic::smin)};
    case ir::RmwMode::kUmax: return Combination{value(llvm::APInt(bits, 0)), which(llvm::Intrinsic::umax)};
    case ir::RmwMode::kUmin: return Combination{value(llvm::APInt::getAllOnes(bits)), which(llvm::Intrinsic::umin)};
    default: return std::nullopt;
  }
}

// All elements update one place: a warp puts its own together and updates it once.
bool CombineToOne(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::AtomicRmwOp update(op);
  const Value *arg = update.arg(), *mask = update.mask();
  const Value* place = ScalarOf(update.pointers());
  const std::optional<Combination> how = CombinationOf(e, update.mode(), arg->type().elem());
  if (place == nullptr || arg->type().is_scalar() || !how || !e.TakesStep("combine-to-one", op)) return false;
  if (e.wants_remarks()) {
    e.Remark(op, "contended",
             absl::StrCat("one address for ", arg->type().num_elements(), " elements: each warp updates it once"));
  }
  const Layout& layout = e.layout(arg);
  llvm::Value *all = how->identity, *any = b.getFalse(), *first = e.HoldsFirstCopy(layout);
  const Copies copies(layout);
  for (int r : copies.firsts()) {
    const auto i = static_cast<size_t>(r);
    llvm::Value* active = And(e, first, mask == nullptr ? nullptr : e.regs(mask)[i]);
    llvm::Value* value = active == nullptr ? e.regs(arg)[i] : b.CreateSelect(active, e.regs(arg)[i], how->identity);
    all = how->combine(all, value);
    any = active == nullptr ? b.getTrue() : b.CreateOr(any, active);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) all = how->combine(all, ShuffleXor(e, all, lanes));
  any = b.CreateIntrinsic(b.getInt1Ty(), llvm::Intrinsic::nvvm_vote_any_sync, {e.I32(-1), any});
  EmitAtomic(e, UpdateOf(e, op), Address{e.scalar(place), 0}, all, nullptr, b.CreateAnd(any, b.CreateIsNull(e.lane())),
             nullptr);
  return true;
}

}  // namespace

bool CombineUpdates(Emitter& e, const ir::Op& op) {
  if (ir::AtomicRmwOp(op).ordering() != ir::MemoryOrdering::kRelaxed || op.result(0)->has_uses()) return false;
  if (!CombineToOne(e, op) && !CombineInTable(e, op)) return false;
  // Nobody reads the old values.
  const ir::Value* old = op.result(0);
  llvm::Value* none = llvm::PoisonValue::get(e.RegisterType(old->type().elem()));
  e.Set(old, Registers(static_cast<size_t>(e.layout(old).registers()), none));
  return true;
}

}  // namespace tile::codegen
