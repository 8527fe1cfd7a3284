#include "codegen/gpu/schedule/verify.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/origin.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/gpu/op_views.h"
#include "codegen/gpu/schedule/fault.h"
#include "codegen/gpu/schedule/machine.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/target/decisions.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen::schedule {
namespace {

using ir::Op;
using ir::Value;

constexpr int64_t kMostRegisters = 65536;  // of a multiprocessor
constexpr int64_t kMostRowBytes = 128;
constexpr int64_t kAnyNumber = 1 << 20;  // of products in a loop
constexpr int kLeastOfThread = 24, kMostOfThread = 256, kRegisterStep = 8;

// The operation of this kind around it; null: there is none.
template <class View>
const Op* Around(const Op& op) {
  for (const Op* around = op.parent(); around != nullptr; around = around->parent()) {
    if (View::Is(around)) return around;
  }
  return nullptr;
}

// The allocation that an address is computed from by additions; null: it is none.
const Op* StagesOf(const Value* address) {
  const Op* def = address->def();
  if (def == nullptr || gpu::StagesOp::Is(def) || gpu::StageOperandOp::Is(def)) return def;
  if (!ir::AddiOp::Is(def)) return nullptr;
  const Op* lhs = StagesOf(def->operand(0));
  return lhs != nullptr ? lhs : StagesOf(def->operand(1));
}

// A product, or one with block scales that reads shared memory.
bool IsBegun(const Op& op) { return IsProduct(op) || IsScaledInColumns(op); }

bool TakesStageTile(const Op& op) {
  const bool hands_on = ir::YieldOp::Is(&op) && (gpu::CopyAsyncOp::Is(op.parent()) || gpu::PieceOp::Is(op.parent()));
  return hands_on || IsBegun(op) || ir::FToFOp::Is(&op) || IsGpuOp(&op, GpuOpcode::kConvertLayout) ||
         gpu::ConvertCopiedOp::Is(&op) || gpu::HeldWordsOp::Is(&op) || gpu::FragmentWordsOp::Is(&op) ||
         gpu::WidenLoadOp::Is(&op) || gpu::WidenStoreOp::Is(&op);
}

bool IsOfCopies(const Op& op) {
  return gpu::CopyAsyncOp::Is(&op) || gpu::CommitCopiesOp::Is(&op) || gpu::WaitCopiesOp::Is(&op) ||
         gpu::ConvertCopiedOp::Is(&op) || gpu::PieceOp::Is(&op);
}

// The bytes of a row in which a stage_operand stores its tile.
int64_t RowBytesOf(const Op& stored) {
  if (const auto swizzle = DecisionOf<Decision::kSwizzle>(stored)) return (*swizzle)[0];
  const ir::Type type = stored.operand(0)->type();
  return std::min<int64_t>(kMostRowBytes, type.shape()[1] * ir::MemoryBits(type.elem()) / 8);
}

bool IsTurn(const Op& op) { return gpu::TurnWaitOp::Is(&op) || gpu::TurnPassOp::Is(&op); }

// Its sums are in tensor memory: one thread begins it.
bool IsInColumns(const Op& op) { return IsBegun(op) && gpu::ColumnSumsOp::Is(ir::MmaOp(op).acc()->def()); }

bool RunsOn(const Op* op) { return op != nullptr && IsBegun(*op) && DecisionOf<Decision::kAsync>(*op); }

class Rules {
 public:
  explicit Rules(const ir::Function& function)
      : function_(function), schedule_(ScheduleOf(function).value_or(Schedule())) {}

  Fault Run() {
    CheckEntry();
    ir::Walk(function_.body(), [&](const Op* op) {
      if (RunsOn(op)) products_ += Around<ir::OpView<ir::WithTraits<ir::kLoop>>>(*op) == nullptr ? 1 : kAnyNumber;
    });
    ir::Walk(function_.body(), [&](const Op* op) { Check(*op); });
    return std::move(fault_);
  }

 private:
  void Fail(const Op& op, FaultKind kind, std::string what) {
    if (!fault_.found()) fault_ = Fault{kind, std::move(what)}.At(op);
  }

  // Allocations, the fence, the barrier, the roles: in this order.
  void CheckEntry() {
    const Op *barriers = nullptr, *fence = nullptr, *arrival = nullptr, *producer = nullptr, *workers = nullptr;
    bool all_wait = false;
    for (const Op* op : *function_.body()) {
      const bool allocates = gpu::StagesOp::Is(op) || gpu::AllocBarriersOp::Is(op) || gpu::AllocTensorMapOp::Is(op);
      if (allocates && (producer != nullptr || workers != nullptr)) Fail(*op, FaultKind::kRole, "stands behind a role");
      if (gpu::AllocBarriersOp::Is(op)) {
        barriers = op;
        all_wait = false;
        fence = arrival = nullptr;
      }
      if (gpu::AllocColumnsOp::Is(op)) CheckColumns(*op, producer != nullptr || workers != nullptr);
      if (gpu::FenceBarriersOp::Is(op)) fence = op;
      if (gpu::ClusterArriveOp::Is(op)) arrival = fence;
      const bool together =
          schedule_.cluster ? gpu::ClusterWaitOp::Is(op) && arrival != nullptr : gpu::BlockBarrierOp::Is(op);
      all_wait = all_wait || (together && fence != nullptr);
      if (gpu::ProducerOp::Is(op)) CheckRole(*op, &producer, workers != nullptr);
      if (gpu::WorkersOp::Is(op)) CheckRole(*op, &workers, false);
      const bool begins = gpu::ProducerOp::Is(op) || gpu::WorkersOp::Is(op);
      if (begins && barriers != nullptr && !all_wait)
        Fail(*barriers, FaultKind::kNotInitialised,
             "is used by others without a fence and a barrier of all threads behind it");
    }
    if (producer != nullptr && !schedule_.producer)
      Fail(*producer, FaultKind::kRole, "is the role of a warp that the schedule does not have");
  }

  void CheckColumns(const Op& alloc, bool late) {
    if (late || columns_ != nullptr)
      Fail(alloc, FaultKind::kRole, late ? "stands behind a role" : "stands there twice");
    columns_ = &alloc;
    const auto count = ir::SplatOf(alloc.operand(0));
    if (!count || !IsAllocation(static_cast<int64_t>(*count)))
      Fail(alloc, FaultKind::kColumns, "allocates another number of columns than 32, 64, 128, 256 or 512");
  }

  void CheckRole(const Op& op, const Op** seen, bool late) {
    if (*seen != nullptr || late)
      Fail(op, FaultKind::kRole, *seen != nullptr ? "stands there twice" : "stands behind the workers");
    *seen = &op;
  }

  void Check(const Op& op) {
    CheckPlace(op);
    if (gpu::AllocBarriersOp::Is(&op)) CheckArrivals(gpu::AllocBarriersOp(op));
    if (gpu::BarrierWaitOp::Is(&op)) {
      const gpu::BarrierWaitOp wait(op);
      CheckBarrier(op, wait.barriers(), wait.number());
      if (const auto phase = ir::SplatOf(wait.phase()); phase && *phase > 1)
        Fail(op, FaultKind::kOperand, absl::StrCat("waits for phase ", *phase, ", and phases are 0 and 1"));
    }
    if (gpu::BarrierArriveOp::Is(&op)) {
      const gpu::BarrierArriveOp arrive(op);
      CheckBarrier(op, arrive.barriers(), arrive.number());
      if (arrive.of_cluster() && !schedule_.cluster)
        Fail(op, FaultKind::kCluster, "arrives in a cluster, and there is none");
    }
    if (gpu::BarrierExpectOp::Is(&op)) CheckExpect(gpu::BarrierExpectOp(op));
    if (gpu::TmaLoadOp::Is(&op)) CheckLoad(gpu::TmaLoadOp(op));
    if (gpu::StageTileOp::Is(&op)) CheckStageTile(gpu::StageTileOp(op));
    if (gpu::MmaWaitOp::Is(&op)) CheckMmaWait(gpu::MmaWaitOp(op));
    if (gpu::ClaimStagesOp::Is(&op)) CheckClaim(op);
    if (IsTurn(op)) CheckTurn(op);
    if (gpu::MeanwhileOp::Is(&op)) CheckMeanwhile(op);
    if (gpu::CopyAsyncOp::Is(&op)) CheckCopy(op);
    if (gpu::PieceOp::Is(&op)) CheckPiece(op);
    if (gpu::WaitCopiesOp::Is(&op) && gpu::WaitCopiesOp(op).pending() < 0)
      Fail(op, FaultKind::kOperand, "lets fewer than no groups be on their way");
    if (RunsOn(&op)) CheckProduct(op);
    if (gpu::MmaCommitOp::Is(&op)) CheckCommit(gpu::MmaCommitOp(op));
    if (gpu::ColumnsAtOp::Is(&op) && op.operand(0)->def() != columns_)
      Fail(op, FaultKind::kOperand, "asks for columns where no alloc_columns has written them");
    if (gpu::ColumnSumsOp::Is(&op)) CheckColumnSums(op);
    if (gpu::SetRegistersOp::Is(&op)) CheckRegisters(gpu::SetRegistersOp(op));
  }

  // Who may do it.
  void CheckPlace(const Op& op) {
    const bool in_workers = Around<gpu::WorkersOp>(op) != nullptr, in_producer = Around<gpu::ProducerOp>(op) != nullptr;
    const bool elected = Around<gpu::ElectOp>(op) != nullptr, one_warp = Around<gpu::WarpOp>(op) != nullptr;
    const bool of_all = gpu::BlockBarrierOp::Is(&op) || gpu::ClusterArriveOp::Is(&op) || gpu::ClusterWaitOp::Is(&op) ||
                        gpu::FenceBarriersOp::Is(&op) || gpu::StagesOp::Is(&op) || gpu::AllocBarriersOp::Is(&op) ||
                        gpu::AllocTensorMapOp::Is(&op) || gpu::ProducerOp::Is(&op) || gpu::WorkersOp::Is(&op) ||
                        gpu::AllocColumnsOp::Is(&op);
    if (of_all && op.parent() != nullptr) Fail(op, FaultKind::kRole, "is for all threads, and not all come here");
    const bool in_columns = IsInColumns(op);
    const bool of_workers = gpu::WorkerBarrierOp::Is(&op) || gpu::MmaWaitOp::Is(&op) || (IsBegun(op) && !in_columns) ||
                            gpu::LoadColumnsOp::Is(&op) || gpu::ClaimStagesOp::Is(&op) ||
                            gpu::StageOperandOp::Is(&op) || gpu::WarpNumberOp::Is(&op) || gpu::WidenStoreOp::Is(&op) ||
                            gpu::MeanwhileOp::Is(&op) || IsTurn(op) || IsOfCopies(op);
    if (of_workers && (!in_workers || elected || one_warp))
      Fail(op, FaultKind::kRole, "is for all workers, and not all come here");
    const bool of_first = in_columns || gpu::MmaCommitOp::Is(&op) || gpu::FreeColumnsOp::Is(&op);
    if (of_first && (!in_workers || !one_warp))
      Fail(op, FaultKind::kRole, "is for the first worker, and others come here");
    if (gpu::FreeColumnsOp::Is(&op) && elected)
      Fail(op, FaultKind::kRole, "is for whole warps, and stands in an elect");
    const bool of_thread =
        gpu::TmaLoadOp::Is(&op) || gpu::BarrierExpectOp::Is(&op) || in_columns || gpu::MmaCommitOp::Is(&op);
    if (of_thread && !elected) Fail(op, FaultKind::kRole, "is for one thread, and stands in no elect");
    const bool of_warp = gpu::BarrierWaitOp::Is(&op) || gpu::BarrierArriveOp::Is(&op) || gpu::WarpOp::Is(&op) ||
                         gpu::SetRegistersOp::Is(&op) || gpu::EachBlockOp::Is(&op);
    if (of_warp && elected) Fail(op, FaultKind::kRole, "is for whole warps, and stands in an elect");
    if ((of_thread || of_warp) && !in_workers && !in_producer) Fail(op, FaultKind::kRole, "stands in no role");
    if (gpu::EachBlockOp::Is(&op) && !schedule_.persistent)
      Fail(op, FaultKind::kRole, "goes through tile blocks of a grid that is not persistent");
  }

  void CheckBarrier(const Op& op, const Value* barriers, const Value* number) {
    if (!gpu::AllocBarriersOp::Is(barriers->def()))
      return Fail(op, FaultKind::kOperand,
                  absl::StrCat("takes %", barriers->name, " for barriers, which no alloc_barriers gives"));
    const int64_t count = gpu::AllocBarriersOp(barriers->def()).count();
    if (const auto constant = ir::SplatOf(number); constant && static_cast<int64_t>(*constant) >= count)
      Fail(op, FaultKind::kBounds, absl::StrCat("takes barrier ", *constant, " of ", count));
  }

  // Those of a phase: who arrives at several places does so once in each phase.
  void CheckArrivals(const gpu::AllocBarriersOp& alloc) {
    int64_t expects = 0, arrives = 0;
    for (const ir::Use* use = alloc.address()->uses(); use != nullptr; use = use->next) {
      const Op& user = *use->owner;
      if (gpu::BarrierExpectOp::Is(&user) || gpu::MmaCommitOp::Is(&user)) expects = 1;
      if (!gpu::BarrierArriveOp::Is(&user)) continue;
      const bool one = Around<gpu::WarpOp>(user) != nullptr || Around<gpu::ProducerOp>(user) != nullptr;
      arrives = std::max<int64_t>(arrives, one ? 1 : schedule_.num_warps);
      if (gpu::BarrierArriveOp(user).of_cluster() != alloc.of_cluster())
        Fail(user, FaultKind::kCluster, "arrives at other blocks than the barrier counts");
    }
    if (expects + arrives > 0 && expects + arrives != alloc.arrivals()) {
      Fail(alloc.op(), FaultKind::kArrivals,
           absl::StrCat("counts ", alloc.arrivals(), " arrivals, and ", expects + arrives, " come in a phase"));
    }
  }

  void CheckExpect(const gpu::BarrierExpectOp& expect) {
    CheckBarrier(expect.op(), expect.barriers(), expect.number());
    int64_t bytes = 0;
    for (const Op* op : *expect.op().block()) {
      if (!gpu::TmaLoadOp::Is(op)) continue;
      const gpu::TmaLoadOp load(op);
      if (load.barriers() == expect.barriers() && load.number() == expect.number())
        bytes += BytesOf(load.view()->type());
    }
    if (bytes != expect.bytes()) {
      Fail(expect.op(), FaultKind::kBytes,
           absl::StrCat("expects ", expect.bytes(), " bytes, and the copies beside it bring ", bytes));
    }
  }

  void CheckLoad(const gpu::TmaLoadOp& load) {
    const Op& op = load.op();
    CheckBarrier(op, load.barriers(), load.number());
    CheckAddress(op, load.address(), BytesOf(load.view()->type()));
    const bool shares = DecisionOf<Decision::kMulticast>(op).value_or(1) > 1;
    if (shares && !schedule_.cluster)
      Fail(op, FaultKind::kCluster, "shares its tile with a cluster, and there is none");
    if (load.place() != nullptr && DecisionOf<Decision::kTensorMap>(op))
      Fail(op, FaultKind::kOperand, "has a descriptor at a place and one as a parameter");
  }

  void CheckAddress(const Op& op, const Value* address, int64_t bytes) {
    const Op* alloc = StagesOf(address);
    if (alloc == nullptr) return Fail(op, FaultKind::kOperand, "takes an address that is in no stages");
    const auto stages = ir::As<gpu::StagesOp>(alloc);
    const int64_t all = stages ? stages->bytes() : BytesOf(alloc->operand(0)->type());
    if (bytes > all) Fail(op, FaultKind::kBounds, absl::StrCat("takes ", bytes, " bytes of a stage of ", all));
  }

  void CheckClaim(const Op& op) {
    if (op.num_operands() == 0 || !gpu::OverlayStagesOp::Is(op.operand(0)->def()))
      Fail(op, FaultKind::kOperand, "claims what no overlay_stages gives");
    for (int i = 1; i < op.num_operands(); ++i) {
      if (!op.operand(i)->type().is_token()) Fail(op, FaultKind::kOperand, "comes after something else than a token");
    }
  }

  void CheckCopy(const Op& op) {
    const Op* end = op.region(0)->back();
    if (!ir::YieldOp::Is(end) || end->num_operands() != 2 || !gpu::StageTileOp::Is(end->operand(1)->def()))
      Fail(op, FaultKind::kOperand, "has no stage_tile to which it copies");
  }

  void CheckPiece(const Op& op) {
    const Op* end = op.region(0)->back();
    if (!ir::YieldOp::Is(end) || end->num_operands() == 0 || !gpu::StageTileOp::Is(end->operand(0)->def()))
      return Fail(op, FaultKind::kOperand, "gives no piece in shared memory");
    const bool more = gpu::PieceOp::Is(op.next());
    const bool is_taken =
        IsProduct(*op.next()) && (op.next()->operand(0) == op.result(0) || op.next()->operand(1) == op.result(0));
    if (!more && !is_taken) Fail(op, FaultKind::kOperand, "stands in front of no product that takes it");
  }

  void CheckTurn(const Op& op) {
    if (schedule_.num_warps != kGroups * kWarpsOfGroup) Fail(op, FaultKind::kRole, "is for two warpgroups");
    const auto group = op.num_operands() == 1 ? ir::SplatOf(op.operand(0)) : std::nullopt;
    if (!group || *group >= static_cast<uint64_t>(kGroups))
      Fail(op, FaultKind::kOperand, "takes the number of a warpgroup, a constant");
  }

  void CheckMeanwhile(const Op& op) {
    if (op.next() == nullptr || !IsProduct(*op.next()) || RunsOn(op.next()))
      Fail(op, FaultKind::kOperand, "stands in front of no product that waits for its parts");
  }

  void CheckStageTile(const gpu::StageTileOp& stage) {
    CheckAddress(stage.op(), stage.address(), BytesOf(stage.op().result(0)->type()));
    const Op* stored = stage.address()->def();
    if (stored != nullptr && gpu::StageOperandOp::Is(stored) && stage.swizzle() != RowBytesOf(*stored))
      Fail(stage.op(), FaultKind::kOperand,
           absl::StrCat("has rows of ", stage.swizzle(), " bytes, and they were stored in rows of ",
                        RowBytesOf(*stored)));
    for (const ir::Use* use = stage.op().result(0)->uses(); use != nullptr; use = use->next) {
      if (!TakesStageTile(*use->owner))
        Fail(*use->owner, FaultKind::kOperand,
             absl::StrCat("reads a tile in shared memory, that of ", NameOf(stage.op())));
    }
  }

  void CheckMmaWait(const gpu::MmaWaitOp& wait) {
    if (wait.pending() < 0 || wait.pending() > products_)
      Fail(wait.op(), FaultKind::kSums,
           absl::StrCat("lets ", wait.pending(), " products run, and there are ", products_));
    const Op& op = wait.op();
    for (int i = 0; i < std::max(op.num_operands(), op.num_results()); ++i) {
      const bool is_sum = i < op.num_results();
      if (is_sum && (i >= op.num_operands() || op.operand(i)->type() != op.result(i)->type()))
        return Fail(op, FaultKind::kOperand, "gives other tiles than its sums");
      if (!is_sum && (op.operand(i)->type().elem() != ir::Elem::kI32 || op.operand(i)->type().rank() != 1))
        return Fail(op, FaultKind::kOperand, "keeps what are no words of a left operand");
    }
  }

  // What reads them directly; those that are handed on a run follows.
  void CheckProduct(const Op& op) {
    if (!DecisionOf<Decision::kWarpgroups>(op))
      Fail(op, FaultKind::kOperand, "is asynchronous, and no warpgroup does it");
    for (const ir::Use* use = op.result(0)->uses(); use != nullptr; use = use->next) {
      const Op& user = *use->owner;
      const bool adds = IsBegun(user) && ir::MmaOp(user).acc() == op.result(0);
      if (!adds && !gpu::MmaWaitOp::Is(&user) && !user.info()->has(ir::kTerminator) && !user.info()->has(ir::kLoop))
        Fail(user, FaultKind::kSums, absl::StrCat("reads the sums of ", NameOf(op), ", which may still run"));
    }
  }

  void CheckCommit(const gpu::MmaCommitOp& commit) {
    CheckBarrier(commit.op(), commit.barriers(), commit.number());
    if (commit.of_cluster()) Fail(commit.op(), FaultKind::kCluster, "arrives at other blocks, which no commit does");
  }

  void CheckColumnSums(const Op& op) {
    if (!IsZero(op.operand(2))) Fail(op, FaultKind::kOperand, "begins with other sums than zeros");
    for (const ir::Use* use = op.result(0)->uses(); use != nullptr; use = use->next) {
      if (!IsInColumns(*use->owner))
        Fail(*use->owner, FaultKind::kOperand, absl::StrCat("reads sums in tensor memory, those of ", NameOf(op)));
    }
  }

  void CheckRegisters(const gpu::SetRegistersOp& set) {
    const bool in_producer = Around<gpu::ProducerOp>(set.op()) != nullptr;
    if (set.more() == in_producer)
      Fail(set.op(), FaultKind::kRegisters,
           in_producer ? "gives the producer more registers" : "takes registers from the workers");
    if (set.count() % kRegisterStep != 0 || set.count() < kLeastOfThread || set.count() > kMostOfThread)
      Fail(set.op(), FaultKind::kRegisters, absl::StrCat("sets ", set.count(), " registers"));
    const int threads = in_producer ? schedule_.hardware_threads() - schedule_.threads() : schedule_.threads();
    registers_ += set.count() * threads * schedule_.blocks;
    if (registers_ > kMostRegisters)
      Fail(set.op(), FaultKind::kRegisters, absl::StrCat("brings the registers of all threads to ", registers_));
  }

  const ir::Function& function_;
  const Schedule schedule_;
  const Op* columns_ = nullptr;  // their allocation
  int64_t products_ = 0;         // that are asynchronous, at most
  int64_t registers_ = 0;        // that the roles set
  Fault fault_;
};

}  // namespace

std::string GpuLevelFaults(const ir::Function& function) {
  const Fault fault = Rules(function).Run();
  return fault.found() ? ToString(fault) : "";
}

}  // namespace tile::codegen::schedule
