#include "codegen/passes/slicing/slice_loop.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "codegen/analysis/reduce_body.h"
#include "codegen/analysis/slice_dims.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/analysis/view_dim.h"
#include "codegen/passes/slicing/slice_carry.h"
#include "codegen/passes/slicing/slice_nest.h"
#include "codegen/target/decisions.h"
#include "ir/bits.h"
#include "ir/create_like.h"
#include "ir/loops.h"
#include "ir/op_views.h"
#include "ir/ops.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;
using ir::Block;
using ir::Elem;
using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::Value;

// What a loop carries for one operation along the slices: of a reduce or scan the totals so far, or of a reduce whose
// elements are added up place by place a slice of sums.
struct Carried {
  const Op* op = nullptr;
  std::optional<Totals> totals;
  std::vector<Type> types;  // of the sums, if there are no totals
  size_t first = 0;         // among all that the loop carries

  size_t size() const { return totals ? totals->size() : types.size(); }
  Values Of(const Values& all) const {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return Values(begin, begin + static_cast<std::ptrdiff_t>(size()));
  }
  Values Init(ir::Builder& b) const {
    if (totals) return totals->Init(b);
    if (IsPlainProduct(*op)) return {op->operand(2)};
    Values init;
    for (size_t i = 0; i < types.size(); ++i) {
      ir::Scalar start = ir::FoldOp(op).identities()[i];
      start.bits = NeutralOf(*op->region(0)).value_or(start.bits);
      init.push_back(Number(b, types[i], start));
    }
    return init;
  }
  // The body has a neutral value, so the totals may begin with it.
  bool starts_neutral() const { return NeutralOf(*op->region(0)).has_value(); }
};

// What the loop carries for each of its sinks, in their order.
std::vector<Carried> CarriedBy(ir::TypeContext& types, const SliceLoop& loop) {
  std::vector<Carried> all;
  size_t next = 0;
  const auto add = [&](Carried c) {
    c.first = next;
    next += c.size();
    all.push_back(std::move(c));
  };
  for (const SliceSink& sink : loop.sinks) {
    for (const SliceKey& key : sink.cone->made()) {
      const Op* scan = key.first->def();
      if (scan == nullptr || sink.cone->IsCut(key) || !ScansAlong(*scan, key.second)) continue;
      if (std::any_of(all.begin(), all.end(), [&](const Carried& c) { return c.op == scan; })) continue;
      std::vector<Type> totals;
      for (int i = 0; i < scan->num_results(); ++i) {
        const Type t = scan->result(i)->type();
        totals.push_back(SlicedType(types, t, key.second, t.shape()[static_cast<size_t>(key.second)]));
      }
      add({.op = scan, .totals = Totals(*scan, loop.slices, std::move(totals)), .types = {}});
    }
    if (sink.is_store()) continue;
    if (IsPlainProduct(*sink.op)) {
      add({.op = sink.op, .totals = std::nullopt, .types = ir::ResultTypesOf(*sink.op)});
      continue;
    }
    if (!CarriesElements(*sink.op)) {
      add({.op = sink.op, .totals = Totals(*sink.op, loop.slices, ir::ResultTypesOf(*sink.op)), .types = {}});
      continue;
    }
    Carried sums{.op = sink.op, .totals = std::nullopt, .types = {}};
    for (int i = 0; i < sink.op->num_operands(); ++i)
      sums.types.push_back(SlicedType(types, sink.op->operand(i)->type(), sink.dim, loop.slices));
    add(std::move(sums));
  }
  return all;
}

// What the body of the loop makes. `iteration` counts up from 0, `slice` may go down.
class Body {
 public:
  Body(ir::Builder& b, const SliceLoop& loop, const std::vector<Carried>& carries, const Values& carried,
       Value* iteration, Value* slice)
      : b_(b),
        loop_(loop),
        carries_(carries),
        carried_(carried),
        iteration_(iteration),
        slice_(slice),
        next_(carried) {}

  // The slice of a value along a dimension.
  Value* Of(Value* v, int dim) {
    const SliceKey key{v, dim};
    if (auto it = made_.find(key); it != made_.end()) return it->second;
    const SliceCone* cone = nullptr;
    for (const SliceSink& sink : loop_.sinks) {
      if (sink.cone->Makes(key)) cone = sink.cone;
    }
    // What a reduction of an earlier loop gave is whole, too, under another name.
    if (cone == nullptr || cone->IsCut(key)) return made_[key] = Cut(v, dim);
    if (ir::ForOp::Is(v->def())) {
      WriteNest(*v->def());
      return made_[key];
    }
    const Op& def = *v->def();
    if (def.opcode() == Opcode::kIota) return made_[key] = Iota(v);
    if (def.opcode() == Opcode::kAssume) return made_[key] = Assume(def, dim);
    const Op* copy = CopyOf(def, dim);
    for (int i = 0; i < def.num_results(); ++i) made_[{def.result(i), dim}] = copy->result(i);
    if (ScansAlong(def, dim)) AddWhatCameBefore(def, *copy, dim);
    if (Value* token = IsAccessOfMemory(def) ? ir::AccessOp(copy).result_token() : nullptr)
      loads_.push_back({&def, token});
    return made_[key];
  }

  // Does the store of a slice and gives its token.
  Value* Store(const SliceSink& sink, const SliceWaits& waits) {
    Op* copy = CopyOf(*sink.op, sink.dim);
    Value* token = ir::AccessOp(copy).token();
    Values tokens = waits.before(*sink.op);
    for (const auto& [load, done] : loads_) {
      if (waits.waits(*sink.op, *load)) tokens.push_back(done);
    }
    if (!tokens.empty()) {
      if (token != nullptr) tokens.push_back(token);
      Op* waiting = WithToken(*copy, tokens.size() == 1 ? tokens[0] : Join(tokens));
      copy->Erase();
      copy = waiting;
    }
    return ir::AccessOp(copy).result_token();
  }

  void Reduce(const SliceSink& sink) {
    const Op& reduce = *sink.op;
    const Carried& carried = CarriedFor(reduce);
    const Values before = carried.Of(carried_);
    Values parts;
    for (int i = 0; i < reduce.num_operands(); ++i) parts.push_back(Of(reduce.operand(i), sink.dim));
    if (carried.totals) {
      SetNext(carried, carried.totals->After(b_, iteration_, before, Total(reduce, parts, false)));
      return;
    }
    const Values sums = OnTiles(b_, *reduce.region(0), {parts[0], before[0]}, before[0]->type().shape());
    SetNext(carried, {carried.starts_neutral() ? sums[0] : Choose(b_, IsZero(b_, iteration_), parts[0], sums[0])});
  }

  void Multiply(const SliceSink& sink) {
    const Op& product = *sink.op;
    const Carried& carried = CarriedFor(product);
    Value *lhs = Of(product.operand(0), sink.dim), *rhs = Of(product.operand(1), sink.dim - 1);
    const Op* part = Copy(b_, product, {lhs, rhs, carried.Of(carried_)[0]}, ir::ResultTypesOf(product));
    SetNext(carried, {part->result(0)});
  }

  // Carried values, for the next iteration.
  const Values& next() const { return next_; }

  // Tokens of all that the loop loads.
  Values LoadTokens() const {
    Values tokens;
    for (const auto& [load, done] : loads_) {
      // A loop inside has one for all that it loads.
      if (tokens.empty() || tokens.back() != done) tokens.push_back(done);
    }
    return tokens;
  }
  Value* Join(const Values& tokens) { return tokens.size() == 1 ? tokens[0] : op::JoinTokens(b_, tokens); }

 private:
  // --- loops that are done for each slice (slice_nest.h)

  // What it carries, for all sinks.
  SliceNest NestOf(const Op& loop) const {
    SliceNest all;
    for (const SliceSink& sink : loop_.sinks) {
      const SliceNest* nest = sink.cone->NestOf(loop);
      if (nest == nullptr) continue;
      all.dims.insert(nest->dims.begin(), nest->dims.end());
      all.whole.insert(nest->whole.begin(), nest->whole.end());
    }
    return all;
  }

  void WriteNest(const Op& nested) {
    const ir::CarryingLoop loop(nested);
    const SliceNest nest = NestOf(nested);
    MakeBefore(*loop.body());
    Values init;
    for (const auto& [number, dim] : nest.dims) init.push_back(Of(loop.init(number), dim));
    for (int number : nest.whole) init.push_back(loop.init(number));
    init.push_back(op::MakeToken(b_));
    const absl::flat_hash_map<SliceKey, Value*> made = made_;
    std::vector<std::pair<const Op*, Value*>> before;
    std::swap(loads_, before);
    const auto [from, to, step] = ir::BoundsOf(ir::ForOp(&nested));
    const bool is_unsigned = ir::ForOp(&nested).unsigned_cmp();
    nest_ = loop.body();
    const auto body = [&](Value* index, const Values& now) {
      whole_[loop.index()] = index;
      size_t i = 0;
      for (const auto& [number, dim] : nest.dims) made_[{loop.arg(number), dim}] = now[i++];
      for (int number : nest.whole) whole_[loop.arg(number)] = now[i++];
      Values next;
      for (const auto& [number, dim] : nest.dims) next.push_back(Of(loop.next(number), dim));
      for (int number : nest.whole) next.push_back(Whole(loop.next(number)));
      Values tokens = LoadTokens();
      tokens.push_back(now.back());
      next.push_back(Join(tokens));
      return next;
    };
    const Values out = op::For(b_, from, to, step, init, body, is_unsigned);
    TakeAnnotations(nested, out.back()->def());
    nest_ = nullptr;
    whole_.clear();
    // What the body made is there in the body only.
    made_ = made;
    size_t i = 0;
    for (const auto& [number, dim] : nest.dims) made_[{loop.result(number), dim}] = out[i++];
    std::swap(loads_, before);
    for (const auto& [load, token] : before) loads_.emplace_back(load, out.back());
  }

  void TakeAnnotations(const Op& from, Op* to) {
    to->loc = from.loc;
    to->pos = from.pos;
    for (const ir::Annotation* a = from.annotations(); a != nullptr; a = a->next)
      b_.module()->Annotate(to, *a->info, a->value);
  }

  // Slices of what the body takes from outside.
  void MakeBefore(Block& body) {
    ir::Walk(&body, [&](Op* inside) {
      for (int i = 0; i < inside->num_operands(); ++i) {
        Value* v = inside->operand(i);
        if (!IsTile(v) || StandsIn(*v, body)) continue;
        for (int dim = 0; dim < v->type().rank(); ++dim) {
          const SliceKey key{v, dim};
          const bool made = std::any_of(loop_.sinks.begin(), loop_.sinks.end(),
                                        [&](const SliceSink& sink) { return sink.cone->Makes(key); });
          if (made) Of(v, dim);
        }
      }
    });
  }

  // A value that is not sliced: one of the body is computed once more in the loop that is written for it.
  Value* Whole(Value* v) {
    if (nest_ == nullptr || !StandsIn(*v, *nest_)) return v;
    if (const auto it = whole_.find(v); it != whole_.end()) return it->second;
    if (v->type().is_token()) {
      const Values outer = OuterTokens(v, *nest_);
      return whole_[v] = outer.empty() ? op::MakeToken(b_) : Join(outer);
    }
    const Op& def = *v->def();
    Values operands;
    for (int i = 0; i < def.num_operands(); ++i) operands.push_back(Whole(def.operand(i)));
    Op* copy = Copy(b_, def, operands, ir::ResultTypesOf(def));
    if (def.num_regions() > 0) CopyBody(b_, def, copy);
    for (int i = 0; i < def.num_results(); ++i) {
      if (!def.result(i)->type().is_token()) whole_[def.result(i)] = copy->result(i);
    }
    if (IsAccessOfMemory(def)) loads_.emplace_back(&def, ir::AccessOp(copy).result_token());
    return whole_.at(v);
  }

  const Carried& CarriedFor(const Op& op) const {
    return *std::find_if(carries_.begin(), carries_.end(), [&](const Carried& c) { return c.op == &op; });
  }
  void SetNext(const Carried& carried, const Values& values) {
    std::copy(values.begin(), values.end(), next_.begin() + static_cast<std::ptrdiff_t>(carried.first));
  }

  // What one slice comes to. `turned`: from its end to its beginning.
  Values Total(const Op& of, const Values& parts, bool turned) {
    const int dim = static_cast<int>(ir::FoldOp(of).dim());
    std::vector<Type> types;
    for (const Value* part : parts) {
      std::vector<int64_t> shape(part->type().shape().begin(), part->type().shape().end());
      shape.erase(shape.begin() + dim);
      types.push_back(b_.types().Tile(part->type().element(), shape));
    }
    Op* total = b_.Create(
        Opcode::kReduce, {parts}, types,
        {{"dim", *ir::FindAttr(of, ir::Field::kDim)}, {"identities", *ir::FindAttr(of, ir::Field::kIdentities)}});
    total->loc = of.loc;
    total->pos = of.pos;
    CopyBody(b_, of, total, turned);
    Values results;
    for (int i = 0; i < total->num_results(); ++i) results.push_back(total->result(i));
    return results;
  }

  // A scan of this slice alone becomes that of all slices so far.
  void AddWhatCameBefore(const Op& scan, const Op& own, int dim) {
    const Carried& carried = CarriedFor(scan);
    Values parts, totals = {}, element_and_before;
    for (int i = 0; i < own.num_operands(); ++i) parts.push_back(own.operand(i));
    const Values before = carried.totals->Before(b_, iteration_, carried.Of(carried_));
    for (int i = 0; i < own.num_results(); ++i) {
      element_and_before.push_back(own.result(i));
      element_and_before.push_back(op::Broadcast(b_, own.result(i)->type(), before[static_cast<size_t>(i)]));
    }
    const Values all = OnTiles(b_, *scan.region(0), element_and_before, own.result(0)->type().shape());
    Value* first = IsZero(b_, iteration_);
    for (int i = 0; i < own.num_results(); ++i) {
      made_[{scan.result(i), dim}] = Choose(b_, first, own.result(i), all[static_cast<size_t>(i)]);
    }
    for (Value* total : Total(scan, parts, ir::ScanOp(scan).reverse())) {
      const size_t i = totals.size();
      totals.push_back(op::Reshape(b_, before[i]->type(), total));
    }
    SetNext(carried, carried.totals->After(b_, iteration_, carried.Of(carried_), totals));
  }

  Op* CopyOf(const Op& def, int dim) {
    std::vector<int> dims;
    OperandDims(def, dim, loop_.slices, &dims);
    const Value* view = ir::FindOperand(def, ir::Field::kView);
    Values operands;
    for (int i = 0; i < def.num_operands(); ++i) {
      const int d = dims[static_cast<size_t>(i)];
      operands.push_back(d == kWhole ? Whole(def.operand(i)) : Of(def.operand(i), d));
    }
    if (view != nullptr && view->type().is_view()) SliceView(def, dim, &operands);
    if (view != nullptr && !view->type().is_view()) MoveTensor(def, dim, &operands);
    std::vector<Type> types = ir::ResultTypesOf(def);
    for (Type& t : types) {
      if (t.is_tile() && t.rank() > 0) t = SlicedType(b_.types(), t, dim, loop_.slices);
    }
    Op* copy = Copy(b_, def, operands, types);
    if (def.num_regions() > 0) CopyBody(b_, def, copy);
    return copy;
  }

  // A view whose tiles are slices, and the index of this one. All its indices are i64.
  void SliceView(const Op& access, int dim, Values* operands) {
    const auto at_view = static_cast<size_t>(ir::ViewAccessOp(access).view_at());
    const auto at_index = static_cast<size_t>(ir::ViewAccessOp(access).index_at());
    const auto k = static_cast<size_t>(dim);
    Value* old = (*operands)[at_view];
    const Type type = old->type();
    if (type.kind() == ir::TypeKind::kGatherScatterView) {
      std::vector<int64_t> tile(type.shape().begin(), type.shape().end());
      tile[k] /= loop_.slices;
      (*operands)[at_view] = op::MakeGatherScatterView(
          b_, b_.types().GatherScatterView(tile, type.tensor(), type->sparse_dim, type->padding),
          old->def()->operand(0));
      for (size_t i = 0; i < static_cast<size_t>(type.rank()); ++i) {
        if (static_cast<int>(i) == type->sparse_dim) continue;  // the index tile
        Value*& index = (*operands)[at_index + i];
        index = Wide(index);
        if (i == k) index = op::Addi(b_, index, Times(Wide(slice_), tile[k]), ir::Overflow::kNoWrap);
      }
      return;
    }
    const int64_t step = GridStep(type, static_cast<int>(k));
    const int64_t length = type.shape()[k] / loop_.slices;
    std::vector<int64_t> shape(type.shape().begin(), type.shape().end());
    shape[k] = length;
    // In steps of half a slice elements are tested one by one, since slices may be outside of the tensor. Slices of one element are tested as such.
    const bool inside = StaysInside(access, dim);
    int64_t unit = std::min(length, static_cast<int64_t>(ir::LowestBit(static_cast<uint64_t>(step))));
    if (!inside && unit == length && length > 1) unit /= 2;
    Type sliced;
    if (type.kind() == ir::TypeKind::kPartitionView && inside) {
      sliced = b_.types().PartitionView(shape, type.tensor(), type->dim_map, type->padding);
    } else {
      std::vector<int64_t> steps = type.kind() == ir::TypeKind::kStridedView ? type->steps : type->shape;
      steps[k] = unit;
      sliced = b_.types().StridedView(shape, steps, type.tensor(), type->dim_map, type->padding);
    }
    const bool is_signed = DecisionOf<Decision::kSignedIndex>(access);
    const auto sign = is_signed ? ir::Signedness::kSigned : ir::Signedness::kUnsigned;
    const auto promise = is_signed ? ir::Overflow::kNoSignedWrap : ir::Overflow::kNoWrap;
    Value* tensor = old->def()->operand(0);
    (*operands)[at_view] = sliced.kind() == ir::TypeKind::kPartitionView
                               ? static_cast<Value*>(op::MakePartitionView(b_, sliced, tensor))
                               : static_cast<Value*>(op::MakeStridedView(b_, sliced, tensor));
    for (size_t i = 0; i < static_cast<size_t>(type.rank()); ++i) {
      Value*& index = (*operands)[at_index + i];
      const bool may_overflow =
          index->type().elem() == Elem::kI64 && (index->def() == nullptr || index->def()->opcode() != Opcode::kExti);
      index = Wide(index, sign);
      if (i != k) continue;
      // An index outside of the view, a negative one, say, stays outside.
      if (may_overflow) {
        int64_t most = int64_t{1} << 61;
        for (int64_t n = step / unit; n > 1; n = (n + 1) / 2) most /= 2;
        index = op::Mini(b_, index, op::Integer(b_, index->type(), most), sign);
        if (is_signed) index = op::Maxi(b_, index, op::Integer(b_, index->type(), -most), sign);
      }
      index = op::Addi(b_, Times(index, step / unit, promise), Times(Wide(slice_), length / unit), promise);
    }
  }

  // A tensor that begins where this slice does, unless indices say where the dimension goes.
  void MoveTensor(const Op& scatter, int dim, Values* operands) {
    if (dim == ir::ScatterOp(scatter).dim()) return;
    const auto k = static_cast<size_t>(dim);
    Value*& view = (*operands)[static_cast<size_t>(ir::ScatterOp(scatter).view_at())];
    const ir::MakeTensorViewOp made(view->def());
    const Type type = view->type();
    const int64_t length = WrittenTile(scatter)->type().shape()[k] / loop_.slices;
    Values sizes, strides;
    for (Value* v : made.dynamic_shape()) sizes.push_back(Wide(v));
    for (Value* v : made.dynamic_strides()) strides.push_back(Wide(v));
    // Operands of the sizes in front of this one, and of the strides.
    const auto open = [k](const std::vector<int64_t>& fixed) {
      return std::count(fixed.begin(), fixed.begin() + static_cast<std::ptrdiff_t>(k), ir::kDynamic);
    };
    const Type i64 = b_.types().Scalar(Elem::kI64);
    const auto number = [&](const std::vector<int64_t>& fixed, const Values& given) {
      return fixed[k] == ir::kDynamic ? given[static_cast<size_t>(open(fixed))] : op::Integer(b_, i64, fixed[k]);
    };
    Value* start = Times(Wide(slice_), length);
    Value* size = number(type->shape, sizes);
    Value* left = op::Maxi(b_, op::Subi(b_, size, start), op::Integer(b_, i64, 0), ir::Signedness::kSigned);
    std::vector<int64_t> shape = type->shape;
    if (shape[k] == ir::kDynamic) {
      sizes[static_cast<size_t>(open(shape))] = left;
    } else {
      sizes.insert(sizes.begin() + open(shape), left);
      shape[k] = ir::kDynamic;
    }
    Value* base = op::Offset(b_, made.base(), op::Muli(b_, start, number(type->strides, strides)));
    view = op::MakeTensorView(b_, b_.types().TensorView(type.element(), shape, type->strides, type->space), base, sizes,
                              strides);
  }

  Value* Wide(Value* v, ir::Signedness sign = ir::Signedness::kUnsigned) {
    if (v->type().elem() == Elem::kI64) return v;
    return op::Exti(b_, b_.types().Scalar(Elem::kI64), v, sign);
  }
  Value* Times(Value* v, int64_t n, ir::Overflow promise = ir::Overflow::kNoWrap) {
    return n == 1 ? v : op::Muli(b_, v, op::Integer(b_, v->type(), n), promise);
  }

  // Numbers of the tile that are in this slice. None is above the type's largest, read as unsigned.
  Value* Iota(Value* v) {
    const Type type = SlicedType(b_.types(), v->type(), 0, loop_.slices);
    Value* first = op::Muli(b_, slice_, op::Integer(b_, slice_->type(), type.shape()[0]));
    const Type scalar = b_.types().Scalar(type.elem());
    if (ir::StorageBytes(type.elem()) > 4) first = op::Exti(b_, scalar, first, ir::Signedness::kUnsigned);
    if (ir::StorageBytes(type.elem()) < 4) first = op::Trunci(b_, scalar, first);
    const bool wide = ir::StorageBytes(type.elem()) >= 4;
    return op::Addi(b_, op::Iota(b_, type), Spread(b_, first, type.shape()),
                    wide ? ir::Overflow::kNoWrap : ir::Overflow::kNoUnsignedWrap);
  }

  Value* Assume(const Op& def, int dim) {
    Value* x = Of(def.operand(0), dim);
    const ir::Predicate* p = SlicedPredicate(b_.module(), def, dim, x->type().shape()[static_cast<size_t>(dim)]);
    return p == nullptr ? x : op::Assume(b_, x, *p);
  }

  // Out of a tile that is there whole.
  Value* Cut(Value* v, int dim) {
    Values at;
    for (int d = 0; d < v->type().rank(); ++d) at.push_back(d == dim ? slice_ : op::Integer(b_, slice_->type(), 0));
    return op::Extract(b_, SlicedType(b_.types(), v->type(), dim, loop_.slices), v, at);
  }

  // The store with this token.
  Op* WithToken(const Op& store, Value* token) {
    const auto& fields = store.info()->format->operands;
    Values operands;
    std::vector<uint32_t> ends;
    for (size_t f = 0; f < fields.size(); ++f) {
      const int field = static_cast<int>(f);
      if (fields[f].name == "token") {
        operands.push_back(token);
      } else {
        for (int i = store.group_begin(field); i < store.group_end(field); ++i) operands.push_back(store.operand(i));
      }
      ends.push_back(static_cast<uint32_t>(operands.size()));
    }
    Op* made = ir::CreateLike(b_.module(), store, operands, ir::ResultTypesOf(store), ends);
    b_.module()->Append(b_.block(), made);
    return made;
  }

  ir::Builder& b_;
  const SliceLoop& loop_;
  const std::vector<Carried>& carries_;
  const Values& carried_;
  Value *iteration_, *slice_;
  Values next_;
  absl::flat_hash_map<SliceKey, Value*> made_;
  std::vector<std::pair<const Op*, Value*>> loads_;
  const Block* nest_ = nullptr;                      // the body of the loop that is being written once more
  absl::flat_hash_map<const Value*, Value*> whole_;  // its values
};

}  // namespace

std::vector<std::pair<const Op*, int>> LoadsOf(const SliceLoop& loop) {
  std::vector<std::pair<const Op*, int>> loads;
  absl::flat_hash_set<SliceKey> seen;
  absl::flat_hash_set<const Op*> known;
  for (const SliceSink& sink : loop.sinks) {
    for (const SliceKey& key : sink.cone->made()) {
      const Op* def = key.first->def();
      if (def == nullptr || sink.cone->IsCut(key) || !IsAccessOfMemory(*def) || !seen.insert(key).second) continue;
      loads.emplace_back(def, key.second);
      known.insert(def);
    }
  }
  for (const SliceSink& sink : loop.sinks) {
    for (const SliceNest& nest : sink.cone->nests()) {
      for (const Op* op : *nest.loop->region(0)) {
        if (IsAccessOfMemory(*op) && known.insert(op).second) loads.emplace_back(op, kWhole);
      }
    }
  }
  return loads;
}

Turn SliceLoop::turn() const {
  for (const SliceSink& sink : sinks) {
    if (sink.cone->turn() != Turn::kAny) return sink.cone->turn();
  }
  return Turn::kAny;
}

void WriteLoop(ir::Module* module, SliceLoop* loop, const SliceWaits& waits) {
  Block* apart = module->CreateBlock({});
  ir::Builder b(module, apart);
  b.set_loc(loop->place()->loc);
  // Carried: of all reductions and scans, then a token.
  const std::vector<Carried> carries = CarriedBy(b.types(), *loop);
  Values init;
  for (const Carried& c : carries) {
    const Values of = c.Init(b);
    init.insert(init.end(), of.begin(), of.end());
  }
  init.push_back(op::MakeToken(b));
  const Type i32 = b.types().Scalar(Elem::kI32);
  Value *zero = op::Integer(b, i32, 0), *one = op::Integer(b, i32, 1), *end = op::Integer(b, i32, loop->slices);
  const Values out = op::For(b, zero, end, one, init, [&](Value* iteration, const Values& carried) {
    Value* slice = iteration;
    if (loop->turn() == Turn::kBackward) slice = op::Subi(b, op::Integer(b, i32, loop->slices - 1), iteration);
    Body body(b, *loop, carries, carried, iteration, slice);
    Values tokens = {carried.back()};
    for (const SliceSink& sink : loop->sinks) {
      if (sink.is_store()) {
        tokens.push_back(body.Store(sink, waits));
      } else if (IsPlainProduct(*sink.op)) {
        body.Multiply(sink);
      } else {
        body.Reduce(sink);
      }
    }
    const Values loads = body.LoadTokens();
    tokens.insert(tokens.end(), loads.begin(), loads.end());
    Values next = body.next();
    next.back() = body.Join(tokens);
    return next;
  });
  loop->done = out.back();

  for (const Carried& c : carries) {
    if (IsPlainProduct(*c.op)) c.op->result(0)->ReplaceAllUsesWith(c.Of(out)[0]);
    if (c.op->opcode() != Opcode::kReduce) continue;
    Values results = c.Of(out);
    if (c.totals) {
      results = c.totals->Result(results);
    } else {
      Op* whole = Copy(b, *c.op, results, ir::ResultTypesOf(*c.op));
      CopyBody(b, *c.op, whole);
      for (int i = 0; i < whole->num_results(); ++i) results[static_cast<size_t>(i)] = whole->result(i);
    }
    for (size_t i = 0; i < results.size(); ++i) c.op->result(static_cast<int>(i))->ReplaceAllUsesWith(results[i]);
  }
  for (const SliceSink& sink : loop->sinks) {
    if (!sink.is_store()) continue;
    if (Value* token = ir::AccessOp(sink.op).result_token()) token->ReplaceAllUsesWith(loop->done);
  }
  Op* place = loop->place();
  while (!apart->empty()) {
    Op* moved = apart->front();
    moved->Unlink();
    module->InsertBefore(place->block(), place, moved);
  }
}

}  // namespace tile::codegen
