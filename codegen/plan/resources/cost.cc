#include "codegen/plan/resources/cost.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "codegen/analysis/loop_around.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/resources/work.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr double kBytesOfInstruction = 512;  // moved by one load or copy of a warp
constexpr double kInstructionsEach = 4;      // address, predicate, load, store to shared memory

}  // namespace

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
      loop.bytes += static_cast<double>(BytesOf(v->type()));
    }
  });
  std::vector<ProductLoop> found;
  for (const auto& [op, loop] : loops) found.push_back(loop);
  return found;
}

CostModel::CostModel(const Target& target) : machine_(MachineOf(target)), staged_(StagedKindOn(target)) {}

double CostModel::RateOf(const ProductLoop& loop, Ahead ahead) const {
  if (!loop.on_cores) return machine_.fma_macs;
  return ahead == Ahead::kTma && staged_ != nullptr ? staged_->MacsPerCycle(machine_, 16) : machine_.fragment_macs;
}

double CostModel::CyclesOf(absl::Span<const ProductLoop> loops, Ahead ahead, int stages, int blocks) const {
  double cycles = 0;
  for (const ProductLoop& loop : loops) {
    const double load = CyclesOfL2(loop.bytes);
    double work = loop.macs / RateOf(loop, ahead);
    // By TMA another warp asks for the loads.
    if (ahead != Ahead::kTma) work += loop.bytes / kBytesOfInstruction * kInstructionsEach / machine_.issue;
    if (ahead == Ahead::kNothing) {
      cycles += load + work + machine_.l2_latency / blocks;
    } else {
      cycles += std::max({load, work, machine_.l2_latency / std::max(1, stages * blocks - 1)});
    }
  }
  return cycles;
}

int64_t CostModel::CyclesOfBlock(const ir::Op& mma) const {
  constexpr int64_t kBest = 3, kPercent = 15;
  const MmaShape s = ShapeOfMma(mma);
  const auto rate = static_cast<int64_t>(staged_->MacsPerCycle(machine_, 16));
  const int64_t full = s.m * s.n * 16 / rate, loads = 256 / s.m + 256 / s.n;
  return std::max<int64_t>(1, full * (100 + kPercent * std::max<int64_t>(0, loads - kBest)) / 100);
}

Busy CostModel::BusyWith(const Work& work) const {
  Busy busy;
  for (const ProductWork& p : work.products) {
    const bool on_cores = p.kind->operands() != OperandsBy::kElements;
    (on_cores ? busy.tensor : busy.fma) += p.macs / p.kind->MacsPerCycle(machine_, p.element_bits);
  }
  busy.issue = work.instructions / machine_.issue;
  busy.special = work.specials / machine_.special;
  return busy;
}

double CostModel::Overlap(const std::vector<double>& times) {
  double sum = 0;
  for (double t : times) sum += std::pow(t, 4);
  return std::pow(sum, 0.25);
}

}  // namespace tile::codegen
