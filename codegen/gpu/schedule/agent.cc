#include "codegen/gpu/schedule/agent.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen::schedule {

Agent::Agent(Machine& machine, const Terms& terms, const ir::Function& function, const Place& place)
    : machine_(machine),
      terms_(terms),
      place_(place),
      tile_block_{place.block, machine.shape().blocks, machine.shape().cluster_dim, place.turn} {
  if (place.before) effects_ = block().effects.size();  // those of the tile blocks before
  for (const ir::Value* param : function.body()->args()) Of(param).bits = terms.OfParam(*param);
  frames_.push_back({function.body()->front()});
}

std::string Agent::Name() const {
  return absl::StrCat(place_.producer ? "the producer" : absl::StrCat("warp ", place_.warp),
                      machine_.shape().blocks > 1 ? absl::StrCat(" of block ", place_.block) : "");
}

Agent::Handler Agent::HandlerOf(const ir::Op& op) {
  struct Row {
    int opcode;
    Handler handler;
  };
  static constexpr Row kRows[] = {
      {static_cast<int>(ir::Opcode::kFor), &Agent::For},
      {static_cast<int>(ir::Opcode::kLoop), &Agent::Loop},
      {static_cast<int>(ir::Opcode::kIf), &Agent::If},
      {static_cast<int>(ir::Opcode::kYield), &Agent::Yield},
      {static_cast<int>(ir::Opcode::kContinue), &Agent::Continue},
      {static_cast<int>(ir::Opcode::kBreak), &Agent::Break},
      {static_cast<int>(ir::Opcode::kReturn), &Agent::Return},
      {static_cast<int>(GpuOpcode::kKernel), &Agent::Nothing},
      {static_cast<int>(GpuOpcode::kConvertLayout), &Agent::ConvertLayout},
      {static_cast<int>(GpuOpcode::kFetchAhead), &Agent::Fetch},
      {static_cast<int>(GpuOpcode::kCopyAhead), &Agent::Fetch},
      {static_cast<int>(GpuOpcode::kAllocStages), &Agent::AllocStages},
      {static_cast<int>(GpuOpcode::kAllocBarriers), &Agent::AllocBarriers},
      {static_cast<int>(GpuOpcode::kAllocTensorMap), &Agent::AllocTensorMap},
      {static_cast<int>(GpuOpcode::kPrefetchTensorMaps), &Agent::Nothing},
      {static_cast<int>(GpuOpcode::kFenceBarriers), &Agent::FenceBarriers},
      {static_cast<int>(GpuOpcode::kBlockBarrier), &Agent::BlockBarrier},
      {static_cast<int>(GpuOpcode::kClusterArrive), &Agent::ClusterArrive},
      {static_cast<int>(GpuOpcode::kClusterWait), &Agent::ClusterWait},
      {static_cast<int>(GpuOpcode::kFirstBlock), &Agent::Nothing},
      {static_cast<int>(GpuOpcode::kProducer), &Agent::Producer},
      {static_cast<int>(GpuOpcode::kWorkers), &Agent::Workers},
      {static_cast<int>(GpuOpcode::kWarp), &Agent::Warp},
      {static_cast<int>(GpuOpcode::kElect), &Agent::Region},
      {static_cast<int>(GpuOpcode::kEachBlock), &Agent::EachBlock},
      {static_cast<int>(GpuOpcode::kMeanwhile), &Agent::Region},
      {static_cast<int>(GpuOpcode::kWorkerBarrier), &Agent::WorkerBarrier},
      {static_cast<int>(GpuOpcode::kSetRegisters), &Agent::Nothing},
      {static_cast<int>(GpuOpcode::kBarrierWait), &Agent::BarrierWait},
      {static_cast<int>(GpuOpcode::kBarrierArrive), &Agent::BarrierArrive},
      {static_cast<int>(GpuOpcode::kBarrierExpect), &Agent::BarrierExpect},
      {static_cast<int>(GpuOpcode::kTmaLoad), &Agent::TmaLoad},
      {static_cast<int>(GpuOpcode::kTensorMapHolds), &Agent::TensorMapHolds},
      {static_cast<int>(GpuOpcode::kWriteTensorMaps), &Agent::WriteTensorMaps},
      {static_cast<int>(GpuOpcode::kStageTile), &Agent::StageTile},
      {static_cast<int>(GpuOpcode::kMmaWait), &Agent::MmaWait},
      {static_cast<int>(GpuOpcode::kOverlayStages), &Agent::AllocStages},
      {static_cast<int>(GpuOpcode::kClaimStages), &Agent::ClaimStages},
      {static_cast<int>(GpuOpcode::kWarpNumber), &Agent::WarpNumber},
      {static_cast<int>(GpuOpcode::kSyncWarp), &Agent::Nothing},
      {static_cast<int>(GpuOpcode::kTwoIterations), &Agent::Nothing},
      {static_cast<int>(GpuOpcode::kTurnWait), &Agent::TurnWait},
      {static_cast<int>(GpuOpcode::kTurnPass), &Agent::TurnPass},
      {static_cast<int>(GpuOpcode::kFenceProxyAsync), &Agent::FenceProxyAsync},
      {static_cast<int>(GpuOpcode::kStageOperand), &Agent::StoreOperand},
      {static_cast<int>(GpuOpcode::kFragmentWords), &Agent::FragmentWords},
      {static_cast<int>(GpuOpcode::kWidenLoad), &Agent::FragmentWords},
      {static_cast<int>(GpuOpcode::kWidenStore), &Agent::WidenStore},
      {static_cast<int>(GpuOpcode::kWordsTile), &Agent::Move},
      {static_cast<int>(GpuOpcode::kHeldWords), &Agent::Move},
      {static_cast<int>(GpuOpcode::kMadeHere), &Agent::Move},
      {static_cast<int>(GpuOpcode::kHideNumber), &Agent::Move},
      {static_cast<int>(GpuOpcode::kOwnRegisters), &Agent::Move},
      {static_cast<int>(GpuOpcode::kCopyAsync), &Agent::CopyAsync},
      {static_cast<int>(GpuOpcode::kCommitCopies), &Agent::CommitCopies},
      {static_cast<int>(GpuOpcode::kWaitCopies), &Agent::WaitCopies},
      {static_cast<int>(GpuOpcode::kConvertCopied), &Agent::ConvertCopied},
      {static_cast<int>(GpuOpcode::kPiece), &Agent::Region},
      {static_cast<int>(GpuOpcode::kAllocColumns), &Agent::AllocColumns},
      {static_cast<int>(GpuOpcode::kColumnsAt), &Agent::ColumnsAt},
      {static_cast<int>(GpuOpcode::kFreeColumns), &Agent::FreeColumns},
      {static_cast<int>(GpuOpcode::kColumnSums), &Agent::ColumnSums},
      {static_cast<int>(GpuOpcode::kLoadColumns), &Agent::LoadColumns},
      {static_cast<int>(GpuOpcode::kMmaCommit), &Agent::MmaCommit},
      {static_cast<int>(GpuOpcode::kFenceColumnsBefore), &Agent::FenceColumnsBefore},
      {static_cast<int>(GpuOpcode::kFenceColumnsAfter), &Agent::FenceColumnsAfter},
  };
  for (const Row& row : kRows) {
    if (row.opcode == static_cast<int>(op.opcode())) return row.handler;
  }
  if (IsProduct(op) || IsScaledInColumns(op)) return &Agent::Product;
  const bool effect = (op.info()->traits & (ir::kWrites | ir::kEffect)) != 0;
  return effect ? &Agent::DoEffect : &Agent::Compute;
}

Step Agent::Run() {
  if (frames_.back().next == nullptr) {  // a region that gives nothing
    Leave({});
    return {};
  }
  const ir::Op& op = next();
  Step step = (this->*HandlerOf(op))(op);
  step.fault = std::move(step.fault).At(op);
  if (ended() && --block().running == 0 && block().columns.allocated() && !step.fault.found()) {
    step.fault = Fault{FaultKind::kColumns, "ends the block, whose columns of tensor memory are not free"}.At(op);
  }
  return step;
}

// --- values ----------------------------------------------------------------------------------------------------------

std::vector<Agent::Known> Agent::OperandsOf(const ir::Op& op, int first) {
  std::vector<Known> operands;
  for (int i = first; i < op.num_operands(); ++i) operands.push_back(Of(op.operand(i)));
  return operands;
}

// Tokens order what happens and are no part of it. What regions use from around them is an operand, too.
std::vector<uint64_t> Agent::BitsOf(const ir::Op& op) {
  std::vector<uint64_t> bits;
  const auto add = [&](const ir::Op& user) {
    for (int i = 0; i < user.num_operands(); ++i) {
      const auto it = known_.find(user.operand(i));
      if (it != known_.end() && !user.operand(i)->type().is_token()) bits.push_back(it->second.bits);
    }
  };
  add(op);
  for (int r = 0; r < op.num_regions(); ++r) ir::Walk(op.region(r), [&](const ir::Op* inside) { add(*inside); });
  return bits;
}

void Agent::SetResults(const ir::Op& op, absl::Span<const Known> results) {
  for (size_t i = 0; i < results.size(); ++i) Of(op.result(static_cast<int>(i))) = results[i];
}

Fault Agent::ReadsSums(const ir::Op& op, int except) {
  for (int i = 0; i < op.num_operands(); ++i) {
    const uint64_t product = Of(op.operand(i)).product;
    if (i != except && product != 0 && machine_.Runs(product)) {
      return {FaultKind::kSums, absl::StrCat("reads the sums of a product that may still run in ", Name())};
    }
  }
  return {};
}

Step Agent::Nothing(const ir::Op&) {
  Advance();
  return {};
}

// The first operand is the result, if there is one.
Step Agent::Move(const ir::Op& op) {
  if (Fault fault = ReadsSums(op); fault.found()) return {false, fault};
  if (op.num_results() > 0) Of(op.result(0)) = Of(op.operand(0));
  return Nothing(op);
}

Step Agent::Compute(const ir::Op& op) {
  if (Fault fault = ReadsSums(op); fault.found()) return {false, fault};
  // The conversion of a tile in shared memory, for whoever reads it there.
  if (op.num_operands() == 1 && Of(op.operand(0)).tile.begin >= 0) return Move(op);
  if (DecisionOf<Decision::kPrefetchSlot>(op) && !place_.before) copies_.Commit();  // a group of its own
  const std::vector<uint64_t> operands = BitsOf(op);
  for (int i = 0; i < op.num_results(); ++i) {
    Of(op.result(i)) = {.bits = terms_.Of(op, i, operands, tile_block_)};
  }
  Advance();
  return {};
}

namespace {

// A store to memory of the block, which nobody else sees. Where threads copy ahead, it may come before what the program does before it.
bool StoresToOwn(const ir::Op& op) {
  for (int i = 0; i < op.num_operands(); ++i) {
    const ir::Op* def = op.operand(i)->def();
    while (def != nullptr && !ir::AllocaOp::Is(def) && def->num_operands() > 0) def = def->operand(0)->def();
    if (ir::AllocaOp::Is(def)) return true;
  }
  return false;
}

}  // namespace

Step Agent::DoEffect(const ir::Op& op) {
  if (StoresToOwn(op)) return Compute(op);
  if (Fault fault = ReadsSums(op); fault.found()) return {false, fault};
  if (place_.producer) return {false, {FaultKind::kOtherTile, "is an effect of the producer, which only brings tiles"}};
  const uint64_t name = terms_.Name(op, BitsOf(op));
  std::vector<Effect>& effects = block().effects;
  if (effects_ == effects.size() && !block().effects_known) effects.push_back({&op, name});
  if (effects_ == effects.size()) {
    return {false, {FaultKind::kOtherTile, "happens where the program before has ended"}};
  }
  const Effect& other = effects[effects_];
  if (other.name != name) {
    return {
        false,
        {FaultKind::kOtherTile, absl::StrCat("has other operands in ", Name(), " than ", NameOf(*other.op),
                                             block().effects_known ? " of the program before" : " in another warp")}};
  }
  // What it gives depends on what happened before.
  for (int i = 0; i < op.num_results(); ++i) {
    Of(op.result(i)) = {.bits =
                            terms_.Choose(Mix(Mix(name, effects_), static_cast<uint64_t>(i)), op.result(i)->type())};
  }
  ++effects_;
  Advance();
  return {};
}

}  // namespace tile::codegen::schedule
