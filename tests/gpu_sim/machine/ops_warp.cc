// Exchange between the lanes of a warp: shfl, vote, match, redux, elect. The lanes of the mask, in slot a for AwaitMask, are all
// here; those outside of it run on by themselves.
#include <algorithm>
#include <array>
#include <cmath>

#include "absl/base/casts.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/together.h"

namespace tile::gpu_sim {
namespace {

// b: value, c: lane or distance, list: clamp and segment mask, second result. imm: mode
enum Mode : int64_t { kUp, kDown, kBfly, kIdx };
absl::Status Shfl(Warp& w, const Instr& i, uint32_t lanes) {
  std::array<uint32_t, 32> values = {};
  ForLanes(lanes, [&](uint32_t l) { values[l] = Get<uint32_t>(w.threads[l], i.b); });
  uint32_t bad = 0;
  ForLanes(lanes, [&](uint32_t l) {
    Thread& t = w.threads[l];
    const uint32_t by = Get<uint32_t>(t, i.c) & 31, clamp_and_mask = Get<uint32_t>(t, i.list[0]);
    const uint32_t segment = clamp_and_mask >> 8 & 31, clamp = clamp_and_mask & 31;
    const uint32_t most = (l & segment) | (clamp & ~segment), least = l & segment;
    uint32_t from = l;
    bool is = false;
    switch (i.imm) {
      case kUp: from = l - by, is = static_cast<int32_t>(from) >= static_cast<int32_t>(most); break;
      case kDown: from = l + by, is = from <= most; break;
      case kBfly: from = l ^ by, is = from <= most; break;
      default: from = least | (by & ~segment), is = from <= most; break;
    }
    if (!is) from = l;
    if ((lanes >> from & 1) == 0) bad |= 1u << l;
    Put<uint32_t>(t, i.d, values[from]);
    t.r[i.list[1]] = is;
  });
  if (bad != 0) return absl::InvalidArgumentError("it reads a lane that is not in the mask");
  return absl::OkStatus();
}

absl::Status DecodeShfl(Form& f, Instr* i) {
  f.Ignore({"sync"});
  i->imm = f.TakeOf<int64_t>({{"up", kUp}, {"down", kDown}, {"bfly", kBfly}, {"idx", kIdx}}, kIdx);
  if (f.TakeType() != Type::kB32) f.Fail("this type");
  i->run = &AwaitMask;
  i->together = &Shfl;
  const auto [d, p] = f.DestinationPair(0);
  i->d = d, i->b = f.Source(1), i->c = f.Source(2);
  i->list = f.Slots({f.Source(3), p});
  i->a = f.Source(4);
  return f.Finish();
}

enum Vote : int64_t { kAll, kAny, kUni, kBallot };
absl::Status RunVote(Warp& w, const Instr& i, uint32_t lanes) {
  uint32_t yes = 0;
  ForLanes(lanes,
           [&](uint32_t l) { yes |= static_cast<uint32_t>(Get<bool>(w.threads[l], i.b) != (i.count != 0)) << l; });
  const uint64_t d = i.imm == kAll   ? yes == lanes
                     : i.imm == kAny ? yes != 0
                     : i.imm == kUni ? yes == lanes || yes == 0
                                     : yes;
  ForLanes(lanes, [&](uint32_t l) { w.threads[l].r[i.d] = d; });
  return absl::OkStatus();
}

absl::Status DecodeVote(Form& f, Instr* i) {
  f.Ignore({"sync"});
  i->imm = f.TakeOf<int64_t>({{"all", kAll}, {"any", kAny}, {"uni", kUni}, {"ballot", kBallot}}, kAll);
  f.TakeType();
  i->run = &AwaitMask;
  i->together = &RunVote;
  i->d = f.Destination(0);
  bool negated = false;
  i->b = f.SourceOrNot(1, &negated);
  i->count = negated ? 1 : 0;
  i->a = f.Source(2);
  return f.Finish();
}

// imm: 1 for all; c: second result. Values of 32 or 64 bits (count).
absl::Status Match(Warp& w, const Instr& i, uint32_t lanes) {
  const uint64_t bits = i.count == 64 ? ~uint64_t{0} : 0xFFFFFFFF;
  const auto value = [&](uint32_t l) { return w.threads[l].r[i.b] & bits; };
  std::array<uint32_t, 32> same = {};
  ForLanes(lanes, [&](uint32_t l) {
    ForLanes(lanes, [&](uint32_t m) { same[l] |= static_cast<uint32_t>(value(l) == value(m)) << m; });
  });
  ForLanes(lanes, [&](uint32_t l) {
    const bool all = same[l] == lanes;
    Put<uint32_t>(w.threads[l], i.d, i.imm == 0 || all ? same[l] : 0);
    w.threads[l].r[i.c] = all;
  });
  return absl::OkStatus();
}

absl::Status DecodeMatch(Form& f, Instr* i) {
  f.Ignore({"sync"});
  i->imm = f.TakeOf<int64_t>({{"all", 1}, {"any", 0}}, 0);
  i->count = f.TakeType() == Type::kB64 ? 64 : 32;
  i->run = &AwaitMask;
  i->together = &Match;
  const auto [d, p] = f.DestinationPair(0);
  i->d = d, i->c = p;
  i->b = f.Source(1);
  i->a = f.Source(2);
  return f.Finish();
}

using Reduce = uint32_t (*)(uint32_t, uint32_t);
struct ReduxExtra : Extra {
  Reduce reduce = nullptr;
};
absl::Status Redux(Warp& w, const Instr& i, uint32_t lanes) {
  const Reduce reduce = static_cast<const ReduxExtra&>(*i.extra).reduce;
  uint32_t d = Get<uint32_t>(w.threads[__builtin_ctz(lanes)], i.b);
  ForLanes(lanes & (lanes - 1), [&](uint32_t l) { d = reduce(d, Get<uint32_t>(w.threads[l], i.b)); });
  ForLanes(lanes, [&](uint32_t l) { Put<uint32_t>(w.threads[l], i.d, d); });
  return absl::OkStatus();
}

// Of floats: the other one where one is NaN, as min and max have it.
template <bool kMax>
uint32_t OfFloats(uint32_t a, uint32_t b) {
  const auto x = absl::bit_cast<float>(a), y = absl::bit_cast<float>(b);
  return absl::bit_cast<uint32_t>(kMax ? std::fmax(x, y) : std::fmin(x, y));
}

struct ReduceRow {
  absl::string_view name;
  Type type;
  Reduce reduce;
};
constexpr ReduceRow kReduces[] = {
    {"add", Type::kU32, [](uint32_t a, uint32_t b) { return a + b; }},
    {"add", Type::kS32, [](uint32_t a, uint32_t b) { return a + b; }},
    {"min", Type::kU32, [](uint32_t a, uint32_t b) { return std::min(a, b); }},
    {"max", Type::kU32, [](uint32_t a, uint32_t b) { return std::max(a, b); }},
    {"min", Type::kS32,
     [](uint32_t a, uint32_t b) {
       return static_cast<uint32_t>(std::min(static_cast<int32_t>(a), static_cast<int32_t>(b)));
     }},
    {"max", Type::kS32,
     [](uint32_t a, uint32_t b) {
       return static_cast<uint32_t>(std::max(static_cast<int32_t>(a), static_cast<int32_t>(b)));
     }},
    {"min", Type::kF32, &OfFloats<false>},
    {"max", Type::kF32, &OfFloats<true>},
    {"and", Type::kB32, [](uint32_t a, uint32_t b) { return a & b; }},
    {"or", Type::kB32, [](uint32_t a, uint32_t b) { return a | b; }},
    {"xor", Type::kB32, [](uint32_t a, uint32_t b) { return a ^ b; }},
};

absl::Status DecodeRedux(Form& f, Instr* i) {
  f.Ignore({"sync"});
  auto* x = f.NewExtra<ReduxExtra>(i);
  const Type type = f.TakeType();
  for (const ReduceRow& row : kReduces) {
    if (row.type == type && f.Take(row.name)) x->reduce = row.reduce;
  }
  if (x->reduce == nullptr) f.Fail("this operation on this type");
  i->run = &AwaitMask;
  i->together = &Redux;
  i->d = f.Destination(0), i->b = f.Source(1), i->a = f.Source(2);
  return f.Finish();
}

// Any lane may be elected; the hardware takes the first.
absl::Status Elect(Warp& w, const Instr& i, uint32_t lanes) {
  const auto leader = static_cast<uint32_t>(__builtin_ctz(lanes));
  ForLanes(lanes, [&](uint32_t l) {
    Put<uint32_t>(w.threads[l], i.d, leader);
    w.threads[l].r[i.c] = l == leader;
  });
  return absl::OkStatus();
}

absl::Status DecodeElect(Form& f, Instr* i) {
  f.Ignore({"sync"});
  i->run = &AwaitMask;
  i->together = &Elect;
  const auto [d, p] = f.DestinationPair(0);
  i->d = d, i->c = p;
  i->a = f.Source(1);
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> WarpOps() {
  static constexpr OpRow kRows[] = {{"shfl", DecodeShfl},
                                    {"vote", DecodeVote},
                                    {"match", DecodeMatch},
                                    {"redux", DecodeRedux},
                                    {"elect", DecodeElect}};
  return kRows;
}

}  // namespace tile::gpu_sim
