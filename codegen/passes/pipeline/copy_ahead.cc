#include "codegen/passes/pipeline/copy_ahead.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/passes/move_loads.h"
#include "codegen/passes/pipeline/fetch_ahead.h"
#include "codegen/passes/pipeline/resize_k.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/staging/pointer_copy.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tma/device_tensor_map.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

// Threads store a converted operand for its product. The loaded tile is copied ahead only if it is four times smaller than that operand: otherwise
// shared memory is the limit. A 64 x 128 x 64 product of f16 and int8 takes 474 us with copies and 393 with loads to registers; of f16 and 4 bits it
// takes 350 and 431 (H200).
constexpr int64_t kLeastWidening = 4;
constexpr int64_t kLeastRows = 64;  // of a product whose instruction reads shared memory

constexpr char kNoRows[] =
    "it is not a tile of rank 2 that one weak load brings, through a partition view of a tensor in global memory, with "
    "rows of stride 1 and at least 16 bytes, and zero as padding, or through such pointers";

// A loop with operands of its products that loads may bring ahead.
class Loop {
 public:
  Loop(const Target& target, ir::Module* module, Op* loop)
      : target_(target), module_(module), loop_(loop), loads_(module, loop, {.by_workers = true}) {
    for (Op* mma : *loop->region(0)) {
      if (!IsProduct(*mma)) continue;
      for (int i = 0; i < 2; ++i) {
        if (Op* load = LoadOf(*mma, i)) DecidePointers(load);
        const ProductOperand operand(mma, i);
        candidates_.push_back({operand, WhyNot(operand)});
      }
    }
    for (const Candidate& c : candidates_) {
      if (!c.why.empty() && c.operand.tile) ReadByOthers(c.operand.tile->load);
    }
    // A tile that several products use is stored as all of them read it, or moves for none.
    for (Candidate& c : candidates_) {
      for (const Candidate& other : candidates_) {
        if (c.why.empty() && !other.why.empty() && LoadOf(c) != nullptr && LoadOf(c) == LoadOf(other))
          c.why = "another product that uses the tile can't have it so";
      }
    }
  }

  // The operands that are copied ahead, and the loaded tiles that other operands are computed from.
  std::vector<ProductOperand> Choose(Trace* trace) {
    std::vector<ProductOperand> chosen;
    absl::flat_hash_set<const Op*> left_out;
    for (const Candidate& c : candidates_) {
      if (!TakesFetch(*module_, *c.operand.mma, "copy-ahead", c.operand.index == 0 ? "lhs is" : "rhs is", c.why,
                      trace)) {
        left_out.insert(LoadOf(c));
      }
    }
    for (const Candidate& c : candidates_) {
      if (!left_out.contains(LoadOf(c))) chosen.push_back(c.operand);
    }
    for (const auto& [load, read] : reads_) {
      if (left_out.contains(load)) {
        RemoveRead(read);
      } else {
        chosen.emplace_back(read, 0);
      }
    }
    // Loads that are left out lose the decision: with it they would be taken for tiles that a stage can hold.
    for (const Op* load : left_out) {
      if (load != nullptr && PointerCopyOf(*load)) const_cast<Op*>(load)->DropAnnotations();
    }
    int64_t bytes = 0;  // of a stage
    for (const ProductOperand& o : chosen) bytes += o.tile->slot_bytes();
    for (Op* load : LoadsOfMade(chosen)) {
      decided_.erase(load);
      DecidePointers(load);
      if (TakesStep(*module_, *load, {"copy-ahead", "copied ahead, for what makes an operand", "not copied ahead"},
                    WhyNotRead(*load, bytes), trace)) {
        chosen.emplace_back(InsertRead(load), 0);
        bytes += chosen.back().tile->slot_bytes();
      } else if (PointerCopyOf(*load)) {
        load->DropAnnotations();
      }
    }
    return chosen;
  }

 private:
  struct Candidate {
    ProductOperand operand;
    std::string why;  // it can't be fetched ahead; "": it can
  };

  // The load of an operand; null if the operand is computed from a tile that comes from a stage.
  static Op* LoadOf(const Op& mma, int i) {
    Op* def = mma.operand(i)->def();
    while (def != nullptr && !def->info()->is_load()) {
      const bool goes_on = def->num_operands() == 1 && !IsGpuOp(def, GpuOpcode::kConvertLayout);
      def = goes_on ? def->operand(0)->def() : nullptr;
    }
    return def;
  }
  static Op* LoadOf(const Candidate& c) { return LoadOf(*c.operand.mma, c.operand.index); }

  // How cp.async can bring it, which LoadedOperandOf asks for.
  void DecidePointers(Op* load) {
    if (!ir::LoadPtrOp::Is(load) || decided_.contains(load)) return;
    const absl::StatusOr<PointerCopy> copy = PlanPointerCopy(*module_, &facts_, *load);
    decided_[load] = std::string(copy.status().message());
    if (copy.ok()) Decide(module_, load, *copy);
  }

  // A tile that products and other operations use is copied to a stage. Products take it from there, and the others load it from there.
  void ReadByOthers(const Op* tile) {
    auto* load = const_cast<Op*>(tile);
    const bool done = std::any_of(reads_.begin(), reads_.end(), [&](const auto& r) { return r.first == tile; });
    if (load->parent() != loop_ || done) return;
    Op* read = InsertRead(load);
    const std::optional<StagedTile> lies = ProductOperand(read, 0).tile;
    std::vector<Candidate*> takers;
    for (Candidate& c : candidates_) {
      if (c.operand.tile && c.operand.tile->load == load) takers.push_back(&c);
    }
    bool can = lies.has_value();
    for (Candidate* c : takers) {
      can = can && lies->lies_like(*c->operand.tile);
      TakeItself(c->operand, read);
    }
    for (Candidate* c : takers) can = can && WhyNot(c->operand).empty();
    if (can) {
      reads_.emplace_back(load, read);
    } else {
      RemoveRead(read);
    }
    for (Candidate* c : takers) c->why = WhyNot(c->operand);
  }

  // Lets the product use the loaded tile itself, permuted or not, in place of the tile that the others load from the stage.
  static void TakeItself(const ProductOperand& operand, const Op* read) {
    Op* user = operand.mma;
    int i = operand.index;
    while (user->operand(i) != read->result(0)) {
      user = user->operand(i)->def();
      if (user == nullptr || user->num_operands() != 1) return;
      i = 0;
    }
    user->set_operand(i, read->operand(0));
  }

  static void RemoveRead(Op* read) {
    read->result(0)->ReplaceAllUsesWith(read->operand(0));
    read->Erase();
  }

  // Tiles that are loaded for operands that the loop makes, in order.
  std::vector<Op*> LoadsOfMade(const std::vector<ProductOperand>& chosen) const {
    absl::flat_hash_set<const Op*> made, held;
    const auto is_copied = [&](const Op* mma, int index) {
      return std::any_of(chosen.begin(), chosen.end(),
                         [&](const ProductOperand& o) { return o.mma == mma && o.index == index; });
    };
    for (const Candidate& c : candidates_) {
      const auto& [mma, index, tile] = c.operand;
      if (is_copied(mma, index)) continue;
      const bool stored = index == 1 && is_copied(mma, 0) && IsStored(*mma);
      for (const Op* load : LoadsBehind(mma->operand(index))) {
        const bool wide = kLeastWidening * BytesOf(load->result(0)->type()) > BytesOf(mma->operand(index)->type());
        (stored && wide ? held : made).insert(load);
      }
    }
    std::vector<Op*> loads;
    for (Op* op : *loop_->region(0)) {
      if (made.contains(op) && !held.contains(op) && op->result(0)->type().rank() == 2) loads.push_back(op);
    }
    return loads;
  }

  // An instruction reads it in shared memory, where threads store it.
  bool IsStored(const Op& mma) const {
    const StagedMmaKind* kind = CopiedKindOn(target_);
    return kind != nullptr && kind->Takes(target_, mma) && ShapeOfMma(mma).m >= kLeastRows &&
           ir::MemoryBits(mma.operand(1)->type().elem()) == 16;
  }

  // Loads of the loop of which the value is made.
  std::vector<const Op*> LoadsBehind(const Value* value) const {
    std::vector<const Op*> loads;
    absl::flat_hash_set<const Op*> seen;
    std::vector<const Value*> open = {value};
    while (!open.empty()) {
      const Op* def = open.back()->def();
      open.pop_back();
      if (def == nullptr || def->parent() != loop_ || !seen.insert(def).second) continue;
      if (IsGpuOp(def, GpuOpcode::kConvertLayout)) continue;
      if (def->info()->is_load()) {
        loads.push_back(def);
      } else if (def->info()->has(ir::kPure) && def->num_regions() == 0 && !IsProduct(*def)) {
        for (int i = 0; i < def->num_operands(); ++i) open.push_back(def->operand(i));
      }
    }
    return loads;
  }

  // It would be copied to a stage, which has so many other bytes, from where threads read it.
  std::string WhyNotRead(const Op& load, int64_t others) const {
    if (const auto told = decided_.find(&load); told != decided_.end() && !told->second.empty()) return told->second;
    const std::optional<LoadedOperand> tile = LoadedOperandOf(load.result(0), true);
    if (!tile) return kNoRows;
    const int64_t bytes = others + tile->slot_bytes(), most = target_.shared_bytes_of(1) / tuning::kFetchStages;
    if (bytes > most) return absl::StrCat("a stage would have ", bytes, " bytes, of which ", most, " fit");
    return loads_.WhyNot(load);
  }

  // A convert_layout of the tile, which all users but products take.
  Op* InsertRead(Op* load) {
    Value* tile = load->result(0);
    const ir::Type type = tile->type();
    const uint32_t end = 1;
    Op* read = module_->CreateOp({.info = GetGpuOp(GpuOpcode::kConvertLayout),
                                  .operands = {&tile, 1},
                                  .operand_ends = {&end, 1},
                                  .results = {&type, 1},
                                  .attrs = {},
                                  .loc = load->loc,
                                  .pos = load->pos});
    tile->ReplaceAllUsesWith(read->result(0));
    read->set_operand(0, tile);
    module_->InsertBefore(load->block(), load->next(), read);
    return read;
  }

  std::string WhyNot(const ProductOperand& operand) const {
    const Op& mma = *operand.mma;
    const std::optional<StagedTile>& tile = operand.tile;
    if (!tile) {
      const auto told = decided_.find(LoadOf(mma, operand.index));
      if (told != decided_.end() && !told->second.empty()) return told->second;
      return kNoRows;
    }
    const ir::Elem elem = mma.operand(operand.index)->type().elem();
    if (!HasMatrixInstruction(target_, mma) && elem != ir::Elem::kF32 && elem != ir::Elem::kF64) {
      return "no matrix instruction takes these tiles, and for others the elements are widened on their way";
    }
    for (const Candidate& c : candidates_) {
      if (LoadOf(c) != tile->load || !c.why.empty()) continue;
      if (!tile->lies_like(*c.operand.tile))
        return "another product reads the tile in a way in which it would lie otherwise";
    }
    return loads_.WhyNot(operand);
  }

  const Target& target_;
  ir::Module* module_;
  Op* loop_;
  LoopLoads loads_;
  Facts facts_;
  absl::flat_hash_map<const Op*, std::string> decided_;  // loads through pointers, and why cp.async can't bring them
  std::vector<Candidate> candidates_;
  std::vector<std::pair<const Op*, Op*>>
      reads_;  // loads that other operations than products use, with their convert_layout
};

// TMA will bring the operands, and the registers of a multiprocessor hold one block.
bool IsAloneByTma(const Target& target, const std::vector<ProductOperand>& operands, const Op& loop) {
  Op* mma = operands[0].mma;
  const int warps = PreferredWarps(target, *mma);
  if (!target.has(kTma) || !WouldReadStages(target, warps, mma)) return false;
  for (const ProductOperand& o : operands) {
    if (!ir::LoadViewOp::Is(o.tile->load) || !WhyNotMapped(*o.tile, loop).ok()) return false;
  }
  const int64_t threads = 32 * warps, sums = mma->result(0)->type().num_elements() + SumsApart(target, warps, *mma);
  return 2 * (sums + threads * tuning::kBesideStaged) > Target::kRegisters;
}

// Splits the iterations of a product along K while three stages of its operands, for two blocks, exceed shared memory; of blocks that are alone
// those that are fetched ahead.
void Split(const Target& target, bool alone, ir::Module* module, Op* mma) {
  const int64_t room = alone ? target.shared_bytes_of(1) / tuning::kFetchStages
                             : target.shared_bytes_of(2) / tuning::kStagesForTwoBlocks;
  const int64_t bytes = LoadedProductOf(*mma)->slot_bytes();
  int parts = 1;
  while (bytes / parts > room && CanNarrowK(*mma, 2 * parts)) parts *= 2;
  if (parts > 1) NarrowK(module, mma, parts);
}

}  // namespace

bool CopyAhead(const Target& target, bool by_tma, ir::Module* module, ir::Function* function, Trace* trace) {
  if (!target.has(kCpAsync)) return false;
  std::vector<Op*> loops;
  std::vector<std::vector<ProductOperand>> moves;
  ir::Walk(function->body(), [&](Op* op) {
    if (op->opcode() != Opcode::kFor || op->region(0) == nullptr) return;
    for (const Op* other : loops) {
      if (StandsInOrHolds(op, other)) return;  // one ring at a time
    }
    std::vector<ProductOperand> operands = Loop(target, module, op).Choose(trace);
    if (operands.empty()) return;
    if (operands.size() == 2 && operands[0].mma == operands[1].mma)
      Split(target, by_tma && IsAloneByTma(target, operands, *op), module, operands[0].mma);
    loops.push_back(op);
    moves.push_back(std::move(operands));
  });
  for (size_t i = 0; i < loops.size(); ++i)
    LoopLoads(module, loops[i], {.by_workers = true}).Move(GpuOpcode::kCopyAhead, moves[i]);
  return !loops.empty();
}

absl::Status CopyAhead(Program& p) {
  bool fetches = false;
  ir::Walk(p.function->body(), [&](Op* op) { fetches = fetches || IsGpuOp(op, GpuOpcode::kFetchAhead); });
  if (p.candidate.ahead == Ahead::kNothing || fetches) return absl::OkStatus();
  if (CopyAhead(p.target, p.candidate.ahead == Ahead::kTma, p.module.get(), p.function, &p.trace()))
    Decide<Decision::kMostStages>(p.module.get(), KernelOp(p.module.get(), p.function), p.candidate.most_stages);
  return absl::OkStatus();
}

}  // namespace tile::codegen
