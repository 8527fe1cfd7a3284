#include "codegen/passes/expand/expand_fetches.h"

#include <functional>
#include <vector>

#include "codegen/gpu/ops.h"
#include "codegen/passes/expand/column_worker_role.h"
#include "codegen/passes/expand/producer_role.h"
#include "codegen/passes/expand/replace_body.h"
#include "codegen/passes/expand/worker_role.h"
#include "codegen/plan/mma/staged_mma.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Attr;
using ir::AttrKind;
using ir::Block;
using ir::Builder;
using ir::Op;
using ir::Value;

bool Any(const ir::Function& f, const std::function<bool(const Op&)>& is) {
  bool any = false;
  ir::Walk(f.body(), [&](const Op* op) { any = any || is(*op); });
  return any;
}

class Expander {
 public:
  Expander(ir::Function* function, LayoutTable* layouts, Builder& b)
      : function_(function), layouts_(layouts), schedule_(*ScheduleOf(*function)), b_(b) {}

  void Run() {
    // The first instructions prefetch the descriptors.
    Plain(GpuOpcode::kPrefetchTensorMaps);
    std::vector<FetchRing> rings;
    ir::Walk(function_->body(), [&](const Op* op) {
      if (IsGpuOp(op, GpuOpcode::kFetchAhead)) rings.push_back(AllocateRing(b_, schedule_, *op));
    });
    in_columns_ = SumsInColumns(*rings[0].fetch);
    in_columns_ ? EmitWithColumns(rings) : EmitRoles(rings);
  }

 private:
  void EmitRoles(const std::vector<FetchRing>& rings) {
    EmitEntry();
    ProducerRole producer(rings, *function_);
    EmitProducer(producer);
    WorkerRole workers(rings, *function_, layouts_);
    EmitWorkers(workers, [] {});
  }

  // The same, where sums are in tensor memory.
  void EmitWithColumns(const std::vector<FetchRing>& rings) {
    std::vector<FetchRing> all = rings;
    for (FetchRing& sums : AllocateSums(b_, schedule_, rings)) all.push_back(sums);
    ColumnMemory memory = AllocateColumns(b_, ColumnsOfSums(rings));
    EmitEntry();
    FindColumns(b_, &memory);
    const SumColumns columns = PlaceSums(b_, rings, memory);
    ProducerRole producer(rings, *function_);
    EmitProducer(producer);
    ColumnWorkerRole workers(all, columns, *function_);
    EmitWorkers(workers, [&] { FreeColumns(b_, memory); });
  }

  void Plain(GpuOpcode code) { b_.Create(GetGpuOp(code), {}, {}); }

  // A cluster's barrier is an arrival and a wait. Between them a persistent grid computes its first block, which takes
  // divisions.
  void EmitEntry() {
    Plain(GpuOpcode::kFenceBarriers);
    if (schedule_.cluster) Plain(GpuOpcode::kClusterArrive);
    const bool places = Any(*function_, [](const Op& op) { return ir::GetTileBlockIdOp::Is(&op); });
    if (schedule_.persistent || places) Plain(GpuOpcode::kFirstBlock);
    Plain(schedule_.cluster ? GpuOpcode::kClusterWait : GpuOpcode::kBlockBarrier);
  }

  // The role's program for one tile block, or for each one.
  void EmitBlocks(RoleCopy& role, int64_t phase, const std::function<void()>& after_block) {
    role.Begin(b_, phase);
    if (!schedule_.persistent) return role.CopyBlock(b_, *function_->body());
    const ir::ops::Values inits = role.FlatPositions();
    const std::vector<ir::Type> types(inits.size(), I32(b_));
    Op* each = b_.Create(GetGpuOp(GpuOpcode::kEachBlock), {inits}, types);
    {
      Builder::Scope scope(b_, b_.AddRegion(each, 0, types));
      role.SetPositions(each->region(0)->args());
      for (const RingPosition& at : role.positions()) {
        Named("stage", at.stage);
        Named("phase", at.phase);
      }
      role.CopyBlock(b_, *function_->body());
      after_block();
      b_.Create(ir::Opcode::kYield, {role.FlatPositions()}, {});
    }
    ir::ops::Values last;
    for (int i = 0; i < each->num_results(); ++i) last.push_back(each->result(i));
    role.SetPositions(last);
  }

  void SetRegisters(int count, bool more) {
    b_.Create(GetGpuOp(GpuOpcode::kSetRegisters), {}, {},
              {{"count", Attr::Int(AttrKind::kInt, count)}, {"more", Attr::Flag(more)}});
  }

  void End() { b_.Create(ir::Opcode::kYield, {{}}, {}); }

  void EmitProducer(ProducerRole& role) {
    Builder::Scope scope(b_, b_.AddRegion(b_.Create(GetGpuOp(GpuOpcode::kProducer), {}, {}), 0, {}));
    const auto emit = [&] {
      EmitBlocks(role, 1, [] {});
      // No arrival may reach a block that has ended: other blocks of a cluster arrive, and so do products that end late.
      if (schedule_.cluster || in_columns_) role.AwaitReleases(b_);
    };
    if (schedule_.moves_registers()) {
      SetRegisters(schedule_.kept_by_producer, false);
      Builder::Scope warp(b_, b_.AddRegion(b_.Create(GetGpuOp(GpuOpcode::kWarp), {}, {}), 0, {}));
      emit();
      End();
    } else {
      emit();
    }
    End();
  }

  void EmitWorkers(RoleCopy& role, const std::function<void()>& at_end) {
    Builder::Scope scope(b_, b_.AddRegion(b_.Create(GetGpuOp(GpuOpcode::kWorkers), {}, {}), 0, {}));
    if (schedule_.moves_registers()) SetRegisters(schedule_.with_moved_registers(), true);
    // The next tile block has the same shared arrays. Rings and scratch memory have barriers of their own.
    const bool keeps_shared =
        Any(*function_, [](const Op& op) { return ir::AllocSharedOp::Is(&op) || ir::AllocaOp::Is(&op); });
    EmitBlocks(role, 0, [&] {
      if (keeps_shared) Plain(GpuOpcode::kWorkerBarrier);
    });
    at_end();
    End();
  }

  ir::Function* function_;
  LayoutTable* const layouts_;
  const Schedule schedule_;
  Builder& b_;
  bool in_columns_ = false;
};

}  // namespace

absl::Status ExpandFetches(Program& p) {
  if (ScheduleOf(*p.function)->producer)
    ReplaceBody(p.function, [&](Builder& b) { Expander(p.function, &p.layouts, b).Run(); });
  return absl::OkStatus();
}

}  // namespace tile::codegen
