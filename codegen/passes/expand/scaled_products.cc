// Products with block scales that multiply into tensor memory. Before and after:
//
//   %n = mmaf_scaled %x, %y, %acc, %sx, %sy
//
//   %x1 = stage_operand %x
//   %y1 = stage_operand <%y, turned>
//   %sx1 = stage_operand %sx {swizzle = [16]}             // block scales, as tcgen05.cp takes them
//   %sy1 = stage_operand <%sy, turned> {swizzle = [16]}
//   fence_proxy_async
//   worker_barrier                                        // all warps have stored them, and loaded from the columns what was there
//   warp {
//     fence_columns_after
//     elect {
//       %none = column_sums false, %columns, %zero
//       %begun = mmaf_scaled <stage_tile %x1>, <stage_tile %y1>, %none, <stage_tile %sx1>, <stage_tile %sy1> {async}
//       mma_commit %ended[0], true
//     }
//   }
//   barrier_wait %ended[0], %phase
//   fence_columns_after
//   %n = load_columns %columns, %acc
//   fence_columns_before
//
// A product ends before any later operation begins. So all products use the same columns. The stores for the next
// iteration overwrite no tile that is still read. Each product has a barrier of its own, and control flow around it
// carries the phase.
#include "codegen/layout/block_scales.h"
#include "codegen/passes/expand/copy_role.h"
#include "codegen/passes/expand/stored_operands.h"
#include "codegen/plan/mma/scaled_mma.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/mma/tcgen05_scaled.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"

namespace tile::codegen {

using ir::Builder;
using ir::Op;
using ir::Value;
using ir::ops::Values;
namespace op = ir::ops;

FetchRing AllocateEndOfScaled(Builder& b, const Op& mma) {
  FetchRing ends = AllocateEnds(b, mma);
  ends.of_product = true;
  return ends;
}

// Operand i as the product reads it in shared memory: all are stored along K.
Value* CopyRole::StoreScaled(Builder& b, const Op& mma, int i) {
  const int scale = ScaleOf(mma, i), side = scale >= 0 ? scale : i;
  Value* v = Of(mma.operand(i));
  const ir::Type type = v->type();
  const Layout stored = StorableLayout(*LayoutOf(type), type, side, schedule_.num_warps);
  if (stored != *LayoutOf(type)) {
    v = b.Create(GetGpuOp(GpuOpcode::kConvertLayout), {{v}}, {TypeIn(b, layouts(), type.elem(), type.shape(), stored)})
            ->result(0);
  }
  StagedTile tile = StagedLhs(type);
  if (side == 1) tile = AlongK(StoredRhs(type));
  if (scale >= 0) tile.swizzle = kScaleRowBytes;
  return StageTileAt(b, StageAs(b, layouts(), v, tile), type, tile);
}

size_t CopyRole::RingOfScaled(const Op& mma) const {
  size_t i = 0;
  while (!ring(i).of_product || ring(i).fetch != &mma) ++i;
  return i;
}

void CopyRole::MultiplyScaled(Builder& b, const Op& mma) {
  const size_t number = RingOfScaled(mma);
  const FetchRing& ended = ring(number);
  Values operands;
  for (int i = 0; i < mma.num_operands(); ++i)
    operands.push_back(i == ir::MmaOp(mma).acc_at() ? nullptr : StoreScaled(b, mma, i));
  Plain(b, GpuOpcode::kFenceProxyAsync);
  Plain(b, GpuOpcode::kWorkerBarrier);
  InRegion(b, GpuOpcode::kWarp, [&] {
    Plain(b, GpuOpcode::kFenceColumnsAfter);
    InRegion(b, GpuOpcode::kElect, [&] {
      const ir::Type type = mma.result(0)->type();
      operands[static_cast<size_t>(ir::MmaOp(mma).acc_at())] =
          b.Create(GetGpuOp(GpuOpcode::kColumnSums), {{I1(b, false)}, {columns_.first}, {op::Splat(b, type, 0)}},
                   {type})
              ->result(0);
      CopyProduct(b, mma, operands, true);
      Tell(b, GpuOpcode::kMmaCommit, ended.full, ended.zero);
    });
  });
  Value*& phase = positions()[number].phase;
  Await(b, ended.full, ended.zero, phase);
  phase = Named("end_phase", op::Xori(b, phase, ended.one));
  Plain(b, GpuOpcode::kFenceColumnsAfter);
  Op* load = b.Create(GetGpuOp(GpuOpcode::kLoadColumns), {{columns_.first}, {Of(ir::MmaOp(mma).acc())}},
                      {mma.result(0)->type()});
  DecideFragments(b.module(), load, mma);
  Plain(b, GpuOpcode::kFenceColumnsBefore);
  Set(mma.result(0), load->result(0));
}

}  // namespace tile::codegen
