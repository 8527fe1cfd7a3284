// Atomic updates: each element is one indivisible update by the first thread that holds it, the old value goes to all.
//
// Orderings. One update carries the operation's own ordering and scope; several of a thread are relaxed, between fences. Release: tokens put a barrier between earlier
// accesses of the block and this one (codegen/emit/context/order.h); they happen before every thread's update, and a release
// publishes all that happens before it, of other threads too. Acquire: what tokens order behind it comes behind a barrier,
// so that it happens after the update of whichever thread made it.
//
// Floats that are added to neighbours go together, where the target has an instruction for it and nobody asks for the old values.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/lower/contended.h"
#include "codegen/emit/memory/ptx_atomic.h"
#include "codegen/emit/memory/tile_box.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"

namespace tile::codegen {
namespace {

// One fence in front of a tile of updates, and one behind it, order them as the ordering of each would. Then each is relaxed.
class Fences {
 public:
  Fences(Emitter& e, MemoryAccess how, size_t updates) : e_(e), how_(std::move(how)) {
    using ir::MemoryOrdering;
    const bool ordered = how_.ordering == MemoryOrdering::kAcquire || how_.ordering == MemoryOrdering::kRelease ||
                         how_.ordering == MemoryOrdering::kAcqRel;
    if (!ordered || updates < 2) return;
    in_front_ = how_.ordering != MemoryOrdering::kAcquire;
    behind_ = how_.ordering != MemoryOrdering::kRelease;
    if (in_front_) Fence();
    how_.ordering = MemoryOrdering::kRelaxed;
  }
  ~Fences() {
    if (behind_) Fence();
  }
  Fences(const Fences&) = delete;
  Fences& operator=(const Fences&) = delete;

  const MemoryAccess& how() const { return how_; }
  // The fence behind them takes what they have read.
  bool by_atom() const { return behind_; }

 private:
  void Fence() { e_.Ptx(e_.b().getVoidTy(), absl::StrCat("fence.acq_rel.", how_.scope, ";"), "", {}, true); }

  Emitter& e_;
  MemoryAccess how_;
  bool in_front_ = false, behind_ = false;
};

// Updates every element: `at` gives its address, `active` (i1; null: true) whether there is one.
template <class At, class Active>
void Update(Emitter& e, const ir::Op& op, const ir::Value* value, const ir::Value* expected, bool shared, At at,
            Active active) {
  const Layout& layout = e.layout(value);
  const Copies copies(layout);
  const Fences fences(e, AccessOf(e, op, shared), copies.firsts().size());
  AtomicUpdate u;
  u.elem = value->type().elem();
  u.how = fences.how();
  if (expected == nullptr) u.mode = ir::OpView<ir::WithFields<ir::Field::kMode>>(op).mode();
  const ir::Value* result = op.result(0)->type().is_token() ? nullptr : op.result(0);
  const bool wants_old = result != nullptr && result->has_uses();
  u.wants_old = wants_old || fences.by_atom();
  llvm::Value* first = e.threads().HoldsFirstCopy(layout);
  Registers out(static_cast<size_t>(layout.registers()), nullptr);
  for (int r : copies.firsts()) {
    const auto i = static_cast<size_t>(r);
    llvm::Value* cmp = expected == nullptr ? nullptr : e.regs(expected)[i];
    // Elements that are not updated give what compare-and-swap expects.
    out[i] = EmitAtomic(e, u, at(r), e.regs(value)[i], cmp, And(e, first, active(r)), cmp);
  }
  if (result == nullptr) return;
  if (!wants_old) {
    // Nobody reads the result, but every value has registers.
    return e.Set(result, Registers(out.size(), llvm::PoisonValue::get(e.RegisterType(u.elem))));
  }
  e.Set(result, copies.Share(e, std::move(out)));
}

void UpdatePointers(Emitter& e, const ir::Op& op, const ir::Value* value, const ir::Value* expected) {
  const Registers& pointers = e.regs(ir::PointerUpdateOp(op).pointers());
  const ir::Value* mask = ir::PointerUpdateOp(op).mask();
  Update(
      e, op, value, expected, false,
      [&](int r) {
        return Address{pointers[static_cast<size_t>(r)], 0};
      },
      [&](int r) { return mask == nullptr ? nullptr : e.regs(mask)[static_cast<size_t>(r)]; });
}

// red orders nothing behind it.
bool ByRed(const AtomicUpdate& u) {
  return u.how.ordering == ir::MemoryOrdering::kRelaxed || u.how.ordering == ir::MemoryOrdering::kRelease;
}

// How many neighbours one instruction adds to, each by itself; 1: there is none for several.
int MostTogether(const Target& target, const AtomicUpdate& u) {
  const bool adds = u.mode == ir::RmwMode::kAddf || (u.mode == ir::RmwMode::kSub && ir::IsFloat(u.elem));
  if (!adds || u.wants_old || (!ByRed(u) && !target.has(kVectorRed))) return 1;
  switch (u.elem) {
    case ir::Elem::kF32: return target.has(kVectorRed) ? 4 : 1;
    case ir::Elem::kF16: return target.has(kVectorRed) ? 8 : 2;
    case ir::Elem::kBF16: return target.has(kVectorRed) ? 8 : 1;
    default: return 1;
  }
}

// So many registers of a thread, up to `most`, point to neighbours from a multiple of their size on, and have one mask, as far as facts say.
int Neighbours(Emitter& e, const ir::AtomicRmwOp& op, int most) {
  const ir::Value* pointers = op.pointers();
  const ir::Type type = pointers->type();
  const auto bytes = static_cast<uint64_t>(ir::MemoryBits(type.element().pointee) / 8);
  for (int d = 0; d < type.rank(); ++d) {
    const int n = NeighbouringRegisters(e.layout(pointers), d);
    if (n == 1) continue;
    const Facts::Line line = e.facts().LineOf(pointers, d);
    auto vector = std::min<uint64_t>({static_cast<uint64_t>(most), static_cast<uint64_t>(n), line.rising});
    if (op.mask() != nullptr) vector = std::min(vector, e.facts().LineOf(op.mask(), d).equal);
    while (vector > 1 && line.start < vector * bytes) vector /= 2;
    return static_cast<int>(vector);
  }
  return 1;
}

// Adds to 2, 4 or 8 neighbours, where `active` (null: true): red.add.v4.f32, red.add.noftz.v4.bf16x2; by atom where others must not come before.
void AddTogether(Emitter& e, const AtomicUpdate& u, bool red, llvm::Value* address, Operands values,
                 llvm::Value* active) {
  auto& b = e.b();
  if (u.how.op != nullptr) e.order().Did(*u.how.op);
  const auto bits = [&](llvm::Value* v) { return e.ToBits(u.mode == ir::RmwMode::kSub ? b.CreateFNeg(v) : v); };
  const bool in_pairs = u.elem != ir::Elem::kF32;
  Registers in = {address};
  std::string list, constraints = "l";
  for (size_t i = 0; i < values.size(); i += in_pairs ? 2 : 1) {
    llvm::Value* word = bits(values[i]);
    if (in_pairs) {
      llvm::Value* high = b.CreateShl(b.CreateZExt(bits(values[i + 1]), b.getInt32Ty()), 16);
      word = b.CreateOr(b.CreateZExt(word, b.getInt32Ty()), high);
    }
    absl::StrAppend(&list, list.empty() ? "$" : ", $", in.size());
    absl::StrAppend(&constraints, ",r");
    in.push_back(word);
  }
  const size_t words = in.size() - 1;
  const char* type = !in_pairs ? ".f32" : u.elem == ir::Elem::kF16 ? ".f16x2" : ".bf16x2";
  const auto vector = [&](const std::string& of) { return words > 1 ? absl::StrCat("{", of, "}") : of; };
  std::string old;
  for (size_t i = 0; i < words; ++i) absl::StrAppend(&old, i == 0 ? "old" : ", old", i);
  std::string text = absl::StrCat(red ? "red" : "atom", u.how.qualifiers(), u.how.space(),
                                  in_pairs ? ".add.noftz" : ".add", words > 1 ? absl::StrCat(".v", words) : "", type,
                                  " ", red ? "" : absl::StrCat(vector(old), ", "), "[$0], ", vector(list), ";");
  if (active != nullptr) {
    text = absl::StrCat("@$", in.size(), " ", text);
    absl::StrAppend(&constraints, ",b");
    in.push_back(active);
  }
  if (!red) text = absl::StrCat("{ .reg .b32 ", old, "; ", text, " }");
  e.Ptx(b.getVoidTy(), text, constraints, in, true);
}

// Nobody asks for the old values, and the target adds to several neighbours by one instruction. False: it does not.
bool UpdateTogether(Emitter& e, const ir::AtomicRmwOp& op) {
  const ir::Value* value = op.arg();
  AtomicUpdate u;
  u.elem = value->type().elem();
  u.how = AccessOf(e, op.op(), false);
  u.mode = op.mode();
  u.wants_old = op.op().result(0)->has_uses();
  const int vector = Neighbours(e, op, MostTogether(e.target(), u));
  if (vector == 1) return false;
  const Layout& layout = e.layout(value);
  const Copies copies(layout);
  const Fences fences(e, u.how, copies.firsts().size() / static_cast<size_t>(vector));
  const bool red = ByRed(u);
  u.how = fences.how();
  llvm::Value* first = e.threads().HoldsFirstCopy(layout);
  for (int r : copies.firsts()) {
    if (r % vector != 0) continue;
    const auto i = static_cast<size_t>(r);
    llvm::Value* active = And(e, first, op.mask() == nullptr ? nullptr : e.regs(op.mask())[i]);
    const Operands values = Operands(e.regs(value)).subspan(i, static_cast<size_t>(vector));
    AddTogether(e, u, red, e.regs(op.pointers())[i], values, active);
  }
  // Nobody reads the result, but every value has registers.
  llvm::Value* nothing = llvm::PoisonValue::get(e.RegisterType(u.elem));
  e.Set(op.op().result(0), Registers(static_cast<size_t>(layout.registers()), nothing));
  return true;
}

void UpdateBox(Emitter& e, const ir::Op& op, TileBox box, const ir::Value* value, const ir::Value* expected) {
  if (e.refused()) return;
  Update(
      e, op, value, expected, box.shared(), [&](int r) { return box.At(r); }, [&](int r) { return box.Inside(r); });
}

void UpdateView(Emitter& e, const ir::Op& op, const ir::Value* expected) {
  const ir::Value* value = ir::ViewUpdateOp(op).value();
  UpdateBox(e, op, TileBox::OfView(e, op, e.layout(value)), value, expected);
}

void RefuseMulticast(Emitter& e, const ir::Op& op) {
  e.Refuse(op,
           "multicast memory of several GPUs is not supported; load_view_tko, store_view_tko and "
           "atomic_red_view_tko work on one copy");
}

}  // namespace

void LowerAtomicRmw(Emitter& e, const ir::Op& op) {
  if (CombineUpdates(e, op) || UpdateTogether(e, ir::AtomicRmwOp(op))) return;
  UpdatePointers(e, op, ir::AtomicRmwOp(op).arg(), nullptr);
}
void LowerAtomicCas(Emitter& e, const ir::Op& op) {
  UpdatePointers(e, op, ir::AtomicCasOp(op).val(), ir::AtomicCasOp(op).cmp());
}
void LowerAtomicRedView(Emitter& e, const ir::Op& op) { UpdateView(e, op, nullptr); }
void LowerAtomicRmwView(Emitter& e, const ir::Op& op) { UpdateView(e, op, nullptr); }
void LowerAtomicCasView(Emitter& e, const ir::Op& op) { UpdateView(e, op, ir::AtomicCasViewOp(op).cmp()); }

void LowerAtomicScatterView(Emitter& e, const ir::Op& op) {
  const ir::Value* values = ir::AtomicScatterViewOp(op).values();
  UpdateBox(e, op, TileBox::OfScatter(e, op, e.layout(values)), values, nullptr);
}

void LowerMultimemLoadReduce(Emitter& e, const ir::Op& op) { RefuseMulticast(e, op); }
void LowerMultimemReduce(Emitter& e, const ir::Op& op) { RefuseMulticast(e, op); }
void LowerMultimemStore(Emitter& e, const ir::Op& op) { RefuseMulticast(e, op); }

}  // namespace tile::codegen
