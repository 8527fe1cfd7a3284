#include "codegen/analysis/live_registers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/gpu/ops.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kVectorBits = 128;

// Bodies of scalars, or of what is in shared memory.
bool HasNoTiles(const Op* op) { return op->info()->has(ir::kElementBody) || IsFetch(op); }

// What is computed of repeated elements alone repeats, too: an operation, and those in front of it with one operand.
bool Repeats(const Op* op) {
  constexpr int kMostSteps = 64;
  for (int step = 0; op != nullptr && step < kMostSteps; ++step) {
    if (RuleOf(*op).registers == RegisterRule::kRepeat) return true;
    if (!op->info()->has(ir::kElementwise) || op->num_operands() != 1) return false;
    op = op->operand(0)->def();
  }
  return false;
}

bool TakesRegisters(const Op* op) {
  return RuleOf(*op).registers == RegisterRule::kOwn && !IsModifier(*op) && !Repeats(op);
}

// A store through pointers, or an update whose old values nobody reads.
bool IsStoreOrUpdate(const Op& op) {
  return ir::StorePtrOp::Is(&op) || (ir::AtomicRmwOp::Is(&op) && !op.result(0)->has_uses());
}

const Value* StoredBy(const Op& op) {
  return ir::StorePtrOp::Is(&op) ? ir::StorePtrOp(op).value() : ir::AtomicRmwOp(op).arg();
}

const Value* MaskOf(const Op& access) {
  if (ir::LoadPtrOp::Is(&access)) return ir::LoadPtrOp(access).mask();
  return ir::StorePtrOp::Is(&access) ? ir::StorePtrOp(access).mask() : ir::AtomicRmwOp(access).mask();
}

// The result is made of the operand's registers, or of as many.
bool TakesSource(const Op* op) {
  return RuleOf(*op).registers == RegisterRule::kSource || IsModifier(*op) || Repeats(op);
}

class Liveness {
 public:
  using Elsewhere = absl::FunctionRef<bool(const Op&, int)>;
  enum class Counts : uint8_t { kAll, kBesideStores, kNoMasks, kData, kDataOfFolds };

  Liveness(const ir::Function& f, Elsewhere elsewhere, Counts counts) : elsewhere_(elsewhere), counts_(counts) {
    Number(f.body());
    Use(f.body());
    ir::Walk(f.body(), [&](Op* op) {
      if (op->opcode() == ir::Opcode::kIf && op->region(1) != nullptr) ThenOrElse(op);
    });
    for (const auto& [value, range] : ranges_) {
      if (range.end <= range.begin) continue;
      change_[static_cast<size_t>(range.begin)] += WordsOf(value);
      change_[static_cast<size_t>(range.end)] -= WordsOf(value);
    }
  }

  LiveRegisters Most() const {
    LiveRegisters most;
    int64_t live = 0;
    for (size_t i = 0; i < change_.size(); ++i) {
      live += change_[i];
      if (live > most.words) most = {live, ops_[i]};
    }
    return most;
  }

 private:
  struct Range {
    int begin = 0, end = 0;  // live after the operations [begin, end)
  };

  void Number(const ir::Block* block) {
    for (const Value* arg : block->args()) ranges_[arg] = {std::max(0, Next() - 1), 0};
    for (const Op* op : *block) {
      begin_[op] = Next();
      Add(op);
      if (!HasNoTiles(op)) {
        for (int r = 0; r < op->num_regions(); ++r) {
          if (op->region(r) != nullptr) Number(op->region(r));
        }
      }
      end_[op] = Next();
      if (op->num_regions() > 0) Add(op);
      if (!TakesRegisters(op)) continue;
      for (int i = 0; i < op->num_results(); ++i) ranges_[op->result(i)] = {Next() - 1, 0};
    }
  }
  int Next() const { return static_cast<int>(ops_.size()); }
  void Add(const Op* op) {
    ops_.push_back(op);
    change_.push_back(0);
    exchanges_.push_back((exchanges_.empty() ? 0 : exchanges_.back()) + (ir::FoldOp::Is(op) ? 1 : 0));
  }

  void Use(const ir::Block* block) {
    for (const Op* op : *block) {
      for (int i = 0; i < op->num_operands(); ++i) UseAt(op->operand(i), op, elsewhere_(*op, i));
      if (IsFetch(op)) UseAll(op);
      if (HasNoTiles(op)) continue;
      for (int r = 0; r < op->num_regions(); ++r) {
        if (op->region(r) != nullptr) Use(op->region(r));
      }
    }
  }

  // What its region computes with is there when it begins.
  void UseAll(const Op* fetch) {
    for (const Op* op : *fetch->region(0)) {
      for (int i = 0; i < op->num_operands(); ++i) UseAt(op->operand(i), fetch, false);
    }
  }

  // What the second region needs is not there in the first, after its last use: only one of them is run.
  void ThenOrElse(const Op* op) {
    const int begin = Of(op->region(0)->front()), end = Of(op->region(1)->front()), behind = end_.at(op);
    absl::flat_hash_map<const Value*, int> last;  // use in the first region
    ir::Walk(op->region(1), [&](Op* user) {
      for (int i = 0; i < user->num_operands(); ++i) {
        const auto it = ranges_.find(Source(user->operand(i)));
        if (it == ranges_.end()) continue;
        const Range& range = it->second;
        if (range.begin < begin && range.end >= end && range.end <= behind) last.emplace(it->first, begin);
      }
    });
    if (last.empty()) return;
    ir::Walk(op->region(0), [&](Op* user) {
      for (int i = 0; i < user->num_operands(); ++i) {
        const auto it = last.find(Source(user->operand(i)));
        if (it == last.end()) continue;
        // Operations in the region of a copy have no number: what they need is there when it begins.
        const Op* at = user;
        while (!begin_.contains(at)) at = at->parent();
        it->second = std::max(it->second, NeededUntil(it->first, at, at == user && elsewhere_(*user, i)));
      }
    });
    for (const auto& [value, until] : last) {
      change_[static_cast<size_t>(until)] -= WordsOf(value);
      change_[static_cast<size_t>(end)] += WordsOf(value);
    }
  }
  int Of(const Op* op) const { return begin_.at(op); }
  int64_t WordsOf(const Value* v) {
    const int64_t words = registers_.Of(v);
    if (counts_ == Counts::kBesideStores && registers_.ServesStore(v)) return 0;
    if (counts_ == Counts::kNoMasks && v->type().elem() == ir::Elem::kI1) return 0;
    if (counts_ != Counts::kData && counts_ != Counts::kDataOfFolds) return words;
    if (registers_.OnlySays(v) || IsUsedUp(*v)) return 0;
    const Value* loaded = LoadedOf(v);
    if (loaded == nullptr) return words;
    return v->type().num_elements() * std::min(4, ir::StorageBytes(loaded->type().elem())) / 4;
  }
  bool IsUsedUp(const Value& v) const {
    const ir::Use* use = v.uses();
    if (use == nullptr || use->next != nullptr || v.def() == nullptr) return false;
    const bool late = counts_ == Counts::kDataOfFolds && v.def()->info()->is_load() && exchanges_.back() > 0 &&
                      exchanges_[static_cast<size_t>(begin_.at(v.def()))] == exchanges_.back();
    if (!late && !v.def()->info()->has(ir::kElementwise)) return false;
    // Where threads exchange elements in between, all of them are there before the first is used.
    return use->owner->block() == v.def()->block() && exchanges_[static_cast<size_t>(begin_.at(v.def()))] ==
                                                          exchanges_[static_cast<size_t>(begin_.at(use->owner)) - 1];
  }
  // The loaded tile whose registers hold the value until its one use: converted there, it is not kept. Of two conversions LLVM makes one,
  // whose result is kept. Null: there is none.
  static const Value* LoadedOf(const Value* v) {
    const auto used_once = [](const Value* x) { return x->uses() != nullptr && x->uses()->next == nullptr; };
    if (!used_once(v) || v->def() == nullptr) return nullptr;
    const Op& def = *v->def();
    if (def.info()->is_load()) return v;
    return def.info()->family == ir::Family::kConvert ? LoadedOf(def.operand(0)) : nullptr;
  }

  // The value whose registers these are.
  static const Value* Source(const Value* v) {
    while (v->def() != nullptr && TakesSource(v->def())) v = v->def()->operand(0);
    return v;
  }

  void UseAt(const Value* v, const Op* user, bool elsewhere) {
    // What lies elsewhere for a loop lies there for the loops behind it in the same block, too.
    if (elsewhere && user->parent() != nullptr && !elsewhere_for_.insert({v, user->parent()->block()}).second) return;
    v = Source(v);
    const auto it = ranges_.find(v);
    if (it != ranges_.end()) it->second.end = std::max(it->second.end, NeededUntil(v, user, elsewhere));
  }

  int NeededUntil(const Value* v, const Op* user, bool elsewhere) const {
    int last = Of(user);
    // What comes from outside of a loop is there until its end, or until it begins.
    const ir::Block* home = v->def() != nullptr ? v->def()->block() : v->block();
    for (const ir::Block* at = user->block(); at != home && at->parent() != nullptr; at = at->parent()->block()) {
      if (!at->parent()->info()->has(ir::kLoop)) continue;
      last = elsewhere ? begin_.at(at->parent()) : std::max(last, end_.at(at->parent()));
    }
    return last;
  }

  Elsewhere elsewhere_;
  const Counts counts_;
  TileRegisters registers_;
  std::vector<const Op*> ops_;
  std::vector<int64_t> change_;
  std::vector<int> exchanges_;  // folds of tiles up to each operation
  absl::flat_hash_map<const Op*, int> begin_, end_;
  absl::flat_hash_map<const Value*, Range> ranges_;
  absl::flat_hash_set<std::pair<const Value*, const ir::Block*>> elsewhere_for_;
};

}  // namespace

bool IsModifier(const ir::Op& op) { return op.opcode() == ir::Opcode::kAbsf || op.opcode() == ir::Opcode::kNegf; }

int64_t RegistersOf(ir::Type t) {
  return t.is_tile() && t.rank() > 0 ? t.num_elements() * std::max(1, ir::StorageBytes(t.elem()) / 4) : 0;
}

int64_t TileRegisters::Of(const Value* v) {
  const int64_t all = RegistersOf(v->type());
  return all > 0 ? all / Neighbours(v) : 0;
}

bool TakesMoreThan(const Value* v, int64_t words) {
  return RegistersOf(v->type()) > words && TileRegisters().Of(v) > words;
}

int TileRegisters::Together(const Op& access) {
  const auto [known, is_new] = together_.try_emplace(&access, 1);
  if (!is_new) return known->second;
  const Value* pointers = access.operand(0);
  const int bits = ir::MemoryBits(pointers->type().element().pointee);
  if (IsFetch(access.parent())) {
    const auto copy = DecisionOf<Decision::kCopies>(access);
    return together_[&access] = copy ? std::max<int>(1, 8 * static_cast<int>((*copy)[1]) / bits) : 1;
  }
  const Value* mask = MaskOf(access);
  uint64_t most = 1;
  for (int d = 0; bits >= 8 && d < pointers->type().rank(); ++d) {
    const Facts::Line line = facts_.LineOf(pointers, d);
    uint64_t n = std::min(line.rising, static_cast<uint64_t>(kVectorBits / bits));
    // Neighbours that are accessed one by one follow from the first, too, unless they wrap around, which an aligned group does not.
    if (line.wraps) n = std::min(n, line.start / static_cast<uint64_t>(bits / 8));
    // A mask that may change within a vector is tested, element by element.
    if (mask != nullptr && facts_.LineOf(mask, d).equal < n) n = 1;
    most = std::max(most, n);
  }
  return together_[&access] = static_cast<int>(most);
}

// 1: each element of the tile is needed.
int TileRegisters::Neighbours(const Value* v) {
  const auto [known, is_new] = neighbours_.try_emplace(v, 1);
  if (!is_new) return known->second;
  const bool addresses = v->type().element().is_pointer() || ir::IsInt(v->type().elem());
  int all = 0;
  for (const ir::Use* use = v->uses(); addresses && use != nullptr; use = use->next) {
    const Op& user = *use->owner;
    int one = 1;
    if (ir::LoadPtrOp::Is(&user) || IsStoreOrUpdate(user)) {
      const bool is_value = IsStoreOrUpdate(user) && StoredBy(user) == v;
      const bool is_padding = ir::LoadPtrOp::Is(&user) && ir::LoadPtrOp(user).padding_value() == v;
      if (!is_value && !is_padding) one = Together(user);
    } else if (user.info()->has(ir::kElementwise) || TakesSource(&user)) {
      one = Neighbours(user.result(0));
    }
    all = all == 0 ? one : std::min(all, one);
  }
  return neighbours_[v] = std::max(1, all);
}

bool TileRegisters::OnlySays(const Value* v) {
  const ir::Element element = v->type().element();
  if (element.is_pointer() || element.kind == ir::Elem::kI1) return true;
  if (!ir::IsInt(element.kind) || v->uses() == nullptr) return false;
  const auto [known, is_new] = only_says_.try_emplace(v, false);
  if (!is_new) return known->second;
  bool only = true;
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    const Op& user = *use->owner;
    const bool follows = user.num_results() == 1 && (user.info()->has(ir::kElementwise) || TakesSource(&user));
    only = only && follows && OnlySays(user.result(0));
  }
  return only_says_[v] = only;
}

bool TileRegisters::ServesStore(const Value* v) {
  const Op* def = v->def();
  if (def == nullptr || def->info()->is_load() || v->uses() == nullptr) return false;
  if (!def->info()->has(ir::kElementwise) && !TakesSource(def)) return false;
  const auto [known, is_new] = serves_store_.try_emplace(v, false);
  if (!is_new) return known->second;
  bool serves = true;
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    const Op& user = *use->owner;
    const bool stores = IsStoreOrUpdate(user) && StoredBy(user) != v;
    const bool follows = user.num_results() == 1 && (user.info()->has(ir::kElementwise) || TakesSource(&user));
    serves = serves && user.block() == def->block() && (stores || (follows && ServesStore(user.result(0))));
  }
  return serves_store_[v] = serves;
}

LargestTile FindLargestTile(const ir::Function& function) {
  LargestTile largest;
  int64_t most = 0;
  TileRegisters registers;
  const auto look = [&](const Op* op, const Value* v) {
    if (registers.Of(v) <= most || (v->def() != nullptr && v->def()->opcode() == ir::Opcode::kConstant)) return;
    most = registers.Of(v);
    largest = {op, v};
  };
  ir::Walk(function.body(), [&](const Op* op) {
    if (!TakesRegisters(op) || IsFetch(op->parent())) return;
    for (int i = 0; i < op->num_results(); ++i) look(op, op->result(i));
    for (int i = 0; i < op->num_operands(); ++i) look(op, op->operand(i));
  });
  return largest;
}

LiveRegisters MostLiveRegisters(const ir::Function& function) {
  const auto nowhere = [](const Op&, int) { return false; };
  return Liveness(function, nowhere, Liveness::Counts::kAll).Most();
}

LiveRegisters MostLiveBesideStores(const ir::Function& function) {
  const auto nowhere = [](const Op&, int) { return false; };
  return Liveness(function, nowhere, Liveness::Counts::kBesideStores).Most();
}

LiveRegisters MostLiveData(const ir::Function& function) {
  const auto nowhere = [](const Op&, int) { return false; };
  return Liveness(function, nowhere, Liveness::Counts::kData).Most();
}

LiveRegisters MostLiveData(const ir::Function& function,
                           absl::FunctionRef<bool(const ir::Op& user, int operand)> elsewhere) {
  return Liveness(function, elsewhere, Liveness::Counts::kData).Most();
}

LiveRegisters MostLiveDataOfFolds(const ir::Function& function) {
  const auto nowhere = [](const Op&, int) { return false; };
  return Liveness(function, nowhere, Liveness::Counts::kDataOfFolds).Most();
}

LiveRegisters MostLiveRegisters(const ir::Function& function,
                                absl::FunctionRef<bool(const ir::Op& user, int operand)> elsewhere) {
  return Liveness(function, elsewhere, Liveness::Counts::kNoMasks).Most();
}

}  // namespace tile::codegen
