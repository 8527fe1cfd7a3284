#include "codegen/passes/layouts/layout_rules.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "codegen/analysis/facts.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/stride.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/gpu/ops.h"
#include "codegen/layout/conversion.h"
#include "codegen/passes/layouts/copied_read.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/scaled_mma.h"
#include "codegen/plan/parts_of_tile.h"
#include "codegen/plan/staging/pointer_copy.h"
#include "codegen/plan/staging/shared_account.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tma/tma_store.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Type;
using ir::Value;

using Rule = LayoutRule;

// Of a thread, in which fragments may wait over all iterations of a loop.
constexpr int kInvariantBits = 32 * 32;

// Elements of a thread, from which on a tile that is stored in single elements is brought into another layout first. Fewer, where parts of words
// become kLeastVector bits: each instruction writes but a part of every sector, which memory then merges (H200, a gradient of 128 x 4 bf16 in a
// block, 268 MB in pieces of 2 bytes: 1019 us, Triton in pieces of 8 bytes 192).
constexpr int kWorthMoving = 8, kWorthMovingParts = 4;
constexpr int64_t kLeastVector = 64;

// Elements of a row that each warp holds whole, in a thread.
constexpr int kMostOfRow = 4;

// Registers of a thread that hold what other threads have, too, for which it is put together from two halves without an exchange.
constexpr int kMostRepeated = 8;

constexpr int64_t kWordBits = 32, kSectorBits = 256, kVectorBits = 128;  // of what goes to memory as one

Shape WithoutOnes(absl::Span<const int64_t> shape) {
  Shape s;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(s), [](int64_t size) { return size != 1; });
  return s;
}

Layout SourceOfBroadcast(Layout layout, absl::Span<const int64_t> shape) {
  for (int d = 0; d < layout.rank(); ++d) {
    if (shape[d] == 1) layout = layout.Collapse(d);
  }
  return layout.RemoveZeroRegisters();
}

Layout OnlyDimension(Layout layout, int dim) {
  for (int d = layout.rank() - 1; d >= 0; --d) {
    if (d != dim) layout = layout.Slice(d);
  }
  return layout.RemoveZeroRegisters();
}

absl::InlinedVector<int, 8> PermutationOf(const Op& op) {
  const auto p = ir::PermuteOp(op).permutation();
  return {p.begin(), p.end()};
}

// Sums of 16 bits are atomic in pairs: one alone takes a loop of the memory's (64 f16, one in a thread: 359 us; in pairs as Triton does: 19).
bool UpdatesHalves(const Op& op) {
  return ir::AtomicRmwOp::Is(&op) && ir::IsFloat(ir::AtomicRmwOp(op).arg()->type().elem()) &&
         ir::MemoryBits(ir::AtomicRmwOp(op).arg()->type().elem()) == 16;
}

// The pointers of a load, a store or such an update; null: it has none.
const Value* AddressesOf(const Op& op) {
  if (UpdatesHalves(op)) return ir::AtomicRmwOp(op).pointers();
  if (const auto load = ir::As<ir::LoadPtrOp>(&op)) return load->source();
  if (const auto store = ir::As<ir::StorePtrOp>(&op)) return store->destination();
  return nullptr;
}
const Value* MaskOf(const Op& op) {
  if (const auto update = ir::As<ir::AtomicRmwOp>(&op)) return update->mask();
  return ir::LoadPtrOp::Is(&op) ? ir::LoadPtrOp(op).mask() : ir::StorePtrOp(op).mask();
}

// Of a store or update through a view.
const Value* StoredTile(const Op& op) {
  return ir::StoreViewOp::Is(&op) ? ir::StoreViewOp(op).tile() : ir::ViewUpdateOp(op).value();
}

// A row that comes beside tiles that are copied ahead, or before the loop for its first iteration (passes/pipeline/prefetch_tiles.h).
bool IsBesideCopies(const Op& load) {
  if (!load.info()->is_load() || load.result(0)->type().rank() != 1) return false;
  if (IsInCopyingLoop(load)) return true;
  const Op* parent = load.parent();
  if (!ir::IfOp::Is(parent)) return false;
  for (int i = 0; i < parent->num_results(); ++i) {
    for (const ir::Use* use = parent->result(i)->uses(); use != nullptr; use = use->next) {
      if (ir::ForOp::Is(use->owner) && CopyIn(*use->owner) != nullptr) return true;
    }
  }
  return false;
}

// The dimension along which pointers that are no neighbours lie nearest to each other, and the bytes between them (Strides::kAny: not known).
struct Nearest {
  int dim;
  int64_t bytes;
};
std::optional<Nearest> NearestApart(Strides& strides, const Value* pointers) {
  std::optional<Nearest> nearest;
  int unknown = 0;
  for (int d = 0; d < pointers->type().rank(); ++d) {
    const Strides::Stride stride = strides.Of(pointers, d);
    if (!stride) return std::nullopt;
    if (*stride == 0) continue;
    unknown += *stride == Strides::kAny;
    const int64_t bytes = *stride < 0 ? -*stride : *stride;
    if (!nearest || bytes < nearest->bytes) nearest = Nearest{d, bytes};
  }
  // Which of several unknown ones is the nearest is not known either.
  return nearest && nearest->bytes == Strides::kAny && unknown > 1 ? std::nullopt : nearest;
}

int64_t VectorOf(Type t) {
  const ir::Elem e = t.element().is_pointer() ? t.element().pointee : t.elem();
  return 128 / ir::MemoryBits(e);
}

}  // namespace

const Layout* LayoutRules::Inferred(const Value* v) const {
  auto it = inferred_.find(v);
  return it == inferred_.end() ? nullptr : it->second;
}

void LayoutRules::SetInferred(const Value* v, const Layout* layout) {
  if (!IsTile(v) || layout == nullptr) return;
  const Layout*& known = inferred_[v];
  if (known != nullptr) return;
  known = layout;
  changed_ = true;
}

const Value* LayoutRules::Receiver(const Op& branch, int i) {
  // Bodies of reduce are scalar, and what a stage holds has no layout.
  if (ir::YieldOp::Is(&branch) && !ir::IfOp::Is(branch.parent())) return nullptr;
  return ir::ReceiverOf(branch, i);
}

template <class Known>
const Layout* LayoutRules::Forward(const Op& op, const Value* result, Known known) {
  switch (RuleOf(op).layout) {
    case Rule::kSame:
      for (int i = 0; i < op.num_operands(); ++i) {
        if (!IsTile(op.operand(i))) continue;
        if (const Layout* l = known(op.operand(i))) return l;
      }
      return nullptr;
    case Rule::kReshape: {
      const Layout* l = IsTile(op.operand(0)) ? known(op.operand(0)) : nullptr;
      return l == nullptr ? nullptr : Intern(l->Reshape(result->type().shape()));
    }
    case Rule::kPermute: {
      const Layout* l = known(op.operand(0));
      return l == nullptr ? nullptr : Intern(l->Permute(PermutationOf(op)));
    }
    case Rule::kCat: {
      const Layout* l = known(op.operand(0));
      if (l == nullptr) l = known(op.operand(1));
      // Of what several threads have, each would have all that comes of it.
      if (l == nullptr || (l->registers() >= kMostRepeated && !l->IsInjective())) return nullptr;
      return Intern(WithHalves(*l, static_cast<int>(ir::CatOp(op).dim())));
    }
    case Rule::kExtract: {
      const Layout* l = known(op.operand(0));
      const auto part = l == nullptr ? std::nullopt : PartLayout(op, *l);
      return part ? Intern(*part) : nullptr;
    }
    case Rule::kInsert: return known(ir::InsertOp(op).destination());
    case Rule::kReduce: {
      const Layout* l = known(op.operand(0));
      return l == nullptr ? nullptr : Intern(l->Slice(static_cast<int>(ir::ReduceOp(op).dim())).RemoveZeroRegisters());
    }
    case Rule::kLoadView: {
      const Layout* row = ForRow(op);
      return row != nullptr ? row : ForLoad(op);
    }
    case Rule::kMma: return Intern(KindOf(op).ResultLayout(plan_.num_warps, op));
    case Rule::kBroadcast: {
      const Layout* l = rows_decide_ ? Inferred(op.operand(0)) : nullptr;
      return l == nullptr ? nullptr : Repeated(op, *l);
    }
    default: return nullptr;
  }
}

void LayoutRules::LetRowsDecide(ir::Block* body) {
  for (const auto& [value, layout] : inferred_) decided_shapes_.insert(WithoutOnes(value->type().shape()));
  ir::Walk(body, [&](const Op* op) {
    // Rows that are folded are better in few warps, and products say where their operands are.
    if (!ir::FoldOp::Is(op) && op->info()->family != ir::Family::kMma) return;
    for (int i = 0; i < op->num_operands(); ++i) {
      if (IsTile(op->operand(i))) decided_shapes_.insert(WithoutOnes(op->operand(i)->type().shape()));
    }
  });
  rows_decide_ = true;
}

const Layout* LayoutRules::Repeated(const Op& broadcast, const Layout& source) {
  const auto shape = broadcast.result(0)->type().shape();
  const auto repeats = [](Mask base) { return base == 0; };
  const bool spread = std::none_of(source.bases(In::kLane).begin(), source.bases(In::kLane).end(), repeats) &&
                      std::none_of(source.bases(In::kWarp).begin(), source.bases(In::kWarp).end(), repeats);
  if (!spread || decided_shapes_.contains(WithoutOnes(shape))) return nullptr;
  const Layout all = Layout::Replicated(shape, plan_.num_warps);
  const auto moved = [&](const Masks& bases) {
    Masks to;
    for (const Mask base : bases) {
      Mask at = 0;
      for (int d = 0; d < source.rank(); ++d)
        at |= (base & source.DimMask(d)) >> source.dim_shift(d) << all.dim_shift(d);
      to.push_back(at);
    }
    return to;
  };
  Masks registers = moved(source.bases(In::kRegister));
  for (int d = source.rank() - 1; d >= 0; --d) {
    for (int n = source.dim_bits(d); n < all.dim_bits(d); ++n) registers.push_back(Mask{1} << (all.dim_shift(d) + n));
  }
  return Intern(Layout::FromBases(Shape(shape.begin(), shape.end()), std::move(registers),
                                  moved(source.bases(In::kLane)), moved(source.bases(In::kWarp))));
}

void LayoutRules::Infer(const Op& op) {
  auto known = [&](const Value* v) { return Inferred(v); };
  switch (RuleOf(op).layout) {
    case Rule::kBranch:
      for (int i = 0; i < op.num_operands(); ++i) {
        if (const Value* to = Receiver(op, i)) SetInferred(to, Inferred(op.operand(i)));
      }
      return;
    case Rule::kLoop: {
      const ir::CarryingLoop loop(op);
      for (int i = 0; i < loop.num_carried(); ++i) {
        SetInferred(loop.arg(i), Inferred(loop.init(i)));
        if (loop.counts()) SetInferred(loop.result(i), Inferred(loop.arg(i)));
      }
      return;
    }
    default:
      if (const Layout* l = ForPointers(op)) {
        if (IsFetch(op.parent()) || UpdatesHalves(op)) SetInferred(op.result(0), l);
        SetInferredBehind(AddressesOf(op), l);
        if (const Value* mask = MaskOf(op)) SetInferredBehind(mask, l);
      }
      if (const Layout* l = ForRepeatedUpdate(op)) SetInferred(op.result(0), l);
      for (int i = 0; i < op.num_results(); ++i) {
        if (IsTile(op.result(i))) SetInferred(op.result(i), Forward(op, op.result(i), known));
      }
  }
}

const Layout* LayoutRules::Decided(const Value* v) {
  const Op* def = v->def();
  // What comes out of a for is what went around.
  if (ir::ForOp::Is(def)) return LayoutOf(ir::CarryingLoop(*def).arg(v->index())->type());
  if (const Layout* l = Inferred(v)) return l;
  if (def != nullptr) {
    if (const Layout* l = Forward(*def, v, [](const Value* x) { return LayoutOf(x->type()); })) return l;
  }
  return DefaultFor(v->type());
}

const Layout* LayoutRules::Backward(const Op& op, const Value* v, const Layout& result) {
  switch (RuleOf(op).layout) {
    case Rule::kSame: return Intern(result);
    case Rule::kReshape: return Intern(result.Reshape(v->type().shape()));
    case Rule::kPermute: return Intern(result.PermuteBack(PermutationOf(op)));
    case Rule::kBroadcast: return Intern(SourceOfBroadcast(result, v->type().shape()));
    case Rule::kCat: {
      const auto half = PartLayout(op, result);
      return half ? Intern(*half) : nullptr;
    }
    default: return nullptr;
  }
}

absl::InlinedVector<const Layout*, 4> LayoutRules::Wanted(const Op& op) {
  const Rule rule = RuleOf(op).layout;
  const Layout* all = rule == Rule::kSame ? WantedOfAll(op) : nullptr;
  const Layout* stored = rule == Rule::kStoreView ? ForStore(op, LayoutOf(StoredTile(op)->type())) : nullptr;
  absl::InlinedVector<const Layout*, 4> wanted;
  for (int i = 0; i < op.num_operands(); ++i) {
    const bool has_one = NeedsLayout(op.operand(i)->type());
    wanted.push_back(!has_one ? nullptr : rule == Rule::kSame ? all : WantedOf(op, i, stored));
  }
  return wanted;
}

const Layout* LayoutRules::WantedOfAll(const Op& op) {
  for (int r = 0; r < op.num_results(); ++r) {
    if (IsTile(op.result(r))) return LayoutOf(op.result(r)->type());
  }
  if (const auto store = ir::As<ir::StorePtrOp>(&op)) return WantedForPointers(*store);
  // An operand whose layout follows from something is preferred, and of two such operands the later one.
  const Layout* best = nullptr;
  for (int k = 0; k < op.num_operands(); ++k) {
    if (!IsTile(op.operand(k))) continue;
    if (best == nullptr || Inferred(op.operand(k)) != nullptr) best = LayoutOf(op.operand(k)->type());
  }
  return best;
}

// The layout of the value, unless the pointers are neighbours elsewhere.
const Layout* LayoutRules::WantedForPointers(const ir::StorePtrOp& store) {
  const bool follows = Inferred(store.value()) != nullptr;
  const Layout* own = LayoutOf(store.value()->type());
  const Layout* wide = ForPointers(store.op());
  if (wide == nullptr) return follows ? own : LayoutOf(store.destination()->type());
  if (!follows) return wide;
  // A few elements are stored sooner than they would be moved to other threads.
  const int bits = ir::MemoryBits(store.value()->type().elem()), dim = pointers_.at(&store.op()).second;
  const bool joins_parts =
      !StoresWords(*own, dim, bits) && RunAlong(*wide, wide->bases(In::kRegister), dim, bits) >= kLeastVector;
  const int worth_moving = joins_parts ? kWorthMovingParts : kWorthMoving;
  if (own->registers() >= worth_moving && !StoresWell(store.op(), *own, dim, bits)) return wide;
  return Intern(IsBesideRings(store.op()) ? VectorsByShuffles(*own, dim, bits) : NeighboursFirst(*own, dim));
}

const Layout* LayoutRules::WantedOf(const Op& op, int i, const Layout* stored) {
  const Value* v = op.operand(i);
  switch (RuleOf(op).layout) {
    case Rule::kReshape:
      if (LayoutOf(op.result(0)->type()) == nullptr)
        return Intern(Layout::Replicated(v->type().shape(), plan_.num_warps));
      [[fallthrough]];
    case Rule::kPermute:
    case Rule::kCat:
    case Rule::kBroadcast: return Backward(op, v, *LayoutOf(op.result(0)->type()));
    case Rule::kInsert: return v == ir::InsertOp(op).destination() ? LayoutOf(op.result(0)->type()) : nullptr;
    case Rule::kReduce: return LayoutOf(op.operand(0)->type());
    case Rule::kLoadView: {  // the index tile of a gather
      const Type view = ir::LoadViewOp(op).view()->type();
      return Intern(OnlyDimension(*LayoutOf(op.result(0)->type()), view->sparse_dim));
    }
    case Rule::kStoreView: {
      const Type view = ir::ViewAccessOp(op).view()->type();
      return v == StoredTile(op) ? stored : Intern(OnlyDimension(*stored, view->sparse_dim));
    }
    case Rule::kMma: {
      if (v == ir::MmaOp(op).acc()) return LayoutOf(op.result(0)->type());
      const Layout* scales = ForScales(op, i);
      return scales != nullptr ? scales : ForInvariant(op, i);
    }
    case Rule::kLoop: {
      const ir::CarryingLoop loop(op);
      const int carried = loop.carried_by_operand(i);
      return carried < 0 ? nullptr : LayoutOf(loop.arg(carried)->type());
    }
    case Rule::kBranch: {
      const Value* to = Receiver(op, i);
      return to == nullptr ? nullptr : LayoutOf(to->type());
    }
    default: return nullptr;
  }
}

const Layout* LayoutRules::ForInvariant(const Op& mma, int i) {
  const Value* v = mma.operand(i);
  if (!IsInvariant(mma, i) || FetchOf(mma) != nullptr || CopyOf(mma, i) != nullptr) return nullptr;
  const std::optional<Layout> fragment = KindOf(mma).FragmentLayout(mma, i);
  if (!fragment) return nullptr;  // it is staged in shared memory
  const int bits = ir::ElemInfoOf(v->type().elem()).storage * 8;
  return fragment->registers() * bits <= kInvariantBits ? Intern(*fragment) : nullptr;
}

const Layout* LayoutRules::ForScales(const Op& mma, int i) {
  if (ScaleOf(mma, i) < 0) return nullptr;
  const std::optional<Layout> scales = KindOf(mma).FragmentLayout(mma, i);
  return scales ? Intern(*scales) : nullptr;
}

// Scales are few bytes. Several threads load the same ones, so no thread gets its scales from another.
void LayoutRules::NoteScales(const Op& mma) {
  for (int i = 0; i < mma.num_operands(); ++i) {
    std::vector<std::pair<const Value*, const Layout*>> seen = {{mma.operand(i), ForScales(mma, i)}};
    if (seen[0].second == nullptr) continue;
    const Op* def = seen[0].first->def();
    while (def != nullptr && (RuleOf(*def).layout == Rule::kPermute || ir::ReshapeOp::Is(def)) &&
           IsTile(def->operand(0))) {
      seen.emplace_back(def->operand(0), Backward(*def, def->operand(0), *seen.back().second));
      def = def->operand(0)->def();
    }
    if (def == nullptr || !ir::LoadViewOp::Is(def)) continue;
    for (const auto& [value, layout] : seen) SetInferred(value, layout);
  }
}

const Layout* LayoutRules::DefaultFor(Type t) {
  return Intern(Layout::Default(t.shape(), plan_.num_warps, static_cast<int>(VectorOf(t))));
}

const Layout* LayoutRules::AlongDim(Shape shape, int dim, int vector) {
  const int last = static_cast<int>(shape.size()) - 1;
  absl::InlinedVector<int, 8> swap;
  for (int d = 0; d <= last; ++d) swap.push_back(d);
  std::swap(swap[dim], swap[last]);
  std::swap(shape[dim], shape[last]);
  return Intern(Layout::Default(shape, plan_.num_warps, vector).Permute(swap));
}

// Of what several threads have, as sums of rows are, each has its own part: else the first of them does all updates.
const Layout* LayoutRules::ForRepeatedUpdate(const Op& op) {
  const auto update = ir::As<ir::AtomicRmwOp>(&op);
  if (!update || !IsTile(update->arg())) return nullptr;
  const Layout* own = Inferred(update->arg());
  const Layout* apart = own == nullptr || own->IsInjective() ? nullptr : DefaultFor(update->arg()->type());
  return apart != nullptr && apart->registers() < own->RemoveZeroRegisters().registers() ? apart : nullptr;
}

// A thread has at least two neighbours along the dimension. Other threads may then have no element.
const Layout* LayoutRules::WithPairs(const Shape& shape, int dim, int vector) {
  const Layout* along = AlongDim(shape, dim, vector);
  const bool has_pairs = along->registers() > 1 && along->bases(In::kRegister)[0] == Mask{1} << along->dim_shift(dim);
  if (has_pairs) return along;
  const auto d = static_cast<size_t>(dim);
  const auto rank = static_cast<int>(shape.size());
  Shape elements(shape.size(), 1), lanes(shape.size(), 1), warps(shape.size(), 1);
  elements[d] = 2;
  lanes[d] = std::min<int64_t>(32, shape[d] / 2);
  absl::InlinedVector<int, 4> order = {dim};
  for (int other = rank - 1; other >= 0; --other) {
    if (other != dim) order.push_back(other);
  }
  const auto next = static_cast<size_t>(rank > 1 ? order[1] : dim);
  lanes[next] *= 32 / lanes[d];
  warps[next] = plan_.num_warps;
  return Intern(Layout::Blocked(shape, elements, lanes, warps, order));
}

const Layout* LayoutRules::ForRow(const Op& load) {
  if (!IsBesideCopies(load)) return nullptr;
  const auto shape = load.result(0)->type().shape();
  if (shape[0] <= 32 || shape[0] > 32 * kMostOfRow) return nullptr;
  const auto warps = static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(plan_.num_warps)));
  return Intern(Layout::Default(shape, 1, 1).WithBases(In::kWarp, Masks(warps, 0)));
}

// Vectors along the rows that a copy left in shared memory, or a layout of the product that they go to.
const Layout* LayoutRules::ForRead(const Op& read) {
  const Type tile = read.result(0)->type();
  const Layout* rows = AlongDim(Shape(tile.shape().begin(), tile.shape().end()), StagedOperandOf(read, 0)->contiguous,
                                static_cast<int>(VectorOf(tile)));
  const std::optional<Layout> of_product = ProductLayoutOfRead(read, *rows);
  return of_product ? Intern(*of_product) : rows;
}

const Layout* LayoutRules::ForView(Type view) {
  return AlongDim(Shape(view.shape().begin(), view.shape().end()), FastestDim(view), static_cast<int>(VectorOf(view)));
}

const Layout* LayoutRules::ForLoad(const Op& load) {
  const Type view = ir::LoadViewOp(load).view()->type();
  if (FastestDim(view) == static_cast<int>(view.shape().size()) - 1) {
    const auto beside = kept_.LayoutFor(view.shape(), plan_.num_warps, static_cast<int>(VectorOf(view)));
    if (beside) return Intern(*beside);
  }
  return ForView(view);
}

// Bits side by side along the dimension among what these bases give.
int64_t LayoutRules::RunAlong(const Layout& own, const Masks& bases, int dim, int bits) {
  const Subspace span(bases);
  int n = 0;
  while (n < own.dim_bits(dim) && span.Contains(Mask{1} << (own.dim_shift(dim) + n))) ++n;
  return int64_t{bits} << n;
}

bool LayoutRules::StoresWords(const Layout& own, int dim, int bits) {
  return RunAlong(own, own.bases(In::kRegister), dim, bits) >= kWordBits ||
         int64_t{bits} << own.dim_bits(dim) < kWordBits;
}

// How much of the dimension an instruction of a warp writes, and a thread.
bool LayoutRules::StoresWell(const Op& store, const Layout& own, int dim, int bits) const {
  const int64_t whole = int64_t{bits} << own.dim_bits(dim),
                in_thread = RunAlong(own, own.bases(In::kRegister), dim, bits);
  const bool byte_pairs = bits >= 8 || in_thread >= 8;
  // To move elements to other threads takes memory, which is not there beside stages that are in use: then the parts of a sector may
  // come by several instructions.
  const bool by_parts = IsBesideRings(store);
  const auto vector = static_cast<Mask>(std::min(in_thread, kVectorBits) / bits);
  Masks together = own.bases(In::kLane);
  for (Mask base : own.bases(In::kRegister)) {
    if (by_parts || base < vector << own.dim_shift(dim)) together.push_back(base);
  }
  const bool whole_sectors = RunAlong(own, together, dim, bits) >= kSectorBits || whole < kSectorBits;
  return whole_sectors && StoresWords(own, dim, bits) && byte_pairs;
}

bool LayoutRules::IsBesideRings(const Op& op) const {
  if (plan_.persistent || IsInCopyingLoop(op)) return true;
  return until_rings_.contains(OutermostOf(&op));
}

// The same threads' elements, in an order in which neighbours along the dimension come first: what a thread stores at once.
Layout LayoutRules::NeighboursFirst(const Layout& own, int dim) {
  Masks first, others = own.bases(In::kRegister);
  for (int n = 0; n < own.dim_bits(dim); ++n) {
    const auto at = std::find(others.begin(), others.end(), Mask{1} << (own.dim_shift(dim) + n));
    if (at == others.end()) break;
    first.push_back(*at);
    others.erase(at);
  }
  first.insert(first.end(), others.begin(), others.end());
  return own.WithBases(In::kRegister, std::move(first));
}

// The same in vectors of 16 bytes, as far as lanes of a warp can exchange elements for it: lanes that are neighbours along the dimension change
// places with registers that are further apart.
Layout LayoutRules::VectorsByShuffles(const Layout& own, int dim, int bits) {
  Masks registers = own.bases(In::kRegister), lanes = own.bases(In::kLane);
  const int shift = own.dim_shift(dim), all = own.dim_bits(dim);
  int vector = 0;
  while (vector < all && int64_t{bits} << (vector + 1) <= kVectorBits) ++vector;
  const auto at = [&](Masks& bases, int n) { return std::find(bases.begin(), bases.end(), Mask{1} << (shift + n)); };
  for (int n = 0; n < vector; ++n) {
    if (at(registers, n) != registers.end()) continue;
    const auto lane = at(lanes, n);
    int apart = vector;
    while (apart < all && at(registers, apart) == registers.end()) ++apart;
    if (lane == lanes.end() || apart == all) break;
    std::iter_swap(lane, at(registers, apart));
  }
  const Layout vectors =
      NeighboursFirst(own.WithBases(In::kRegister, std::move(registers)).WithBases(In::kLane, std::move(lanes)), dim);
  return Convert(own, vectors, std::max(8, bits)).kind == ConversionKind::kShared ? NeighboursFirst(own, dim) : vectors;
}

const Layout* LayoutRules::ForStore(const Op& op, const Layout* own) {
  if (plan_.producer && PlanTmaStore(op, *own)) return own;
  const Type view = ir::ViewAccessOp(op).view()->type();
  const int dim = FastestDim(view);
  const int bits = ir::MemoryBits(view.elem());
  if (!StoresWell(op, *own, dim, bits)) return ForView(view);
  return Intern(IsBesideRings(op) ? VectorsByShuffles(*own, dim, bits) : NeighboursFirst(*own, dim));
}

// --- pointers -------------------------------------------------------------------------------------------------------

const Layout* LayoutRules::ForPointers(const Op& op) const {
  auto it = pointers_.find(&op);
  return it == pointers_.end() ? nullptr : it->second.first;
}

// Sixteen bytes to a thread, along the dimension in which the pointers are neighbours. Tiles of one shape have one layout,
// whatever their elements, so that values need not move between threads: that of the narrowest, as long as a thread loads
// no more than 32 bytes and stores no more than 16. The halves of a sector that come by two instructions are two writes (f8 to bf16,
// 128 x 128 of 2048 x 4096: 11.4 us, 6.2; tileiras 7.5).
//
// A thread has one element of a strided tile (Strides), and neighbouring threads have elements that lie nearest to each other. A strided store may
// write parts of sectors. Then all accesses of its shape and dimension have one element a thread, so that one instruction writes more of a sector.
void LayoutRules::NoteAccesses(ir::Block* body) {
  struct Access {
    const Op* op;
    std::pair<Shape, int> way;  // with the dimension of neighbours
    int64_t bits;
  };
  std::vector<Access> accesses, apart;
  absl::flat_hash_set<std::pair<Shape, int>> in_parts;         // a store writes parts of sectors
  absl::flat_hash_map<std::pair<Shape, int>, int64_t> most;    // neighbours that an access of the way takes at once
  absl::flat_hash_map<std::pair<Shape, int>, int64_t> stored;  // the fewest that a store of the way takes
  const auto note = [&](Type type, int dim, int64_t vector) {
    const std::pair<Shape, int> way{Shape(type.shape().begin(), type.shape().end()), dim};
    most[way] = std::max(most[way], vector);
    return way;
  };
  kept_.Note(body);
  Facts facts;
  Strides strides(&facts);
  const Op* last_ring = nullptr;
  ir::Walk(body, [&](const Op* op) {
    if (IsGpuOp(op, GpuOpcode::kCopyAhead)) NoteCopies(*op);
    if (ReadsCopy(*op)) SetInferred(op->result(0), ForRead(*op));
    if (ir::MmaScaledOp::Is(op)) NoteScales(*op);
    if (IsGpuOp(op, GpuOpcode::kFetchAhead)) last_ring = OutermostOf(op);
    if (RuleOf(*op).layout == Rule::kLoadView || RuleOf(*op).layout == Rule::kStoreView) {
      const Type view = ir::ViewAccessOp(*op).view()->type();
      note(view, FastestDim(view), VectorOf(view));
    }
    const Value* pointers = AddressesOf(*op);
    if (pointers == nullptr || !IsTile(pointers) || IsFetch(op->parent())) return;
    const Type type = pointers->type();
    int dim = -1;
    uint64_t rising = 1;
    for (int d = type.rank() - 1; d >= 0; --d) {
      const uint64_t along = facts.LineOf(pointers, d).rising;
      if (along > rising) dim = d, rising = along;
    }
    const int64_t bits = ir::MemoryBits(type.element().pointee);
    if (dim < 0) {
      const std::optional<Nearest> nearest = NearestApart(strides, pointers);
      if (!nearest) return;
      const std::pair<Shape, int> way{Shape(type.shape().begin(), type.shape().end()), nearest->dim};
      apart.push_back({op, way, bits});
      if (ir::StorePtrOp::Is(op) && nearest->bytes * 8 < kSectorBits) in_parts.insert(way);
      return;
    }
    const auto way = note(type, dim, std::min(VectorOf(type), static_cast<int64_t>(rising)));
    accesses.push_back({op, way, bits});
    if (!ir::StorePtrOp::Is(op)) return;
    const int64_t vector = VectorOf(type);
    stored[way] = std::min(stored.try_emplace(way, vector).first->second, vector);
  });
  for (const Op* op = last_ring; op != nullptr; op = op->prev()) until_rings_.insert(op);
  for (const Access& access : accesses) {
    const auto& [shape, dim] = access.way;
    int64_t vector = std::min(most[access.way], std::max<int64_t>(1, 256 / access.bits));
    if (const auto it = stored.find(access.way); it != stored.end()) vector = std::min(vector, it->second);
    if (in_parts.contains(access.way)) vector = 1;
    const Layout* row = ForRow(*access.op);
    if (row == nullptr && UpdatesHalves(*access.op) && vector > 1)
      row = WithPairs(shape, dim, static_cast<int>(vector));
    pointers_[access.op] = {row != nullptr ? row : AlongDim(shape, dim, static_cast<int>(vector)), dim};
  }
  const auto is_wide = [&](const Shape& shape, int but) {
    return std::any_of(most.begin(), most.end(), [&](const auto& of) {
      const auto& [way, vector] = of;
      return way.first == shape && vector > 1 && (way.second != but || !in_parts.contains(way));
    });
  };
  for (const Access& access : apart) {
    const auto& [shape, dim] = access.way;
    if (!pointers_.contains(access.op) && !is_wide(shape, dim)) pointers_[access.op] = {AlongDim(shape, dim, 1), dim};
  }
}

// Pointers and masks have the layout in which threads copy. What the region computes for them does from the start, back to what comes from outside:
// no thread waits for another there.
void LayoutRules::NoteCopies(const Op& copy) {
  for (const StagedTile& tile : StageOf(copy).tiles) {
    const Op& load = *tile.load;
    if (!ir::LoadPtrOp::Is(&load) || pointers_.contains(&load)) continue;
    const Layout* layout = Intern(
        CopyLayout(load.result(0)->type().shape(), tile.contiguous, tile.other, tile.loaded_bits, plan_.num_warps));
    pointers_[&load] = {layout, tile.contiguous};
    std::vector<std::pair<const Value*, const Layout*>> open;
    for (int i = 0; i < load.num_operands(); ++i) open.emplace_back(load.operand(i), layout);
    while (!open.empty()) {
      const auto [v, wanted] = open.back();
      open.pop_back();
      const Op* def = v->def();
      if (!IsTile(v) || wanted == nullptr || def == nullptr || def->parent() != &copy) continue;
      SetInferred(v, wanted);
      for (int i = 0; i < def->num_operands(); ++i) {
        if (IsTile(def->operand(i))) open.emplace_back(def->operand(i), Backward(*def, def->operand(i), *wanted));
      }
    }
  }
}

void LayoutRules::SetInferredBehind(const Value* of, const Layout* layout) {
  std::vector<const Value*> open = {of};
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    if (!IsTile(v) || Inferred(v) != nullptr) continue;
    const Op* def = v->def();
    const bool computed = def != nullptr && (def->info()->has(ir::kElementwise) || ir::AssumeOp::Is(def));
    if (def != nullptr && !computed && def->info()->family != ir::Family::kConstant) continue;
    SetInferred(v, layout);
    for (int i = 0; computed && i < def->num_operands(); ++i) open.push_back(def->operand(i));
  }
}

}  // namespace tile::codegen
