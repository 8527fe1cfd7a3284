#include "codegen/plan/warps.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/wgmma_plan.h"
#include "codegen/target/gpu_ops.h"
#include "codegen/target/tuning.h"

namespace tile::codegen {
namespace {

constexpr int64_t kWarpRows = 16;  // of a product

bool LoadsInRounds(const ir::Op& op) {
  if (!op.info()->is_load()) return false;
  const ir::Op* parent = op.parent();
  return parent != nullptr && parent->opcode() == ir::Opcode::kFor && !op.result(0)->type().is_scalar();
}

}  // namespace

int64_t LiveBesideStages(const Target& target, int num_warps, const ir::Function& function) {
  return MostLiveRegisters(function,
                           [&](const ir::Op& op, int i) { return i == 0 && StagesLhs(target, num_warps, op); })
      .words;
}

WarpChoice ChooseWarps(const Target& target, const ir::Function& function, bool aligned) {
  int64_t largest = 0;
  std::string largest_type;
  bool has_products = false, in_rounds = false;
  std::vector<const ir::Op*> products;
  int64_t chain_rows = 0;
  TileRegisters registers;
  ir::Walk(function.body(), [&](ir::Op* op) {
    if (op->info()->family == ir::Family::kMma) {
      has_products = true;
      products.push_back(op);
      if (WorksOnRows(*op)) chain_rows = std::max(chain_rows, op->result(0)->type().shape()[0]);
    }
    in_rounds = in_rounds || LoadsInRounds(*op);
    // Constants are made where they are used; what is fetched ahead is in shared memory.
    if (op->opcode() == ir::Opcode::kConstant || IsFetch(op) || IsFetch(op->parent())) return;
    for (int i = 0; i < op->num_results(); ++i) {
      if (registers.Of(op->result(i)) <= largest) continue;
      largest = registers.Of(op->result(i));
      largest_type = op->result(i)->type().ToString();
    }
  });
  tuning::Share memory = aligned ? tuning::kAlignedMemory : tuning::kMemory;
  if (in_rounds) memory.largest = tuning::kLargestOfLoops;
  const tuning::Share share = chain_rows > 0 ? tuning::ChainShare(target) : has_products ? tuning::kProducts : memory;
  WarpChoice choice;
  // A thread should have at least four elements before there is another warp, up to four warps.
  while (choice.num_warps < 4 && largest > 32 * 4 * choice.num_warps) choice.num_warps *= 2;
  // Rows are whole in a warp, while registers last.
  const auto has_all_rows = [&] { return chain_rows > 0 && kWarpRows * choice.num_warps >= chain_rows; };
  // Two warpgroups, each with a larger part of the result, read less of the operands from shared memory than four do.
  const auto two_warpgroups = [&] {
    return chain_rows == 0 && choice.num_warps == 8 && has_products &&
           std::all_of(products.begin(), products.end(), [&](const ir::Op* mma) {
             return PlanWgmmaOfCopies(target, choice.num_warps, *mma).has_value();
           });
  };
  while (choice.num_warps < tuning::kMaxWarps && largest > 32 * share.largest * choice.num_warps) {
    if (two_warpgroups() && largest <= 32 * tuning::kTwoWarpgroups.largest * choice.num_warps) break;
    if (target.has(kWgmma) && has_all_rows() && largest <= 32 * tuning::kLargestOfRows * choice.num_warps) break;
    choice.num_warps *= 2;
  }
  const LiveRegisters live = MostLiveRegisters(function);
  const int for_largest = choice.num_warps;
  while (choice.num_warps < tuning::kMaxWarps && live.words > 32 * share.live * choice.num_warps) {
    if (two_warpgroups() && live.words <= 32 * tuning::kTwoWarpgroups.live * choice.num_warps) break;
    const int64_t in_loop = LiveBesideStages(target, choice.num_warps, function);
    if (has_all_rows() && in_loop <= 32 * tuning::kChains.live * choice.num_warps) break;
    choice.num_warps *= 2;
  }
  choice.why = largest == 0
                   ? "there are no tiles"
                   : absl::StrCat("the largest tile, ", largest_type, ", takes ", largest, " registers of 32 bits, ",
                                  (largest + 32 * choice.num_warps - 1) / (32 * choice.num_warps), " in a thread");
  if (choice.num_warps > for_largest) {
    absl::StrAppend(&choice.why, "; tiles of ", live.words, " registers live at once, behind ",
                    live.at->info()->mnemonic);
  }
  return choice;
}

}  // namespace tile::codegen
