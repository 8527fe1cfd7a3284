#include "codegen/passes/slice_loop.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "codegen/passes/slice_rules.h"
#include "codegen/reduce_body.h"
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

using Values = std::vector<Value*>;
using Map = absl::flat_hash_map<const Value*, Value*>;

Value* Mapped(const Map& map, Value* v) {
  const auto it = map.find(v);
  return it == map.end() ? v : it->second;
}

// The operation with other operands and types, at the end of the builder's block. Regions are not copied.
Op* Copy(ir::Builder& b, const Op& from, const Values& operands, const std::vector<Type>& results) {
  std::vector<uint32_t> ends;
  std::vector<ir::Attr> attrs;
  for (size_t f = 0; f < from.info()->format->operands.size(); ++f)
    ends.push_back(static_cast<uint32_t>(from.group_end(static_cast<int>(f))));
  for (size_t i = 0; i < from.info()->format->attrs.size(); ++i) attrs.push_back(from.attr(static_cast<int>(i)));
  Op* to = b.module()->CreateOp({.info = from.info(),
                                 .operands = operands,
                                 .operand_ends = ends,
                                 .results = results,
                                 .attrs = attrs,
                                 .loc = from.loc,
                                 .pos = from.pos});
  b.module()->Append(b.block(), to);
  return to;
}

std::vector<Type> ResultTypes(const Op& of) {
  std::vector<Type> types;
  for (int i = 0; i < of.num_results(); ++i) types.push_back(of.result(i)->type());
  return types;
}

// The body of a reduce or scan, for a copy of it.
void CopyBody(ir::Builder& b, const Op& from, Op* to) {
  const Block& body = *from.region(0);
  std::vector<Type> types;
  for (const Value* arg : body.args()) types.push_back(arg->type());
  Block* copy = b.AddRegion(to, 0, types);
  Map map;
  for (int i = 0; i < body.num_args(); ++i) map[body.arg(i)] = copy->arg(i);
  ir::Builder::Scope scope(b, copy);
  for (const Op* inside : body) {
    Values operands;
    for (int i = 0; i < inside->num_operands(); ++i) operands.push_back(Mapped(map, inside->operand(i)));
    const Op* made = Copy(b, *inside, operands, ResultTypes(*inside));
    for (int i = 0; i < made->num_results(); ++i) map[inside->result(i)] = made->result(i);
  }
}

// A tile of one number.
Value* Spread(ir::Builder& b, Value* scalar, absl::Span<const int64_t> shape) {
  if (shape.empty()) return scalar;
  const ir::Element e = scalar->type().element();
  Value* one = op::Reshape(b, b.types().Tile(e, std::vector<int64_t>(shape.size(), 1)), scalar);
  return op::Broadcast(b, b.types().Tile(e, shape), one);
}

// The body on tiles instead of scalars.
Values OnTiles(ir::Builder& b, const Block& body, const Values& args, absl::Span<const int64_t> shape) {
  Map map;
  for (int i = 0; i < body.num_args(); ++i) map[body.arg(i)] = args[static_cast<size_t>(i)];
  Values out;
  for (const Op* inside : body) {
    Values operands;
    for (int i = 0; i < inside->num_operands(); ++i) {
      Value* v = Mapped(map, inside->operand(i));
      operands.push_back(v == inside->operand(i) ? Spread(b, v, shape) : v);  // of outside
    }
    if (inside == body.back()) return operands;
    std::vector<Type> types;
    for (const Type t : ResultTypes(*inside)) types.push_back(b.types().Tile(t.element(), shape));
    const Op* made = Copy(b, *inside, operands, types);
    for (int i = 0; i < made->num_results(); ++i) map[inside->result(i)] = made->result(i);
  }
  return out;
}

Value* Number(ir::Builder& b, Type type, const ir::Scalar& number) {
  uint8_t bytes[8];
  std::memcpy(bytes, &number.bits, sizeof(bytes));
  auto* d = b.module()->arena().New<ir::Dense>();
  d->elem = type.elem();
  d->splat = true;
  d->bytes =
      b.module()->arena().Copy(absl::Span<const uint8_t>(bytes, static_cast<size_t>(ir::StorageBytes(type.elem()))));
  return op::Constant(b, type, d);
}

// What the body of the loop makes.
class Body {
 public:
  Body(ir::Builder& b, const SliceLoop& loop, Value* slice) : b_(b), loop_(loop), slice_(slice) {}

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
    const Op& def = *v->def();
    if (def.opcode() == Opcode::kIota) return made_[key] = Iota(v);
    if (def.opcode() == Opcode::kAssume) return made_[key] = Assume(def, dim);
    const Op* copy = CopyOf(def, dim, true);
    for (int i = 0; i < def.num_results(); ++i) made_[{def.result(i), dim}] = copy->result(i);
    if (Value* token = IsAccessOfMemory(def) ? copy->result("token") : nullptr) loads_.push_back({&def, token});
    return made_[key];
  }

  // Does the store of a slice and gives its token.
  Value* Store(const SliceSink& sink, const SliceWaits& waits) {
    Op* copy = CopyOf(*sink.op, sink.dim, false);
    Value* token = copy->operand("token");
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
    return copy->result("token");
  }

  // The accumulators of the next round.
  Values Reduce(const SliceSink& sink, const Values& before) {
    const Op& reduce = *sink.op;
    const Block& body = *reduce.region(0);
    Values parts;
    for (int i = 0; i < reduce.num_operands(); ++i) parts.push_back(Of(reduce.operand(i), sink.dim));
    if (!IsCommutative(body)) {
      Op* part = Copy(b_, reduce, parts, ResultTypes(reduce));
      CopyBody(b_, reduce, part);
      for (int i = 0; i < part->num_results(); ++i) parts[static_cast<size_t>(i)] = part->result(i);
    }
    if (IsNarrowSum(body)) {
      const Type wide = before[0]->type();
      return {Copy(b_, *body.front(), {op::FToF(b_, wide, parts[0]), before[0]}, {wide})->result(0)};
    }
    Values args;
    for (size_t i = 0; i < parts.size(); ++i) {
      args.push_back(parts[i]);
      args.push_back(before[i]);
    }
    Values joined = OnTiles(b_, body, args, before[0]->type().shape());
    if (NeutralOf(body)) return joined;
    // The first slice has nothing before it.
    Value* is_first = op::CmpI(b_, ir::ComparisonPredicate::kEqual, slice_, op::Integer(b_, slice_->type(), 0),
                               ir::Signedness::kSigned);
    for (size_t i = 0; i < joined.size(); ++i) {
      joined[i] = op::Select(b_, Spread(b_, is_first, joined[i]->type().shape()), parts[i], joined[i]);
    }
    return joined;
  }

  // Tokens of all that the loop loads.
  Values LoadTokens() const {
    Values tokens;
    for (const auto& [load, done] : loads_) tokens.push_back(done);
    return tokens;
  }
  Value* Join(const Values& tokens) { return tokens.size() == 1 ? tokens[0] : op::JoinTokens(b_, tokens); }

 private:
  Op* CopyOf(const Op& def, int dim, bool slice_results) {
    std::vector<int> dims;
    OperandDims(def, dim, loop_.slices, &dims);
    const bool is_view = def.info()->format->operand_index("view") >= 0;
    Values operands;
    for (int i = 0; i < def.num_operands(); ++i) {
      const int d = dims[static_cast<size_t>(i)];
      operands.push_back(d == kWhole ? def.operand(i) : Of(def.operand(i), d));
    }
    if (is_view) SliceView(def, dim, &operands);
    std::vector<Type> types = ResultTypes(def);
    for (Type& t : types) {
      if (slice_results && t.is_tile()) t = SlicedType(b_.types(), t, dim, loop_.slices);
    }
    Op* copy = Copy(b_, def, operands, types);
    if (def.num_regions() > 0) CopyBody(b_, def, copy);
    return copy;
  }

  // A view whose tiles are slices, and the index of this one. All its indices are i64.
  void SliceView(const Op& access, int dim, Values* operands) {
    const auto& fields = *access.info()->format;
    const auto at_view = static_cast<size_t>(access.group_begin(fields.operand_index("view")));
    const auto at_index = static_cast<size_t>(access.group_begin(fields.operand_index("index")));
    const auto k = static_cast<size_t>(dim);
    Value* old = (*operands)[at_view];
    const Type type = old->type();
    const int64_t step = type.kind() == ir::TypeKind::kStridedView ? type->steps[k] : type.shape()[k];
    const int64_t length = type.shape()[k] / loop_.slices;
    std::vector<int64_t> shape(type.shape().begin(), type.shape().end());
    shape[k] = length;
    // In steps of half a slice elements are tested one by one, since slices may lie outside of the tensor.
    const bool inside = StaysInside(access, dim);
    int64_t unit = std::min(length, step & (~step + 1));
    if (!inside && unit == length) unit /= 2;
    Type sliced;
    if (type.kind() == ir::TypeKind::kPartitionView && inside) {
      sliced = b_.types().PartitionView(shape, type.tensor(), type->dim_map, type->padding);
    } else {
      std::vector<int64_t> steps = type.kind() == ir::TypeKind::kStridedView ? type->steps : type->shape;
      steps[k] = unit;
      sliced = b_.types().StridedView(shape, steps, type.tensor(), type->dim_map, type->padding);
    }
    Value* tensor = old->def()->operand(0);
    (*operands)[at_view] = sliced.kind() == ir::TypeKind::kPartitionView
                               ? static_cast<Value*>(op::MakePartitionView(b_, sliced, tensor))
                               : static_cast<Value*>(op::MakeStridedView(b_, sliced, tensor));
    for (size_t i = 0; i < static_cast<size_t>(type.rank()); ++i) {
      Value*& index = (*operands)[at_index + i];
      const bool may_overflow =
          index->type().elem() == Elem::kI64 && (index->def() == nullptr || index->def()->opcode() != Opcode::kExti);
      index = Wide(index);
      if (i != k) continue;
      // An index outside of the view, a negative one, say, stays outside.
      if (may_overflow) {
        int64_t most = int64_t{1} << 61;
        for (int64_t n = step / unit; n > 1; n = (n + 1) / 2) most /= 2;
        index = op::Mini(b_, index, op::Integer(b_, index->type(), most), ir::Signedness::kUnsigned);
      }
      index = op::Addi(b_, Times(index, step / unit), Times(Wide(slice_), length / unit), ir::Overflow::kNoWrap);
    }
  }

  Value* Wide(Value* v) {
    if (v->type().elem() == Elem::kI64) return v;
    return op::Exti(b_, b_.types().Scalar(Elem::kI64), v, ir::Signedness::kUnsigned);
  }
  Value* Times(Value* v, int64_t n) {
    return n == 1 ? v : op::Muli(b_, v, op::Integer(b_, v->type(), n), ir::Overflow::kNoWrap);
  }

  // Numbers of the tile that lie in this slice. None is above the type's largest, read as unsigned.
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
    ir::Builder::Groups groups;
    ir::Builder::NamedAttrs attrs;
    for (size_t f = 0; f < fields.size(); ++f) {
      groups.emplace_back();
      for (int i = store.group_begin(static_cast<int>(f)); i < store.group_end(static_cast<int>(f)); ++i)
        groups.back().push_back(store.operand(i));
      if (fields[f].name == "token") groups.back() = {token};
    }
    for (size_t i = 0; i < store.info()->format->attrs.size(); ++i) {
      attrs.emplace_back(store.info()->format->attrs[i].name, store.attr(static_cast<int>(i)));
    }
    Op* made = b_.Create(store.opcode(), groups, ResultTypes(store), attrs);
    made->loc = store.loc;
    made->pos = store.pos;
    return made;
  }

  ir::Builder& b_;
  const SliceLoop& loop_;
  Value* slice_;
  absl::flat_hash_map<SliceKey, Value*> made_;
  std::vector<std::pair<const Op*, Value*>> loads_;
};

}  // namespace

std::vector<std::pair<const Op*, int>> LoadsOf(const SliceLoop& loop) {
  std::vector<std::pair<const Op*, int>> loads;
  absl::flat_hash_set<SliceKey> seen;
  for (const SliceSink& sink : loop.sinks) {
    for (const SliceKey& key : sink.cone->made()) {
      if (sink.cone->IsCut(key) || !IsAccessOfMemory(*key.first->def()) || !seen.insert(key).second) continue;
      loads.emplace_back(key.first->def(), key.second);
    }
  }
  return loads;
}

void WriteLoop(ir::Module* module, SliceLoop* loop, const SliceWaits& waits) {
  Block* apart = module->CreateBlock({});
  ir::Builder b(module, apart);
  b.set_loc(loop->place()->loc);
  // Carried: accumulators of all reductions, then a token.
  Values init;
  for (const SliceSink& sink : loop->sinks) {
    if (sink.is_store()) continue;
    const auto identities = sink.op->attr("identities").scalars();
    const Block& body = *sink.op->region(0);
    for (int i = 0; i < sink.op->num_operands(); ++i) {
      Type t = IsCommutative(body) ? SlicedType(b.types(), sink.op->operand(i)->type(), sink.dim, loop->slices)
                                   : sink.op->result(i)->type();
      ir::Scalar start = identities[static_cast<size_t>(i)];
      if (IsNarrowSum(body)) {
        // Slices are added up in f32 and rounded at the end.
        t = b.types().Tile(ir::Element::Number(Elem::kF32), t.shape());
        start = {Elem::kF32, *ir::NeutralBits({body.front()->opcode(), Elem::kF32})};
      } else if (const auto neutral = NeutralOf(body)) {
        start.bits = *neutral;
      }
      init.push_back(Number(b, t, start));
    }
  }
  init.push_back(op::MakeToken(b));
  const Type i32 = b.types().Scalar(Elem::kI32);
  Value *zero = op::Integer(b, i32, 0), *one = op::Integer(b, i32, 1), *end = op::Integer(b, i32, loop->slices);
  const Values out = op::For(b, zero, end, one, init, [&](Value* slice, const Values& carried) {
    Body body(b, *loop, slice);
    Values next, tokens = {carried.back()};
    for (const SliceSink& sink : loop->sinks) {
      if (sink.is_store()) {
        tokens.push_back(body.Store(sink, waits));
        continue;
      }
      const auto first = carried.begin() + static_cast<std::ptrdiff_t>(next.size());
      const Values made = body.Reduce(sink, Values(first, first + sink.op->num_operands()));
      next.insert(next.end(), made.begin(), made.end());
    }
    const Values loads = body.LoadTokens();
    tokens.insert(tokens.end(), loads.begin(), loads.end());
    next.push_back(body.Join(tokens));
    return next;
  });
  loop->done = out.back();

  size_t next = 0;
  for (const SliceSink& sink : loop->sinks) {
    if (sink.is_store()) continue;
    Values results(out.begin() + static_cast<std::ptrdiff_t>(next),
                   out.begin() + static_cast<std::ptrdiff_t>(next) + sink.op->num_operands());
    next += results.size();
    if (IsNarrowSum(*sink.op->region(0))) {
      const Type t = SlicedType(b.types(), sink.op->operand(0)->type(), sink.dim, loop->slices);
      results[0] = op::FToF(b, t, results[0]);
    }
    if (IsCommutative(*sink.op->region(0))) {
      Op* whole = Copy(b, *sink.op, results, ResultTypes(*sink.op));
      CopyBody(b, *sink.op, whole);
      for (int i = 0; i < whole->num_results(); ++i) results[static_cast<size_t>(i)] = whole->result(i);
    }
    for (size_t i = 0; i < results.size(); ++i) sink.op->result(static_cast<int>(i))->ReplaceAllUsesWith(results[i]);
  }
  for (const SliceSink& sink : loop->sinks) {
    if (sink.is_store() && sink.op->result("token") != nullptr)
      sink.op->result("token")->ReplaceAllUsesWith(loop->done);
  }
  Op* place = loop->place();
  while (!apart->empty()) {
    Op* moved = apart->front();
    moved->Unlink();
    module->InsertBefore(place->block(), place, moved);
  }
}

}  // namespace tile::codegen
