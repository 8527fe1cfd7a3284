#include "vm/check/find_wrap.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/float.h"
#include "ir/loops.h"
#include "ir/op_views.h"
#include "vm/check/check_integers.h"
#include "vm/check/check_poison.h"
#include "vm/eval/elementwise_key.h"
#include "vm/kernels/elementwise.h"
#include "vm/machine/launch_state.h"
#include "vm/machine/memory_access.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::Value;

constexpr int kMostDepth = 400, kMostSteps = 20000;
constexpr uint64_t kMostExtent = uint64_t{1} << 48;  // elements; no memory has more

int BytesOf(Type t) { return t.element().is_pointer() ? 8 : ir::StorageBytes(t.elem()); }
int BitsOf(Type t) { return t.element().is_pointer() ? 64 : ir::ElemInfoOf(t.elem()).bits; }

int64_t AsSigned(uint64_t v, int bits) { return static_cast<int64_t>(v << (64 - bits)) >> (64 - bits); }
uint64_t AsUnsigned(uint64_t v, int bits) { return v << (64 - bits) >> (64 - bits); }

// Strides of a row-major tile.
std::vector<int64_t> StridesOf(Type t) {
  std::vector<int64_t> strides(static_cast<size_t>(t.rank()), 1);
  for (size_t k = strides.size(); k-- > 1;) strides[k - 1] = strides[k] * t.shape()[k];
  return strides;
}

class Search {
 public:
  Search(BlockState& b, const Op& user) : b_(b), user_(user) {
    int n = 0;
    ir::Walk(b.code->function->body(), [&](const Op* op) { order_[op] = n++; });
    for (const InstrNote& note : b.code->notes) {
      for (const OpPlaces* o = note.places; o != nullptr && places_.try_emplace(o->op, o).second;) o = o->parent;
    }
  }

  std::string Find(const Value* operand, int64_t lane) {
    const Element found = Eval(operand, lane, 0);
    if (!found.wrap_looked) return found.wrapped;
    // What was read again may have changed since the operand was computed.
    const auto places = places_.find(&user_);
    for (int i = 0; found.bits && places != places_.end() && i < user_.num_operands(); ++i) {
      if (user_.operand(i) != operand) continue;
      return Read(places->second->operands[i], operand->type(), lane) == *found.bits ? found.wrapped : "";
    }
    return "";
  }

 private:
  struct Element {
    std::optional<uint64_t> bits;  // nullopt: unknown
    bool looked = false;           // they were computed from what may have changed
    std::string wrapped = {};      // an operation that wrapped, as the message says it
    bool wrap_signed = false;      // the result fits as an unsigned number
    bool wrap_looked = false;      // its operands were computed from what may have changed
    void TakeWrap(const Element& from) {
      if (!wrapped.empty()) return;
      wrapped = from.wrapped;
      wrap_signed = from.wrap_signed;
      wrap_looked = from.wrap_looked;
    }
  };

  Element Eval(const Value* v, int64_t lane, int depth) {
    if (!v->type().is_tile() || depth > kMostDepth || ++steps_ > kMostSteps) return {};
    const auto [it, is_new] = known_.try_emplace({v, lane, frozen_});
    if (is_new) it->second = v->def() == nullptr ? OfArgument(v, lane, depth) : OfResult(*v->def(), v, lane, depth);
    return it->second;  // of a value that is being computed: unknown
  }

  uint64_t Read(const Place& p, Type t, int64_t lane) const {
    uint64_t v = 0;
    std::memcpy(&v, static_cast<const uint8_t*>(b_.at(p.at)) + StoredIndex(p, lane) * p.bytes,
                static_cast<size_t>(std::min<int32_t>(p.bytes, 8)));
    return AsUnsigned(v, BitsOf(t));
  }

  // Whether the place of the value still holds it: it is used here or later.
  bool IsAlive(const Value* v) const {
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      if (order_.at(use->owner) >= order_.at(&user_)) return true;
      if (use->owner->info()->has(ir::kAlias) && IsAlive(use->owner->result(0))) return true;
    }
    return false;
  }

  Element OfArgument(const Value* v, int64_t lane, int depth) {
    const Op* around = v->block()->parent();
    if (around == nullptr) {
      return {AsUnsigned(b_.launch->launch->params[static_cast<size_t>(v->index())], BitsOf(v->type()))};
    }
    if (!ir::IsLoop(around)) return {};
    const ir::CarryingLoop loop(*around);
    const int carried = loop.carried_by(v);
    Element found;
    const auto places = places_.find(around);
    if (!frozen_ && places != places_.end() && IsInside(around) && (carried < 0 || IsAlive(v))) {
      found.looked = true;
      found.bits = Read(places->second->args[v->index()], v->type(), lane);
    }
    if (carried >= 0) TakeCarried(loop, carried, lane, depth, &found);
    return found;
  }

  // A wrap of the first value, or of what is done in every iteration, as far as it does not depend on the iteration.
  void TakeCarried(const ir::CarryingLoop& loop, int carried, int64_t lane, int depth, Element* found) {
    found->TakeWrap(Eval(loop.init(carried), lane, depth + 1));
    if (!found->wrapped.empty() || loop.latch() == nullptr) return;
    const bool before = std::exchange(frozen_, true);
    found->TakeWrap(Eval(loop.next(carried), lane, depth + 1));
    frozen_ = before;
  }

  // Whether the failing operation is in the body.
  bool IsInside(const Op* loop) const {
    for (const Op* p = user_.parent(); p != nullptr; p = p->parent()) {
      if (p == loop) return true;
    }
    return false;
  }

  Element OfResult(const Op& op, const Value* v, int64_t lane, int depth) {
    if (const auto constant = ir::As<ir::ConstantOp>(&op)) return {OfConstant(constant->value(), lane)};
    if (ir::IotaOp::Is(&op)) return {AsUnsigned(static_cast<uint64_t>(lane), BitsOf(v->type()))};
    if (ir::GetTileBlockIdOp::Is(&op)) return {static_cast<uint32_t>(b_.id[v->index()])};
    if (ir::GetNumTileBlocksOp::Is(&op)) return {static_cast<uint32_t>(GridOf(b_)[v->index()])};
    if (ir::AssumeOp::Is(&op) || ir::ReshapeOp::Is(&op)) return Eval(op.operand(0), lane, depth + 1);
    if (ir::BroadcastOp::Is(&op)) return Eval(op.operand(0), BroadcastLane(op, lane), depth + 1);
    if (ir::PermuteOp::Is(&op)) return Eval(op.operand(0), PermutedLane(op, lane), depth + 1);
    if (ir::CatOp::Is(&op)) return OfCat(op, lane, depth);
    if (ir::LoadPtrOp::Is(&op)) return OfLoad(op, v, lane, depth);
    if (ir::LoadViewOp::Is(&op)) return OfLoadView(op, v, lane, depth);
    if (ir::GetGlobalOp::Is(&op)) return OfGlobal(op);
    if (ir::IfOp::Is(&op)) return OfIf(op, v, lane, depth);
    if (ir::ForOp::Is(&op)) {
      Element found;
      TakeCarried(ir::CarryingLoop(op), v->index(), lane, depth, &found);
      return found;
    }
    if (op.info()->has(ir::kElementwise)) return Compute(op, lane, depth);
    return FromFrame(op, v, lane);
  }

  // Of what is not computed again.
  Element FromFrame(const Op& op, const Value* v, int64_t lane) {
    const auto places = places_.find(&op);
    // A loop's results are what it carries.
    if (frozen_ || places == places_.end() || op.num_regions() > 0 || !IsAlive(v) ||
        order_.at(&op) >= order_.at(&user_)) {
      return {};
    }
    return {Read(places->second->results[v->index()], v->type(), lane), true};
  }

  static uint64_t OfConstant(const ir::Dense& dense, int64_t lane) {
    const auto bytes = static_cast<size_t>(ir::StorageBytes(dense.elem));
    uint64_t v = 0;
    std::memcpy(&v, dense.bytes.data() + (dense.splat ? 0 : static_cast<size_t>(lane) * bytes), bytes);
    return AsUnsigned(v, ir::ElemInfoOf(dense.elem).bits);
  }

  static int64_t BroadcastLane(const Op& op, int64_t lane) {
    const Type from = op.operand(0)->type(), to = op.result(0)->type();
    const std::vector<int64_t> source = StridesOf(from), target = StridesOf(to);
    int64_t at = 0;
    for (size_t k = 0; k < target.size(); ++k) {
      const int64_t i = lane / target[k] % to.shape()[k];
      if (from.shape()[k] != 1) at += i * source[k];
    }
    return at;
  }

  static int64_t PermutedLane(const Op& op, int64_t lane) {
    const Type to = op.result(0)->type();
    const std::vector<int64_t> source = StridesOf(op.operand(0)->type()), target = StridesOf(to);
    const auto permutation = ir::PermuteOp(op).permutation();
    int64_t at = 0;
    for (size_t k = 0; k < target.size(); ++k) {
      at += lane / target[k] % to.shape()[k] * source[static_cast<size_t>(permutation[k])];
    }
    return at;
  }

  Element OfCat(const Op& op, int64_t lane, int depth) {
    const auto dim = static_cast<size_t>(ir::CatOp(op).dim());
    const Type to = op.result(0)->type(), left = op.operand(0)->type();
    const std::vector<int64_t> target = StridesOf(to);
    const int64_t i = lane / target[dim] % to.shape()[dim];
    const bool second = i >= left.shape()[dim];
    const Value* from = op.operand(second ? 1 : 0);
    const std::vector<int64_t> source = StridesOf(from->type());
    int64_t at = 0;
    for (size_t k = 0; k < target.size(); ++k) {
      const int64_t place = lane / target[k] % to.shape()[k];
      at += (k == dim && second ? place - left.shape()[dim] : place) * source[k];
    }
    return Eval(from, at, depth + 1);
  }

  Element OfLoad(const Op& op, const Value* v, int64_t lane, int depth) {
    const ir::LoadPtrOp load(op);
    if (v != load.result()) return {};
    if (const Value* mask = load.mask()) {
      const Element active = Eval(mask, lane, depth + 1);
      if (!active.bits) return FromFrame(op, v, lane);
      if (*active.bits == 0) {
        return load.padding_value() != nullptr ? Eval(load.padding_value(), lane, depth + 1) : Element{};
      }
    }
    const Element address = Eval(load.source(), lane, depth + 1);
    const Element read = address.bits ? FromMemory(*address.bits, v->type()) : Element{};
    return read.bits ? read : FromFrame(op, v, lane);
  }

  // Nothing where no memory is.
  Element FromMemory(uint64_t address, Type t) {
    const auto bytes = static_cast<uint64_t>(BytesOf(t));
    if (frozen_ || FindAllocation(b_, address, bytes) == nullptr) return {};
    uint64_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const void*>(address), bytes);
    if (!t.element().is_pointer() && t.elem() == ir::Elem::kI1) bits = bits != 0;
    return {AsUnsigned(bits, BitsOf(t)), true};
  }

  Element OfGlobal(const Op& op) const {
    const Code::GlobalMemory* memory = b_.code->FindGlobal(b_.code->module->FindGlobal(ir::GetGlobalOp(op).name()));
    return memory == nullptr ? Element{} : Element{reinterpret_cast<uint64_t>(memory->data)};
  }

  // A size or stride of a tensor view; operands hold those that the type leaves open.
  std::optional<int64_t> ExtentOf(absl::Span<const int64_t> fixed, ir::OperandRange open, size_t dim, int depth) {
    if (fixed[dim] != ir::kDynamic) return fixed[dim];
    const auto before =
        static_cast<size_t>(std::count(fixed.begin(), fixed.begin() + static_cast<int64_t>(dim), ir::kDynamic));
    const Element e = Eval(open[before], 0, depth + 1);
    return e.bits && *e.bits <= kMostExtent ? std::optional<int64_t>(*e.bits) : std::nullopt;
  }

  // The tile itself may have been left where it is in memory (Plan::forwarded), so its element is located again.
  Element OfLoadView(const Op& op, const Value* v, int64_t lane, int depth) {
    const ir::LoadViewOp load(op);
    const Op* def = load.view()->def();
    while (def != nullptr && def->info()->has(ir::kAlias)) def = def->operand(0)->def();
    if (v != load.tile() || ir::IsSubByte(v->type().elem()) || def == nullptr || !ir::MakeTensorViewOp::Is(def))
      return {};
    const ir::MakeTensorViewOp make(*def);
    const Type view = load.view()->type(), tensor = def->result(0)->type();
    const bool gather = view.kind() == ir::TypeKind::kGatherScatterView;
    const std::vector<int64_t> tile = StridesOf(v->type());
    __int128 offset = 0;
    for (size_t k = 0; k < tile.size(); ++k) {
      const bool sparse = gather && static_cast<int>(k) == view->sparse_dim;
      const size_t dim = gather ? k : static_cast<size_t>(view->dim_map[k]);
      const int64_t in_tile = lane / tile[k] % view.shape()[k];
      const Value* index = load.index()[k];
      const Element e = Eval(index, sparse ? in_tile : 0, depth + 1);
      const auto size = ExtentOf(tensor.shape(), make.dynamic_shape(), dim, depth);
      const auto stride = ExtentOf(tensor->strides, make.dynamic_strides(), dim, depth);
      if (!e.bits || !size || !stride) return {};
      const int64_t step = gather ? 1 : view.kind() == ir::TypeKind::kStridedView ? view->steps[k] : view.shape()[k];
      const __int128 at =
          sparse ? __int128{AsSigned(*e.bits, BitsOf(index->type()))} : __int128{*e.bits} * step + in_tile;
      if (at < 0 || at >= *size) {
        return view->padding ? Element{ir::PaddingBits(v->type().elem(), *view->padding)} : Element{};
      }
      offset += at * *stride;
    }
    const Element base = Eval(make.base(), 0, depth + 1);
    if (!base.bits || offset > kMostExtent) return {};
    return FromMemory(*base.bits + static_cast<uint64_t>(offset) * static_cast<uint64_t>(BytesOf(v->type())),
                      v->type());
  }

  Element OfIf(const Op& op, const Value* v, int64_t lane, int depth) {
    const Element condition = Eval(op.operand(0), 0, depth + 1);
    if (!condition.bits) return {};
    const ir::Block* taken = op.region(*condition.bits != 0 ? 0 : 1);
    const Op* end = taken == nullptr ? nullptr : taken->back();
    if (end == nullptr || !ir::YieldOp::Is(end)) return {};
    return Eval(end->operand(v->index()), lane, depth + 1);
  }

  Element Compute(const Op& op, int64_t lane, int depth) {
    const Type t = op.result(0)->type();
    uint64_t in[3] = {}, out = 0;
    const void* operands[3] = {&in[0], &in[1], &in[2]};
    Element found;
    bool all = op.num_operands() <= 3;
    const bool passes = Poison::PassesWrapOn(*op.info());
    bool chosen[3] = {true, true, true};
    for (int i = 0; i < op.num_operands() && i < 3; ++i) {
      if (!chosen[i]) continue;
      const Element e = Eval(op.operand(i), lane, depth + 1);
      all = all && e.bits.has_value();
      in[i] = e.bits.value_or(0);
      found.looked |= e.looked;
      const bool condition = op.opcode() == Opcode::kSelect && i == 0;
      if (condition && !e.bits) return {};
      if (condition) chosen[in[0] != 0 ? 2 : 1] = false;
      if (passes && !condition && !(e.wrap_signed && IsExtendedUnsigned(op))) found.TakeWrap(e);
    }
    if (!all) return found;
    if (op.info()->has(ir::kAlias)) {
      out = in[0];
    } else {
      const ElementwiseFn fn = FindElementwise(ElementwiseKeyOf(op));
      if (fn == nullptr) return found;
      fn(&out, operands, 1);
    }
    found.bits = AsUnsigned(out, BitsOf(t));
    if (ir::OverflowOp::Is(&op) && found.wrapped.empty()) TakeOwnWrap(op, in, &found);
    return found;
  }

  // Whether what fits as an unsigned number is right after all.
  static bool IsExtendedUnsigned(const Op& op) {
    return ir::ExtiOp::Is(&op) && ir::ExtiOp(op).signedness() == ir::Signedness::kUnsigned;
  }

  // An index is read as signed: what fits as an unsigned number only has wrapped, too.
  void TakeOwnWrap(const Op& op, const uint64_t* in, Element* found) const {
    const Type t = op.result(0)->type();
    const int bits = BitsOf(t), width = BitsOf(op.operand(0)->type());
    const ExactInteger compute(op.opcode());
    const bool binary = op.num_operands() > 1, shift = op.opcode() == Opcode::kShli;
    const Wide x = AsSigned(in[0], width);
    const Wide y = !binary ? Wide{0} : shift ? Wide{in[1]} : Wide{AsSigned(in[1], width)};
    const Wide exact = compute(x, y);
    if (Fits(exact, bits, true)) return;
    found->wrap_signed = Fits(compute(Wide{in[0]}, binary ? Wide{in[1]} : Wide{0}), bits, false);
    found->wrap_looked = found->looked;
    found->wrapped =
        absl::StrCat("; ", compute.Text(x, y), " at ", b_.code->module->Where(op.loc, op.pos), " does not fit ",
                     ir::ElemInfoOf(t.elem()).spelling, " and becomes ", AsSigned(*found->bits, bits));
  }

  BlockState& b_;
  const Op& user_;
  std::map<const Op*, int> order_;  // in the text
  std::map<const Op*, const OpPlaces*> places_;
  std::map<std::tuple<const Value*, int64_t, bool>, Element> known_;
  int steps_ = 0;
  bool frozen_ = false;  // only what no loop and no memory changes
};

}  // namespace

std::string FindWrap(BlockState& b, const Op& user, const Value* operand, int64_t lane) {
  return Search(b, user).Find(operand, lane);
}

}  // namespace tile::vm
