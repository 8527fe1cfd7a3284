#include "tests/schedule/mutants.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/op_views.h"
#include "codegen/gpu/schedule/fault.h"
#include "codegen/gpu/schedule/run.h"
#include "codegen/gpu/schedule/verify.h"
#include "ir/clone.h"

namespace tile::codegen::schedule {
namespace {

using ir::Op;

enum class Change { kDropped, kMovedDown, kMovedUp };
constexpr Change kChanges[] = {Change::kDropped, Change::kMovedDown, Change::kMovedUp};
constexpr const char* kNames[] = {"dropped", "moved down", "moved up"};

bool Synchronises(const Op* op) {
  return gpu::BarrierWaitOp::Is(op) || gpu::BarrierArriveOp::Is(op) || gpu::BarrierExpectOp::Is(op) ||
         gpu::MmaWaitOp::Is(op) || gpu::FenceBarriersOp::Is(op) || gpu::BlockBarrierOp::Is(op) ||
         gpu::ClusterArriveOp::Is(op) || gpu::ClusterWaitOp::Is(op) || gpu::WriteTensorMapsOp::Is(op) ||
         gpu::TurnWaitOp::Is(op) || gpu::TurnPassOp::Is(op) || gpu::FenceProxyAsyncOp::Is(op) ||
         gpu::WorkerBarrierOp::Is(op) || gpu::MmaCommitOp::Is(op) || gpu::FenceColumnsBeforeOp::Is(op) ||
         gpu::FenceColumnsAfterOp::Is(op) || gpu::FreeColumnsOp::Is(op) || gpu::CommitCopiesOp::Is(op) ||
         gpu::WaitCopiesOp::Is(op);
}

// Not only a computation. A product reads what lies in a stage.
bool Acts(const Op* op) {
  return op->num_regions() > 0 || IsProduct(*op) || (!op->info()->has(ir::kPure) && !gpu::StageTileOp::Is(op));
}

bool Uses(const Op* user, const Op* def) {
  bool uses = false;
  const auto look = [&](const Op* op) {
    for (int i = 0; i < op->num_operands(); ++i) uses = uses || op->operand(i)->def() == def;
  };
  look(user);
  for (int r = 0; r < user->num_regions(); ++r) ir::Walk(user->region(r), look);
  return uses;
}

// The operation in front of which it goes; itself: it can't be moved.
Op* TargetOf(Op* op, bool down) {
  Op* other = op;
  do {
    other = down ? other->next() : other->prev();
    if (other == nullptr || other->info()->has(ir::kTerminator)) return op;
    if (down ? Uses(other, op) : Uses(op, other)) return op;
  } while (!Acts(other));
  return down ? other->next() : other;
}

bool Mutate(ir::Module* module, Op* op, Change change) {
  if (change == Change::kDropped) {
    for (int i = 0; i < op->num_results(); ++i) op->result(i)->ReplaceAllUsesWith(op->operand(i));
    op->Erase();
    return true;
  }
  Op* where = TargetOf(op, change == Change::kMovedDown);
  if (where == op) return false;
  ir::Block* block = op->block();
  op->Unlink();
  module->InsertBefore(block, where, op);
  return true;
}

// The n-th one; null: there are fewer.
Op* SynchronisingOp(const ir::Function& function, int n) {
  Op* found = nullptr;
  ir::Walk(function.body(), [&](Op* op) {
    if (Synchronises(op) && n-- == 0) found = op;
  });
  return found;
}

}  // namespace

void MutantTable::Add(const ir::Module& module, const ir::Function* before, int seeds) {
  for (int n = 0; SynchronisingOp(*module.functions[0], n) != nullptr; ++n) {
    for (const Change change : kChanges) {
      const std::unique_ptr<ir::Module> mutant = ir::CloneModule(module);
      const ir::Function& function = *mutant->functions[0];
      Op* op = SynchronisingOp(function, n);
      const std::string kind = absl::StrCat(op->info()->mnemonic, " ", kNames[static_cast<int>(change)]);
      const std::string place = NameOf(*op);
      if (!Mutate(mutant.get(), op, change)) continue;
      Row& row = rows_[kind];
      ++row.mutants;
      if (!GpuLevelFaults(function).empty()) {
        ++row.by_rules;
      } else if (!ScheduleFaults(function, before, seeds).empty()) {
        ++row.by_runs;
      } else {
        survivors_.push_back({kind, place});
      }
    }
  }
}

int MutantTable::mutants() const {
  int all = 0;
  for (const auto& [kind, row] : rows_) all += row.mutants;
  return all;
}

std::string MutantTable::ToString() const {
  std::string text = absl::StrFormat("%-28s %8s %8s %8s %10s\n", "", "mutants", "by rules", "by runs", "not found");
  for (const auto& [kind, row] : rows_) {
    absl::StrAppendFormat(&text, "%-28s %8d %8d %8d %10d\n", kind, row.mutants, row.by_rules, row.by_runs,
                          row.mutants - row.by_rules - row.by_runs);
  }
  return text;
}

}  // namespace tile::codegen::schedule
