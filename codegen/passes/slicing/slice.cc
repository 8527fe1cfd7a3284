#include "codegen/passes/slicing/slice.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/access_order.h"
#include "codegen/analysis/begins_at_block.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/slice_dims.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/passes/slicing/kept_tiles.h"
#include "codegen/passes/slicing/slice_cone.h"
#include "codegen/passes/slicing/slice_loop.h"
#include "codegen/passes/slicing/slice_nest.h"
#include "codegen/passes/slicing/slice_write.h"
#include "codegen/passes/slicing/spill_tiles.h"
#include "codegen/passes/unused.h"
#include "codegen/target/target.h"
#include "codegen/target/tuning.h"
#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::Value;

// A store, or an update whose old values nobody needs.
bool IsStore(const Op& op) {
  const Value* tile = WrittenTile(op);
  return tile != nullptr && IsTile(tile) && !GivesTile(op);
}

int64_t PowerOfTwoFrom(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

bool IsRelaxed(const Op& op) { return IsOrdered(op) && ir::OrderingOf(op) == ir::MemoryOrdering::kRelaxed; }
// Others may afterwards write what was read before.
bool Releases(const Op& op) {
  return IsOrdered(op) &&
         (ir::OrderingOf(op) == ir::MemoryOrdering::kRelease || ir::OrderingOf(op) == ir::MemoryOrdering::kAcqRel);
}

// True if a weak load may be sunk past the operation, provided that no order between the two is required.
bool LetsPass(const Op& op) {
  if (op.opcode() == Opcode::kAllocShared || op.opcode() == Opcode::kAlloca) return true;
  const bool tokens_only = op.opcode() == Opcode::kJoinTokens || op.opcode() == Opcode::kMakeToken;
  if (op.info()->has(ir::kEffect) || (op.info()->has(ir::kTko) && !IsWeak(op) && !IsRelaxed(op) && !tokens_only))
    return false;
  bool passes = true;
  for (int r = 0; r < op.num_regions(); ++r) {
    ir::Walk(op.region(r),
             [&](Op* inside) { passes = passes && LetsPass(*inside) && inside->opcode() != Opcode::kReturn; });
  }
  return passes;
}

// The tiles of one block of code. `carry`: loops carry reductions along the sliced dimension, so that what needs their
// results is another loop, which loads again; otherwise slices go along other dimensions, and reductions end in each.
class BlockSlicer {
 public:
  BlockSlicer(const SliceOptions& options, ir::Module* module, Block* block, Trace* trace, bool carry)
      : options_(options),
        module_(module),
        block_(block),
        trace_(trace),
        carry_(carry),
        scope_{block, &big_, &carried_, options.limit, options.carried > 0} {
    FindSinks();
  }

  // Registers that all loops together load; nothing if some large tile would stay whole.
  std::optional<int64_t> Loaded() {
    if (big_.empty()) return 0;
    Number();
    int64_t words = 0;
    absl::flat_hash_set<const Op*> done;
    for (const std::vector<int>& members : Groups()) {
      const std::vector<SliceLoop> loops = Fuse(members);
      if (!WhyNotCovered(members).empty() || !WhyNotLegal(loops).empty()) return std::nullopt;
      for (const SliceLoop& loop : loops) {
        for (const auto& [load, dim] : LoadsOf(loop)) words += RegistersOf(load->result(0)->type());
      }
      for (int i : members)
        done.insert(sinks_[static_cast<size_t>(i)].cone->ops().begin(),
                    sinks_[static_cast<size_t>(i)].cone->ops().end());
    }
    for (const Op* op : *block_) {
      if (HoldsBig(*op) && !done.contains(op)) return std::nullopt;
    }
    return words;
  }

  // Slices do all that the block does with large tiles, and no load is done in two loops.
  bool LoadsOnce() {
    if (!Loaded()) return false;
    absl::flat_hash_set<const Op*> loaded;
    for (const std::vector<int>& members : Groups()) {
      for (const SliceLoop& loop : Fuse(members)) {
        for (const auto& [load, dim] : LoadsOf(loop)) {
          if (!loaded.insert(load).second) return false;
        }
      }
    }
    return true;
  }

  // One loop would do all that the block does, and cut nothing out of what is there whole.
  bool IsOneLoop() {
    if (!Loaded() || Groups().size() != 1) return false;
    const std::vector<SliceLoop> loops = Fuse(Groups()[0]);
    if (loops.size() != 1) return false;
    absl::flat_hash_set<const Op*> inside;
    for (const SliceSink& sink : loops[0].sinks) {
      inside.insert(sink.op);
      inside.insert(sink.cone->ops().begin(), sink.cone->ops().end());
      for (const SliceKey& key : sink.cone->made()) {
        if (sink.cone->IsCut(key)) return false;
      }
    }
    for (const Op* op : *block_) {
      if (!inside.contains(op) && !op->info()->has(ir::kPure) && op != block_->back()) return false;
    }
    return true;
  }

  // Slices go through loops.
  bool HasNests() const {
    return std::any_of(sinks_.begin(), sinks_.end(), [](const Sink& s) { return !s.cone->nests().empty(); });
  }

  // Of groups that stay whole.
  const std::vector<Op*>& blocked() const { return blocked_; }

  // Returns how many loops there are now.
  int Run() {
    for (const auto& [op, why] : failed_) Remark(*op, absl::StrCat(op->info()->mnemonic, ": tiles stay whole: ", why));
    int loops = 0;
    for (const std::vector<int>& members : Groups()) loops += Group(members);
    return loops;
  }

 private:
  struct Sink {
    SliceSink at;
    std::unique_ptr<SliceCone> cone;
  };

  std::string Where(const Op& op) const { return module_->Where(op.loc, op.pos); }
  void Remark(const Op& op, absl::string_view what) {
    if (trace_ != nullptr && trace_->on_remark) trace_->on_remark(absl::StrCat(Where(op), ": remark[slice]: ", what));
  }
  bool IsBig(const Value* v) const {
    return IsTile(v) && (big_.contains(v) || RegistersOf(v->type()) > options_.limit);
  }
  bool TakesBig(const Op& op) const {
    for (int i = 0; i < op.num_operands(); ++i) {
      if (IsBig(op.operand(i))) return true;
    }
    return false;
  }

  void Number() {
    position_.clear();
    int n = 0;
    for (const Op* op : *block_) position_[op] = n++;
  }

  // --- sinks --------------------------------------------------------------------------------------------------------

  // The best way to do the sink in slices along one of these dimensions; says why not if there is none.
  std::string Choose(Op* op, const Value* tile, const std::vector<int>& dims, std::optional<Sink>* best) {
    std::string why;
    for (int dim : dims) {
      int64_t slices =
          std::max<int64_t>(2, PowerOfTwoFrom((RegistersOf(tile->type()) + options_.slice - 1) / options_.slice));
      while (slices <= tile->type().shape()[static_cast<size_t>(dim)]) {
        Sink sink{{op, dim, nullptr}, std::make_unique<SliceCone>(scope_, slices)};
        if (std::string not_here = sink.cone->Add(*op, dim); !not_here.empty()) {
          if (why.empty()) why = not_here;
          break;
        }
        const int64_t words = std::max(sink.cone->largest(), sink.cone->held() / 2);
        const int64_t more = PowerOfTwoFrom((words + options_.slice - 1) / options_.slice);
        if (more > slices) {
          slices = more;
          continue;
        }
        sink.at.cone = sink.cone.get();
        if (!best->has_value() || sink.cone->cost() < (*best)->cone->cost()) *best = std::move(sink);
        break;
      }
    }
    if (best->has_value()) return "";
    return why.empty() ? "no dimension is long enough for so many slices" : why;
  }

  // What is stored is there whole and would be cut in each iteration, for smaller tiles of addresses and masks. Of those a thread
  // needs few at once anyway.
  bool SavesAddressesOnly(const SliceCone& cone) const {
    bool cuts = false;
    for (const SliceKey& key : cone.made()) {
      const Op* def = key.first->def();
      if (cone.IsCut(key)) {
        cuts = true;
      } else if ((def != nullptr && IsAccessOfMemory(*def)) || TakesMoreThan(key.first, options_.limit)) {
        return false;
      }
    }
    return cuts;
  }

  // A loop that can be done for each slice, and takes more registers than there are.
  bool CarriesBig(const Op& op) const {
    if (options_.carried == 0 || !ir::ForOp::Is(&op)) return false;
    bool big = WordsOfNest(op) > options_.carried;
    for (int i = 0; i < op.num_results(); ++i) big = big || IsBig(op.result(i));
    return big && WhyNotNest(op).empty();
  }

  void FindSinks() {
    for (Op* op : *block_) {
      for (int i = 0; i < op->num_results(); ++i) {
        if (IsBig(op->result(i))) big_.insert(op->result(i));
      }
      if (CarriesBig(*op)) {
        for (int i = 0; i < op->num_results(); ++i) {
          if (IsTile(op->result(i))) big_.insert(op->result(i));
        }
        continue;
      }
      if (!TakesBig(*op)) continue;
      if (IsStore(*op)) {
        std::vector<int> dims(static_cast<size_t>(WrittenTile(*op)->type().rank()));
        std::iota(dims.begin(), dims.end(), 0);
        std::optional<Sink> sink;
        why_not_[op] = Choose(op, WrittenTile(*op), dims, &sink);
        if (sink && SavesAddressesOnly(*sink->cone)) continue;
        if (sink)
          sinks_.push_back(*std::move(sink));
        else
          failed_.emplace_back(op, why_not_[op]);
        continue;
      }
      if (op->opcode() == Opcode::kReduce && carry_) {
        std::optional<Sink> sink;
        if (!IsBig(op->result(0))) {
          why_not_[op] = Choose(op, op->operand(0), {static_cast<int>(ir::ReduceOp(op).dim())}, &sink);
        }
        if (sink) {
          sinks_.push_back(*std::move(sink));
          carried_.insert(op);
          continue;
        }
      }
      if (IsPlainProduct(*op) && options_.carried > 0 && !IsBig(op->result(0))) {
        std::optional<Sink> sink;
        why_not_[op] = Choose(op, op->operand(0), {op->operand(0)->type().rank() - 1}, &sink);
        if (sink) {
          sinks_.push_back(*std::move(sink));
          carried_.insert(op);
          continue;
        }
      }
      // What comes of a large tile otherwise is done in its slices.
      if (!op->info()->has(ir::kPure) && !IsAccessOfMemory(*op)) continue;
      for (int i = 0; i < op->num_results(); ++i) {
        if (IsTile(op->result(i))) big_.insert(op->result(i));
      }
    }
  }

  // --- groups: sinks whose large tiles hang together
  // ------------------------------------------------------------------

  std::vector<std::vector<int>> Groups() {
    std::vector<int> leader(sinks_.size());
    std::iota(leader.begin(), leader.end(), 0);
    auto find = [&](int i) {
      while (leader[static_cast<size_t>(i)] != i) i = leader[static_cast<size_t>(i)];
      return i;
    };
    absl::flat_hash_map<const Op*, int> first;
    for (int i = 0; i < static_cast<int>(sinks_.size()); ++i) {
      for (const Op* op : sinks_[static_cast<size_t>(i)].cone->ops()) {
        if (!HoldsBig(*op)) continue;
        const auto [it, fresh] = first.insert({op, i});
        if (!fresh)
          leader[static_cast<size_t>(std::max(find(i), find(it->second)))] = std::min(find(i), find(it->second));
      }
    }
    std::vector<std::vector<int>> groups(sinks_.size());
    for (int i = 0; i < static_cast<int>(sinks_.size()); ++i) groups[static_cast<size_t>(find(i))].push_back(i);
    groups.erase(std::remove_if(groups.begin(), groups.end(), [](const auto& g) { return g.empty(); }), groups.end());
    return groups;
  }

  // A result takes registers.
  bool HoldsBig(const Op& op) const {
    for (int i = 0; i < op.num_results(); ++i) {
      if (IsBig(op.result(i)) && !IsFreeTile(op.result(i))) return true;
    }
    return false;
  }

  int Group(const std::vector<int>& members) {
    // What was written for the group before is there now.
    Number();
    order_ = SliceOrder();
    std::vector<SliceLoop> loops = Fuse(members);
    const Op& first = *loops[0].sinks[0].op;
    std::string why = WhyNotCovered(members);
    if (why.empty()) {
      why = WhyNotLegal(loops);
      if (!why.empty()) NoteBlocked(loops);
    }
    if (why.empty() && trace_ != nullptr &&
        !trace_->TakesStep("slice", absl::StrCat(first.info()->mnemonic, " at ", Where(first)))) {
      why = "left out";
    }
    if (!why.empty()) {
      Remark(first, absl::StrCat(first.info()->mnemonic, ": tiles stay whole: ", why));
      return 0;
    }
    for (const SliceLoop& loop : loops) Tell(loop);
    WriteLoops(module_, block_, carried_, &order_, &loops);
    return static_cast<int>(loops.size());
  }

  // All large tiles of the group are needed by nothing else.
  std::string WhyNotCovered(const std::vector<int>& members) {
    absl::flat_hash_set<const Op*> inside;
    for (int i : members) {
      const Sink& s = sinks_[static_cast<size_t>(i)];
      inside.insert(s.at.op);
      inside.insert(s.cone->ops().begin(), s.cone->ops().end());
    }
    // In the order of the text, for one reason every time.
    for (const Op* op : *block_) {
      if (!inside.contains(op) || carried_.contains(op) || !HoldsBig(*op)) continue;
      for (int i = 0; i < op->num_results(); ++i) {
        if (!IsTile(op->result(i))) continue;
        for (const ir::Use* use = op->result(i)->uses(); use != nullptr; use = use->next) {
          const Op& user = *use->owner;
          if (inside.contains(&user)) continue;
          const auto it = why_not_.find(&user);
          if (it != why_not_.end() && !it->second.empty()) return it->second;
          return absl::StrCat(user.info()->mnemonic, " at ", Where(user), " needs all of one");
        }
      }
    }
    return "";
  }

  // --- loops --------------------------------------------------------------------------------------------------------

  std::vector<SliceLoop> Fuse(const std::vector<int>& members) {
    std::vector<SliceLoop> loops;
    for (int i : members) {
      const SliceSink& sink = sinks_[static_cast<size_t>(i)].at;
      if (!loops.empty() && CanJoin(loops.back(), sink)) {
        loops.back().sinks.push_back(sink);
      } else {
        loops.push_back({{sink}, sink.cone->slices(), nullptr});
      }
    }
    return loops;
  }

  // The sink can be done in the iterations of the loop, after what is there, and has loads in common with it.
  bool CanJoin(const SliceLoop& loop, const SliceSink& sink) {
    if (loop.slices != sink.cone->slices()) return false;
    const Turn turn = loop.turn(), own = sink.cone->turn();
    if (turn != Turn::kAny && own != Turn::kAny && turn != own) return false;
    // What others may see is done by itself.
    if (IsDoneOnce(sink) || IsDoneOnce(loop.sinks.back())) return false;
    bool shares = false;
    for (const auto& [load, dim] : LoadsOf(loop)) shares = shares || sink.cone->Makes({load->result(0), dim});
    for (const SliceSink& before : loop.sinks) {
      for (const SliceNest& nest : sink.cone->nests()) {
        const SliceNest* other = before.cone->NestOf(*nest.loop);
        if (other == nullptr) continue;
        if (!AreOneNest(nest, *other)) return false;
        shares = true;
      }
    }
    if (!shares) return false;
    for (const SliceSink& before : loop.sinks) {
      for (const Op* op = before.op->next(); op != sink.op->next(); op = op->next()) {
        if (Uses(*op, *before.op)) return false;
        if (op != sink.op && before.is_store() && !LetsPass(*op)) return false;
      }
    }
    SliceLoop both = loop;
    both.sinks.push_back(sink);
    return WhyNotInOneLoop(both).empty();
  }

  // Slices go the same way through both.
  static bool AreOneNest(const SliceNest& a, const SliceNest& b) {
    for (const auto& [number, dim] : a.dims) {
      const auto other = b.dims.find(number);
      if (b.whole.contains(number) || (other != b.dims.end() && other->second != dim)) return false;
    }
    return std::none_of(b.dims.begin(), b.dims.end(),
                        [&](const auto& carried) { return a.whole.contains(carried.first); });
  }

  static bool IsDoneOnce(const SliceSink& sink) { return IsOrdered(*sink.op) || sink.cone->once() != nullptr; }

  static bool Uses(const Op& op, const Op& what) {
    bool uses = false;
    auto look = [&](const Op& user) {
      for (int i = 0; i < user.num_operands(); ++i) uses = uses || user.operand(i)->def() == &what;
    };
    look(op);
    for (int r = 0; r < op.num_regions(); ++r) ir::Walk(op.region(r), [&](Op* inside) { look(*inside); });
    return uses;
  }

  // --- legality -----------------------------------------------------------------------------------------------------

  // No store of an iteration changes what a later iteration loads.
  std::string WhyNotInOneLoop(const SliceLoop& loop) {
    for (const SliceSink& sink : loop.sinks) {
      if (!sink.is_store()) continue;
      const Op* once = sink.cone->once();
      for (const auto& [load, dim] : LoadsOf(loop)) {
        if (load != once && !SliceOrder::ReadsOwn(*load)) {
          if (Releases(*sink.op) || (once != nullptr && Releases(*once)))
            return absl::StrCat("slices of the load at ", Where(*load), " would be read behind the release of others");
          if (once != nullptr && once->info()->has(ir::kWrites) && Precedes(*load, *once) &&
              order_.MustFollow(*once, *load)) {
            return absl::StrCat("the update at ", Where(*once), " may change other elements of what the load at ",
                                Where(*load), " reads");
          }
        }
        if (!Precedes(*load, *sink.op) || !order_.MustFollow(*sink.op, *load)) continue;
        if (dim == sink.dim && SliceOrder::SameElements(*sink.op, *load)) continue;
        return absl::StrCat("the store at ", Where(*sink.op), " may overwrite other elements of what the load at ",
                            Where(*load), " reads");
      }
    }
    return "";
  }

  std::string WhyNotLegal(const std::vector<SliceLoop>& loops) {
    absl::flat_hash_map<const Op*, size_t> loop_of, last;
    for (size_t k = 0; k < loops.size(); ++k) {
      if (std::string why = WhyNotInOneLoop(loops[k]); !why.empty()) return why;
      for (const SliceSink& sink : loops[k].sinks) loop_of[sink.op] = k;
      for (const auto& [load, dim] : LoadsOf(loops[k])) last[load] = k;
    }
    absl::flat_hash_map<const Op*, size_t> once;
    for (size_t k = 0; k < loops.size(); ++k) {
      for (const SliceSink& sink : loops[k].sinks) {
        if (sink.cone->once() != nullptr && !once.insert({sink.cone->once(), k}).second)
          return absl::StrCat(sink.cone->once()->info()->mnemonic, " would be done twice");
      }
    }
    for (const Op* at : *block_) {
      const Op* end = ir::ForOp::Is(at) ? at->region(0)->back() : nullptr;
      // Of a loop that is done for each slice, what its body loads.
      for (const Op* load = end == nullptr ? at : at->region(0)->front(); load != end; load = load->next()) {
        const auto it = last.find(load);
        // One that is done once is where it may be: IsRightBefore.
        if (it != last.end() && !once.contains(load)) {
          std::string why = WhyNotMoved(*load, *at, it->second, loops, loop_of, once);
          if (!why.empty()) return why;
        }
        if (end == nullptr) break;
      }
    }
    return "";
  }

  // The load, which is done at `at`, goes to the place of this loop.
  using Numbers = absl::flat_hash_map<const Op*, size_t>;
  std::string WhyNotMoved(const Op& load, const Op& at, size_t loop, const std::vector<SliceLoop>& loops,
                          const Numbers& loop_of, const Numbers& once) {
    for (const Op* op = at.next(); op != loops[loop].place(); op = op->next()) {
      const auto sink = loop_of.find(op);
      if (sink != loop_of.end() && sink->second == loop) continue;  // seen before
      const auto in_place = once.find(op);
      if (in_place != once.end() && in_place->second == loop) continue;  // so was that
      if (!LetsPass(*op) && !SliceOrder::ReadsOwn(load)) {
        return absl::StrCat("the load at ", Where(load), " would be done behind the ", op->info()->mnemonic, " at ",
                            Where(*op));
      }
      if (MustFollow(*op, load)) {
        return absl::StrCat("the store at ", Where(*op), " may overwrite what the load at ", Where(load),
                            " reads, and it is read again");
      }
    }
    return "";
  }

  // What the operation or its regions write.
  bool MustFollow(const Op& op, const Op& load) {
    if (op.info()->has(ir::kWrites) && order_.MustFollow(op, load)) return true;
    // A strong load that a token orders after it may tell others that it is done.
    if (IsOrdered(op) && order_.Followers(load).contains(&op)) return true;
    bool follows = false;
    for (int r = 0; r < op.num_regions(); ++r) {
      ir::Walk(op.region(r), [&](Op* inside) { follows = follows || MustFollow(*inside, load); });
    }
    return follows;
  }

  bool Precedes(const Op& a, const Op& b) const {
    return position_.at(AtIn(*block_, a)) < position_.at(AtIn(*block_, b));
  }

  // Loads that slices cannot do later or again, as what follows may overwrite what they read.
  void NoteBlocked(const std::vector<SliceLoop>& loops) {
    for (const SliceLoop& loop : loops) {
      for (const auto& [load, dim] : LoadsOf(loop)) {
        const bool is_noted = std::find(blocked_.begin(), blocked_.end(), load) != blocked_.end();
        if (is_noted || load->block() != block_ || IsOrdered(*load) || SliceOrder::ReadsOwn(*load)) continue;
        for (const Op* op = load->next(); op != nullptr; op = op->next()) {
          if (!MustFollow(*op, *load) || SliceOrder::SameElements(*op, *load)) continue;
          blocked_.push_back(const_cast<Op*>(load));
          break;
        }
      }
    }
  }

  void Tell(const SliceLoop& loop) {
    if (trace_ == nullptr || !trace_->on_remark) return;
    for (const SliceSink& sink : loop.sinks) {
      const ir::Type type = sink.is_store() ? WrittenTile(*sink.op)->type() : sink.op->operand(0)->type();
      Remark(*sink.op,
             absl::StrCat(sink.op->info()->mnemonic, ": ", type.ToString(), " in a loop over ", loop.slices,
                          " slices along dimension ", sink.dim, loop.sinks.size() > 1 ? ", with others" : ""));
      for (const SliceNest& nest : sink.cone->nests())
        Remark(*nest.loop,
               absl::StrCat(nest.loop->info()->mnemonic, ": it is done for each of ", loop.slices, " slices"));
    }
  }

  const SliceOptions& options_;
  ir::Module* module_;
  Block* block_;
  Trace* trace_;
  bool carry_;
  absl::flat_hash_set<const Value*> big_;   // tiles that are too large, and what is made of their slices
  absl::flat_hash_set<const Op*> carried_;  // reductions that are sinks
  absl::flat_hash_map<const Op*, int> position_;
  absl::flat_hash_map<const Op*, std::string> why_not_;
  std::vector<std::pair<const Op*, std::string>> failed_;  // sinks that are done whole
  std::vector<Op*> blocked_;
  SliceScope scope_;
  std::vector<Sink> sinks_;
  SliceOrder order_;
};

}  // namespace

SliceOptions SlicesFor(int num_warps, int64_t shared_bytes) {
  const int64_t threads = 32 * (num_warps > 0 ? num_warps : tuning::kMaxWarps);
  const int64_t exchange = threads * tuning::kSliceRegisters * tuning::kExchangeBytes;
  const int64_t most = std::min<int64_t>(Target::kThreadRegisters, Target::kRegisters / threads);
  return {.limit = threads * tuning::kTileRegisters,
          .slice = threads * tuning::kSliceRegisters,
          .shared_bytes = std::max<int64_t>(0, shared_bytes - exchange),
          .carried = threads * most * 3 / 4,
          .walk = threads * tuning::kWalkRegisters};
}

namespace {

// Removes weak loads whose results nobody uses, or only operations that are themselves unused: no thread can tell the difference.
void DropUnusedLoads(int64_t limit, ir::Module* module, ir::Function* function) {
  std::vector<Op*> ops;
  ir::Walk(function->body(), [&](Op* op) { ops.push_back(op); });
  // Users come after what they use.
  for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
    Op* load = *it;
    if (IsUnused(*load)) {
      load->Erase();
      continue;
    }
    const bool loads = load->opcode() == Opcode::kLoadView || load->opcode() == Opcode::kLoadPtr;
    if (!loads || !IsWeak(*load) || load->result(0)->has_uses() || RegistersOf(load->result(0)->type()) <= limit)
      continue;
    EraseLoad(module, load);
  }
}

// Of a loop that goes over tiles from the block's on, and carries nothing: if all that it does with a tile can be done in slices one after the
// other, smaller ones come early (codegen/passes/slicing/coalesce_loops.h).
bool GoesOverTiles(const Block& block) {
  const Op* loop = block.parent();
  return loop != nullptr && ir::ForOp::Is(loop) && BeginsAtBlock(*loop) && ir::CarryingLoop(*loop).num_carried() == 0 &&
         !HoldsProducts(*loop);
}

// `blocked`: loads that keep tiles whole (TileSpiller::KeepBlocked).
int SliceBlocks(const SliceOptions& options, ir::Module* module, ir::Function* function, Trace* trace,
                std::vector<Op*>* blocked) {
  std::vector<Block*> blocks = {function->body()};
  ir::Walk(function->body(), [&](Op* op) {
    if (op->info()->has(ir::kElementBody)) return;
    for (int r = 0; r < op->num_regions(); ++r) {
      if (op->region(r) != nullptr) blocks.push_back(op->region(r));
    }
  });
  int loops = 0;
  for (Block* block : blocks) {
    // It went with a loop that is done for each slice.
    if (block->function() != function) continue;
    if (options.walk < options.limit && GoesOverTiles(*block)) {
      const SliceOptions smaller = {
          .limit = options.walk, .slice = std::min(options.slice, options.walk), .shared_bytes = options.shared_bytes};
      BlockSlicer walk(smaller, module, block, trace, false);
      if (walk.IsOneLoop()) {
        loops += walk.Run();
        continue;
      }
    }
    BlockSlicer within(options, module, block, trace, false), carried(options, module, block, trace, true);
    const std::optional<int64_t> once = within.Loaded(), again = carried.Loaded();
    const bool is_less =
        once.has_value() && (!again.has_value() || *once < *again || (*once == *again && within.HasNests()));
    BlockSlicer& slicer = is_less ? within : carried;
    loops += slicer.Run();
    blocked->insert(blocked->end(), slicer.blocked().begin(), slicer.blocked().end());
  }
  return loops;
}

}  // namespace

namespace {

// Large tiles of the function's block stay whole where slices would load them again, or keep them in memory, and threads have registers for what
// lives from one exchange to the next.
bool StaysWhole(const SliceOptions& options, ir::Module* module, ir::Function* function, Trace* trace) {
  Block* block = function->body();
  if (!options.keeps_rows || HasProducts(*function)) return false;
  for (bool carry : {false, true}) {
    if (BlockSlicer(options, module, block, nullptr, carry).LoadsOnce()) return false;
  }
  const std::optional<int64_t> kept = KeptWords(*block);
  if (!kept || *kept > options.limit) return false;
  const LargestTile largest = FindLargestTile(*function);
  if (trace != nullptr &&
      !trace->TakesStep("slice", absl::StrCat("rows at ", module->Where(largest.op->loc, largest.op->pos))))
    return false;
  if (trace != nullptr && trace->on_remark) {
    trace->on_remark(absl::StrCat(module->Where(largest.op->loc, largest.op->pos),
                                  ": remark[slice]: ", largest.op->info()->mnemonic,
                                  ": tiles stay whole: from one exchange between threads to the next ", *kept,
                                  " registers of all threads live, of ", options.limit));
  }
  ConvertAgain(module, block);
  return true;
}

}  // namespace

int Slice(const SliceOptions& options, ir::Module* module, ir::Function* function, Trace* trace) {
  DropUnusedLoads(options.limit, module, function);
  if (StaysWhole(options, module, function, trace)) return 0;
  TileSpiller keeper({options.limit, options.carried, options.shared_bytes}, module, function, trace);
  keeper.Prepare();
  std::vector<Op*> blocked, ignored;
  int loops = SliceBlocks(options, module, function, trace, &blocked);
  if (keeper.KeepBlocked(blocked)) loops += SliceBlocks(options, module, function, trace, &ignored);
  // What is loaded may be kept from others; then whatever hangs together in ways that slices can't follow.
  for (bool all : {false, true}) {
    if (keeper.KeepRest(all)) loops += SliceBlocks(options, module, function, trace, &ignored);
  }
  return loops;
}

bool SliceBlock(int64_t words, ir::Module* module, ir::Block* block, Trace* trace) {
  const SliceOptions options = {.limit = words, .slice = words};
  BlockSlicer slicer(options, module, block, trace, false);
  return slicer.IsOneLoop() && slicer.Run() == 1;
}

absl::Status Slice(Program& p) {
  SliceOptions options = SlicesFor(p.candidate.num_warps, static_cast<int64_t>(p.target.shared_bytes));
  options.keeps_rows = p.permissions.may(May::kAssumeAligned);
  Slice(options, p.module.get(), p.function, &p.trace());
  if (const LargestTile largest = FindLargestTile(*p.function); largest.op != nullptr) {
    p.trace().largest_tile = absl::StrCat(p.module->Where(largest.op->loc, largest.op->pos), ": ",
                                          largest.op->info()->mnemonic, " of ", largest.tile->type().ToString());
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen
