#include "tests/gpu_sim/machine/run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/block.h"
#include "tests/gpu_sim/machine/bulk.h"

namespace tile::gpu_sim {
namespace {

// Instructions after the last block ended: then the threads are thought to poll for ever.
constexpr uint64_t kMostInstructions = 20'000'000'000;
constexpr uint32_t kAhead = 3;  // a block runs once more one time in three
constexpr int kIdleRounds = 3;  // rounds in which all threads only wait

std::unique_ptr<Cluster> MakeCluster(Launch* launch, uint64_t index) {
  auto c = std::make_unique<Cluster>();
  c->index = static_cast<uint32_t>(index);
  for (uint32_t rank = 0; rank < launch->cluster_size(); ++rank) {
    c->blocks.push_back(MakeBlock(launch, c.get(), rank));
  }
  return c;
}

bool HasEnded(const Cluster& c) {
  return std::all_of(c.blocks.begin(), c.blocks.end(), [](const auto& b) { return HasEnded(*b); });
}

}  // namespace

absl::Status RunLaunch(Launch* launch) {
  for (size_t d = 0; d < 3; ++d) {
    if (launch->cluster[d] == 0 || launch->grid[d] % launch->cluster[d] != 0)
      return absl::InvalidArgumentError("the grid is no multiple of the cluster");
  }
  launch->clusters = uint64_t{launch->grid[0]} * launch->grid[1] * launch->grid[2] / launch->cluster_size();
  const size_t most = std::max<size_t>(1, kMultiprocessors * kBlocksOfMultiprocessor / launch->cluster_size());
  std::vector<std::unique_ptr<Cluster>> resident;
  uint64_t since = 0;
  int idle = 0;
  while (launch->next_cluster < launch->clusters || !resident.empty()) {
    while (launch->next_cluster < launch->clusters && resident.size() < most)
      resident.push_back(MakeCluster(launch, launch->next_cluster++));
    bool any = false;
    const uint64_t events = launch->events;
    const size_t first = launch->random.Below(static_cast<uint32_t>(resident.size()));
    for (size_t k = 0; k < resident.size(); ++k) {
      if (absl::Status s = FinishSomeCopy(*resident[k]); !s.ok()) return launch->fault = s;
      const auto& blocks = resident[(first + k) % resident.size()]->blocks;
      const size_t start = launch->random.Below(static_cast<uint32_t>(blocks.size()));
      for (size_t j = 0; j < blocks.size(); ++j) {
        // Now and then a block gets ahead of the others.
        do {
          any |= RunBlock(*blocks[(start + j) % blocks.size()]);
          if (!launch->fault.ok()) return launch->fault;
        } while (launch->random.Below(kAhead) == 0);
      }
    }
    const size_t before = resident.size();
    std::erase_if(resident, [](const auto& c) { return HasEnded(*c); });
    if (resident.size() < before) since = launch->executed;
    // A thread whose wait has ended may do little until the next one.
    idle = any || launch->events != events || resident.size() < before ? 0 : idle + 1;
    const bool polls = launch->executed - since > kMostInstructions;
    if (idle <= kIdleRounds && !polls) continue;
    std::string text =
        absl::StrCat("kernel ", launch->program->name, polls ? " does not end: " : ": all threads wait: ");
    for (const auto& c : resident) {
      for (const auto& b : c->blocks) absl::StrAppend(&text, "\n  ", DescribeBlock(*b));
    }
    return launch->fault = absl::DeadlineExceededError(text);
  }
  return absl::OkStatus();
}

}  // namespace tile::gpu_sim
