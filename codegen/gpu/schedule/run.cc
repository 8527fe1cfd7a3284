#include "codegen/gpu/schedule/run.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/gpu/op_views.h"
#include "codegen/gpu/schedule/agent.h"
#include "codegen/gpu/schedule/machine.h"
#include "codegen/gpu/schedule/terms.h"
#include "codegen/plan/schedule.h"

namespace tile::codegen::schedule {
namespace {

constexpr int64_t kMostSteps = 100000;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(Mix(seed, 2)) {}
  uint64_t Below(uint64_t n) { return (state_ = Mix(state_, 3)) % n; }

 private:
  uint64_t state_;
};

// One of some that take turns by weight. Those who have nothing to do are left out until somebody did something.
class Scheduler {
 public:
  Scheduler(Machine& machine, std::vector<Agent> agents, uint64_t seed)
      : machine_(machine), agents_(std::move(agents)), random_(seed), waits_(agents_.size()) {
    // Some warps are slow, others fast; asynchronous work ends at once, sometimes, or when nobody can go on without it.
    constexpr uint64_t kWeights[] = {1, 4, 16};
    for (size_t i = 0; i < agents_.size(); ++i) weights_.push_back(kWeights[random_.Below(std::size(kWeights))]);
    constexpr uint64_t kOfTasks[] = {0, 1, 8, 64};
    of_tasks_ = kOfTasks[random_.Below(std::size(kOfTasks))];
    slow_ = static_cast<Slow>(random_.Below(3));
  }

  Outcome Run() {
    for (int64_t steps = 0; steps < kMostSteps; ++steps) {
      const size_t i = Pick();
      if (i == kNobody) return {AtEnd(), true, steps, machine_.products()};
      Fault fault = i < agents_.size() ? StepOf(i) : EndTask();
      if (fault.found()) return {std::move(fault), true, steps, machine_.products()};
    }
    return {{}, false, kMostSteps, machine_.products()};
  }

 private:
  static constexpr size_t kNobody = ~size_t{0};

  bool CanGo(size_t i) const { return !agents_[i].ended() && !waits_[i]; }

  // An agent; their number: a task; kNobody: all have ended, or all wait.
  size_t Pick() {
    uint64_t all = machine_.num_tasks() > 0 ? of_tasks_ : 0;
    for (size_t i = 0; i < agents_.size(); ++i) all += CanGo(i) ? weights_[i] : 0;
    if (all == 0) return machine_.num_tasks() > 0 ? agents_.size() : kNobody;
    uint64_t at = random_.Below(all);
    for (size_t i = 0; i < agents_.size(); ++i) {
      if (!CanGo(i)) continue;
      if (at < weights_[i]) return i;
      at -= weights_[i];
    }
    return agents_.size();
  }

  Fault StepOf(size_t i) {
    Step step = agents_[i].Run();
    if (step.waits) {
      waits_[i] = true;
      return {};
    }
    std::fill(waits_.begin(), waits_.end(), false);
    return std::move(step.fault);
  }

  Fault EndTask() {
    std::fill(waits_.begin(), waits_.end(), false);
    size_t i = random_.Below(machine_.num_tasks());
    // Those that are slow end when no others are left.
    for (size_t tried = 1; tried < machine_.num_tasks() && IsSlow(machine_.task(i)); ++tried)
      i = (i + 1) % machine_.num_tasks();
    return machine_.FinishTask(i);
  }
  bool IsSlow(const Task& task) const { return task.copies ? slow_ == Slow::kCopies : slow_ == Slow::kProducts; }

  // Whoever has not ended waits for ever.
  Fault AtEnd() {
    std::map<std::string, std::vector<std::string>> who;  // by what they wait for
    const ir::Op* first = nullptr;
    for (Agent& agent : agents_) {
      if (agent.ended()) continue;
      if (first == nullptr) first = &agent.next();
      who[agent.WaitsFor()].push_back(agent.Name());
    }
    if (first == nullptr) return {};
    std::vector<std::string> texts;
    for (const auto& [what, names] : who) texts.push_back(absl::StrCat(absl::StrJoin(names, ", "), " ", what));
    return Fault{FaultKind::kDeadlock, absl::StrCat("waits for ever: ", absl::StrJoin(texts, "; "))}.At(*first);
  }

  enum class Slow : uint8_t { kNone, kCopies, kProducts };

  Machine& machine_;
  std::vector<Agent> agents_;
  Random random_;
  Slow slow_ = Slow::kNone;
  std::vector<uint64_t> weights_;
  std::vector<bool> waits_;
  uint64_t of_tasks_ = 1;
};

bool DoesSeveral(const ir::Function& function) {
  bool several = false;
  ir::Walk(function.body(), [&](const ir::Op* op) { several = several || gpu::EachBlockOp::Is(op); });
  return several;
}

// What the blocks do in the program before, one tile block after the other.
Outcome RunBefore(const ir::Function& before, const Terms& terms, int turns, uint64_t seed, Machine* machine) {
  for (int block = 0; block < machine->shape().blocks; ++block) {
    for (int turn = 0; turn < turns; ++turn) {
      std::vector<Agent> agents;
      agents.emplace_back(*machine, terms, before, Agent::Place{.block = block, .before = true, .turn = turn});
      machine->block(block).running = 1;
      Outcome outcome = Scheduler(*machine, std::move(agents), seed).Run();
      if (outcome.fault.found() || !outcome.ended) return outcome;
    }
  }
  return {{}, true, 0, 0};
}

Shape ShapeOf(const ir::Function& function, uint64_t seed) {
  const Schedule schedule = ScheduleOf(function).value_or(Schedule());
  return {.workers = schedule.num_warps,
          .producers = (schedule.hardware_threads() - schedule.threads()) / 32,
          .blocks = schedule.cluster && Mix(seed, 5) % 4 > 0 ? kClusterBlocks : 1,
          .cluster_dim = schedule.along};
}

}  // namespace

Outcome RunSchedule(const ir::Function& function, const ir::Function* before, uint64_t seed) {
  const Terms terms(seed);
  const Shape shape = ShapeOf(function, seed);
  Machine machine(function, shape);
  if (before != nullptr) {
    Machine other(*before, {.workers = 1, .blocks = shape.blocks, .cluster_dim = shape.cluster_dim});
    Outcome outcome = RunBefore(*before, terms, DoesSeveral(function) ? terms.turns() : 1, seed, &other);
    if (outcome.fault.found()) return outcome;
    for (int i = 0; i < shape.blocks; ++i) {
      machine.block(i).effects = std::move(other.block(i).effects);
      machine.block(i).products = std::move(other.block(i).products);
      machine.block(i).effects_known = outcome.ended;
    }
  }
  std::vector<Agent> agents;
  for (int block = 0; block < shape.blocks; ++block) {
    for (int warp = 0; warp < shape.warps(); ++warp)
      agents.emplace_back(machine, terms, function, Agent::Place{block, warp, warp >= shape.workers});
  }
  return Scheduler(machine, std::move(agents), seed).Run();
}

std::string ScheduleFaults(const ir::Function& function, const ir::Function* before, int seeds) {
  for (int seed = 1; seed <= seeds; ++seed) {
    const Outcome outcome = RunSchedule(function, before, static_cast<uint64_t>(seed));
    if (outcome.fault.found()) return absl::StrCat(ToString(outcome.fault), "\n  note: seed ", seed, "\n");
  }
  return "";
}

}  // namespace tile::codegen::schedule
