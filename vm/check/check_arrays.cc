#include "vm/check/check_arrays.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tile::vm {
namespace {

using ir::Direction;

int64_t BitsOf(ir::Element e) { return e.is_pointer() ? 64 : ir::MemoryBits(e.kind); }

std::vector<int64_t> StridesOf(const ArrayArgument& a) {
  if (!a.strides.empty()) return a.strides;
  std::vector<int64_t> strides(a.shape.size(), 1);
  for (size_t d = a.shape.size(); d-- > 1;) strides[d - 1] = strides[d] * a.shape[d];
  return strides;
}

int64_t CountOf(const ArrayArgument& a) {
  int64_t n = 1;
  for (const int64_t size : a.shape) n *= size;
  return n;
}

std::string Text(const std::vector<int64_t>& index) { return absl::StrCat("[", absl::StrJoin(index, ", "), "]"); }

// Calls fn(index, distance from the first element in elements) in row-major order until it returns false.
template <class Fn>
void ForEachElement(const ArrayArgument& a, Fn&& fn) {
  const std::vector<int64_t> strides = StridesOf(a);
  std::vector<int64_t> at(a.shape.size());
  int64_t distance = 0;
  for (int64_t n = CountOf(a); n > 0; --n) {
    if (!fn(at, distance)) return;
    for (size_t d = at.size(); d-- > 0;) {
      distance += strides[d];
      if (++at[d] < a.shape[d]) break;
      distance -= at[d] * strides[d];
      at[d] = 0;
    }
  }
}

}  // namespace

bool Arrays::Elements::Holds(uintptr_t address) const {
  if (address < begin || address >= end) return false;
  if (dense) return true;
  const auto first = static_cast<int64_t>(address - begin) * 8 / bits;
  // Two 4-bit elements share a byte.
  const int64_t last = std::max(first, (static_cast<int64_t>(address - begin) * 8 + 7) / bits);
  for (int64_t i = first; i <= last && i < static_cast<int64_t>(holds.size()); ++i) {
    if (holds[static_cast<size_t>(i)]) return true;
  }
  return false;
}

std::string Arrays::Elements::IndexText(uintptr_t address) const {
  const auto wanted = static_cast<int64_t>(address - begin) * 8 / bits;
  std::string text;
  ForEachElement(*array, [&](const std::vector<int64_t>& index, int64_t distance) {
    if (distance == wanted) text = Text(index);
    return text.empty();
  });
  return text;
}

Arrays::Arrays(const Launch& launch, ShadowMemory& memory) {
  for (const ArrayArgument& a : launch.arrays) {
    const int64_t count = CountOf(a);
    if (count == 0 || a.address == 0) continue;
    Elements e;
    e.array = &a;
    e.bits = BitsOf(a.element);
    e.begin = a.address;
    e.region = memory.Find(e.begin, 1);
    if (e.region == nullptr) continue;
    int64_t last = 0;
    const std::vector<int64_t> strides = StridesOf(a);
    for (size_t d = 0; d < strides.size(); ++d) last += (a.shape[d] - 1) * strides[d];
    e.end = e.begin + static_cast<uintptr_t>(((last + 1) * e.bits + 7) / 8);
    if (!e.region->allocation->Contains(e.begin, e.end - e.begin)) continue;  // then nothing is known of it
    ArrayArgument row_major = a;
    row_major.strides.clear();
    e.dense = strides == StridesOf(row_major);
    if (!e.dense) {
      e.holds.resize(static_cast<size_t>(last) + 1);
      ForEachElement(a, [&](const std::vector<int64_t>&, int64_t distance) {
        e.holds[static_cast<size_t>(distance)] = true;
        return true;
      });
    }
    e.region->holds_input = e.region->holds_input || a.direction == Direction::kIn;
    arrays_.push_back(std::move(e));
  }
  for (const Elements& e : arrays_) {
    if (e.array->direction != Direction::kOut || e.array->initialized) continue;
    // Memory that came without contents is marked already; memory that others share has them.
    if (e.dense && e.region->initial == kNeverWritten) continue;
    const bool alone = std::none_of(arrays_.begin(), arrays_.end(), [&](const Elements& other) {
      return other.region == e.region && other.array->direction != e.array->direction;
    });
    const bool all = e.dense && alone;  // else each byte is looked up, which took longer than the launch
    std::vector<uint8_t> origins;       // of a piece at a time
    for (uintptr_t at = e.begin; at < e.end; at += origins.size()) {
      origins.resize(std::min<size_t>(e.end - at, Chunk::kBytes));
      if (all) {
        std::fill(origins.begin(), origins.end(), kNeverWritten);
      } else {
        e.region->GetOrigins(at, origins.size(), origins.data());
        for (size_t k = 0; k < origins.size(); ++k) {
          if (e.Holds(at + k) && !IsShared(e, at + k)) origins[k] = kNeverWritten;
        }
      }
      e.region->SetOrigins(at, origins.size(), origins.data());
    }
  }
}

// Whether an array of another direction holds the byte, too.
bool Arrays::IsShared(const Elements& own, uintptr_t address) const {
  return std::any_of(arrays_.begin(), arrays_.end(), [&](const Elements& e) {
    return e.region == own.region && e.array->direction != own.array->direction && e.Holds(address);
  });
}

std::optional<std::string> Arrays::InputAt(const Region& region, uintptr_t address, uint64_t bytes) const {
  for (const Elements& e : arrays_) {
    if (e.region != &region || e.array->direction != Direction::kIn) continue;
    for (uintptr_t at = std::max(address, e.begin); at < std::min<uint64_t>(address + bytes, e.end); ++at) {
      if (e.Holds(at) && !IsShared(e, at)) return absl::StrCat("`", e.array->name, "`", e.IndexText(at));
    }
  }
  return std::nullopt;
}

std::vector<Arrays::Unwritten> Arrays::FindUnwritten(ShadowMemory& memory) const {
  std::vector<Unwritten> all;
  for (const Elements& e : arrays_) {
    if (e.array->direction != Direction::kOut || e.array->initialized) continue;
    const Region* region = memory.Find(e.begin, 1);
    Unwritten u;
    u.array = e.array;
    u.total = CountOf(*e.array);
    if (e.dense && !region->AnyOrigin(e.begin, e.end - e.begin)) continue;
    ForEachElement(*e.array, [&](const std::vector<int64_t>& index, int64_t distance) {
      const uintptr_t address = e.begin + static_cast<uintptr_t>(distance * e.bits / 8);
      if (region->OriginOf(address) == kNeverWritten && u.count++ == 0) u.first = Text(index);
      return true;
    });
    if (u.count > 0) all.push_back(std::move(u));
  }
  return all;
}

}  // namespace tile::vm
