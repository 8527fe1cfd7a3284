#include "codegen/plan/resources/candidate.h"

#include <algorithm>
#include <utility>

#include "codegen/analysis/loop_around.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/mma/mma_layout.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/chips.h"
#include "codegen/target/tuning.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr double kLatency = 700;             // cycles until a tile comes from the L2, where other blocks left it
constexpr double kBytesOfInstruction = 512;  // moved by one load or copy of a warp
constexpr double kInstructionsEach = 4;      // address, predicate, load, store to shared memory

double BytesOf(ir::Type t) { return static_cast<double>(t.num_elements()) * ir::MemoryBits(t.elem()) / 8; }

}  // namespace

Ahead AheadOf(const ir::Function& function) {
  Ahead ahead = Ahead::kNothing;
  ir::Walk(function.body(), [&](const ir::Op* op) {
    if (IsGpuOp(op, GpuOpcode::kFetchAhead)) ahead = Ahead::kTma;
    if (IsGpuOp(op, GpuOpcode::kCopyAhead)) ahead = Ahead::kCopies;
  });
  return ahead;
}

std::vector<ProductLoop> ProductLoopsOf(const ir::Function& function) {
  std::vector<std::pair<const ir::Op*, ProductLoop>> loops;
  std::vector<const ir::Value*> counted;
  ir::Walk(function.body(), [&](const ir::Op* op) {
    const ir::Op* around = IsProduct(*op) ? LoopAround(*op) : nullptr;
    if (around == nullptr) return;
    auto at = std::find_if(loops.begin(), loops.end(), [&](const auto& known) { return known.first == around; });
    if (at == loops.end()) at = loops.insert(loops.end(), {around, ProductLoop()});
    ProductLoop& loop = at->second;
    const MmaShape s = ShapeOfMma(*op);
    const ir::Elem elem = op->operand(0)->type().elem();
    loop.on_cores = loop.on_cores && elem != ir::Elem::kF32 && elem != ir::Elem::kF64;
    const double wide = loop.on_cores ? ir::MemoryBits(elem) / 16.0 : 1;
    loop.macs += static_cast<double>(std::max<int64_t>(1, s.batch) * s.m * s.n * s.k) * wide;
    for (int i = 0; i < 2; ++i) {
      const ir::Value* v = op->operand(i);
      const bool loaded = v->def() != nullptr && v->def()->info()->is_load() && LoopAround(*v->def()) == around;
      if (!loaded || std::find(counted.begin(), counted.end(), v) != counted.end()) continue;
      counted.push_back(v);
      loop.bytes += BytesOf(v->type());
    }
  });
  std::vector<ProductLoop> found;
  for (const auto& [op, loop] : loops) found.push_back(loop);
  return found;
}

double CyclesOf(absl::Span<const ProductLoop> loops, Ahead ahead, int stages, int blocks) {
  double cycles = 0;
  for (const ProductLoop& loop : loops) {
    const double load = loop.bytes / Chip::kL2Bytes;
    const double rate = !loop.on_cores         ? Chip::kFmaMacs
                        : ahead == Ahead::kTma ? Chip::kF16Macs
                                               : Chip::kF16Macs * Chip::kSyncShare;
    double work = loop.macs / rate;
    // By TMA another warp asks for the loads.
    if (ahead != Ahead::kTma) work += loop.bytes / kBytesOfInstruction * kInstructionsEach / Chip::kIssue;
    if (ahead == Ahead::kNothing) {
      cycles += load + work + kLatency / blocks;
    } else {
      cycles += std::max({load, work, kLatency / std::max(1, stages * blocks - 1)});
    }
  }
  return cycles;
}

Candidates::Candidates(const Target& target, const ir::Function& function, bool descriptors, int num_warps)
    : loops_(ProductLoopsOf(function)) {
  const auto list = [&](Ahead ahead, int most) {
    for (int stages = most; stages >= 2; --stages) left_.push_back({ahead, stages, num_warps});
  };
  if (descriptors && target.has(kTma)) list(Ahead::kTma, tuning::kMostStages);
  if (target.has(kCpAsync)) list(Ahead::kCopies, tuning::kMostCopyStages);
  left_.push_back({Ahead::kNothing, 0, num_warps});
  std::stable_sort(left_.begin(), left_.end(), [&](const Candidate& a, const Candidate& b) {
    return CyclesOf(loops_, a.ahead, a.most_stages, 1) < CyclesOf(loops_, b.ahead, b.most_stages, 1);
  });
}

std::optional<Candidate> Candidates::Next(double cycles) {
  if (left_.empty()) return std::nullopt;
  const Candidate next = left_.front();
  if (CyclesOf(loops_, next.ahead, next.most_stages, 1) >= cycles) return std::nullopt;
  left_.erase(left_.begin());
  last_ = next;
  return next;
}

double Candidates::Became(const ir::Function& program, Fit fit) {
  const Ahead ahead = AheadOf(program);
  const std::optional<Schedule> schedule = ScheduleOf(program);
  const int stages = schedule ? schedule->stages : 0;
  const auto becomes_the_same = [&](const Candidate& c) {
    if (ahead == Ahead::kNothing || (ahead < last_.ahead && c.ahead > ahead)) return true;
    if (fit == Fit::kFits && c.ahead < ahead) return true;
    // Registers do not depend on the stages.
    return c.ahead >= ahead && (c.most_stages >= stages || fit == Fit::kTooManyRegisters);
  };
  left_.erase(std::remove_if(left_.begin(), left_.end(), becomes_the_same), left_.end());
  return CyclesOf(loops_, ahead, stages, schedule ? schedule->blocks : 1);
}

}  // namespace tile::codegen
