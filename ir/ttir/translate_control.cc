// Loops and branches. What they carry: the parts of each value, then a token if anything inside accesses memory. A body that
// only loads carries a token of its loads, which wait for nothing inside; one that writes carries the whole order.

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {

// --- carried values ---------------------------------------------------------------------------------------------------

std::vector<Type> Translator::PartTypes(const TtType& t) {
  if (t.kind == TtType::Kind::kNone) return {};
  if (t.kind == TtType::Kind::kTile) return {t.tile};
  const size_t lists = t.kind == TtType::Kind::kDescriptor ? 2 : 3;
  std::vector<Type> types(1 + lists * static_cast<size_t>(t.tile.rank()), b_.types().Scalar(Elem::kI64));
  types[0] = b_.types().Scalar(Element::Pointer(t.tile.elem()));
  return types;
}

bool Translator::Flatten(const Node& n, const std::vector<ValueRef>& refs, size_t first, const std::vector<Val>& like,
                         Builder::Groups* out) {
  for (size_t i = first; i < refs.size(); ++i) {
    const Val* v = Find(n, refs[i]);
    if (v == nullptr) return false;
    if (v->nan_padding != (i - first < like.size() && like[i - first].nan_padding)) return PaddingDiffers(n);
    out->back().insert(out->back().end(), v->parts.begin(), v->parts.end());
  }
  return true;
}

// The results of an op as values of these types.
std::vector<Val> Translator::Unflatten(absl::Span<const TtType> types, const std::vector<Val>& like, const Op* op) {
  std::vector<Val> out;
  int next = 0;
  for (const TtType& t : types) {
    Val v;
    v.type = t;
    for (size_t k = PartTypes(t).size(); k > 0; --k) v.parts.push_back(op->result(next++));
    v.nan_padding = out.size() < like.size() && like[out.size()].nan_padding;
    out.push_back(std::move(v));
  }
  return out;
}

// Gives arguments of a region the arguments of its block from `first` on.
bool Translator::BindArgs(const Node& n, const std::vector<Argument>& args, const std::vector<Val>& like, Block* block,
                          int first) {
  for (size_t i = 0; i < args.size(); ++i) {
    Val v;
    v.type = args[i].type;
    const size_t parts = PartTypes(v.type).size();
    if (parts == 0 || (i < like.size() && like[i].type != v.type))
      return WrongType(n, "carries a value of another type");
    for (size_t k = 0; k < parts; ++k) v.parts.push_back(block->arg(first++));
    v.nan_padding = i < like.size() && like[i].nan_padding;
    Bind(args[i].name, {std::move(v)});
  }
  return true;
}

Effect Translator::EffectOf(const NodeRegion& region) {
  Effect most = kNone;
  for (const NodeBlock& b : region.blocks) {
    for (const Node& n : b.ops) {
      if (const OpRow* row = FindTtirOp(n.name)) most = std::max(most, row->effect);
      // What assembly that is not pure may do is a grid dependency.
      if (n.name == "tt.elementwise_inline_asm" && n.number("pure", 0) == 0) most = kWrites;
      if (n.name == "tt.call") most = std::max(most, EffectOfFunction(n.symbol));
      for (const NodeRegion& r : n.regions) most = std::max(most, EffectOf(r));
    }
  }
  return most;
}

bool Translator::EndRegion(const Node& n, Opcode with, size_t first_operand, const std::vector<Type>& expected,
                           Effect effect, const std::vector<Val>& like) {
  b_.set_loc(LocOf(n));
  Builder::Groups values(1);
  if (n.operands.size() < first_operand) return WrongType(n, "lacks an operand");
  if (!Flatten(n, n.operands, first_operand, like, &values)) return false;
  if (effect == kWrites) values[0].push_back(order_.ForRegion(b_));
  if (effect == kReads) values[0].push_back(order_.Reads(b_));
  bool good = values[0].size() == expected.size();
  for (size_t i = 0; good && i < expected.size(); ++i) good = values[0][i]->type() == expected[i];
  if (!good) return WrongType(n, "hands on values of other types than are expected");
  b_.Create(with, values, {});
  return true;
}

bool Translator::TranslateRegion(const Node& n, const NodeRegion& region, Opcode end, const std::vector<Type>& expected,
                                 Effect effect, const std::vector<Val>& like) {
  if (region.blocks.size() != 1) return Unsupported(n, "has a region with branches", "return at the kernel's end only");
  const std::vector<Node>& ops = region.blocks[0].ops;
  if (ops.empty() || ops.back().name != "scf.yield")
    return Fail(n, "ttir.syntax", "has a region that does not end in scf.yield");
  return TranslateOps(ops) && EndRegion(ops.back(), end, 0, expected, effect, like);
}

// --- loops and branches -----------------------------------------------------------------------------------------------

// --- pointers that a loop moves ---------------------------------------------------------------------------------------
//
// `for … iter_args(%p = %init) { … %next = tt.addptr %p, splat %step … yield %next }`: every element moves by the same
// distance. The loop carries that distance as a scalar, %p is %init plus it, and what is known of %init (neighbours,
// alignment) is known of %p, too.

namespace {

// Loops that carry more values are translated as they stand: looking for moved pointers takes time for each.
constexpr size_t kMaxMoved = 32;

int64_t CountUses(const std::vector<Node>& ops, absl::string_view name) {
  int64_t uses = 0;
  for (const Node& n : ops) {
    for (const ValueRef& v : n.operands) uses += v.name == name;
    for (const Successor& s : n.successors) {
      for (const ValueRef& v : s.args) uses += v.name == name;
    }
    for (const NodeRegion& r : n.regions) {
      for (const NodeBlock& b : r.blocks) uses += CountUses(b.ops, name);
    }
  }
  return uses;
}

const Node* FindDefinition(const std::vector<Node>& ops, absl::string_view name) {
  for (const Node& n : ops) {
    for (const ResultName& r : n.results) {
      if (r.name == name) return &n;
    }
  }
  return nullptr;
}

// Of all threads of the block: nothing of it is left here but the order of accesses.
bool HasBarrier(const NodeRegion& region) {
  for (const NodeBlock& b : region.blocks) {
    for (const Node& n : b.ops) {
      if (n.name == "gpu.barrier" || n.name == "ttg.barrier") return true;
      for (const NodeRegion& r : n.regions) {
        if (HasBarrier(r)) return true;
      }
    }
  }
  return false;
}

// The scalar that a tile repeats; null if it is not known to.
Value* RepeatedScalar(Builder& b, Value* v) {
  for (;;) {
    if (v->type().is_scalar()) return v;
    const Op* def = v->def();
    if (const auto c = DefAs<ConstantOp>(v); c && c->value().splat && IsInt(v->type().elem())) {
      return ops::Constant(b, b.types().Scalar(v->type().element()), &c->value());
    }
    const bool one = def != nullptr && ReshapeOp::Is(def) && def->operand(0)->type().is_scalar();
    if (!one && (def == nullptr || !BroadcastOp::Is(def))) return nullptr;
    v = def->operand(0);
  }
}

}  // namespace

Translator::MovedPointer Translator::FindMoved(const NodeBlock& body, size_t carried, const Val& init) {
  MovedPointer m;
  if (!init.is_tile() || init.type.tile.is_scalar() || !init.type.tile.element().is_pointer() || body.ops.empty())
    return m;
  const Node& yield = body.ops.back();
  if (carried >= yield.operands.size()) return m;
  const absl::string_view next = yield.operands[carried].name, pointer = body.args[1 + carried].name;
  const Node* add = FindDefinition(body.ops, next);
  if (add == nullptr || add->name != "tt.addptr" || add->operands.size() != 2 || add->operands[0].name != pointer)
    return m;
  const Node* step = FindDefinition(body.ops, add->operands[1].name);
  if (step != nullptr) {
    if (step->name != "tt.splat" || step->operands.size() != 1) return m;
    m.step = &step->operands[0];
  } else {
    const auto it = values_.find(add->operands[1].name);
    if (it == values_.end() || add->operands[1].part >= it->second.size()) return m;
    const Val& outer = it->second[add->operands[1].part];
    if (!outer.is_tile() || !IsInt(outer.type.tile.elem())) return m;
    m.outer_step = RepeatedScalar(b_, outer.tile());
    if (m.outer_step == nullptr) return m;
  }
  m.init = init.tile();
  if (CountUses(body.ops, next) == 1) m.only_moves = add;
  return m;
}

Value* Translator::MoveBy(const MovedPointer& m, Value* distance) {
  return ops::Offset(b_, m.init, BroadcastTo(distance, m.init->type().shape()));
}

bool Translator::ForLoop(const Node& n, const OpRow&) {
  const std::vector<Val> in = in_;
  if (n.regions.size() != 1 || n.regions[0].blocks[0].args.size() != n.outputs.size() + 1 ||
      in.size() != n.outputs.size() + 3) {
    return WrongType(n, "carries another number of values than it has types for");
  }
  const NodeBlock& body = n.regions[0].blocks[0];
  const TtType iv = body.args[0].type;
  for (int i = 0; i < 3; ++i) {
    if (!(in[i].type == iv) || !iv.tile.is_scalar() || !IsInt(iv.tile.elem())) {
      return WrongType(n, "has bounds of another type than its index");
    }
  }
  const Effect effect = EffectOf(n.regions[0]);
  const Order before = order_;
  const std::vector<Val> inits(in.begin() + 3, in.end());
  std::vector<Val> carried = inits;
  std::vector<MovedPointer> moved;
  Builder::Groups operands = {{in[0].tile()}, {in[1].tile()}, {in[2].tile()}, {}};
  for (size_t i = 0; i < inits.size(); ++i) {
    if (inits[i].type != body.args[1 + i].type) return WrongType(n, "carries a value of another type");
    moved.push_back(inits.size() <= kMaxMoved ? FindMoved(body, i, inits[i]) : MovedPointer());
    if (moved[i].init != nullptr) carried[i] = TileVal(ops::Integer(b_, b_.types().Scalar(Elem::kI64), 0));
    operands[3].insert(operands[3].end(), carried[i].parts.begin(), carried[i].parts.end());
  }
  if (effect == kWrites) operands[3].push_back(order_.ForRegion(b_));
  if (effect == kReads) operands[3].push_back(order_.Reads(b_));
  std::vector<Type> types;
  for (const Value* v : operands[3]) types.push_back(v->type());
  const bool is_unsigned = !n.words.empty() && n.words[0] == "unsigned";
  Op* op = b_.Create(Opcode::kFor, operands, types, {{"unsigned_cmp", Attr::Flag(is_unsigned)}});
  std::vector<Type> args = types;
  args.insert(args.begin(), iv.tile);
  Block* block = b_.AddRegion(op, 0, args);
  const size_t mark = OpenScope();
  {
    Builder::Scope scope(b_, block);
    order_ = before.After(effect, effect == kNone ? nullptr : block->args().back());
    if (!LoopBody(n, carried, moved, types, effect, block)) return false;
  }
  CloseScope(mark);
  if (effect == kWrites && n.number("tt.num_stages", 2) > 1 && !HasBarrier(n.regions[0])) pipelined_.push_back(op);
  order_ = before.After(effect, effect == kNone ? nullptr : op->result(op->num_results() - 1));
  std::vector<TtType> result_types;
  for (const Val& v : carried) result_types.push_back(v.type);
  std::vector<Val> results = Unflatten(result_types, inits, op);
  for (size_t i = 0; i < moved.size(); ++i) {
    if (moved[i].init != nullptr) results[i] = TileVal(MoveBy(moved[i], results[i].tile()));
  }
  return Define(n, std::move(results));
}

// The arguments, the operations, and what the next iteration gets.
bool Translator::LoopBody(const Node& n, const std::vector<Val>& carried, const std::vector<MovedPointer>& moved,
                          const std::vector<Type>& types, Effect effect, Block* block) {
  if (n.regions[0].blocks.size() != 1)
    return Unsupported(n, "has a region with branches", "return at the kernel's end only");
  const NodeBlock& body = n.regions[0].blocks[0];
  if (body.ops.empty() || body.ops.back().name != "scf.yield") {
    return Fail(n, "ttir.syntax", "has a region that does not end in scf.yield");
  }
  std::vector<Value*> distances(carried.size());
  int next = 0;
  Bind(body.args[0].name, {TileVal(block->arg(next++))});
  for (size_t i = 0; i < carried.size(); ++i) {
    Val v = carried[i];
    for (Value*& part : v.parts) part = block->arg(next++);
    if (moved[i].init != nullptr) {
      distances[i] = v.tile();
      v = TileVal(MoveBy(moved[i], v.tile()));
    }
    Bind(body.args[1 + i].name, {std::move(v)});
  }
  for (size_t i = 0; i + 1 < body.ops.size(); ++i) {
    bool only_moves = false;
    for (const MovedPointer& m : moved) only_moves |= m.only_moves == &body.ops[i];
    if (!only_moves && !TranslateOp(body.ops[i])) return false;
  }
  const Node& yield = body.ops.back();
  b_.set_loc(LocOf(yield));
  Builder::Groups values(1);
  if (yield.operands.size() != carried.size())
    return WrongType(yield, "hands on another number of values than is carried");
  for (size_t i = 0; i < carried.size(); ++i) {
    if (moved[i].init == nullptr) {
      const Val* v = Find(yield, yield.operands[i]);
      if (v == nullptr) return false;
      if (v->nan_padding != carried[i].nan_padding) return PaddingDiffers(yield);
      values[0].insert(values[0].end(), v->parts.begin(), v->parts.end());
      continue;
    }
    Value* step = moved[i].outer_step;
    if (step == nullptr) {
      const Val* v = Find(yield, *moved[i].step);
      if (v == nullptr) return false;
      if (!v->is_tile() || !v->type.tile.is_scalar() || !IsInt(v->type.tile.elem())) {
        return WrongType(yield, "moves a pointer by what is no integer");
      }
      step = v->tile();
    }
    values[0].push_back(ops::Addi(b_, distances[i], ToI64(step)));
  }
  if (effect != kNone) values[0].push_back(effect == kWrites ? order_.ForRegion(b_) : order_.Reads(b_));
  bool good = values[0].size() == types.size();
  for (size_t i = 0; good && i < types.size(); ++i) good = values[0][i]->type() == types[i];
  if (!good) return WrongType(yield, "hands on values of other types than are expected");
  b_.Create(Opcode::kContinue, values, {});
  return true;
}

// The first region decides by scf.condition, whose values leave the loop or go into the second region.
bool Translator::WhileLoop(const Node& n, const OpRow&) {
  const std::vector<Val> inits = in_;
  if (n.regions.size() != 2 || n.regions[0].blocks.size() != 1 || n.regions[1].blocks.size() != 1 ||
      n.regions[0].blocks[0].args.size() != inits.size()) {
    return Fail(n, "ttir.syntax", "needs two regions of one block each");
  }
  const NodeBlock &test = n.regions[0].blocks[0], &body = n.regions[1].blocks[0];
  if (test.ops.empty() || test.ops.back().name != "scf.condition" || test.ops.back().operands.empty() ||
      body.args.size() != n.outputs.size()) {
    return Fail(n, "ttir.syntax", "needs scf.condition at the end of its first region");
  }
  const Effect effect = std::max(EffectOf(n.regions[0]), EffectOf(n.regions[1]));
  const Order before = order_;
  Builder::Groups operands(1);
  for (const Val& v : inits) operands[0].insert(operands[0].end(), v.parts.begin(), v.parts.end());
  std::vector<Type> results;
  for (const TtType& t : n.outputs) {
    const std::vector<Type> parts = PartTypes(t);
    if (parts.empty()) return WrongType(n, "carries a value of a type without equal here");
    results.insert(results.end(), parts.begin(), parts.end());
  }
  if (effect != kNone) {
    operands[0].push_back(effect == kWrites ? order_.ForRegion(b_) : order_.Reads(b_));
    results.push_back(b_.types().Token());
  }
  std::vector<Type> types;
  for (const Value* v : operands[0]) types.push_back(v->type());
  const auto enter = [&](Value* token) { order_ = before.After(effect, token); };
  Op* op = b_.Create(Opcode::kLoop, operands, results);
  Block* block = b_.AddRegion(op, 0, types);
  const size_t mark = OpenScope();
  {
    Builder::Scope scope(b_, block);
    if (!BindArgs(n, test.args, inits, block, 0)) return false;
    if (effect != kNone) enter(block->args().back());
    if (!TranslateOps(test.ops)) return false;
    const Node& end = test.ops.back();
    std::vector<Val> values;
    if (!Lookup(end, end.operands, &values)) return false;
    if (!values[0].is_tile() || values[0].type.tile != b_.types().Scalar(Elem::kI1)) {
      return WrongType(end, "decides by what is no i1");
    }
    if (effect != kNone) enter(effect == kWrites ? order_.ForRegion(b_) : order_.Reads(b_));
    Op* leave = b_.Create(Opcode::kIf, {{values[0].tile()}}, {});
    {
      Builder::Scope then(b_, b_.AddRegion(leave, 0, {}));
      ops::Yield(b_);
    }
    {
      Builder::Scope otherwise(b_, b_.AddRegion(leave, 1, {}));
      const Order kept = order_;
      if (!EndRegion(end, Opcode::kBreak, 1, results, effect, inits)) return false;
      order_ = kept;
    }
    values.erase(values.begin());
    for (size_t i = 0; i < body.args.size(); ++i) {
      if (i >= values.size() || values[i].type != body.args[i].type)
        return WrongType(n, "carries a value of another type");
      Bind(body.args[i].name, {values[i]});
    }
    if (!TranslateRegion(n, n.regions[1], Opcode::kContinue, types, effect, inits)) return false;
  }
  CloseScope(mark);
  if (effect != kNone) enter(op->result(op->num_results() - 1));
  return Define(n, Unflatten(n.outputs, inits, op));
}

bool Translator::IfElse(const Node& n, const OpRow&) {
  Value* condition = tile(0);
  std::vector<Type> results;
  for (const TtType& t : n.outputs) {
    const std::vector<Type> parts = PartTypes(t);
    if (parts.empty()) return WrongType(n, "gives a value of a type without equal here");
    results.insert(results.end(), parts.begin(), parts.end());
  }
  if (n.regions.empty() || n.regions.size() > 2 || (n.regions.size() == 1 && !results.empty())) {
    return Fail(n, "ttir.syntax", "gives values, but has no else");
  }
  Effect effect = kNone;
  for (const NodeRegion& r : n.regions) effect = std::max(effect, EffectOf(r));
  if (effect != kNone) results.push_back(b_.types().Token());
  const Order before = order_;
  Op* op = b_.Create(Opcode::kIf, {{condition}}, results);
  for (int r = 0; r < 2; ++r) {
    if (static_cast<size_t>(r) >= n.regions.size() && effect == kNone) break;
    const size_t mark = OpenScope();
    Builder::Scope scope(b_, b_.AddRegion(op, r, {}));
    order_ = before;
    if (static_cast<size_t>(r) < n.regions.size()) {
      if (!TranslateRegion(n, n.regions[static_cast<size_t>(r)], Opcode::kYield, results, effect)) return false;
    } else {
      b_.Create(Opcode::kYield, {{effect == kWrites ? order_.ForRegion(b_) : order_.Reads(b_)}}, {});
    }
    CloseScope(mark);
  }
  order_ = before.After(effect, effect == kNone ? nullptr : op->result(op->num_results() - 1));
  return Define(n, Unflatten(n.outputs, {}, op));
}

}  // namespace tile::ir::ttir
