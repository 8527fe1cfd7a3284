#include "codegen/plan/resources/make_schedule.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/iterations.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/analysis/work_of_blocks.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/mma/copy_pieces.h"
#include "codegen/plan/mma/cross_iteration_mma.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/resources/warps.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/plan/tma/device_tensor_map.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/plan/tma/tma_store.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

constexpr int64_t kBarrierBytes = 1024;

int64_t SharedArray(const ir::Op& op) { return BytesOf(op.result(0)->type()) + 16; }

// No block waits for another, which in a persistent grid may start only after it has ended.
bool IsIndependent(const ir::Function& function) {
  bool independent = true;
  ir::Walk(function.body(), [&](ir::Op* op) {
    const bool strong = ir::OrderingOf(*op) != ir::MemoryOrdering::kWeak;
    if (strong || ir::LoopOp::Is(op) || op->info()->family == ir::Family::kAtomic) independent = false;
  });
  return independent;
}

// Stages that hold so many bytes, which are to be on their way.
int64_t StagesInFlight(int64_t bytes, int64_t stage_bytes) { return (bytes + stage_bytes - 1) / stage_bytes; }

int MostFetchStages(int64_t stage_bytes) {
  return static_cast<int>(std::clamp<int64_t>(StagesInFlight(tuning::kFetchedInFlight, stage_bytes),
                                              tuning::kMostStages, tuning::kMostSmallFetchStages));
}

// Stages as deep as shared memory allows, for two blocks on a multiprocessor (one's epilogue beside the other's
// products) where that helps and their registers fit.
void PlanRings(const Target& target, const ir::Function& function, const ScheduleOptions& options, Schedule* plan) {
  int64_t stage = 0, other = 0, accumulators = 0;
  int shared_dim = -1;  // of the grid; -1: blocks share no loads
  bool makes_maps = false;
  ir::Walk(function.body(), [&](ir::Op* op) {
    if (ir::AllocSharedOp::Is(op)) other += SharedArray(*op);
    if (const ir::Op* fetch = ir::ForOp::Is(op) ? FetchIn(*op) : nullptr) {
      stage += StageOf(*fetch).bytes;
      const size_t made = DeviceTensorMapsOf(*fetch).size();
      other += static_cast<int64_t>(made * kDeviceTensorMapBytes);
      makes_maps = makes_maps || made > 0;
      if (const auto dim = DecisionOf<Decision::kSharedDim>(*fetch)) shared_dim = static_cast<int>(*dim);
    }
    other += TmaStoreBytes(*op, plan->num_warps);
    if (IsProduct(*op) && FetchOf(*op) != nullptr) {
      const int64_t all = op->result(0)->type().num_elements() + SumsApart(target, plan->num_warps, *op);
      accumulators = std::max(accumulators, all / (32 * plan->num_warps));
    }
  });
  if (stage == 0) return;
  const int most_stages = options.most_stages < tuning::kMostStages ? options.most_stages : MostFetchStages(stage);
  const auto stages = [&](int blocks) {
    const int64_t bytes = target.shared_bytes_of(blocks) - other - kBarrierBytes;
    return static_cast<int>(std::min<int64_t>(most_stages, bytes / stage));
  };
  const bool registers =
      2 * (plan->num_warps + 1) * 32 * tuning::kWorkRegisters <= Target::kRegisters && accumulators <= 64;
  // Where the kernel makes descriptors the image asks nothing of the launch, and blocks mostly walk over tiles by themselves.
  plan->persistent = !makes_maps && IsIndependent(function);
  // A block that goes on with other tiles needs no other beside it to hide its end, if it has two warpgroups to keep the tensor cores
  // busy.
  const bool alone = (plan->persistent || makes_maps) && plan->num_warps >= 8;
  const int64_t columns = ColumnsOfFetched(target, function);
  const bool two_have_columns = columns == 0 || 2 * AllocatedColumns(columns) <= Target::kColumns;
  plan->blocks = !alone && registers && two_have_columns && stages(2) >= tuning::kStagesForTwoBlocks ? 2 : 1;
  plan->stages = std::max(2, stages(plan->blocks));
  plan->producer = true;
  if (plan->num_warps == 8 && plan->blocks == 1 && accumulators > plan->fetch_registers())
    plan->kept_by_producer = makes_maps ? kKeptByMaker : kKeptByProducer;
  plan->square = makes_maps ? 0 : tuning::kSquare;
  plan->along = shared_dim < 0 ? 1 : shared_dim;
  plan->cluster = shared_dim >= 0;
  absl::StrAppend(&plan->why, "; ", plan->stages, " stages of ", stage, " bytes are fetched ahead, ", plan->blocks,
                  plan->blocks == 1 ? " block" : " blocks", " on a multiprocessor");
}

// Iterations that do not exist need no stage; before the first one the copies of all others may begin.
int StagesForIterations(const std::vector<const ir::Op*>& copies, int stages) {
  int64_t most = 0;
  for (const ir::Op* copy : copies) {
    const int64_t iterations = IterationsOf(*copy->parent());
    if (iterations == 0) return stages;
    most = std::max(most, iterations);
  }
  return static_cast<int>(std::min<int64_t>(stages, std::max<int64_t>(2, most + 1)));
}

// As many stages as cover the latency of the L2 when no other block does, of small tiles more than of large ones.
int MostCopyStages(int64_t stage_bytes) {
  return static_cast<int>(std::clamp<int64_t>(StagesInFlight(tuning::kBytesInFlight, stage_bytes) + 1,
                                              tuning::kMostCopyStages, tuning::kMostSmallCopyStages));
}

// Of left operands that stay in shared memory for a loop; others of products that read stages are in registers, or copied.
int64_t BytesOfStagedLhs(const Target& target, int num_warps, const std::vector<const ir::Op*>& products) {
  int64_t bytes = 0;
  for (const ir::Op* mma : products) {
    if (StagesLhs(target, num_warps, *mma)) bytes += BytesOf(mma->operand(0)->type());
  }
  return bytes;
}

// Where all left operands that no stage has are in shared memory; else 0.
int64_t BytesOfAllLhs(const Target& target, int num_warps, const std::vector<const ir::Op*>& products) {
  const StagedMmaKind* kind = CopiedKindOn(target);
  return kind != nullptr && kind->through_columns() ? BytesOfStagedLhs(target, num_warps, products) : 0;
}

// Loops that copy ahead get two blocks on a multiprocessor, if their registers and three stages of each fit (one
// multiplies while the other waits at its barrier), else one with as many stages as fit, or, if there are not even two, a ring of pieces. Products
// of nothing but copies get fewer warps, with larger pieces of the result. False if no ring fits.
bool PlanCopies(const Target& target, const ir::Function& function, const ScheduleOptions& options, Schedule* plan) {
  int64_t stage = 0, wide = 0, other = 0, exchanged = 0;
  bool only_copies = true, by_rows = false;
  std::vector<const ir::Op*> products, copies;
  const auto from_stages = [&](int warps, const ir::Op& mma) { return PlanCopied(target, warps, mma).has_value(); };
  ir::Walk(function.body(), [&](ir::Op* op) {
    if (ir::AllocSharedOp::Is(op)) other += SharedArray(*op);
    if (IsGpuOp(op, GpuOpcode::kCopyAhead)) {
      copies.push_back(op);
      const StageLayout layout = StageOf(*op);
      stage = std::max(stage, layout.bytes);
      wide = std::max(wide, layout.conversion_buffers * layout.wide_bytes);
    }
    if (!IsProduct(*op)) return;
    products.push_back(op);
    by_rows = by_rows || (WorksOnRows(*op) && from_stages(plan->num_warps, *op));
    int64_t bytes = 0;
    for (int i = 0; i < 2; ++i) bytes += CopyOf(*op, i) == nullptr ? BytesOf(op->operand(i)->type()) : 0;
    only_copies = only_copies && bytes == 0;
    exchanged = std::max(exchanged, bytes);
  });
  if (stage == 0) return true;
  exchanged = std::max(exchanged, BytesOfAllLhs(target, plan->num_warps, products));
  int64_t live = MostLiveBesideStores(function).words;
  const int most_stages = options.most_stages < tuning::kMostCopyStages ? options.most_stages : MostCopyStages(stage);
  const auto stages = [&](int blocks) {
    const int64_t bytes = target.shared_bytes_of(blocks) - other - exchanged - wide;
    return static_cast<int>(std::min<int64_t>(most_stages, bytes / stage));
  };
  // What a warp reads serves more results in larger pieces: of 64 x 64 it reads two thirds of what pieces of 64 x 32
  // take. Warps of another block keep the multiprocessor busy.
  const bool chooses_warps = options.num_warps == 0 && only_copies && stages(2) >= tuning::kStagesForTwoBlocks;
  // But a product that can read stages keeps the warps for that.
  const auto keeps_groups = [&](int warps) {
    return std::all_of(products.begin(), products.end(),
                       [&](const ir::Op* mma) { return !from_stages(2 * warps, *mma) || from_stages(warps, *mma); });
  };
  const int64_t data = chooses_warps ? MostLiveData(function).words : 0;
  while (chooses_warps && plan->num_warps > 4 && data <= 16 * plan->num_warps * tuning::kMostLive &&
         keeps_groups(plan->num_warps / 2)) {
    plan->num_warps /= 2;
  }
  if (CopiedKindOn(target) != nullptr) live = LiveBesideStages(target, plan->num_warps, function);
  int64_t apart = 0, beside = tuning::kBesideStaged;
  for (const ir::Op* mma : products) {
    if (from_stages(plan->num_warps, *mma)) {
      apart = std::max(apart, SumsApart(target, plan->num_warps, *mma));
    } else {
      beside = tuning::kFragmentRegisters;
    }
  }
  const int64_t threads = 32 * plan->num_warps;
  const int64_t registers = threads * ((live + apart) / threads + beside);
  const auto in_pieces = [&](int blocks, int64_t beside_ring, WholePieces least = WholePieces::kMoreThanTwo) {
    const PieceRing ring = PlanPieces(
        target, plan->num_warps, copies, target.shared_bytes_of(blocks) - other - beside_ring,
        [&](const ir::Op& mma) { return from_stages(plan->num_warps, mma); }, least);
    if (ring.bytes == 0) return false;
    plan->blocks = blocks;
    plan->stages = ring.pieces;
    plan->piece_bytes = ring.bytes;
    absl::StrAppend(&plan->why, "; ", ring.pieces, " pieces of ", ring.bytes, " bytes are copied ahead by ",
                    plan->num_warps, " warps, ", blocks, blocks == 1 ? " block" : " blocks", " on a multiprocessor");
    return true;
  };
  if (stages(1) < 2) return in_pieces(1, exchanged);
  const bool whole = std::all_of(products.begin(), products.end(),
                                 [&](const ir::Op* mma) { return from_stages(plan->num_warps, *mma); });
  // Of three warpgroups in blocks of their own, one is more often at its products while others work on rows than of two whose products
  // are late: attention with heads of 64, 64 queries, 128 keys, four places for operands: 560 us; two blocks of three stages: 598.
  const int64_t each = (live + apart) / threads + tuning::kBesideLate;
  const bool one_group = whole && by_rows && plan->num_warps == 4 && most_stages > 2;
  const int64_t staged = one_group ? BytesOfStagedLhs(target, plan->num_warps, products) : 0;
  const auto staged_in = [&](int blocks) { return (target.shared_bytes_of(blocks) - other - staged) / stage; };
  if (one_group && 3 * threads * each <= Target::kRegisters && staged_in(3) < tuning::kStagesForLate &&
      in_pieces(3, staged, WholePieces::kTwo)) {
    return true;
  }
  // A warpgroup alone on the multiprocessor leaves its tensor cores idle while it works on rows, however many stages it has.
  if (one_group && 2 * threads * each <= Target::kRegisters && stages(2) < tuning::kStagesForTwoWarpgroups &&
      in_pieces(2, staged, WholePieces::kMoreThanOne)) {
    return true;
  }
  // Of operands that are loaded and converted a thread holds little more than what was loaded, so that two blocks need no more than this.
  const bool converts = exchanged > 0 && std::none_of(products.begin(), products.end(),
                                                      [](const ir::Op* mma) { return WorksOnRows(*mma); });
  const bool data_fits = converts && 2 * (MostLiveData(function).words + threads * kBesideSums) <= Target::kRegisters;
  const int for_two = by_rows && plan->num_warps == 4 ? tuning::kStagesForTwoWarpgroups : tuning::kStagesForTwoBlocks;
  plan->blocks = (2 * registers <= Target::kRegisters || data_fits) && stages(2) >= for_two ? 2 : 1;
  plan->stages = stages(plan->blocks);
  const bool late =
      options.by_tma && plan->blocks == 1 && AsyncKindOn(target) == CopiedKindOn(target) &&
      std::all_of(copies.begin(), copies.end(), [&](const ir::Op* c) { return WouldHaveLate(*plan, *c); });
  if (whole && plan->stages == 2 && most_stages > 2 && !late && in_pieces(plan->blocks, exchanged)) return true;
  plan->stages = StagesForIterations(copies, plan->stages);
  absl::StrAppend(&plan->why, "; ", plan->stages, " stages of ", stage, " bytes are copied ahead by ", plan->num_warps,
                  " warps, ", plan->blocks, plan->blocks == 1 ? " block" : " blocks", " on a multiprocessor");
  return true;
}

// Warps that products of fetched operands need; 0: there are no such products.
int WarpsOfFetches(const ir::Function& function) {
  int64_t warps = 0;
  ir::Walk(function.body(),
           [&](ir::Op* op) { warps = std::max(warps, DecisionOf<Decision::kNeedsWarps>(*op).value_or(0)); });
  return static_cast<int>(warps);
}

// Kernels without products tell ptxas how many blocks there will be, where nothing takes registers that nobody counts here. Loops that load and
// have no rows to reduce live by the number of their warps.
void PlanBlocks(const ir::Function& function, bool aligned, Schedule* plan) {
  const RowWork rows = RowWorkOf(function, aligned);
  if (!rows.known || rows.multiplies || rows.walks || (rows.in_iterations && !rows.across_warps)) return;
  const int64_t threads = plan->threads(), data = MostLiveData(function).words / threads;
  const tuning::Beside& beside = rows.across_warps ? tuning::kBesideRows : tuning::kBesideElements;
  int64_t each = std::max(tuning::kThreadRegisters, data + data * beside.of_data / 100 + beside.other);
  const bool late = rows.across_warps && data <= tuning::kThreadRegisters;
  if (late && MostLiveDataOfFolds(function).words / threads + beside.other <= tuning::kThreadRegisters) {
    each = tuning::kThreadRegisters;
  }
  plan->blocks = static_cast<int>(std::clamp<int64_t>(Target::kRegisters / (threads * each), 1, 32));
  // A block that is alone leaves a multiprocessor idle where it begins and ends.
  const bool two_hold = 2 * threads * (data + tuning::kBesideOfTwo) <= Target::kRegisters;
  if (plan->blocks == 1 && !rows.across_warps && two_hold) plan->blocks = 2;
  if (rows.waits) plan->blocks = std::min(plan->blocks, tuning::kBlocksOfWaiting);
  plan->tells_blocks = true;
}

// The longest blocks first.
void PlanOrder(const ir::Function& function, Schedule* plan) {
  const WorkOfBlocks work = WorkAlong(function);
  if (work.rises) plan->longest_first = work.dim;
  if (work.dim == 0)
    plan->wave_group = tuning::kGroup * static_cast<int>(std::bit_ceil(static_cast<unsigned>(plan->blocks)));
}

}  // namespace

std::optional<Schedule> MakeSchedule(const Target& target, const ir::Function& function,
                                     const ScheduleOptions& options) {
  Schedule s;
  if (options.num_warps > 0) {
    s.num_warps = options.num_warps;
    s.why = "as told";
  } else if (const int warps = WarpsOfFetches(function); warps > 0) {
    s.num_warps = warps;
    s.why = absl::StrCat("warpgroups for ", StagedKindOn(target)->name());
  } else {
    WarpChoice choice = FewestWarps(target, function, options.aligned);
    s.num_warps = choice.num_warps;
    s.why = std::move(choice.why);
  }
  PlanBlocks(function, options.aligned, &s);
  PlanRings(target, function, options, &s);
  if (!PlanCopies(target, function, options, &s)) return std::nullopt;
  if (s.square == 0 && IsIndependent(function)) PlanOrder(function, &s);
  return s;
}

}  // namespace tile::codegen
