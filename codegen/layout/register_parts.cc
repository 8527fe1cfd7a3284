#include "codegen/layout/register_parts.h"

#include <algorithm>
#include <utility>

namespace tile::codegen {
namespace {

// Bits of an offset in the tile that say in which part an element lies.
Mask ChoosingBits(const Layout& whole, absl::Span<const int64_t> part) {
  Mask bits = 0;
  for (int d = 0; d < whole.rank(); ++d) {
    const Mask inside = (static_cast<Mask>(part[static_cast<size_t>(d)]) - 1) << whole.dim_shift(d);
    bits |= whole.DimMask(d) & ~inside;
  }
  return bits;
}

}  // namespace

std::optional<RegisterParts> RegisterParts::Of(const Layout& whole, absl::Span<const int64_t> part) {
  const Mask choosing = ChoosingBits(whole, part);
  Layout inside = Layout::FromBases(Shape(part.begin(), part.end()), {}, {}, {});
  const auto moved = [&](Mask base) {
    Mask to = 0;
    for (int d = 0; d < whole.rank(); ++d) to |= (base & whole.DimMask(d)) >> whole.dim_shift(d) << inside.dim_shift(d);
    return to;
  };
  RegisterParts found;
  Mask seen = 0;
  for (In in : kIns) {
    Masks bases;
    const Masks& all = whole.bases(in);
    for (size_t i = 0; i < all.size(); ++i) {
      if ((all[i] & choosing) == 0) {
        bases.push_back(moved(all[i]));
        continue;
      }
      const bool alone = (all[i] & (all[i] - 1)) == 0;
      if (in != In::kRegister || !alone || (seen & all[i]) != 0) return std::nullopt;
      seen |= all[i];
      found.choosing_ |= Mask{1} << i;
    }
    inside = inside.WithBases(in, std::move(bases));
  }
  found.whole_ = whole;
  found.part_ = std::move(inside);
  return found;
}

int RegisterParts::RegisterOf(int r, absl::Span<const int64_t> which) const {
  Mask chosen = 0;
  for (int d = 0; d < whole_.rank(); ++d) {
    const auto u = static_cast<size_t>(d);
    chosen |= static_cast<Mask>(which[u]) * static_cast<Mask>(part_.shape()[u]) << whole_.dim_shift(d);
  }
  int at = 0, bit = 0;
  const Masks& registers = whole_.bases(In::kRegister);
  for (size_t i = 0; i < registers.size(); ++i) {
    const bool chooses = (choosing_ >> i & 1) != 0;
    const bool set = chooses ? (registers[i] & chosen) != 0 : (r >> bit++ & 1) != 0;
    if (set) at |= 1 << i;
  }
  return at;
}

Layout WithHalves(const Layout& half, int dim) {
  const Layout grown = half.Grow(dim, 2);
  Masks registers = grown.bases(In::kRegister);
  const Mask last = registers.back();
  registers.pop_back();
  registers.insert(std::find_if(registers.begin(), registers.end(), [&](Mask base) { return base > last; }), last);
  return grown.WithBases(In::kRegister, std::move(registers));
}

}  // namespace tile::codegen
