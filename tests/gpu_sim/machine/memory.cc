#include "tests/gpu_sim/machine/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

constexpr uint64_t kAlignment = 256;  // of cuMemAlloc
constexpr uint64_t kMost = uint64_t{8} << 30;

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, range] : ranges_) {
    if (range.owned) std::free(reinterpret_cast<void*>(address));
  }
}

absl::StatusOr<uint64_t> DeviceMemory::Allocate(uint64_t bytes, uint8_t pattern) {
  if (bytes == 0 || bytes > kMost) return absl::ResourceExhaustedError("an allocation of no bytes, or more than 8 GiB");
  // Nothing else lies directly behind.
  void* p = std::aligned_alloc(kAlignment, (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment);
  if (p == nullptr) return absl::ResourceExhaustedError("the host has no memory left");
  std::memset(p, pattern, bytes);
  const auto address = reinterpret_cast<uint64_t>(p);
  ranges_[address] = {bytes, true};
  return address;
}

bool DeviceMemory::Free(uint64_t address) {
  const auto at = ranges_.find(address);
  if (at == ranges_.end() || !at->second.owned) return false;
  std::free(reinterpret_cast<void*>(address));
  ranges_.erase(at);
  return true;
}

uint8_t* DeviceMemory::Find(uint64_t address, uint64_t bytes) const {
  auto at = ranges_.upper_bound(address);
  if (at == ranges_.begin()) return nullptr;
  --at;
  const uint64_t offset = address - at->first;
  return offset < at->second.bytes && bytes <= at->second.bytes - offset ? reinterpret_cast<uint8_t*>(address)
                                                                         : nullptr;
}

std::string DeviceMemory::Describe(uint64_t address, uint64_t bytes) const {
  auto at = ranges_.upper_bound(address);
  std::string text = absl::StrCat(bytes, " bytes at ", absl::Hex(address));
  if (at != ranges_.begin()) {
    const auto& [begin, range] = *std::prev(at);
    absl::StrAppend(&text, ", ", address - begin, " bytes from the begin of an allocation of ", range.bytes);
  }
  if (at != ranges_.end()) absl::StrAppend(&text, ", ", at->first - address, " bytes before one of ", at->second.bytes);
  return text;
}

}  // namespace tile::gpu_sim
