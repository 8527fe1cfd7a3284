#include "codegen/emit/lower/contended.h"

#include <functional>
#include <optional>

#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/memory/ptx_atomic.h"
#include "codegen/plan/combine_updates.h"
#include "ir/check.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Value;

// The operation as one update of one element.
AtomicUpdate UpdateOf(Emitter& e, const ir::Op& op) {
  AtomicUpdate u;
  u.elem = ir::AtomicRmwOp(op).arg()->type().elem();
  u.mode = ir::AtomicRmwOp(op).mode();
  u.how = AccessOf(e, op, false);
  u.wants_old = false;
  return u;
}

void CombineInTable(Emitter& e, const ir::Op& op, const Combination& plan) {
  auto& b = e.b();
  const ir::AtomicRmwOp update(op);
  const Value *arg = update.arg(), *mask = update.mask();
  const int64_t addresses = plan.addresses;

  // A table of zeros.
  llvm::Value* table = e.Scratch(static_cast<uint64_t>(plan.table_bytes()));
  const int64_t threads = e.num_threads();
  auto entry = [&](int64_t first) { return b.CreateAdd(e.threads().number(), e.I32(first)); };
  auto slot = [&](llvm::Value* i) { return b.CreateGEP(b.getInt32Ty(), table, i); };
  auto each = [&](auto body) {  // for every entry, by one thread
    for (int64_t first = 0; first < addresses; first += threads) {
      llvm::Value* i = entry(first);
      e.When(first + threads <= addresses ? nullptr : b.CreateICmpULT(i, e.I32(addresses)), [&] { body(i); });
    }
  };
  each([&](llvm::Value* i) { b.CreateAlignedStore(e.I32(0), slot(i), llvm::Align(4)); });
  e.Barrier();

  const Layout& layout = e.layout(arg);
  const Copies copies(layout);
  llvm::Value* first = e.threads().HoldsFirstCopy(layout);
  for (int r : copies.firsts()) {
    const auto i = static_cast<size_t>(r);
    llvm::Value* at =
        b.CreatePtrToInt(slot(b.CreateZExtOrTrunc(e.regs(plan.index)[i], b.getInt32Ty())), b.getInt32Ty());
    llvm::Value* active = And(e, first, mask == nullptr ? nullptr : e.regs(mask)[i]);
    if (active == nullptr) active = b.getTrue();
    e.Ptx(b.getVoidTy(), "@$2 red.relaxed.cta.shared.add.u32 [$0], $1;", "r,r,b", {at, e.regs(arg)[i], active}, true);
  }
  e.Barrier();

  const AtomicUpdate u = UpdateOf(e, op);
  each([&](llvm::Value* i) {
    llvm::Value* sum = b.CreateAlignedLoad(b.getInt32Ty(), slot(i), llvm::Align(4));
    llvm::Value* at = b.CreateAdd(e.scalar(plan.base), b.CreateShl(b.CreateZExt(i, b.getInt64Ty()), 2));
    EmitAtomic(e, u, Address{at, 0}, sum, nullptr, b.CreateIsNotNull(sum), nullptr);
  });
}

// How two updates of one place are one.
struct Joining {
  llvm::Value* identity;
  std::function<llvm::Value*(llvm::Value*, llvm::Value*)> combine;
};

Joining JoiningOf(Emitter& e, ir::RmwMode mode, ir::Elem elem) {
  auto& b = e.b();
  auto* type = llvm::cast<llvm::IntegerType>(e.RegisterType(elem));
  const unsigned bits = type->getBitWidth();
  auto value = [&](const llvm::APInt& v) { return llvm::ConstantInt::get(type, v); };
  auto which = [&b](llvm::Intrinsic::ID id) {
    return [&b, id](llvm::Value* x, llvm::Value* y) { return b.CreateBinaryIntrinsic(id, x, y); };
  };
  switch (mode) {
    case ir::RmwMode::kAdd:
      return Joining{value(llvm::APInt(bits, 0)), [&b](auto* x, auto* y) { return b.CreateAdd(x, y); }};
    case ir::RmwMode::kOr:
      return Joining{value(llvm::APInt(bits, 0)), [&b](auto* x, auto* y) { return b.CreateOr(x, y); }};
    case ir::RmwMode::kXor:
      return Joining{value(llvm::APInt(bits, 0)), [&b](auto* x, auto* y) { return b.CreateXor(x, y); }};
    case ir::RmwMode::kAnd:
      return Joining{value(llvm::APInt::getAllOnes(bits)), [&b](auto* x, auto* y) { return b.CreateAnd(x, y); }};
    case ir::RmwMode::kMax: return Joining{value(llvm::APInt::getSignedMinValue(bits)), which(llvm::Intrinsic::smax)};
    case ir::RmwMode::kMin: return Joining{value(llvm::APInt::getSignedMaxValue(bits)), which(llvm::Intrinsic::smin)};
    case ir::RmwMode::kUmax: return Joining{value(llvm::APInt(bits, 0)), which(llvm::Intrinsic::umax)};
    case ir::RmwMode::kUmin: return Joining{value(llvm::APInt::getAllOnes(bits)), which(llvm::Intrinsic::umin)};
    default: break;
  }
  TILE_CHECK(false, "such updates are not combined");
  return {};
}

// All elements update one place: a warp puts its own together and updates it once.
void CombineToOne(Emitter& e, const ir::Op& op, const Combination& plan) {
  auto& b = e.b();
  const ir::AtomicRmwOp update(op);
  const Value *arg = update.arg(), *mask = update.mask();
  const Joining how = JoiningOf(e, update.mode(), arg->type().elem());
  const Layout& layout = e.layout(arg);
  llvm::Value *all = how.identity, *any = b.getFalse(), *first = e.threads().HoldsFirstCopy(layout);
  const Copies copies(layout);
  for (int r : copies.firsts()) {
    const auto i = static_cast<size_t>(r);
    llvm::Value* active = And(e, first, mask == nullptr ? nullptr : e.regs(mask)[i]);
    llvm::Value* value = active == nullptr ? e.regs(arg)[i] : b.CreateSelect(active, e.regs(arg)[i], how.identity);
    all = how.combine(all, value);
    any = active == nullptr ? b.getTrue() : b.CreateOr(any, active);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) all = how.combine(all, ShuffleXor(e, all, lanes));
  any = AnyOfWarp(e, any);
  EmitAtomic(e, UpdateOf(e, op), Address{e.scalar(plan.base), 0}, all, nullptr,
             b.CreateAnd(any, b.CreateIsNull(e.threads().lane())), nullptr);
}

}  // namespace

bool CombineUpdates(Emitter& e, const ir::Op& op) {
  const std::optional<Combination> plan = CombinationOf(op);
  if (!plan) return false;
  if (plan->in_table()) {
    CombineInTable(e, op, *plan);
  } else {
    CombineToOne(e, op, *plan);
  }
  // Nobody reads the old values.
  const ir::Value* old = op.result(0);
  llvm::Value* none = llvm::PoisonValue::get(e.RegisterType(old->type().elem()));
  e.Set(old, Registers(static_cast<size_t>(e.layout(old).registers()), none));
  return true;
}

}  // namespace tile::codegen
