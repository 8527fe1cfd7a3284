#include "codegen/layout/access.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>

namespace tile::codegen {
namespace {

// The registers in vectors of 2^bits; nullopt when the layout has no such.
std::optional<VectorAccess> Try(const Layout& l, int dim, int bits) {
  const int shift = l.dim_shift(dim);
  const Mask low = ((Mask{1} << bits) - 1) << shift;
  for (In in : {In::kLane, In::kWarp}) {
    for (Mask basis : l.bases(in)) {
      if (basis & low) return std::nullopt;
    }
  }
  // The register numbers that count through a vector.
  const Masks& bases = l.bases(In::kRegister);
  const Subspace space(bases);
  Masks within;
  for (int i = 0; i < bits; ++i) {
    const std::optional<Mask> number = space.Express(Mask{1} << (shift + i));
    if (!number) return std::nullopt;
    within.push_back(*number);
  }
  // And those that lead from vector to vector: other register bits, plus what takes them to a vector's start.
  const Mask free = l.FreeMask(In::kRegister);
  Subspace numbers(within);
  Masks between;
  for (size_t b = 0; b < bases.size(); ++b) {
    const Mask unit = Mask{1} << b;
    if (unit & free || !numbers.Insert(unit)) continue;
    between.push_back(unit ^ Combine(within, (bases[b] & low) >> shift));
  }
  VectorAccess access;
  access.vector = 1 << bits;
  for (Mask v = 0; v < Mask{1} << between.size(); ++v) {
    for (Mask i = 0; i < Mask{1} << bits; ++i) {
      access.registers.push_back(static_cast<int>(Combine(between, v) ^ Combine(within, i)));
    }
  }
  return access;
}

}  // namespace

VectorAccess Vectorise(const Layout& l, int element_bits, int dim, int64_t alignment, int max_bytes) {
  assert(element_bits >= 4 && alignment > 0);
  if (l.rank() == 0) return {1, {0}};
  int bits = std::min(l.dim_bits(dim), __builtin_ctzll(static_cast<uint64_t>(alignment)));
  while (bits > 0 && int64_t{element_bits} << bits > int64_t{max_bytes} * 8) --bits;
  while (true) {
    if (std::optional<VectorAccess> access = Try(l, dim, bits)) return *std::move(access);
    --bits;  // 0 always succeeds
  }
}

Sectors CountSectors(const Layout& l, const VectorAccess& access, int element_bits, absl::Span<const int64_t> strides) {
  assert(static_cast<int>(strides.size()) == l.rank());
  Sectors count;
  for (int i = 0; i < access.instructions(); ++i) {
    std::set<int64_t> sectors, elements;
    for (int lane = 0; lane < l.lanes(); ++lane) {
      for (int e = 0; e < access.vector; ++e) {
        const auto at = l.Coordinates(
            l.Apply(static_cast<uint32_t>(access.registers[i * access.vector + e]), static_cast<uint32_t>(lane), 0));
        int64_t element = 0;
        for (int d = 0; d < l.rank(); ++d) element += at[d] * strides[d];
        elements.insert(element);
        const int64_t first = element * element_bits / 8, last = (element * element_bits + element_bits - 1) / 8;
        for (int64_t sector = first / 32; sector <= last / 32; ++sector) sectors.insert(sector);
      }
    }
    count.touched += static_cast<int64_t>(sectors.size());
    count.least += (static_cast<int64_t>(elements.size()) * element_bits + 255) / 256;
  }
  return count;
}

}  // namespace tile::codegen
