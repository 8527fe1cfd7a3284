#include "codegen/passes/pipeline/copy_ahead.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/product_chain.h"
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

// A loop with operands of its products that loads may bring ahead.
class Loop {
 public:
  Loop(const Target& target, ir::Module* module, Op* loop)
      : target_(target), module_(module), loads_(module, loop, {.by_workers = true}) {
    for (Op* mma : *loop->region(0)) {
      if (!IsProduct(*mma)) continue;
      for (int i = 0; i < 2; ++i) {
        if (Op* load = LoadOf(*mma, i)) DecidePointers(load);
        const ProductOperand operand(mma, i);
        candidates_.push_back({operand, WhyNot(operand)});
      }
    }
    // A tile that several products use is stored as all of them read it, or moves for none.
    for (Candidate& c : candidates_) {
      for (const Candidate& other : candidates_) {
        if (c.why.empty() && !other.why.empty() && LoadOf(c) != nullptr && LoadOf(c) == LoadOf(other))
          c.why = "another product that uses the tile can't have it so";
      }
    }
  }

  // Those that take the step.
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
    // Loads that are left out lose the decision: with it they would be taken for tiles that a stage can hold.
    for (const Op* load : left_out) {
      if (load != nullptr && PointerCopyOf(*load)) const_cast<Op*>(load)->DropAnnotations();
    }
    return chosen;
  }

 private:
  struct Candidate {
    ProductOperand operand;
    std::string why;  // it can't be fetched ahead; "": it can
  };

  static Op* LoadOf(const Op& mma, int i) {
    Op* def = mma.operand(i)->def();
    while (def != nullptr && !def->info()->is_load()) def = def->num_operands() == 1 ? def->operand(0)->def() : nullptr;
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

  std::string WhyNot(const ProductOperand& operand) const {
    const Op& mma = *operand.mma;
    const std::optional<StagedTile>& tile = operand.tile;
    if (!tile) {
      const auto told = decided_.find(LoadOf(mma, operand.index));
      if (told != decided_.end() && !told->second.empty()) return told->second;
      return "it is not a tile of rank 2 that one weak load brings, through a partition view of a tensor in global "
             "memory, with rows of stride 1 and at least 16 bytes, and zero as padding, or through such pointers";
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
  LoopLoads loads_;
  Facts facts_;
  absl::flat_hash_map<const Op*, std::string> decided_;  // loads through pointers, and why cp.async can't bring them
  std::vector<Candidate> candidates_;
};

// The product will read what TMA brings, in blocks of which registers hold one.
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
