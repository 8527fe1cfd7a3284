#include "codegen/layout/shared.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

#include "codegen/layout/algebra.h"

namespace tile::codegen {
namespace {

constexpr int kBanks = 32;
constexpr int kBankBytes = 4;

int Log2(int64_t size) { return __builtin_ctzll(static_cast<uint64_t>(size)); }

// How many lanes access shared memory at a time.
int PhaseLanes(int vector, int element_bits) { return 32 / std::max(1, vector * element_bits / 8 / kBankBytes); }

// Wavefronts of an instruction of a warp.
int64_t Count(const Layout& l, const VectorAccess& access, int element_bits, int instruction, int warp) {
  assert(element_bits >= 8);
  const int phase = PhaseLanes(access.vector, element_bits);
  const int bytes = element_bits / 8;
  int64_t wavefronts = 0;
  for (int first = 0; first < l.lanes(); first += phase) {
    std::set<int64_t> words[kBanks];
    size_t most = 1;
    for (int lane = first; lane < std::min(l.lanes(), first + phase); ++lane) {
      for (int e = 0; e < access.vector; ++e) {
        const int reg = access.registers[static_cast<size_t>(instruction * access.vector + e)];
        const int64_t byte =
            bytes * static_cast<int64_t>(
                        l.Apply(static_cast<uint32_t>(reg), static_cast<uint32_t>(lane), static_cast<uint32_t>(warp)));
        for (int64_t word = byte / kBankBytes; word <= (byte + bytes - 1) / kBankBytes; ++word) {
          std::set<int64_t>& bank = words[word % kBanks];
          bank.insert(word);
          most = std::max(most, bank.size());
        }
      }
    }
    wavefronts += static_cast<int64_t>(most);
  }
  return wavefronts;
}

// The vectors of `all` that are outside the space, which takes them in.
Masks TakeNew(Subspace& space, absl::Span<const Mask> all) {
  Masks taken;
  for (Mask v : all) {
    if (space.Contains(v)) continue;
    space.Insert(v);
    taken.push_back(v);
  }
  return taken;
}

Masks Concat(std::initializer_list<absl::Span<const Mask>> lists) {
  Masks all;
  for (absl::Span<const Mask> list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Masks FirstLanes(const Layout& l, int lanes) {
  const Masks& bases = l.bases(In::kLane);
  return Masks(bases.begin(), bases.begin() + std::min<int>(Log2(lanes), static_cast<int>(bases.size())));
}

}  // namespace

int64_t BankWavefronts(const Layout& in_shared, const VectorAccess& access, int element_bits) {
  int64_t wavefronts = 0;
  for (int warp = 0; warp < in_shared.warps(); ++warp) {
    for (int i = 0; i < access.instructions(); ++i) wavefronts += Count(in_shared, access, element_bits, i, warp);
  }
  return wavefronts;
}

int64_t LeastWavefronts(const Layout& in_shared, const VectorAccess& access, int element_bits) {
  const int phase = PhaseLanes(access.vector, element_bits);
  return int64_t{in_shared.warps()} * access.instructions() * std::max(1, in_shared.lanes() / phase);
}

int64_t QuickWavefronts(const Layout& in_shared, const VectorAccess& access, int element_bits) {
  return int64_t{in_shared.warps()} * access.instructions() * Count(in_shared, access, element_bits, 0, 0);
}

Layout Turn::Of(const Layout& in_shared) const {
  Masks lanes = in_shared.bases(In::kLane);
  lanes[static_cast<size_t>(lane)] ^= in_shared.bases(In::kRegister)[static_cast<size_t>(reg)];
  return in_shared.WithBases(In::kLane, std::move(lanes));
}

std::optional<Turn> FindTurn(const Layout& in_shared, const VectorAccess& access, int element_bits) {
  std::optional<Turn> best;
  if (in_shared.FreeMask(In::kRegister) != 0) return best;
  int64_t least = QuickWavefronts(in_shared, access, element_bits);
  for (int lane = 0; lane < in_shared.bits(In::kLane) && least > LeastWavefronts(in_shared, access, element_bits);
       ++lane) {
    for (int reg = 0; reg < in_shared.bits(In::kRegister); ++reg) {
      const Turn turn = {lane, reg};
      const Layout read = turn.Of(in_shared);
      const VectorAccess vectors = Vectorise(read, element_bits, 0, access.vector);
      if (vectors.vector != access.vector) continue;
      if (const int64_t n = QuickWavefronts(read, vectors, element_bits); n < least) least = n, best = turn;
    }
  }
  return best;
}

SharedMap MakeSwizzle(int offset_bits, int element_bits, const Masks& vector, const Masks& write, const Masks& read,
                      const Masks& prefer) {
  // Two subspaces, the lanes that write and those that read, both modulo the vector. What they share needs banks; of
  // the rest of either, pairs of sums may be rows: no sum of such sums is in one of the two.
  Subspace space(vector);
  assert(space.dimension() == static_cast<int>(vector.size()));
  const Masks shared = TakeNew(space, Intersection(Concat({vector, write}), Concat({vector, read})));
  const Masks only_write = TakeNew(space, write);
  const Masks only_read = TakeNew(space, read);
  Masks others = TakeNew(space, prefer);
  const Masks units = TakeNew(space, Gf2Map::Identity(offset_bits).columns());
  others.insert(others.end(), units.begin(), units.end());

  const int line_bits = Log2(kBanks * kBankBytes * 8 / element_bits);
  const int bank_bits = std::max(0, line_bits - static_cast<int>(vector.size()));
  size_t left = static_cast<size_t>(std::max(0, offset_bits - static_cast<int>(vector.size()) - bank_bits));
  Masks rows, banks;
  // From the last, so that banks are neighbours of the vector.
  while (left > 0 && !others.empty()) {
    rows.push_back(others.back());
    others.pop_back();
    --left;
  }
  std::reverse(rows.begin(), rows.end());
  const size_t pairs = std::min({left, only_write.size(), only_read.size()});
  for (size_t i = 0; i < pairs; ++i) rows.push_back(only_write[i] ^ only_read[i]);
  left -= pairs;
  // More lanes than banks: conflicts cannot be avoided.
  Masks candidates = Concat({shared, only_write, others, only_read});
  Subspace used(Concat({vector, rows}));
  banks = TakeNew(used, candidates);
  while (left > 0) {
    rows.push_back(banks.back());
    banks.pop_back();
    --left;
  }
  const Gf2Map element_of(Concat({vector, banks, rows}), offset_bits);
  const std::optional<Gf2Map> index = Invert(element_of);
  assert(index.has_value() && element_of.in_bits() == offset_bits);
  return {*index, element_bits};
}

SharedExchange ChooseShared(const Layout& src, const Layout& dst, int element_bits) {
  assert(src.shape() == dst.shape() && element_bits >= 8);
  const Masks& src_regs = src.bases(In::kRegister);
  const Masks& dst_regs = dst.bases(In::kRegister);
  const size_t widest = static_cast<size_t>(std::max(0, Log2(128) - Log2(element_bits)));
  const Masks common = Intersection(src_regs, dst_regs);
  const Masks prefer = Concat({src.bases(In::kLane), dst.bases(In::kLane), src.bases(In::kWarp), dst.bases(In::kWarp)});
  std::optional<SharedExchange> best;
  std::pair<int64_t, int64_t> best_cost;
  std::set<Masks> tried;
  // Vectors of what both hold in registers, then of what one side does: bits that the other side's lanes differ in, or
  // those that they do not, first.
  for (int variant = 0; variant < 4; ++variant) {
    const Layout& other = variant & 1 ? src : dst;
    const Masks& own_regs = variant & 1 ? dst_regs : src_regs;
    const Subspace other_lanes(other.bases(In::kLane));
    Masks ordered = own_regs;
    std::stable_sort(ordered.begin(), ordered.end(), [&](Mask a, Mask b) {
      return other_lanes.Contains(variant & 2 ? a : b) < other_lanes.Contains(variant & 2 ? b : a);
    });
    Subspace space;
    Masks all = TakeNew(space, common);
    const Masks more = TakeNew(space, ordered);
    all.insert(all.end(), more.begin(), more.end());
    for (size_t size = 0; size <= std::min(widest, all.size()); ++size) {
      const Masks vector(all.begin(), all.begin() + size);
      if (!tried.insert(vector).second) continue;
      const auto lanes = [&](const Layout& l, const Masks& regs) {
        const Subspace held(regs);
        int own = 0;
        while (own < static_cast<int>(size) && held.Contains(vector[own])) ++own;
        return FirstLanes(l, PhaseLanes(1 << own, element_bits));
      };
      SharedExchange x;
      x.map = MakeSwizzle(src.offset_bits(), element_bits, vector, lanes(src, src_regs), lanes(dst, dst_regs), prefer);
      const Layout write = Compose(x.map.index, src), read = Compose(x.map.index, dst);
      x.write = Vectorise(write, element_bits, 0, int64_t{1} << widest);
      x.read = Vectorise(read, element_bits, 0, int64_t{1} << widest);
      const std::pair<int64_t, int64_t> cost = {
          QuickWavefronts(write, x.write, element_bits) + QuickWavefronts(read, x.read, element_bits),
          x.write.instructions() + x.read.instructions()};
      if (!best || cost < best_cost) {
        best = std::move(x);
        best_cost = cost;
      }
    }
  }
  return *std::move(best);
}

SharedMap RowMajor(absl::Span<const int64_t> shape, int element_bits) {
  int bits = 0;
  for (int64_t size : shape) bits += Log2(size);
  return {Gf2Map::Identity(bits), element_bits};
}

SharedMap TmaSwizzle(absl::Span<const int64_t> shape, int element_bits, int swizzle_bytes) {
  assert(swizzle_bytes == 16 || swizzle_bytes == 32 || swizzle_bytes == 64 || swizzle_bytes == 128);
  const SharedMap plain = RowMajor(shape, element_bits);
  const int bits = plain.index.in_bits();
  const int row = shape.empty() ? 0 : Log2(shape.back());
  const int piece = Log2(swizzle_bytes * 8 / element_bits);
  if (swizzle_bytes == 16 || row < piece) return plain;
  const int chunk = Log2(128) - Log2(element_bits);  // bits of an index within 16 bytes
  const int line = Log2(1024) - Log2(element_bits);  // and within 128 bytes
  Masks columns;
  for (int i = 0; i < bits; ++i) {
    // The pieces of a row come after all rows.
    int to = i;
    if (i >= piece && i < row) to = i + bits - row;
    if (i >= row) to = i - row + piece;
    Mask index = Mask{1} << to;
    if (to >= line && to < line + piece - chunk) index |= Mask{1} << (to - line + chunk);
    columns.push_back(index);
  }
  return {Gf2Map(std::move(columns), bits), element_bits};
}

}  // namespace tile::codegen
