#include "codegen/plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tile::codegen {
namespace {

constexpr int64_t kWordsPerThread = 64;
constexpr int kMaxWarps = 16;

// 32-bit registers that a tile takes over all threads.
int64_t Words(ir::Type t) {
  if (!t.is_tile()) return 0;
  return t.num_elements() * std::max(1, ir::StorageBytes(t.elem()) / 4);
}

}  // namespace

Plan MakePlan(const Target&, const ir::Function& function) {
  int64_t largest = 0;
  std::string largest_type;
  ir::Walk(function.body(), [&](ir::Op* op) {
    // Constants are made where they are used.
    if (op->opcode() == ir::Opcode::kConstant) return;
    for (int i = 0; i < op->num_results(); ++i) {
      if (Words(op->result(i)->type()) <= largest) continue;
      largest = Words(op->result(i)->type());
      largest_type = op->result(i)->type().ToString();
    }
  });
  Plan plan;
  plan.num_warps = 1;
  // A thread should have at least four elements before there is another warp, up to four warps.
  while (plan.num_warps < 4 && largest > 32 * 4 * plan.num_warps) plan.num_warps *= 2;
  while (plan.num_warps < kMaxWarps && largest > 32 * kWordsPerThread * plan.num_warps) plan.num_warps *= 2;
  plan.why = largest == 0
                 ? "there are no tiles"
                 : absl::StrCat("the largest tile, ", largest_type, ", takes ", largest, " registers of 32 bits, ",
                                (largest + 32 * plan.num_warps - 1) / (32 * plan.num_warps), " in a thread");
  return plan;
}

}  // namespace tile::codegen
