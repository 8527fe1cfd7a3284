#include "vm/machine/memory.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace tile::vm {
namespace {

bool Starts(const Allocation* a, uintptr_t address) { return a->begin <= address; }

}  // namespace

void Memory::Add(Allocation a) {
  allocations_.push_back(std::move(a));
  const Allocation* added = &allocations_.back();
  auto at = std::upper_bound(sorted_.begin(), sorted_.end(), added->begin,
                             [](uintptr_t x, const Allocation* b) { return x < b->begin; });
  sorted_.insert(at, added);
}

const Allocation* Memory::Nearest(uintptr_t address) const {
  auto after =
      std::partition_point(sorted_.begin(), sorted_.end(), [&](const Allocation* a) { return Starts(a, address); });
  return after == sorted_.begin() ? nullptr : *(after - 1);
}

const Allocation* Memory::Find(uintptr_t address, uint64_t size) const {
  // Empty buffers may share their start with a neighbour: step back over them.
  auto after =
      std::partition_point(sorted_.begin(), sorted_.end(), [&](const Allocation* a) { return Starts(a, address); });
  while (after != sorted_.begin()) {
    const Allocation* a = *--after;
    if (a->Contains(address, size)) return a;
    if (a->bytes > 0) break;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const auto published = published_at_.upper_bound(address);
  if (published == published_at_.begin()) return nullptr;
  const Allocation* a = std::prev(published)->second;
  return a->Contains(address, size) ? a : nullptr;
}

const Allocation* Memory::Publish(Allocation a) {
  std::lock_guard<std::mutex> lock(mutex_);
  published_.push_back(std::move(a));
  published_at_[published_.back().begin] = &published_.back();
  return &published_.back();
}

bool Memory::IsPublished(const Allocation* a) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = published_at_.find(a->begin);
  return it != published_at_.end() && it->second == a;
}

void Memory::Retire(const Allocation* a) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = published_at_.find(a->begin);
  if (it == published_at_.end() || it->second != a) return;
  // The entry stays where it is, so that others' addresses hold, but contains nothing any more.
  it->second->begin = it->second->bytes = 0;
  published_at_.erase(it);
  while (!published_.empty() && published_.front().bytes == 0) published_.pop_front();
}

}  // namespace tile::vm
