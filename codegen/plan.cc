#include "codegen/plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/gpu_ops.h"
#include "codegen/live_registers.h"

namespace tile::codegen {
namespace {

// Registers of a thread that its part of the largest tile may take, and its parts of all tiles that live at once: as many
// again are for addresses and steps between.
struct Share {
  int64_t largest, live;
};
constexpr Share kForProducts = {64, 128};  // many results in a thread serve each other
constexpr Share kForMemory = {32, 64};     // several blocks on a multiprocessor, so that some load while others wait
constexpr int kMaxWarps = 16;

}  // namespace

Plan MakePlan(const Target&, const ir::Function& function) {
  int64_t largest = 0;
  std::string largest_type;
  bool has_products = false;
  ir::Walk(function.body(), [&](ir::Op* op) {
    has_products |= op->info()->family == ir::Family::kMma;
    // Constants are made where they are used; what is fetched ahead lies in shared memory.
    if (op->opcode() == ir::Opcode::kConstant || IsFetch(op) || IsFetch(op->parent())) return;
    for (int i = 0; i < op->num_results(); ++i) {
      if (RegistersOf(op->result(i)->type()) <= largest) continue;
      largest = RegistersOf(op->result(i)->type());
      largest_type = op->result(i)->type().ToString();
    }
  });
  const Share share = has_products ? kForProducts : kForMemory;
  Plan plan;
  plan.num_warps = 1;
  // A thread should have at least four elements before there is another warp, up to four warps.
  while (plan.num_warps < 4 && largest > 32 * 4 * plan.num_warps) plan.num_warps *= 2;
  while (plan.num_warps < kMaxWarps && largest > 32 * share.largest * plan.num_warps) plan.num_warps *= 2;
  const LiveRegisters live = MostLiveRegisters(function);
  const int for_largest = plan.num_warps;
  while (plan.num_warps < kMaxWarps && live.words > 32 * share.live * plan.num_warps) plan.num_warps *= 2;
  plan.why = largest == 0
                 ? "there are no tiles"
                 : absl::StrCat("the largest tile, ", largest_type, ", takes ", largest, " registers of 32 bits, ",
                                (largest + 32 * plan.num_warps - 1) / (32 * plan.num_warps), " in a thread");
  if (plan.num_warps > for_largest) {
    absl::StrAppend(&plan.why, "; tiles of ", live.words, " registers live at once, behind ", live.at->info()->mnemonic);
  }
  return plan;
}

}  // namespace tile::codegen
