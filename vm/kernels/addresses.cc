// Loops that compilers turn into vectors.
#include "vm/kernels/addresses.h"

namespace tile::vm::TILE_VM_ISA {
namespace {

bool AllActive(const uint8_t* mask, int64_t n) {
  uint8_t all = 1;
  for (int64_t i = 0; i < n; ++i) all &= mask[i];
  return all != 0;
}

constexpr int64_t kMost = INT64_MAX;

AddressRange Join(const AddressRange& a, const AddressRange& b) {
  return {a.lowest < b.lowest ? a.lowest : b.lowest, a.highest > b.highest ? a.highest : b.highest,
          a.low_bits | b.low_bits};
}

AddressRange RangeOfAll(const uint64_t* addresses, int64_t n) {
  int64_t lowest = kMost, highest = -kMost - 1, bits = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto a = static_cast<int64_t>(addresses[i]);
    lowest = a < lowest ? a : lowest;
    highest = a > highest ? a : highest;
    bits |= a;
  }
  return {lowest, highest, static_cast<uint64_t>(bits)};
}

AddressRange Range(const uint64_t* addresses, const uint8_t* mask, int64_t n) {
  // Most masks are ones, or end somewhere.
  constexpr int64_t kPart = 64;
  AddressRange r = {kMost, -kMost - 1, 0};
  if (mask == nullptr || AllActive(mask, n)) return RangeOfAll(addresses, n);
  for (int64_t i = 0; i < n; i += kPart) {
    const int64_t part = n - i < kPart ? n - i : kPart;
    if (AllActive(mask + i, part)) {
      r = Join(r, RangeOfAll(addresses + i, part));
      continue;
    }
    for (int64_t k = i; k < i + part; ++k) {
      const auto a = static_cast<int64_t>(addresses[k]);
      if (mask[k] != 0) r = Join(r, {a, a, addresses[k]});
    }
  }
  return r;
}

int64_t Following(const uint64_t* addresses, const uint8_t* mask, int64_t n, uint64_t step) {
  constexpr int64_t kPart = 32;
  int64_t i = 0;
  for (; i + kPart <= n; i += kPart) {
    uint64_t wrong = 0;
    for (int64_t k = 0; k < kPart; ++k) wrong |= (addresses[i + k] - addresses[i + k - 1]) ^ step;
    if (wrong != 0 || (mask != nullptr && !AllActive(mask + i, kPart))) break;
  }
  while (i < n && (mask == nullptr || mask[i] != 0) && addresses[i] - addresses[i - 1] == step) ++i;
  return i;
}

// --- elements -------------------------------------------------------------------------------------------------------

template <class T>
TILE_VM_INLINE void CopyElement(void* to, const void* from) {
  __builtin_memcpy(to, from, sizeof(T));
}

template <class T>
void GatherElements(char* tile, const uint64_t* addresses, const uint8_t* mask, int64_t n) {
  constexpr int64_t kBytes = sizeof(T);
  if (mask == nullptr || AllActive(mask, n)) {
    for (int64_t i = 0; i < n; ++i) CopyElement<T>(tile + i * kBytes, reinterpret_cast<const void*>(addresses[i]));
    return;
  }
  // No branch for each lane: one that is not active reads what it already has.
  for (int64_t i = 0; i < n; ++i) {
    char* to = tile + i * kBytes;
    CopyElement<T>(to, mask[i] != 0 ? reinterpret_cast<const void*>(addresses[i]) : to);
  }
}

template <class T>
void ScatterElements(const char* tile, const uint64_t* addresses, const uint8_t* mask, int64_t n) {
  constexpr int64_t kBytes = sizeof(T);
  for (int64_t i = 0; i < n; ++i) {
    if (mask == nullptr || mask[i] != 0) CopyElement<T>(reinterpret_cast<void*>(addresses[i]), tile + i * kBytes);
  }
}

void Gather(void* tile, const uint64_t* addresses, const uint8_t* mask, int64_t n, int bytes) {
  auto* to = static_cast<char*>(tile);
  if (bytes == 1) return GatherElements<uint8_t>(to, addresses, mask, n);
  if (bytes == 2) return GatherElements<uint16_t>(to, addresses, mask, n);
  if (bytes == 4) return GatherElements<uint32_t>(to, addresses, mask, n);
  GatherElements<uint64_t>(to, addresses, mask, n);
}

void Scatter(const void* tile, const uint64_t* addresses, const uint8_t* mask, int64_t n, int bytes) {
  const auto* from = static_cast<const char*>(tile);
  if (bytes == 1) return ScatterElements<uint8_t>(from, addresses, mask, n);
  if (bytes == 2) return ScatterElements<uint16_t>(from, addresses, mask, n);
  if (bytes == 4) return ScatterElements<uint32_t>(from, addresses, mask, n);
  ScatterElements<uint64_t>(from, addresses, mask, n);
}

}  // namespace

const AddressKernels kAddressKernels = {
    .range = Range,
    .following = Following,
    .gather = Gather,
    .scatter = Scatter,
};

}  // namespace tile::vm::TILE_VM_ISA
