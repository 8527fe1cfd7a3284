// From the maps of conversion_plan.h to registers, slots and rounds.
#include "codegen/layout/conversion.h"

#include <algorithm>
#include <cassert>
#include <set>

#include "codegen/layout/algebra.h"
#include "codegen/layout/conversion_plan.h"

namespace tile::codegen {
namespace {

Masks Without(const Masks& bases, Mask dropped) {
  Masks kept;
  for (size_t i = 0; i < bases.size(); ++i) {
    if ((dropped >> i & 1) == 0) kept.push_back(bases[i]);
  }
  return kept;
}

// Register numbers of few bits spread over the bits of all that are not in `dropped`.
Mask Spread(Mask number, Mask dropped) {
  Mask spread = 0;
  for (int bit = 0; number != 0; ++bit) {
    if (dropped >> bit & 1) continue;
    spread |= (number & 1) << bit;
    number >>= 1;
  }
  return spread;
}

// The map (lane, warp) → number as exchanges: one for each dimension of its image.
std::vector<Exchange> Exchanges(const Masks& lane, const Masks& warp) {
  Masks columns = lane;
  columns.insert(columns.end(), warp.begin(), warp.end());
  const Masks basis = Subspace(columns).basis();
  const Subspace space(basis);
  std::vector<Exchange> all(basis.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const Mask made_of = *space.Express(columns[i]);
    for (size_t x = 0; x < basis.size(); ++x) {
      if ((made_of >> x & 1) == 0) continue;
      if (i < lane.size()) all[x].lane_mask |= Mask{1} << i;
      if (i >= lane.size()) all[x].warp_mask |= Mask{1} << (i - lane.size());
    }
  }
  for (size_t x = 0; x < basis.size(); ++x) all[x].with = static_cast<uint32_t>(basis[x]);
  return all;
}

// How many values are selected when only those in `needed` matter at the end; afterwards those that matter before.
int CountSelects(const std::vector<Exchange>& exchanges, std::set<int>& needed) {
  int count = 0;
  for (auto x = exchanges.rbegin(); x != exchanges.rend(); ++x) {
    count += static_cast<int>(needed.size());
    std::set<int> both = needed;
    for (int i : needed) both.insert(i ^ static_cast<int>(x->with));
    needed = std::move(both);
  }
  return count;
}

// The plan in numbers of registers and slots. `src_packed` and `dst_packed`: the register bits that travel together.
Conversion Emit(const ConversionPlan& plan, const Layout& dst, absl::Span<const int> src_packed,
                absl::Span<const int> dst_packed, int element_bits) {
  const int packed = static_cast<int>(src_packed.size());
  Mask src_dropped = 0, dst_dropped = 0;
  for (int bit : src_packed) src_dropped |= Mask{1} << bit;
  for (int bit : dst_packed) dst_dropped |= Mask{1} << bit;

  Conversion c;
  Masks lane_exchange, warp_exchange;
  for (Mask reg : plan.t) lane_exchange.push_back(Spread(reg, src_dropped));
  for (size_t i = 0; i < plan.g.size(); ++i) {
    warp_exchange.push_back(Spread(plan.g[i] ^ Combine(plan.t, plan.c[i]), src_dropped));
  }
  c.before = Exchanges(lane_exchange, warp_exchange);
  c.lane_map = plan.q;
  c.warp_map = plan.c;
  c.slots = 1 << (plan.keys.size() + packed);
  bool stays = std::all_of(plan.c.begin(), plan.c.end(), [](Mask m) { return m == 0; });
  for (size_t i = 0; i < plan.q.size(); ++i) stays &= plan.q[i] == Mask{1} << i;
  int moved = 0;
  for (Mask k = 0; k < Mask{1} << plan.keys.size(); ++k) {
    const From from = Sum(plan.keys, k);
    Round round;
    round.lane_xor = static_cast<uint32_t>(from.lane);
    const Mask reg = from.reg ^ Combine(plan.t, from.lane);
    for (int i = 0; i < 1 << packed; ++i) {
      Mask low = 0;
      for (int bit = 0; bit < packed; ++bit) low |= static_cast<Mask>(i >> bit & 1) << src_packed[bit];
      round.from.push_back(static_cast<int>(Spread(reg, src_dropped) | low));
      round.to.push_back(static_cast<int>(k << packed) | i);
    }
    moved += !stays || from.lane != 0;
    c.rounds.push_back(std::move(round));
  }
  Masks after;
  for (Mask k : plan.p) after.push_back(k << packed);
  c.after = Exchanges(after, {});
  for (int r = 0; r < dst.registers(); ++r) {
    Mask slot = 0;
    int bit = 0;
    for (int b = 0; b < dst.bits(In::kRegister); ++b) {
      const bool set = r >> b & 1;
      const auto at = std::find(dst_packed.begin(), dst_packed.end(), b);
      if (at != dst_packed.end()) {
        slot ^= static_cast<Mask>(set) << (at - dst_packed.begin());
      } else {
        if (set) slot ^= plan.result[static_cast<size_t>(bit)] << packed;
        ++bit;
      }
    }
    c.result.push_back(static_cast<int>(slot));
  }

  const int words = std::max(1, element_bits / 32);
  c.shuffles = moved * words;
  std::set<int> needed(c.result.begin(), c.result.end());
  c.selects = CountSelects(c.after, needed);
  needed.clear();
  for (const Round& round : c.rounds) needed.insert(round.from.begin(), round.from.end());
  c.selects = (c.selects + CountSelects(c.before, needed)) * words >> packed;
  if (moved > 0) {
    c.kind = ConversionKind::kShuffle;
  } else if (!c.before.empty() || !c.after.empty()) {
    c.kind = ConversionKind::kSelect;
  } else {
    c.kind = ConversionKind::kRegisters;
  }
  return c;
}

// Every register stays.
Conversion Nothing(const Layout& dst) {
  Conversion c;
  c.slots = dst.registers();
  for (int r = 0; r < dst.registers(); ++r) {
    c.rounds.push_back({{r}, {r}, 0});
    c.result.push_back(r);
  }
  for (int i = 0; i < dst.bits(In::kLane); ++i) c.lane_map.push_back(Mask{1} << i);
  c.warp_map.assign(dst.bits(In::kWarp), 0);
  return c;
}

// Half cycles of an SM's pipes that a warp takes: two for a shuffle, one for a select.
int Cost(const Conversion& c) { return 2 * c.shuffles + c.selects; }

}  // namespace

std::optional<Conversion> ConvertInWarp(const Layout& src, const Layout& dst, int element_bits) {
  assert(src.shape() == dst.shape() && src.lanes() == dst.lanes() && src.warps() == dst.warps());
  if (Covers(src, dst)) return Nothing(dst);
  absl::InlinedVector<int, 4> src_packed, dst_packed;
  std::optional<Conversion> best;
  while (true) {
    Mask src_dropped = 0, dst_dropped = 0;
    for (int bit : src_packed) src_dropped |= Mask{1} << bit;
    for (int bit : dst_packed) dst_dropped |= Mask{1} << bit;
    const ConversionProblem problem = {
        Without(src.bases(In::kRegister), src_dropped), src.bases(In::kLane), src.bases(In::kWarp),
        Without(dst.bases(In::kRegister), dst_dropped), dst.bases(In::kLane), dst.bases(In::kWarp)};
    std::optional<ConversionPlan> plan = PlanInThread(problem);
    const bool in_thread = plan.has_value();
    if (!plan) plan = PlanInWarp(problem);
    if (plan) {
      Conversion c = Emit(*plan, dst, src_packed, dst_packed, element_bits);
      if (!best || Cost(c) < Cost(*best)) best = std::move(c);
    }
    // Moving register bits that both have side by side packed into one word halves the work.
    if (!plan || in_thread || element_bits << (src_packed.size() + 1) > 32) return best;
    bool found = false;
    for (int s = 0; s < src.bits(In::kRegister) && !found; ++s) {
      if (src_dropped >> s & 1 || src.bases(In::kRegister)[s] == 0) continue;
      for (int d = 0; d < dst.bits(In::kRegister) && !found; ++d) {
        if (dst_dropped >> d & 1 || src.bases(In::kRegister)[s] != dst.bases(In::kRegister)[d]) continue;
        src_packed.push_back(s);
        dst_packed.push_back(d);
        found = true;
      }
    }
    if (!found) return best;
  }
}

namespace {
Conversion ThroughSharedMemory(bool crosses_warps) {
  Conversion c;
  c.kind = ConversionKind::kShared;
  c.crosses_warps = crosses_warps;
  return c;
}
}  // namespace

Conversion Convert(const Layout& src, const Layout& dst, int element_bits) {
  std::optional<Conversion> in_warp = ConvertInWarp(src, dst, element_bits);
  // Through shared memory a register is written and read, 32 bits a cycle, and the threads wait for each other.
  const int wait = 32;
  const auto words = [&](const Layout& l) {
    return std::max(1, static_cast<int>(l.CanonicalRegisters().size()) * element_bits / 32);
  };
  if (in_warp && Cost(*in_warp) <= 2 * (words(src) + words(dst) + wait)) return *std::move(in_warp);
  return ThroughSharedMemory(!in_warp);
}

}  // namespace tile::codegen
