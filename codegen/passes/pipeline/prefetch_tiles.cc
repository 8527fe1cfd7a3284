#include "codegen/passes/pipeline/prefetch_tiles.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/begins_at_block.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/analysis/view_dim.h"
#include "codegen/passes/move_loads.h"
#include "codegen/plan/resources/warps.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"
#include "ir/create_like.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;
using ir::Block;
using ir::Op;
using ir::Value;
using op::Values;

constexpr int64_t kMostCarried = 16;  // registers of a thread: more would take blocks from a multiprocessor, or spill
constexpr int kMostAhead = 2;         // iterations
constexpr int64_t kMostBesideProducts = 4;  // the same of a loop that multiplies what is copied ahead

// The fewest that ptxas needs for them. Two blocks that fit then are kept. What they overlap is worth more than loads that come early (operands of 4 bits,
// 64x128x64 on an H200: 623 us in two blocks, 922 in one that loads early).
constexpr int64_t kLeastBesideTiles = kBesideSums;
// So few come early even where two blocks have no more than those beside them (int8 factors, 64 x 128, 256 threads: 8).
constexpr int64_t kFewBesideTwo = 16;
constexpr int64_t kMostOfThread = 255, kWordsOfAddress = 2;
constexpr uint64_t kLeastVectorBits = 64;

// Loads that did not become copies.
bool HasLoads(const Op& loop) {
  for (const Op* inside : *loop.region(0)) {
    if (inside->info()->is_load()) return true;
  }
  return false;
}

// Registers that a tile takes over all threads from one iteration to the next: elements of 8 bits lie four in one (emit/context/carried.h).
int64_t CarriedWords(const ir::Type& tile) {
  const int64_t words = RegistersOf(tile);
  return ir::MemoryBits(tile.elem()) == 8 ? (words + 3) / 4 : words;
}

// Registers of 32 bits that a load takes over all threads beside products: a vector needs few addresses, elements by themselves one each. Two elements
// of 16 bits lie in one.
int64_t WordsOf(const Op& load, Facts* facts) {
  const ir::Type tile = load.result(0)->type();
  const int64_t words = ir::MemoryBits(tile.elem()) == 16 ? (RegistersOf(tile) + 1) / 2 : CarriedWords(tile);
  if (!ir::LoadPtrOp::Is(&load)) return words;
  const auto bits = static_cast<uint64_t>(std::max(8, ir::MemoryBits(tile.elem())));
  for (int d = 0; d < tile.rank(); ++d) {
    if (facts->LineOf(load.operand(0), d).rising * bits >= kLeastVectorBits) return words;
  }
  return words + kWordsOfAddress * RegistersOf(tile);
}

class WalkingLoop {
 public:
  WalkingLoop(Program& p, Op* loop) : p_(p), loop_(loop), carrying_(*loop), body_(loop->region(0)) {}

  // "" if loads of it are carried.
  std::string WhyNot() {
    const LoopLoads loads(p_.module.get(), loop_, {.by_workers = true});
    if (carrying_.latch() == nullptr || !loads.AllIterationsRun()) return "an iteration may end the loop";
    const int64_t threads = ScheduleOf(*p_.function)->threads();
    int64_t each = 0, words = 0;
    Facts facts;
    std::string why = "it loads nothing";
    for (Op* inside : *body_) {
      if (!inside->info()->is_load() || IsFetch(inside)) continue;
      if (std::string hinders = WhyNotLoad(*inside, loads); !hinders.empty()) {
        why = std::move(hinders);
        continue;
      }
      each += (CarriedWords(inside->result(0)->type()) + threads - 1) / threads;
      words += WordsOf(*inside, &facts);
      loads_.push_back(inside);
    }
    if (loads_.empty()) return why;
    only_registers_ = true;
    fills_ = multiplies_ && each > kMostBesideProducts;
    if (fills_ && WhyNotToSlot().empty()) return "shared memory holds them";
    if (fills_) each = (words + threads - 1) / threads;
    const int64_t most = multiplies_ ? MostBesideProducts(each) : kMostCarried;
    if (!multiplies_ && kMostAhead * each <= most) ahead_ = kMostAhead;
    if (each > most)
      return absl::StrCat("the next iteration's tiles take ", each, " registers of a thread; ", most, " would do");
    if (!multiplies_ && ahead_ == 1 && KnownIterations(*loop_) >= tuning::kLongWalk && WhyNotToSlot().empty())
      return "registers hold those of one iteration, shared memory those of more";
    only_registers_ = false;
    return "";
  }

  // Registers of a thread for tiles of the next iteration beside products: what is left to it, as long as a multiprocessor holds two blocks of
  // this kernel if it does so now.
  int64_t MostBesideProducts(int64_t each) const {
    if (each <= kMostBesideProducts) return kMostBesideProducts;
    const Schedule schedule = *ScheduleOf(*p_.function);
    const int64_t threads = schedule.hardware_threads();
    const LiveRegisters live = MostLiveData(*p_.function);
    int64_t words = live.words;
    if (schedule.blocks == 1 && live.at->block() == body_ && !IsBehindProduct(*live.at)) {
      // It holds what was loaded for this iteration, which the next one's takes the place of.
      for (const Op* load : loads_) {
        const ir::Type tile = load->result(0)->type();
        words -= RegistersOf(tile) * std::min(32, ir::MemoryBits(tile.elem())) / 32;
      }
    }
    const int64_t live_of_thread = words / schedule.threads();
    const bool two_fit = 2 * threads * (live_of_thread + kLeastBesideTiles) <= Target::kRegisters;
    const bool few_fit = 2 * threads * (live_of_thread + each + kLeastBesideTiles) <= Target::kRegisters;
    if (each <= kFewBesideTwo && few_fit && !schedule.producer) return kFewBesideTwo;
    const int64_t blocks = std::max(schedule.blocks, two_fit ? 2 : 1);
    const int64_t left = std::min(kMostOfThread, Target::kRegisters / (threads * blocks)) - live_of_thread -
                         BesideProducts(p_.target, schedule.num_warps, *body_);
    return schedule.producer ? kMostBesideProducts : std::max(kMostBesideProducts, left);
  }

  // The first product of the body comes before it.
  bool IsBehindProduct(const Op& op) const {
    for (const Op* inside : *body_) {
      if (inside == &op) return false;
      if (IsProduct(*inside)) return true;
    }
    return true;
  }

  // Where only registers hinder. "" if tiles can come through shared memory instead.
  std::string WhyNotToSlot() {
    if (!p_.target.has(kCpAsync)) return "the chip has no asynchronous copies";
    int64_t most = p_.target.shared_bytes_of(2);
    if (multiplies_) {
      const Op* ring = CopyIn(*loop_);
      if (ring == nullptr) return "nothing is copied ahead in this loop";
      if (!p_.permissions.may(May::kAssumeAligned)) return "arrays are not known to be aligned";
      int products = 0;
      for (const Op* inside : *body_) products += IsProduct(*inside) ? 1 : 0;
      if (products > 1) return "of several products one may run beside the next iteration";
      const Schedule schedule = *ScheduleOf(*p_.function);
      most = p_.target.shared_bytes_of(schedule.blocks) - StageOf(*ring).ring_bytes(schedule.stages);
    } else if (!RowWorkOf(*p_.function, p_.permissions.may(May::kAssumeAligned)).known) {
      return "arrays are not known to be aligned";
    }
    int64_t bytes = 0;
    for (const Op* load : loads_) {
      if (IsSmall(*load) || IndexThatMoves(*load) < 0) continue;
      bytes += BytesOf(load->result(0)->type());
    }
    if (bytes == 0) return "no load has the loop's index as its own, in a view with contiguous rows";
    if (bytes > most) return absl::StrCat("they take ", bytes, " bytes of shared memory; ", most, " would do");
    return "";
  }
  bool only_registers() const { return only_registers_; }

  // What takes one register of a thread at most is loaded early all the same: it would be waited for in every iteration.
  void CopyToSlot() {
    std::vector<Op*> small;
    for (Op* load : loads_) {
      if (IsSmall(*load)) {
        small.push_back(load);
      } else if (const int i = IndexThatMoves(*load); i >= 0) {
        Decide<Decision::kPrefetchSlot>(p_.module.get(), load, i);
      }
    }
    loads_ = std::move(small);
    ahead_ = 1;
    fills_ = false;
    const int64_t most = multiplies_ ? kMostBesideProducts : kMostCarried;
    if (static_cast<int64_t>(loads_.size()) > most || loads_.empty()) return;
    Rewrite();
  }

  void Rewrite() {
    ir::Module* module = p_.module.get();
    const ir::ForOp counted(loop_);
    const ir::Signedness sign = counted.unsigned_cmp() ? ir::Signedness::kUnsigned : ir::Signedness::kSigned;
    Values first;
    ir::WriteBefore(module, loop_, [&](ir::Builder& b) {
      first = op::If(
          b, op::CmpI(b, ir::ComparisonPredicate::kLessThan, counted.lower_bound(), counted.upper_bound(), sign),
          [&] {
            Values loaded;
            for (int ahead = 0; ahead < ahead_; ++ahead) {
              const Values some = LoadsFor(Later(b, counted.lower_bound(), ahead).index, nullptr, b.block());
              loaded.insert(loaded.end(), some.begin(), some.end());
            }
            return loaded;
          },
          [&] {
            Values nothing;
            for (int ahead = 0; ahead < ahead_; ++ahead) {
              for (const Op* load : loads_) nothing.push_back(op::Splat(b, load->result(0)->type(), 0));
              for (size_t i = 0; i < loads_.size(); ++i) nothing.push_back(op::MakeToken(b));
            }
            return nothing;
          });
    });
    Block* front = module->CreateBlock({});
    ir::Builder next(module, front);
    next.set_loc(loop_->loc);
    const Iteration following = Later(next, carrying_.index(), ahead_);
    const Values later = LoadsFor(following.index, fills_ ? following.exists : nullptr, front);
    Op* again = Carrying(first, later);
    Decide<Decision::kPrefetches>(module, again, true);
    Op* place = again->region(0)->front();
    // What was loaded for this iteration is converted by then, and its registers are free.
    while (fills_ && !IsProduct(*place) && !UsesJoin(*place)) place = place->next();
    while (!front->empty()) ir::MoveBefore(module, front->front(), place);
    for (Op* join : joins_) ir::MoveBefore(module, join, place);
  }

 private:
  bool IsSmall(const Op& load) const {
    return CarriedWords(load.result(0)->type()) <= ScheduleOf(*p_.function)->threads();
  }

  // The only index that the induction variable moves, of a load that can be copied; -1 of others.
  int IndexThatMoves(const Op& load) const {
    if (!ir::LoadViewOp::Is(&load) || DecisionOf<Decision::kSignedIndex>(load)) return -1;
    const ir::LoadViewOp access(load);
    if (access.result_token()->has_uses()) return -1;
    const ir::Type view = access.view()->type();
    if (!view.is_grid_view() || view.tensor()->space != ir::MemorySpace::kGlobal || ir::MemoryBits(view.elem()) < 8)
      return -1;
    bool rows = false;
    for (int k = 0; k < view.rank(); ++k) rows = rows || HasUnitStride(view, k);
    absl::flat_hash_set<const Value*> still;
    if (!rows || Moves(access.view(), &still)) return -1;
    const ir::OperandRange index = access.index();
    int moves = -1;
    for (size_t k = 0; k < index.size(); ++k) {
      if (!Moves(index[k], &still)) continue;
      if (moves >= 0) return -1;
      moves = static_cast<int>(k);
    }
    return moves;
  }

  // It is another one in each iteration. `still`: known to be none.
  bool Moves(const Value* v, absl::flat_hash_set<const Value*>* still) const {
    if (v == carrying_.index()) return true;
    if (!ir::IsInside(v, loop_) || v->def() == nullptr || !still->insert(v).second) return false;
    for (int i = 0; i < v->def()->num_operands(); ++i) {
      if (Moves(v->def()->operand(i), still)) return true;
    }
    return false;
  }

  std::string WhyNotLoad(const Op& load, const LoopLoads& loads) const {
    const ir::AccessOp access(load);
    if (ir::OrderingOf(load) != ir::MemoryOrdering::kWeak) return "a load is not weak";
    if (access.token() != nullptr && ir::IsInside(access.token(), loop_))
      return "a token orders a load inside the loop";
    if (access.result_token() != nullptr && access.result_token()->has_uses() && !multiplies_)
      return "something waits for a load";
    return loads.WhyNot(load);
  }

  struct Iteration {
    Value* index;
    Value* exists;
  };
  // So many iterations after `index`; where there is none, the last one before.
  Iteration Later(ir::Builder& b, Value* index, int iterations) const {
    const ir::ForOp counted(loop_);
    Value* goes_on = nullptr;
    for (int i = 0; i < iterations; ++i) {
      // Between the index and the bound there is no overflow, if the difference is taken for unsigned.
      goes_on = op::CmpI(b, ir::ComparisonPredicate::kGreaterThan, op::Subi(b, counted.upper_bound(), index),
                         counted.step(), ir::Signedness::kUnsigned);
      index = op::Select(b, goes_on, op::Addi(b, index, counted.step()), index);
    }
    return {index, goes_on};
  }

  // What the loads give where the induction variable is `index`, loaded behind what is in the block. Loads with a mask load nothing unless
  // `exists`, if that is not null.
  Values LoadsFor(Value* index, Value* exists, Block* block) {
    ir::ValueMap values = {{carrying_.index(), index}};
    Values loaded;
    for (const Op* load : loads_) {
      loaded.push_back(Copy(load->result(0), block, &values));
      if (exists != nullptr && ir::LoadPtrOp::Is(load)) MaskBy(exists, loaded.back()->def());
    }
    for (const Op* load : loads_) loaded.push_back(values.at(ir::AccessOp(*load).result_token()));
    return loaded;
  }

  void MaskBy(Value* exists, Op* load) {
    Value* mask = ir::LoadPtrOp(load).mask();
    if (mask == nullptr) return;
    int at = 0;
    while (load->operand(at) != mask) ++at;
    ir::WriteBefore(p_.module.get(), load, [&](ir::Builder& b) {
      Value* all =
          mask->type().is_scalar() ? exists : op::Broadcast(b, mask->type(), OfRank(b, exists, mask->type().rank()));
      load->set_operand(at, op::Andi(b, mask, all));
    });
  }

  // A scalar as a tile of one element.
  static Value* OfRank(ir::Builder& b, Value* scalar, int rank) {
    const std::vector<int64_t> ones(static_cast<size_t>(rank), 1);
    return op::Reshape(b, b.types().Tile(scalar->type().element(), ones), scalar);
  }

  Value* Copy(Value* v, Block* block, ir::ValueMap* values) {
    if (const auto it = values->find(v); it != values->end()) return it->second;
    if (!ir::IsInside(v, loop_)) return v;
    Op* def = v->def();
    for (int i = 0; i < def->num_operands(); ++i) Copy(def->operand(i), block, values);
    p_.module->Append(block, ir::CopyOp(p_.module.get(), *def, values));
    return values->at(v);
  }

  // What waits for the load waits for the one that brought the tile, and for the one that brings the next.
  void ReplaceToken(Op* load, const Values& tokens) {
    Value* token = ir::AccessOp(*load).result_token();
    if (!token->has_uses()) return;
    ir::WriteBefore(p_.module.get(), load, [&](ir::Builder& b) {
      Value* both = op::JoinTokens(b, tokens);
      token->ReplaceAllUsesWith(both);
      joins_.push_back(both->def());
    });
  }

  bool UsesJoin(const Op& op) const {
    bool uses = false;
    const auto look = [&](const Op& user) {
      for (int i = 0; i < user.num_operands(); ++i)
        uses = uses || std::find(joins_.begin(), joins_.end(), user.operand(i)->def()) != joins_.end();
    };
    look(op);
    for (int r = 0; r < op.num_regions(); ++r) ir::Walk(op.region(r), [&](const Op* inside) { look(*inside); });
    return uses;
  }

  // The loop with the loads carried, in its place.
  Op* Carrying(const Values& first, const Values& later) {
    ir::Module* module = p_.module.get();
    Values operands;
    for (int i = 0; i < loop_->num_operands(); ++i) operands.push_back(loop_->operand(i));
    operands.insert(operands.end(), first.begin(), first.end());
    std::vector<ir::Type> types = ir::ResultTypesOf(*loop_), arguments = {carrying_.index()->type()};
    for (int i = 0; i < carrying_.num_carried(); ++i) arguments.push_back(carrying_.arg(i)->type());
    for (const Value* v : first) {
      types.push_back(v->type());
      arguments.push_back(v->type());
    }
    std::vector<uint32_t> ends;
    for (size_t f = 0; f < loop_->info()->format->operands.size(); ++f) {
      ends.push_back(static_cast<uint32_t>(loop_->group_end(static_cast<int>(f))));
    }
    ends.back() += static_cast<uint32_t>(first.size());
    Op* again = ir::CreateLike(module, *loop_, operands, types, ends);
    Block* body = module->CreateBlock(arguments);
    again->set_region(0, body);
    module->InsertBefore(loop_->block(), loop_, again);
    for (int i = 0; i < body_->num_args(); ++i) body_->arg(i)->ReplaceAllUsesWith(body->arg(i));
    for (size_t i = 0; i < loads_.size(); ++i) {
      Op* load = loads_[i];
      const auto carried = [&](size_t k) { return body->arg(body_->num_args() + static_cast<int>(k)); };
      load->result(0)->ReplaceAllUsesWith(carried(i));
      ReplaceToken(load, {carried(loads_.size() + i), later[loads_.size() + i]});
      load->Erase();
    }
    Op* latch = body_->back();
    Values next;
    for (int i = 0; i < latch->num_operands(); ++i) next.push_back(latch->operand(i));
    // What was loaded for the iteration behind the next moves up.
    const int carried = body_->num_args(), set = static_cast<int>(later.size());
    for (int i = carried + set; i < body->num_args(); ++i) next.push_back(body->arg(i));
    next.insert(next.end(), later.begin(), later.end());
    while (!body_->empty()) {
      Op* moved = body_->front();
      moved->Unlink();
      if (moved != latch) module->Append(body, moved);
    }
    ir::Builder b(module, body);
    b.set_loc(latch->loc);
    op::Continue(b, next);
    latch->Erase();
    for (int i = 0; i < loop_->num_results(); ++i) loop_->result(i)->ReplaceAllUsesWith(again->result(i));
    loop_->Erase();
    return again;
  }

  Program& p_;
  Op* loop_;
  ir::CarryingLoop carrying_;
  Block* body_;
  std::vector<Op*> loads_, joins_;
  const bool multiplies_ = Multiplies(*loop_);
  bool fills_ = false;  // what a thread has left beside products
  bool only_registers_ = false;
  int ahead_ = 1;  // iterations
};

}  // namespace

absl::Status PrefetchTiles(Program& p) {
  std::vector<Op*> loops;
  for (Op* inside : *p.function->body()) {
    if (ir::ForOp::Is(inside) && BeginsAtBlock(*inside)) loops.push_back(inside);
  }
  ir::Walk(p.function->body(), [&](Op* inside) {
    const bool known = std::find(loops.begin(), loops.end(), inside) != loops.end();
    if (!known && ir::ForOp::Is(inside) && Multiplies(*inside) && HasLoads(*inside)) loops.push_back(inside);
  });
  for (Op* inside : loops) {
    WalkingLoop loop(p, inside);
    const StepTexts texts = {"prefetch-tiles", "the next iteration's tiles are loaded early",
                             "its tiles are not loaded early"};
    if (TakesStep(*p.module, *inside, texts, loop.WhyNot(), &p.trace())) {
      loop.Rewrite();
    } else if (loop.only_registers()) {
      const StepTexts copied = {"prefetch-tiles", "the next iteration's tiles are copied to shared memory early",
                                "its tiles are not copied early"};
      if (TakesStep(*p.module, *inside, copied, loop.WhyNotToSlot(), &p.trace())) loop.CopyToSlot();
    }
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen
