#include "codegen/passes/grid/split_products.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/access_order.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/slice_dims.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/pipeline/fetch_ahead.h"
#include "codegen/passes/split_view.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/resources/cost.h"
#include "codegen/plan/staging/loaded_operand.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"
#include "ir/loops.h"
#include "ir/ops.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr int kParts = 2;
constexpr int64_t kLeast = 64;  // rows and columns of a part: what an instruction that reads stages multiplies

template <class F>
void WalkInside(const Op& op, const F& visit) {
  for (int r = 0; r < op.num_regions(); ++r) {
    if (op.region(r) != nullptr) ir::Walk(op.region(r), [&](Op* inside) { visit(*inside); });
  }
}

bool IsAnyProduct(const Op& op) { return op.info()->family == ir::Family::kMma; }

// Stores of one block, and what they need that can be made in parts, back to loads and constants.
class Parts {
 public:
  // The first store says along which dimension; the others are cut as its parts demand.
  Parts(ir::Module* module, std::vector<Op*> stores)
      : module_(module), first_(stores.front()), block_(first_->block()), stores_(std::move(stores)) {}

  // Why it can't be done in parts along this dimension of what the first store stores; "": it can.
  std::string WhyNot(int dim) {
    need_ = {};
    store_dims_.clear();
    for (const Op* store : stores_) {
      if (store->block() != block_) return "stores stand in several places";
      if (!IsWeak(*store)) return "a store is ordered";
    }
    if (std::string why = NeedStore(*first_, dim); !why.empty()) return why;
    if (need_.products == 0) return "no product is smaller for it";
    for (const Op* store : stores_) {
      if (std::string why = store == first_ ? "" : NeedBeside(*store); !why.empty()) return why;
    }
    FindMoved();
    return WhyNotLegal();
  }

  // Of WhyNot's last dimension: products that are smaller.
  int products() const { return need_.products; }
  bool Makes(const Value* v) const { return need_.dims.contains(v); }

  // Returns the for over the parts.
  Op* Split() {
    Block* apart = module_->CreateBlock({});
    ir::Builder b(module_, apart);
    b.set_loc(first_->loc);
    const ir::Type i32 = b.types().Scalar(ir::Elem::kI32);
    Value *zero = ir::ops::Integer(b, i32, 0), *one = ir::ops::Integer(b, i32, 1),
          *end = ir::ops::Integer(b, i32, kParts);
    // Users of a store's token must wait for every part.
    std::vector<Value*> stored;
    ir::ops::Values tokens;
    for (Op* store : stores_) {
      if (Value* token = TokenOf(*store); token != nullptr && token->has_uses()) {
        stored.push_back(token);
        tokens.push_back(ir::ops::MakeToken(b));
      }
    }
    const ir::ops::Values done = ir::ops::For(b, zero, end, one, tokens, [&](Value*, const ir::ops::Values& carried) {
      ir::ops::Values joined;
      for (size_t i = 0; i < stored.size(); ++i) joined.push_back(ir::ops::JoinTokens(b, {carried[i], stored[i]}));
      return joined;
    });
    Op* loop = apart->back();
    Block* body = loop->region(0);
    Op *behind = body->front(), *join = behind;
    for (size_t i = 0; i < stored.size(); ++i, join = join->next()) {
      stored[i]->ReplaceAllUsesWith(done[i]);  // in the join, too
      join->set_operand(1, stored[i]);
    }
    while (!apart->empty()) {
      Op* op = apart->front();
      op->Unlink();
      module_->InsertBefore(block_, moved_.back(), op);
    }
    for (Op* op : moved_) {
      op->Unlink();
      module_->InsertBefore(body, behind, op);
    }
    Retype(body);
    for (Op* store : stores_) {
      if (ir::StoreViewOp::Is(store)) SplitAccess(module_, store, store_dims_.at(store), kParts, body->arg(0));
    }
    return loop;
  }

 private:
  // Of which values parts are made, along which dimension.
  struct Needed {
    absl::flat_hash_map<const Value*, int> dims;
    std::vector<const Value*> made;  // the same values, always in the same order
    int products = 0;
  };

  static Value* TokenOf(const Op& store) {
    Value* last = store.num_results() > 0 ? store.result(store.num_results() - 1) : nullptr;
    return last != nullptr && last->type().is_token() ? last : nullptr;
  }

  std::string NeedStore(const Op& store, int dim) {
    store_dims_[&store] = dim;
    if (ir::StoreViewOp::Is(&store) && !CanSplitAccess(store, dim, kParts)) return "a store's view can't be cut";
    std::vector<int> dims;
    std::string why = OperandDims(store, dim, kParts, &dims);
    return why.empty() ? NeedOperands(store, dims) : why;
  }

  // A store beside the first one, along a dimension in which what both need is cut alike.
  std::string NeedBeside(const Op& store) {
    const Needed before = need_;
    std::string why;
    for (int dim = 0; dim < WrittenTile(store)->type().rank(); ++dim) {
      std::string not_here = NeedStore(store, dim);
      if (not_here.empty()) return "";
      if (why.empty()) why = std::move(not_here);
      need_ = before;
    }
    return absl::StrCat(store.info()->mnemonic, " beside it: ", why);
  }

  std::string NeedOperands(const Op& op, const std::vector<int>& dims) {
    for (int i = 0; i < op.num_operands(); ++i) {
      if (!IsTile(op.operand(i)) || dims[static_cast<size_t>(i)] == kWhole) continue;
      if (std::string why = Need(op.operand(i), dims[static_cast<size_t>(i)]); !why.empty()) return why;
    }
    return "";
  }

  // False: it is there already.
  bool Add(const Value* v, int dim) {
    if (!need_.dims.insert({v, dim}).second) return false;
    need_.made.push_back(v);
    return true;
  }

  std::string Need(const Value* v, int dim) {
    if (!Add(v, dim)) return need_.dims.at(v) == dim ? "" : "a tile would be cut in two ways";
    if (v->type().shape()[static_cast<size_t>(dim)] < kParts) return "a dimension has a single element";
    const Op* def = v->def();
    if (def == nullptr) {
      const auto loop = ir::CarryingLoop::Around(v);
      if (!loop || !loop->counts() || loop->carried_by(v) < 0) return "a loop carries a tile";
      return Need(loop->result(loop->carried_by(v)), dim);
    }
    if (!InBlock(*def) && def->opcode() != Opcode::kConstant)
      return absl::StrCat(def->info()->mnemonic, " stands elsewhere");
    if (ir::ForOp::Is(def)) return NeedCarried(ir::CarryingLoop(*def), v->index(), dim);
    if (def->opcode() == Opcode::kIf) return NeedYielded(*def, v->index(), dim);
    std::vector<int> dims;
    if (std::string why = OperandDims(*def, dim, kParts, &dims); !why.empty())
      return absl::StrCat(def->info()->mnemonic, ": ", why);
    if (IsAnyProduct(*def)) {
      if (v->type().shape()[static_cast<size_t>(dim)] < kParts * kLeast) return "parts of a product would be too small";
      ++need_.products;
    }
    for (int i = 0; i < def->num_results(); ++i) {
      if (IsTile(def->result(i))) Add(def->result(i), dim);
    }
    if (IsOrdered(*def)) return absl::StrCat(def->info()->mnemonic, "'s accesses are ordered");
    if (def->opcode() == Opcode::kLoadView && !CanSplitAccess(*def, dim, kParts)) return "a load's view can't be cut";
    if (def->opcode() == Opcode::kLoadPtr || def->opcode() == Opcode::kAssume || def->opcode() == Opcode::kScan)
      return absl::StrCat(def->info()->mnemonic, " is not cut");
    return NeedOperands(*def, dims);
  }

  // What a loop carries.
  std::string NeedCarried(const ir::CarryingLoop& loop, int i, int dim) {
    if (loop.latch() == nullptr) return "a loop ends in several ways";
    for (const Value* v : {loop.init(i), loop.arg(i), loop.next(i)}) {
      if (std::string why = Need(v, dim); !why.empty()) return why;
    }
    return "";
  }

  std::string NeedYielded(const Op& branch, int i, int dim) {
    for (int r = 0; r < branch.num_regions(); ++r) {
      if (branch.region(r) == nullptr || branch.region(r)->back()->opcode() != Opcode::kYield)
        return "a branch ends otherwise";
      if (std::string why = Need(branch.region(r)->back()->operand(i), dim); !why.empty()) return why;
    }
    return "";
  }

  // The operation is in the store's block or inside of an operation there.
  const Op* InBlock(const Op& op) const {
    const Op* at = &op;
    while (at != nullptr && at->block() != block_) at = at->parent();
    return at;
  }

  // What is in the block and is made in parts, or holds such, and what needs that only for the stores.
  void FindMoved() {
    absl::flat_hash_set<const Op*> in(stores_.begin(), stores_.end());
    for (const Value* v : need_.made) {
      const Op* def = v->def() != nullptr ? v->def() : v->block()->parent();
      if (def->opcode() != Opcode::kConstant) in.insert(InBlock(*def));
    }
    moved_.clear();
    is_moved_.clear();
    size_t stores = 0;
    for (Op* op : *block_) {
      if (!in.contains(op) && op->info()->has(ir::kPure) && op->num_regions() == 0) {
        for (int i = 0; i < op->num_operands(); ++i) {
          if (op->operand(i)->def() != nullptr && in.contains(op->operand(i)->def())) in.insert(op);
        }
      }
      if (in.contains(op)) {
        moved_.push_back(op);
        is_moved_.insert(op);
      }
      stores += IsStore(*op);
      if (stores == stores_.size()) break;
    }
  }

  bool IsStore(const Op& op) const { return std::find(stores_.begin(), stores_.end(), &op) != stores_.end(); }

  // Parts of a store come behind those of all that stands between, and in front of the next parts of that.
  std::string WhyNotInOrder() {
    SliceOrder order;
    std::string why;
    std::vector<const Op*> behind;  // stores that stand in front
    const auto look = [&](const Op& op, bool is_moved) {
      for (int i = 0; i < op.num_operands(); ++i) {
        if (op.operand(i)->def() != nullptr && IsStore(*op.operand(i)->def()))
          why = absl::StrCat(op.info()->mnemonic, " waits for a store");
      }
      const bool reads = op.info()->has(ir::kReads), stores = IsStore(op);
      if (!stores && (op.info()->has(ir::kWrites) || op.info()->has(ir::kEffect) || (reads && !IsWeak(op)))) {
        why = absl::StrCat(op.info()->mnemonic, " stands between");
        return;
      }
      if (!reads && !stores) return;
      for (const Op* store : behind) {
        if (order.MustFollow(op, *store)) why = absl::StrCat(op.info()->mnemonic, " may touch what a store wrote");
      }
      for (const Op* store : stores_) {
        if (!is_moved || !reads || !order.MustFollow(*store, op)) continue;
        const bool same = op.block() == block_ && SliceOrder::SameElements(*store, op) && Makes(op.result(0)) &&
                          need_.dims.at(op.result(0)) == store_dims_.at(store);
        if (!same) why = "the store may overwrite other elements of what is loaded";
      }
      if (stores) behind.push_back(&op);
    };
    for (const Op* op = moved_.front();; op = op->next()) {
      look(*op, is_moved_.contains(op));
      WalkInside(*op, [&](const Op& inside) { look(inside, is_moved_.contains(op)); });
      if (!why.empty() || op == moved_.back()) return why;
    }
  }

  std::string WhyNotLegal() {
    std::string why = WhyNotInOrder();
    // Nothing else needs what is only there in parts.
    for (const Op* op : moved_) {
      for (int i = 0; !IsStore(*op) && i < op->num_results(); ++i) {
        for (const ir::Use* use = op->result(i)->uses(); use != nullptr; use = use->next) {
          const Op* user = InBlock(*use->owner);
          if (user == nullptr || !is_moved_.contains(user))
            return absl::StrCat(use->owner->info()->mnemonic, " needs all of a tile");
        }
      }
    }
    // Inside of what moves a tile is used by what is made of its parts alone.
    for (const Value* v : need_.made) {
      if (v->def() != nullptr && v->def()->opcode() == Opcode::kConstant) continue;
      for (const ir::Use* use = v->uses(); use != nullptr && why.empty(); use = use->next) {
        for (int i = 0; i < use->owner->num_operands(); ++i) {
          if (use->owner->operand(i) == v && !TakesPart(*use->owner, i))
            why = absl::StrCat(use->owner->info()->mnemonic, " needs all of a tile");
        }
      }
    }
    return why;
  }

  // The operand, of which parts are made, is there in parts when the operation is done, and the operation needs these;
  // loops, their ends and those of branches carry it on.
  bool TakesPart(const Op& user, int operand) const {
    if (ir::ForOp::Is(&user)) {
      const ir::CarryingLoop loop(user);
      const int carried = loop.carried_by_operand(operand);
      return carried >= 0 && Makes(loop.result(carried));
    }
    if (!IsStore(user) && user.info()->has(ir::kTerminator)) {
      const Op* parent = user.parent();
      return parent != nullptr && operand < parent->num_results() && Makes(parent->result(operand));
    }
    if (!IsStore(user) && (user.num_results() == 0 || !Makes(user.result(0)))) return false;
    const int dim = IsStore(user) ? store_dims_.at(&user) : need_.dims.at(user.result(0));
    std::vector<int> dims;
    return OperandDims(user, dim, kParts, &dims).empty() &&
           dims[static_cast<size_t>(operand)] == need_.dims.at(user.operand(operand));
  }

  // Its parts are operations of their own.
  static bool IsMadeAnew(const Value& v) {
    return v.def() != nullptr && (v.def()->opcode() == Opcode::kConstant || v.def()->opcode() == Opcode::kIota);
  }

  void Retype(Block* body) {
    // While types are whole, as which uses take a part follows from them.
    for (const Value* v : need_.made) {
      if (IsMadeAnew(*v)) ReplaceParts(v, body);
    }
    for (const Value* value : need_.made) {
      auto* v = const_cast<Value*>(value);
      const int dim = need_.dims.at(v);
      if (IsMadeAnew(*v)) continue;
      Op* def = v->def();
      if (def != nullptr && def->opcode() == Opcode::kLoadView) {
        SplitAccess(module_, def, dim, kParts, body->arg(0));
      } else {
        v->set_type(SlicedType(module_->types(), v->type(), dim, kParts));
      }
    }
  }

  // What takes parts of a constant or of an iota, which others may use, too, is given these.
  void ReplaceParts(const Value* v, Block* body) {
    ir::TypeContext& types = module_->types();
    Op* def = v->def();
    const ir::Type sliced = SlicedType(types, v->type(), need_.dims.at(v), kParts);
    Value* replacement = nullptr;
    if (def->opcode() == Opcode::kConstant) {
      OpWriter w(module_, body->front());
      replacement = w.Make(Opcode::kConstant, {}, sliced, {{"value", *ir::FindAttr(*def, ir::Field::kValue)}});
    } else {
      const ir::Type scalar = types.Scalar(v->type().elem());
      OpWriter at(module_, def);
      Value* part = at.Resized(body->arg(0), scalar.elem(), ir::Signedness::kUnsigned);
      Value* first = at.Make(Opcode::kMuli, {part, at.Number(sliced.shape()[0], scalar)}, scalar);
      Value* spread = at.Make(Opcode::kBroadcast,
                              {at.Make(Opcode::kReshape, {first}, types.Tile(v->type().element(), {1}))}, sliced);
      replacement = at.Make(Opcode::kAddi, {at.Make(Opcode::kIota, {}, sliced), spread}, sliced);
    }
    std::vector<std::pair<Op*, int>> uses;
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      for (int i = 0; i < use->owner->num_operands(); ++i) {
        if (use->owner->operand(i) == v && TakesPart(*use->owner, i)) uses.emplace_back(use->owner, i);
      }
    }
    for (const auto& [user, i] : uses) user->set_operand(i, replacement);
  }

  ir::Module* module_;
  Op* first_;
  Block* block_;
  std::vector<Op*> stores_;
  std::vector<Op*> moved_;  // in order, a store last
  absl::flat_hash_set<const Op*> is_moved_;
  Needed need_;
  absl::flat_hash_map<const Op*, int> store_dims_;
};

// Registers over all threads for sums that the product keeps apart until they are added to the others.
int64_t Apart(const Target& target, bool by_tma, ir::Module* module, Op* mma) {
  constexpr int kTwoGroups = 8;
  if (SumsApart(target, tuning::kMaxWarps, *mma) == 0) return 0;
  if (by_tma && WouldFetch(target, kTwoGroups, module, mma)) return SumsApart(target, kTwoGroups, *mma);
  // A thread has half as many registers for sums where the same number is kept apart, and fragments beside them.
  return 2 * RegistersOf(mma->result(0)->type());
}

// Registers over all threads for what the loop carries, and for results of its products that don't.
int64_t Held(const Target& target, bool by_tma, ir::Module* module, const Op& loop) {
  int64_t words = 0;
  for (int i = 0; i < loop.num_results(); ++i) {
    if (IsTile(loop.result(i))) words += RegistersOf(loop.result(i)->type());
  }
  WalkInside(loop, [&](Op& op) {
    if (!IsAnyProduct(op)) return;
    words += Apart(target, by_tma, module, &op);
    // Its registers are those of the product that adds to it, or that the loop carries.
    bool carried = NextOfSum(op) != nullptr;
    for (const ir::Use* use = op.result(0)->uses(); use != nullptr; use = use->next) {
      carried = carried || use->owner == loop.region(0)->back();
    }
    if (!carried) words += RegistersOf(op.result(0)->type());
  });
  return words;
}

bool HoldsProduct(const Op& loop) {
  bool holds = false;
  WalkInside(loop, [&](const Op& op) { holds = holds || IsAnyProduct(op); });
  return holds;
}

// Stores that results of the loop come to, one by a view first.
std::vector<Op*> StoresOf(const Op& loop) {
  std::vector<const Value*> open;
  for (int i = 0; i < loop.num_results(); ++i) open.push_back(loop.result(i));
  absl::flat_hash_set<const Value*> seen;
  std::vector<Op*> stores;
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    if (!IsTile(v)) continue;
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      const bool by_view = ir::StoreViewOp::Is(use->owner);
      if ((by_view || ir::StorePtrOp::Is(use->owner)) &&
          std::find(stores.begin(), stores.end(), use->owner) == stores.end()) {
        stores.insert(by_view ? stores.begin() : stores.end(), use->owner);
      }
      for (int i = 0; i < use->owner->num_results(); ++i) {
        if (seen.insert(use->owner->result(i)).second) open.push_back(use->owner->result(i));
      }
    }
  }
  return stores;
}

// Rows (0) or columns (1) of the product that come to registers first, as they lie across where the instruction does not read that from shared memory. Each
// warpgroup reads its own, so of blocks with fewer of them shared memory has less to do. -1: neither does.
int HeldDim(const Op& mma) {
  const std::optional<LoadedOperand> a = LoadedOperandOf(mma, 0), b = LoadedOperandOf(mma, 1);
  if (!a || !b || a->element_bits == 16 || a->k_major == b->k_major) return -1;
  return a->k_major ? 1 : 0;
}

int HeldDimIn(const Op& loop) {
  int dim = -1;
  WalkInside(loop, [&](const Op& op) { dim = IsProduct(op) ? HeldDim(op) : dim; });
  return dim;
}

// The dimension of what is stored that makes most products smaller, of these the longest one, of equal ones the one that is preferred; -1: none
// does. `why`: not the longest one.
int BestDim(Parts* parts, const Op& store, int preferred, std::string* why) {
  const auto shape = WrittenTile(store)->type().shape();
  int best = -1, most = 0;
  int64_t longest = 0;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    std::string not_here = parts->WhyNot(d);
    if (!not_here.empty()) {
      if (shape[static_cast<size_t>(d)] > longest) *why = std::move(not_here);
      longest = std::max(longest, shape[static_cast<size_t>(d)]);
    } else if (const int64_t longer = best < 0 ? 1 : shape[static_cast<size_t>(d)] - shape[static_cast<size_t>(best)];
               parts->products() > most ||
               (parts->products() == most && (longer > 0 || (longer == 0 && d == preferred)))) {
      most = parts->products();
      best = d;
    }
  }
  return best;
}

// The store that is all the kernel does, by one product; null: it does more.
Op* OnlyStore(const ir::Function& function, const Op** product) {
  int effects = 0, products = 0;
  Op* store = nullptr;
  ir::Walk(function.body(), [&](Op* op) {
    if (op->info()->has(ir::kWrites) || op->info()->has(ir::kEffect) || IsOrdered(*op)) ++effects;
    if (op->opcode() == Opcode::kStoreView) store = op;
    if (!IsAnyProduct(*op)) return;
    ++products;
    *product = op;
  });
  return effects == 1 && products == 1 ? store : nullptr;
}

// Hardware blocks 2 x and 2 x + 1 do the parts of block x, in these loops over parts, the outermost one first, or in one that is made here.
bool PartBlocks(const CostModel& cost, std::vector<Op*> loops, ir::Module* module, ir::Function* function) {
  const Op* product = nullptr;
  Op *store = OnlyStore(*function, &product), *place = nullptr;
  int places = 0;
  ir::Walk(function->body(), [&](Op* op) {
    if (!ir::GetTileBlockIdOp::Is(op)) return;
    place = op;
    ++places;
  });
  if (store == nullptr || !IsProduct(*product) || places != 1 || place->parent() != nullptr) return false;
  const int64_t whole = cost.CyclesOfBlock(*product) << loops.size();
  if (loops.empty()) {
    std::string why;
    Parts parts(module, {store});
    const int dim = BestDim(&parts, *store, HeldDim(*product), &why);
    if (dim < 0) return false;
    parts.WhyNot(dim);
    loops.push_back(parts.Split());
  }
  Value* x = place->result(0);
  std::vector<std::pair<Op*, int>> uses;
  for (const ir::Use* use = x->uses(); use != nullptr; use = use->next) {
    for (int i = 0; i < use->owner->num_operands(); ++i) {
      if (use->owner->operand(i) == x) uses.emplace_back(use->owner, i);
    }
  }
  OpWriter w(module, place->next());
  const ir::Type type = x->type();
  Value *one = w.Number(1, type), *part = w.Make(Opcode::kAndi, {x, one}, type);
  Value* block = w.Make(Opcode::kShri, {x, one}, type, {{"signedness", ir::Attr::Enum(ir::Signedness::kUnsigned)}});
  for (const auto& [user, i] : uses) user->set_operand(i, block);
  const ir::ForOp counted(*loops.front());
  loops.front()->set_operand(counted.lower_bound_at(), part);
  loops.front()->set_operand(counted.upper_bound_at(), w.Make(Opcode::kAddi, {part, one}, type));
  Op* kernel = KernelOp(module, function);
  Decide<Decision::kPartsOfBlock>(module, kernel, kParts);
  Decide<Decision::kJoinedCycles>(module, kernel, {whole, cost.CyclesOfBlock(*product) << (loops.size() - 1)});
  return true;
}

// Returns the loops over parts, in the order in which they were made.
std::vector<Op*> SplitLarge(const Target& target, bool by_tma, int64_t limit, ir::Module* module,
                            ir::Function* function, Trace* trace) {
  std::vector<Op*> loops;
  absl::flat_hash_set<const Op*> left;
  while (true) {
    const Op* loop = nullptr;
    ir::Walk(function->body(), [&](Op* op) {
      if (op->opcode() != Opcode::kFor || left.contains(op) || op->region(0) == nullptr) return;
      if (Held(target, by_tma, module, *op) > limit && HoldsProduct(*op)) loop = op;
    });
    if (loop == nullptr) return loops;
    left.insert(loop);
    const std::vector<Op*> stores = StoresOf(*loop);
    std::string why = stores.empty() ? "nothing is stored" : "";
    const std::string where = module->Where(loop->loc, loop->pos);
    int dim = -1;
    if (why.empty()) {
      Parts parts(module, stores);
      dim = BestDim(&parts, *stores[0], HeldDimIn(*loop), &why);
      if (dim >= 0) {
        why.clear();
        if (trace != nullptr && !trace->TakesStep("split-products", absl::StrCat("for at ", where))) why = "left out";
      }
      if (why.empty()) {
        parts.WhyNot(dim);
        loops.push_back(parts.Split());
        left.erase(loop);
      }
    }
    if (trace != nullptr && trace->on_remark) {
      trace->on_remark(absl::StrCat(where, ": remark[split-products]: for: its products exceed the registers: ",
                                    why.empty()
                                        ? absl::StrCat(kParts, " parts along dimension ", dim, " of what is stored")
                                        : absl::StrCat("they stay whole: ", why)));
    }
  }
}

}  // namespace

int SplitProducts(const Target& target, bool by_tma, int64_t limit, ir::Module* module, ir::Function* function,
                  Trace* trace) {
  return static_cast<int>(SplitLarge(target, by_tma, limit, module, function, trace).size());
}

absl::Status SplitProducts(Program& p) {
  const int64_t threads = 32 * (p.candidate.num_warps == 0 ? tuning::kMaxWarps : p.candidate.num_warps);
  const int64_t limit = std::min(tuning::kProductRegisters, tuning::kProductRegistersOfThread * threads);
  const bool by_tma = p.candidate.ahead == Ahead::kTma && (p.candidate.num_warps == 0 || p.candidate.num_warps == 8);
  std::vector<Op*> loops = SplitLarge(p.target, by_tma, limit, p.module.get(), p.function, &p.trace());
  if (!p.permissions.may(May::kSplit)) return absl::OkStatus();
  p.applies = p.FetchesProducts() && PartBlocks(CostModel(p.target), std::move(loops), p.module.get(), p.function);
  if (!p.applies) return absl::OkStatus();
  p.Remark("split-products", absl::StrCat(kParts, " blocks of the hardware do the parts of one, in small grids"));
  return absl::OkStatus();
}

}  // namespace tile::codegen
