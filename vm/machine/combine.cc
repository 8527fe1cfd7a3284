#include "vm/machine/combine.h"

#include <algorithm>

namespace tile::vm {
namespace {

// How many copies of the table for so many lanes; 0: each lane alone is as good.
int CopiesFor(int64_t size, int64_t lanes) {
  if (size <= kMaxBins / kCopies && lanes >= size * kCopies) return kCopies;
  return size <= kMaxBins && lanes >= size ? 1 : 0;
}

template <class T>
void AddToMemory(const BinPlace& place, T* sums) {
  T* memory = reinterpret_cast<T*>(place.base);
  for (int64_t i = 0; i < place.size; ++i) {
    if (sums[i] == 0) continue;
    if (place.is_private) {
      memory[i] += sums[i];
    } else {
      __atomic_fetch_add(memory + i, sums[i], __ATOMIC_RELAXED);
    }
  }
  std::fill(sums, sums + BinStride(place.size), T{0});
}

}  // namespace

bool PendingAdds::Open(const BinPlace& place, const Additions& a) {
  if (place.base == place_.base && place.size == place_.size && a.bytes == bytes_) return true;
  const int copies = CopiesFor(place.size, a.n);
  if (copies == 0) return false;
  Flush();
  if (room_ == nullptr) room_ = std::make_unique<Room>();
  place_ = place;
  bytes_ = a.bytes;
  copies_ = copies;
  return true;
}

void PendingAdds::Add(const Bin* bins, const Additions& a, int64_t first, int64_t n) {
  const auto* values = static_cast<const uint8_t*>(a.values) + (a.one_value ? 0 : first * a.bytes);
  FindBinKernels().add(room_->tables, copies_, bins, values, a.one_value, n, place_.size, bytes_);
}

bool PendingAdds::AddAtIndices(const BinPlace& place, const void* indices, int index_bytes, bool skip_outside,
                               const Additions& a) {
  if (!Open(place, a)) return false;
  const auto for_each_part = [&](auto&& fn) {
    for (int64_t i = 0; i < a.n; i += kLanes) {
      const int64_t n = std::min(kLanes, a.n - i);
      const void* part = static_cast<const uint8_t*>(indices) + i * index_bytes;
      fn(i, n, FindBinKernels().of_indices(room_->bins, part, index_bytes, n, place.size));
    }
  };
  bool outside = false;
  if (!skip_outside) for_each_part([&](int64_t, int64_t, bool some) { outside |= some; });
  if (outside) return false;
  for_each_part([&](int64_t i, int64_t n, bool) { Add(room_->bins, a, i, n); });
  return true;
}

bool PendingAdds::AddAtAddresses(const BinPlace& place, const uint64_t* addresses, const uint8_t* mask,
                                 const Additions& a) {
  if (!Open(place, a)) return false;
  const auto base = reinterpret_cast<uintptr_t>(place.base);
  for (int64_t i = 0; i < a.n; i += kLanes) {
    const int64_t n = std::min(kLanes, a.n - i);
    const uint8_t* active = mask == nullptr ? nullptr : mask + i;
    FindBinKernels().of_addresses(room_->bins, addresses + i, active, n, base, a.bytes, place.size);
    Add(room_->bins, a, i, n);
  }
  return true;
}

void PendingAdds::Flush() {
  if (place_.size == 0) return;
  FindBinKernels().sum(room_->tables, copies_, place_.size, bytes_);
  // Only the first copy still has anything, after its bins what lanes without one left.
  bytes_ == 4 ? AddToMemory(place_, reinterpret_cast<uint32_t*>(room_->tables))
              : AddToMemory(place_, reinterpret_cast<uint64_t*>(room_->tables));
  place_ = {nullptr, 0, false};
}

}  // namespace tile::vm
