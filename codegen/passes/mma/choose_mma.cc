#include "codegen/passes/mma/choose_mma.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/scaled_mma.h"
#include "codegen/plan/mma/stored_operands.h"
#include "codegen/plan/mma/tcgen05_scaled.h"
#include "codegen/plan/staging/staging.h"
#include "ir/check.h"
#include "ir/op_views.h"

namespace tile::codegen {

void ChooseMma(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function) {
  const int num_warps = schedule.num_warps;
  ir::Walk(function->body(), [&](ir::Op* op) {
    if (!ir::MmaOp::Is(op)) return;
    const auto kinds = MmaKinds();
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const MmaKind* candidate) {
      return candidate->Choose(target, num_warps, module, op);
    });
    TILE_CHECK(kind != kinds.end(), "no instruction does a product");
    TILE_CHECK(FetchOf(*op) == nullptr || (*kind)->reads_stages(),
               "operands are fetched ahead for a product that does not read them there");
  });
  KeepStored(target, schedule, module, function);
}

// Remarks why products with block scales are multiplied out.
void TellWhyNot(Program& p) {
  const int num_warps = ScheduleOf(*p.function)->num_warps;
  ir::Walk(p.function->body(), [&](const ir::Op* op) {
    if (!ir::MmaScaledOp::Is(op) || KindOf(*op).operands() != OperandsBy::kElements) return;
    const std::string why =
        p.target.has(kTcgen05) ? WhyNotScaledInColumns(p.target, num_warps, *op) : WhyNotByBlockScales(p.target, *op);
    p.trace().on_remark(absl::StrCat(p.module->Where(op->loc, op->pos), ": remark[choose-mma]: ", op->info()->mnemonic,
                                     ": it is multiplied out: ", why));
  });
}

absl::Status ChooseMma(Program& p) {
  ChooseMma(p.target, *ScheduleOf(*p.function), p.module.get(), p.function);
  if (p.trace().on_remark) TellWhyNot(p);
  return absl::OkStatus();
}

}  // namespace tile::codegen
