#include "codegen/plan/warps.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/target/gpu_ops.h"

namespace tile::codegen {
namespace {

// Registers of a thread that its part of the largest tile may take, and its parts of all tiles that live at once: as many
// again are for addresses and steps between.
struct Share {
  int64_t largest, live;
};
constexpr Share kForProducts = {64, 128};  // many results in a thread serve each other
// Products of products are used where they are, nothing stands between; wgmma wants 64 rows of four warps in two blocks rather
// than twice as many in one (383 TFLOP/s against 363, attention of 128 x 64), mma.sync the other way round (285, 313).
constexpr Share kForChains = {64, 208}, kForChainsByWgmma = {64, 176};
// Several blocks on a multiprocessor, so that some load while others wait. Accesses that may turn out to be narrow take
// registers of their own (layer norm of 8192 bf16 with 8 warps: 156 against 60; with 16 warps 119 us, aligned with 8: 93).
constexpr Share kForMemory = {32, 64}, kForAlignedMemory = {32, 96};
// What each round of a loop loads and uses at once, each round waits for: the more warps, the more of them are on their way (row
// sums of 8192 f32 in tiles of 16 x 256: 102.7 us with 4 warps, 95.5 with 8, 92.0 with 16).
constexpr int64_t kLargestOfRounds = 8;
constexpr int kMaxWarps = 16;
constexpr int64_t kWarpRows = 16;  // of a product

bool LoadsInRounds(const ir::Op& op) {
  if (!op.info()->is_load()) return false;
  const ir::Op* parent = op.parent();
  return parent != nullptr && parent->opcode() == ir::Opcode::kFor && !op.result(0)->type().is_scalar();
}

}  // namespace

WarpChoice ChooseWarps(const Target& target, const ir::Function& function, bool aligned) {
  int64_t largest = 0;
  std::string largest_type;
  bool has_products = false, in_rounds = false;
  int64_t chain_rows = 0;
  ir::Walk(function.body(), [&](ir::Op* op) {
    if (op->info()->family == ir::Family::kMma) {
      has_products = true;
      if (WorksOnRows(*op)) chain_rows = std::max(chain_rows, op->result(0)->type().shape()[0]);
    }
    in_rounds = in_rounds || LoadsInRounds(*op);
    // Constants are made where they are used; what is fetched ahead lies in shared memory.
    if (op->opcode() == ir::Opcode::kConstant || IsFetch(op) || IsFetch(op->parent())) return;
    for (int i = 0; i < op->num_results(); ++i) {
      if (RegistersOf(op->result(i)->type()) <= largest) continue;
      largest = RegistersOf(op->result(i)->type());
      largest_type = op->result(i)->type().ToString();
    }
  });
  const Share chain = target.has(kWgmma) ? kForChainsByWgmma : kForChains;
  Share for_memory = aligned ? kForAlignedMemory : kForMemory;
  if (in_rounds) for_memory.largest = kLargestOfRounds;
  const Share share = chain_rows > 0 ? chain : has_products ? kForProducts : for_memory;
  WarpChoice choice;
  // A thread should have at least four elements before there is another warp, up to four warps.
  while (choice.num_warps < 4 && largest > 32 * 4 * choice.num_warps) choice.num_warps *= 2;
  while (choice.num_warps < kMaxWarps && largest > 32 * share.largest * choice.num_warps) choice.num_warps *= 2;
  const LiveRegisters live = MostLiveRegisters(function);
  const int for_largest = choice.num_warps;
  while (choice.num_warps < kMaxWarps && live.words > 32 * share.live * choice.num_warps) {
    // Rows are whole in a warp, while registers last.
    const bool all_rows = chain_rows > 0 && kWarpRows * choice.num_warps >= chain_rows;
    if (all_rows && live.words <= 32 * kForChains.live * choice.num_warps) break;
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
