#include "codegen/passes/slicing/spill_tiles.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/access_order.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/slice_dims.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/passes/slicing/kept_tiles.h"
#include "codegen/passes/slicing/slice_cone.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;
using ir::Block;
using ir::Elem;
using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::Value;
using op::Values;

constexpr int kAlignment = 16;

// In the order of memory.
Elem Stored(ir::Element e) { return e.is_pointer() ? Elem::kI64 : e.kind; }

std::vector<int64_t> RowMajor(absl::Span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Tiles of this shape in a tensor.
Value* View(ir::Builder& b, Value* tensor, absl::Span<const int64_t> shape) {
  return op::MakePartitionView(b, b.types().PartitionView(shape, tensor->type()), tensor);
}

Values Zeros(ir::Builder& b, size_t n) { return Values(n, op::Integer(b, b.types().Scalar(Elem::kI32), 0)); }

// The store that takes all that is computed from the access's result, right after it; null: something else needs it, too.
const Op* OnlyStore(const Op& access) {
  const Op* store = access.next();
  while (store != nullptr && !IsAccessOfMemory(*store) && !store->info()->has(ir::kTerminator)) store = store->next();
  if (store == nullptr || WrittenTile(*store) == nullptr || !IsWeak(*store) || !IsRightBefore(access, *store))
    return nullptr;
  SliceOrder order;
  if (order.MustFollow(*store, access)) return nullptr;
  std::vector<const Value*> open = {access.result(0)};
  absl::flat_hash_set<const Value*> seen(open.begin(), open.end());
  absl::flat_hash_set<const Op*> between;
  for (const Op* o = access.next(); o != store; o = o->next()) between.insert(o);
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      if (use->owner == store) continue;
      if (!between.contains(use->owner) || use->owner->num_regions() > 0) return nullptr;
      for (int i = 0; i < use->owner->num_results(); ++i) {
        if (seen.insert(use->owner->result(i)).second) open.push_back(use->owner->result(i));
      }
    }
  }
  return store;
}

}  // namespace

TileSpiller::TileSpiller(const KeepOptions& options, ir::Module* module, ir::Function* function, Trace* trace)
    : options_(options), module_(module), function_(function), trace_(trace), shared_left_(options.shared_bytes) {
  ir::Walk(function->body(), [&](Op* op) {
    if (op->info()->family == ir::Family::kMma) shared_left_ = 0;  // products have their own use for it
    if (op->opcode() != Opcode::kAllocShared) return;
    const Type t = op->result(0)->type();
    int64_t bytes = std::max(1, ir::MemoryBits(t.elem()) / 8);
    for (int64_t n : t.shape()) bytes *= n;
    shared_left_ -= std::min(bytes, shared_left_);
  });
}

bool TileSpiller::Prepare() {
  std::vector<Op*> once, moves;
  ir::Walk(function_->body(), [&](Op* op) {
    bool large = op->num_results() > 0 && IsLarge(op->result(0));
    // What is copied ahead (operations with a region) is in shared memory for products; it is never in registers.
    const bool is_access = op->num_regions() == 0 && IsOrdered(*op) && GivesTile(*op);
    if (is_access && large && OnlyStore(*op) == nullptr) once.push_back(op);
    for (int i = 0; i < op->num_operands(); ++i) large = large || IsLarge(op->operand(i));
    static constexpr Opcode kMoves[] = {Opcode::kCat, Opcode::kExtract, Opcode::kInsert, Opcode::kPack,
                                        Opcode::kUnpack};
    if (large && std::find(std::begin(kMoves), std::end(kMoves), op->opcode()) != std::end(kMoves)) moves.push_back(op);
  });
  bool changed = false;
  for (Op* op : once) changed = Keep(op->result(0)) || changed;
  for (Op* op : moves) changed = DoInMemory(op) || changed;
  return changed;
}

bool TileSpiller::KeepBlocked(absl::Span<Op* const> loads) {
  if (loads.empty()) return false;
  const int64_t live = MostLiveData(*function_).words;
  if (std::min(live, KeptWords(*function_->body()).value_or(live)) <= options_.registers) return false;
  bool changed = false;
  for (Op* load : loads) {
    Value* v = load->result(0);
    if (v->has_uses() && !from_memory_.contains(v) && !IsTied(v)) changed = Keep(v, true) || changed;
  }
  return changed;
}

bool TileSpiller::KeepRest(bool all) {
  std::vector<Value*> rest;
  TileRegisters registers;
  ir::Walk(function_->body(), [&](Op* op) {
    if (!all && !IsAccessOfMemory(*op)) return;
    if (op->info()->has(ir::kElementBody) || op->num_regions() == 0) {
      for (int i = 0; i < op->num_results(); ++i) {
        Value* v = op->result(i);
        const bool is_address = op->info()->has(ir::kPure) && !IsAccessOfMemory(*op) && registers.OnlySays(v);
        if (IsLarge(v) && v->has_uses() && !IsFreeTile(v) && !is_address && !from_memory_.contains(v) && !IsTied(v))
          rest.push_back(v);
      }
    }
  });
  bool changed = false;
  for (Value* v : rest) changed = Keep(v) || changed;
  return changed;
}

bool TileSpiller::IsLarge(const Value* v) const { return IsTile(v) && TakesMoreThan(v, options_.limit); }

// Products work on whole tiles. What is in registers from iteration to iteration stays there.
bool TileSpiller::IsTied(const Value* v) const {
  if (v->def() == nullptr || v->def()->info()->family == ir::Family::kMma) return true;
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    const Op& user = *use->owner;
    const bool loops = user.num_regions() > 0 && !user.info()->has(ir::kElementBody);
    if (loops || user.info()->has(ir::kTerminator) || user.info()->family == ir::Family::kMma) return true;
  }
  return false;
}

Value* TileSpiller::Memory(ir::Builder& b, Elem elem, absl::Span<const int64_t> shape, bool must) {
  if (ir::IsSubByte(elem)) return nullptr;
  int64_t elements = 1;
  for (int64_t n : shape) elements *= n;
  const int64_t bytes = elements * std::max(1, ir::MemoryBits(elem) / 8);
  const ir::Element e = ir::Element::Number(elem);
  const std::vector<int64_t> strides = RowMajor(shape);
  in_shared_ = bytes <= shared_left_;
  if (in_shared_) {
    shared_left_ -= bytes;
    return op::AllocShared(b, b.types().TensorView(e, shape, strides, ir::MemorySpace::kShared), kAlignment);
  }
  // Every block of the grid has a workspace of its own, so tiles that registers nearly hold do not get any.
  if (!must && elements * std::max(1, ir::StorageBytes(elem) / 4) <= 2 * options_.limit) return nullptr;
  Value* base = op::Alloca(b, b.types().Tile(ir::Element::Pointer(elem), {}), elements, kAlignment);
  return op::MakeTensorView(b, b.types().TensorView(e, shape, strides), base, {}, {});
}

void TileSpiller::Remark(const Op& op, const Type& type, absl::string_view what) {
  if (trace_ == nullptr || !trace_->on_remark) return;
  trace_->on_remark(absl::StrCat(module_->Where(op.loc, op.pos), ": remark[slice]: ", op.info()->mnemonic, ": ",
                                 type.ToString(), " ", what, in_shared_ ? " shared memory" : " the block's workspace"));
}

bool TileSpiller::Keep(Value* v, bool must) {
  const Type type = v->type();
  const Elem elem = Stored(type.element());
  Op* def = v->def();
  if (def->next() == nullptr) return false;
  std::vector<std::pair<Op*, int>> uses;
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    for (int i = 0; i < use->owner->num_operands(); ++i) {
      const std::pair<Op*, int> at{use->owner, i};
      if (use->owner->operand(i) == v && std::find(uses.begin(), uses.end(), at) == uses.end()) uses.push_back(at);
    }
  }
  Value *view = nullptr, *stored = nullptr;
  Op* behind = def->next();
  // Before the operation that defines the tile, so that nothing is between it and the store.
  ir::WriteBefore(module_, def, [&](ir::Builder& b) {
    if (Value* tensor = Memory(b, elem, type.shape(), must)) view = View(b, tensor, type.shape());
  });
  if (view == nullptr) return false;
  ir::WriteBefore(module_, behind, [&](ir::Builder& b) {
    Value* tile = elem == type.elem() ? v : op::PtrToInt(b, v);
    stored = op::StoreView(b, tile, view, Zeros(b, type.shape().size()));
  });
  // One load for each block of code that needs it.
  absl::flat_hash_map<const Block*, Value*> loaded;
  const auto load = [&](Op* where) {
    Value* again = nullptr;
    ir::WriteBefore(module_, where, [&](ir::Builder& b) {
      again = op::LoadView(b, view, Zeros(b, type.shape().size()), {.token = stored}).value;
      from_memory_.insert(again);
      if (elem != type.elem()) {
        again = op::IntToPtr(b, type, again);
        from_memory_.insert(again);
      }
    });
    return again;
  };
  for (const auto& [user, i] : uses) {
    Value*& again = loaded[user->block()];
    if (again == nullptr) {
      // Of several users in a block the first one.
      Op* first = user;
      for (const auto& [other, j] : uses) {
        if (other->block() != user->block()) continue;
        for (Op* before = first->prev(); before != nullptr; before = before->prev()) {
          if (before == other) first = other;
        }
      }
      again = load(user->block() == def->block() ? behind : first);
    }
    user->set_operand(i, again);
  }
  Remark(*def, type, "is kept in");
  return true;
}

// The same by stores of what it takes and a load of what it gives.
bool TileSpiller::DoInMemory(Op* op) {
  const Opcode code = op->opcode();
  const Value* whole =
      code == Opcode::kExtract || code == Opcode::kPack || code == Opcode::kUnpack ? op->operand(0) : op->result(0);
  const Type type = whole->type(), result = op->result(0)->type();
  if (type.element().is_pointer() || ir::IsSubByte(type.elem()) || ir::IsSubByte(result.elem())) return false;
  // Memory holds the bits of these in another order than pack does.
  for (Elem elem : {type.elem(), result.elem()}) {
    if ((code == Opcode::kPack || code == Opcode::kUnpack) && (elem == Elem::kI1 || elem == Elem::kTF32)) return false;
  }
  const size_t rank = type.shape().size();
  // Only what has an address can be seen as other elements.
  const bool bytes_change = code == Opcode::kPack || code == Opcode::kUnpack;
  const int64_t shared_left = std::exchange(shared_left_, bytes_change ? 0 : shared_left_);
  Value* given = nullptr;
  ir::WriteBefore(module_, op, [&](ir::Builder& b) {
    Value* memory = Memory(b, type.elem(), type.shape(), true);
    const Type i32 = b.types().Scalar(Elem::kI32);
    const auto all = [&] { return View(b, memory, type.shape()); };
    if (code == Opcode::kCat) {
      const auto dim = static_cast<size_t>(ir::CatOp(op).dim());
      Value* halves = View(b, memory, op->operand(0)->type().shape());
      Values tokens;
      for (int i = 0; i < 2; ++i) {
        Values at = Zeros(b, rank);
        at[dim] = op::Integer(b, i32, i);
        tokens.push_back(op::StoreView(b, op->operand(i), halves, at));
      }
      given = op::LoadView(b, all(), Zeros(b, rank), {.token = op::JoinTokens(b, tokens)}).value;
    } else if (code == Opcode::kInsert) {
      const ir::InsertOp insert(op);
      Value* before = op::StoreView(b, insert.destination(), all(), Zeros(b, rank));
      Value* part = View(b, memory, insert.source()->type().shape());
      Value* after = op::StoreView(b, insert.source(), part, insert.indices().list(), {.token = before});
      given = op::LoadView(b, all(), Zeros(b, rank), {.token = after}).value;
    } else {
      Value* stored = op::StoreView(b, op->operand(0), all(), Zeros(b, rank));
      if (code == Opcode::kExtract) {
        given = op::LoadView(b, View(b, memory, result.shape()), ir::ExtractOp(op).indices().list(), {.token = stored})
                    .value;
      } else {
        Value* bytes =
            op::PtrToPtr(b, b.types().Tile(ir::Element::Pointer(result.elem()), {}), memory->def()->operand(0));
        Value* tensor = op::MakeTensorView(
            b, b.types().TensorView(result.element(), result.shape(), RowMajor(result.shape())), bytes, {}, {});
        given =
            op::LoadView(b, View(b, tensor, result.shape()), Zeros(b, result.shape().size()), {.token = stored}).value;
      }
    }
    from_memory_.insert(given);
  });
  if (bytes_change) shared_left_ = shared_left;
  Remark(*op, type, "is put together in");
  op->result(0)->ReplaceAllUsesWith(given);
  op->Erase();
  return true;
}

}  // namespace tile::codegen
