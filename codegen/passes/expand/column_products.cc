// The products of a loop that copies ahead and multiplies into tensor memory (MmaKind::through_columns). Before and
// after, for a product whose left operand the iteration made:
//
//   %n = mmaf %p, %v, %o
//
//   %at = stage_operand %p
//   fence_proxy_async
//   worker_barrier                                        // all warps have stored it, and loaded from the columns what was there
//   warp {
//     fence_columns_after
//     elect {
//       %none = column_sums false, %columns, %zero
//       %begun = mmaf <stage_tile %at>, <stage_tile of %v>, %none {async}
//       mma_commit %ended[0], true
//     }
//   }
//   <copies for a later iteration begin>
//   barrier_wait %ended[0], %phase
//   fence_columns_after
//   %n = load_columns %columns, %o
//   fence_columns_before
//
// A product ends before any later operation begins. So all products use the same columns, and a stage is released as it
// is for products in registers. The phase of the barrier alternates from product to product. Loops carry it, as they
// carry the position in a ring of one stage.
#include "codegen/analysis/product_chain.h"
#include "codegen/passes/expand/copy_role.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"

namespace tile::codegen {

using ir::Builder;
using ir::Op;
using ir::Value;
using ir::ops::Values;
namespace op = ir::ops;

FetchRing AllocateEnds(Builder& b, const Op& copy) {
  FetchRing ends;
  ends.fetch = &copy;
  ends.stages = 1;
  ends.full = Named("ended", AllocateBarriers(b, 1, 1, false));
  ends.zero = I32(b, 0);
  ends.one = ends.last = I32(b, 1);
  return ends;
}

// The operand's address. It is null if a stage holds the operand, or if it was stored before the loop.
Value* CopyRole::StoreLhs(Builder& b, const Op& mma) {
  if (CopyOf(mma, 0) != nullptr || frame_->invariants.contains(&mma)) return nullptr;
  Value* address = b.Create(GetGpuOp(GpuOpcode::kStageOperand), {{Of(mma.operand(0))}}, {I32(b)})->result(0);
  Plain(b, GpuOpcode::kFenceProxyAsync);
  return Named("lhs", address);
}

void CopyRole::BeginInColumns(Builder& b, const Op& mma) {
  if (Value* address = StoreLhs(b, mma)) frame_->invariants[&mma] = {address, nullptr};
  Plain(b, GpuOpcode::kWorkerBarrier);
  const Values staged = {Operand(b, mma, 0), Operand(b, mma, 1)};
  InRegion(b, GpuOpcode::kWarp, [&] {
    Plain(b, GpuOpcode::kFenceColumnsAfter);
    InRegion(b, GpuOpcode::kElect, [&] {
      const ir::Type type = mma.result(0)->type();
      Value* none = b.Create(GetGpuOp(GpuOpcode::kColumnSums),
                             {{I1(b, false)}, {columns_.first}, {op::Splat(b, type, 0)}}, {type})
                        ->result(0);
      Values operands = staged;
      for (int i = 2; i < mma.num_operands(); ++i)
        operands.push_back(i == ir::ProductOp(mma).acc_at() ? none : Of(mma.operand(i)));
      CopyProduct(b, mma, operands, true);
      Tell(b, GpuOpcode::kMmaCommit, ends().full, ends().zero);
    });
  });
}

void CopyRole::MultiplyThroughColumns(Builder& b, const Op& mma) {
  if (stages().pieces) stages().by_threads ? AdvancePieceByThreads(b) : AdvancePiece(b);
  if (ReadsWide(mma)) Await(b, wide().full, frame_->wide_at.stage, frame_->wide_at.phase);
  BeginInColumns(b, mma);
  FillMeanwhile(b);
  Await(b, ends().full, ends().zero, frame_->end_phase);
  frame_->end_phase = Named("end_phase", op::Xori(b, frame_->end_phase, ends().one));
  Plain(b, GpuOpcode::kFenceColumnsAfter);
  Op* load = b.Create(GetGpuOp(GpuOpcode::kLoadColumns), {{columns_.first}, {Of(ir::ProductOp(mma).acc())}},
                      {mma.result(0)->type()});
  DecideFragments(b.module(), load, mma);
  Plain(b, GpuOpcode::kFenceColumnsBefore);
  if (stages().pieces && !stages().by_threads) Release(b, of_frame().free, frame_->at.stage, frame_->yes);
  Set(mma.result(0), load->result(0));
}

}  // namespace tile::codegen
