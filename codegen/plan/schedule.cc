#include "codegen/plan/schedule.h"

#include "codegen/gpu/ops.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {

void Decide(ir::Module* module, ir::Function* function, const Schedule& s) {
  ir::Op* kernel = KernelOp(module, function);
  Decide<Decision::kNumWarps>(module, kernel, s.num_warps);
  Decide<Decision::kWhy>(module, kernel, s.why);
  Decide<Decision::kStages>(module, kernel, s.stages);
  Decide<Decision::kBlocks>(module, kernel, s.blocks);
  Decide<Decision::kRasterization>(module, kernel, {s.square, s.along});
  if (s.longest_first >= 0) Decide<Decision::kLongestFirst>(module, kernel, s.longest_first);
  if (s.wave_group > 0) Decide<Decision::kWaveGroup>(module, kernel, s.wave_group);
  if (s.piece_bytes > 0) {
    ir::Walk(function->body(), [&](ir::Op* op) {
      if (IsGpuOp(op, GpuOpcode::kCopyAhead)) Decide<Decision::kPieceBytes>(module, op, s.piece_bytes);
    });
  }
  if (s.tells_blocks) Decide<Decision::kTellsBlocks>(module, kernel, true);
  if (s.producer) Decide<Decision::kProducer>(module, kernel, true);
  if (s.moves_registers()) Decide<Decision::kKeptByProducer>(module, kernel, s.kept_by_producer);
  if (s.persistent) Decide<Decision::kPersistent>(module, kernel, true);
  if (s.cluster) Decide<Decision::kCluster>(module, kernel, true);
}

std::optional<Schedule> ScheduleOf(const ir::Function& function) {
  const ir::Op* kernel = FindKernelOp(function);
  if (kernel == nullptr || !DecisionOf<Decision::kNumWarps>(*kernel)) return std::nullopt;
  const auto rasterization = DecisionOf<Decision::kRasterization>(*kernel);
  Schedule s;
  s.num_warps = static_cast<int>(*DecisionOf<Decision::kNumWarps>(*kernel));
  s.why = std::string(DecisionOf<Decision::kWhy>(*kernel).value_or(""));
  s.stages = static_cast<int>(DecisionOf<Decision::kStages>(*kernel).value_or(s.stages));
  s.blocks = static_cast<int>(DecisionOf<Decision::kBlocks>(*kernel).value_or(s.blocks));
  if (rasterization && rasterization->size() == 2) {
    s.square = static_cast<int>((*rasterization)[0]);
    s.along = static_cast<int>((*rasterization)[1]);
  }
  s.longest_first = static_cast<int>(DecisionOf<Decision::kLongestFirst>(*kernel).value_or(s.longest_first));
  s.wave_group = static_cast<int>(DecisionOf<Decision::kWaveGroup>(*kernel).value_or(s.wave_group));
  s.tells_blocks = DecisionOf<Decision::kTellsBlocks>(*kernel);
  s.producer = DecisionOf<Decision::kProducer>(*kernel);
  s.kept_by_producer = static_cast<int>(DecisionOf<Decision::kKeptByProducer>(*kernel).value_or(0));
  s.persistent = DecisionOf<Decision::kPersistent>(*kernel);
  s.cluster = DecisionOf<Decision::kCluster>(*kernel);
  return s;
}

std::array<int64_t, 2> JoinedBlocks(const ir::Function& function) {
  const ir::Op* kernel = FindKernelOp(function);
  const auto joined = kernel == nullptr ? std::nullopt : DecisionOf<Decision::kJoinedBlocks>(*kernel);
  return joined ? std::array<int64_t, 2>{(*joined)[0], (*joined)[1]} : std::array<int64_t, 2>{1, 1};
}

int64_t PartsOfBlock(const ir::Function& function) {
  const ir::Op* kernel = FindKernelOp(function);
  return kernel == nullptr ? 1 : DecisionOf<Decision::kPartsOfBlock>(*kernel).value_or(1);
}

}  // namespace tile::codegen
