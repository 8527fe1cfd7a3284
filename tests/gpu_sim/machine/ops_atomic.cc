// Atomic updates: atom gives the old value, red does not.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/float_mode.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {
namespace {

// The new value from the old one and one or two operands.
template <class T>
T Add(T old, T b, T) {
  return static_cast<T>(old + b);
}
template <class T>
T And(T old, T b, T) {
  return old & b;
}
template <class T>
T Or(T old, T b, T) {
  return old | b;
}
template <class T>
T Xor(T old, T b, T) {
  return old ^ b;
}
template <class T>
T Exch(T, T b, T) {
  return b;
}
template <class T>
T Cas(T old, T b, T c) {
  return old == b ? c : old;
}
template <class T>
T Min(T old, T b, T) {
  return std::min(old, b);
}
template <class T>
T Max(T old, T b, T) {
  return std::max(old, b);
}
uint32_t Inc(uint32_t old, uint32_t b, uint32_t) { return old >= b ? 0 : old + 1; }
uint32_t Dec(uint32_t old, uint32_t b, uint32_t) { return old == 0 || old > b ? b : old - 1; }
// Red and atom of f32 in global memory keep subnormals.
uint32_t AddF32(uint32_t old, uint32_t b, uint32_t) {
  return std::bit_cast<uint32_t>(CanonicalNan(std::bit_cast<float>(old) + std::bit_cast<float>(b)));
}
uint64_t AddF64(uint64_t old, uint64_t b, uint64_t) {
  return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(b));
}
template <Format format>
uint16_t AddHalf(uint16_t old, uint16_t b, uint16_t) {
  const double sum = static_cast<double>(DecodeTable(format)[old]) + DecodeTable(format)[b];
  return static_cast<uint16_t>(std::isnan(sum) ? 0x7FFF : Encode(format, sum, Rounding::kNearestEven));
}
template <Format format>
uint32_t AddPair(uint32_t old, uint32_t b, uint32_t) {
  const auto low = AddHalf<format>(static_cast<uint16_t>(old), static_cast<uint16_t>(b), 0);
  const auto high = AddHalf<format>(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16), 0);
  return low | static_cast<uint32_t>(high) << 16;
}

// The list has the operands, then where old values go.
template <class T, T (*update)(T, T, T)>
Step Atomic(Thread& t, const Instr& i) {
  uint8_t* p =
      WriteAccess(t, i, static_cast<AddressSpace>(i.imm), AddressOf(t, i.at), sizeof(T) * i.count, sizeof(T) * i.count);
  if (p == nullptr) return Step::kFault;
  for (uint32_t k = 0; k < i.count; ++k) {
    T old;
    std::memcpy(&old, p + k * sizeof(T), sizeof old);
    const T now = update(old, Get<T>(t, i.list[k]), Get<T>(t, i.c));
    std::memcpy(p + k * sizeof(T), &now, sizeof now);
    Put<T>(t, i.list[i.count + k], old);
  }
  return Step::kNext;
}

struct AtomicOp {
  absl::string_view name;
  Type type;
  Instr::Run run;
};
constexpr AtomicOp kOps[] = {
    {"add", Type::kU32, &Atomic<uint32_t, Add>},
    {"add", Type::kS32, &Atomic<uint32_t, Add>},
    {"add", Type::kU64, &Atomic<uint64_t, Add>},
    {"add", Type::kS64, &Atomic<uint64_t, Add>},
    {"add", Type::kF32, &Atomic<uint32_t, AddF32>},
    {"add", Type::kF64, &Atomic<uint64_t, AddF64>},
    {"add", Type::kF16, &Atomic<uint16_t, AddHalf<Format::kF16>>},
    {"add", Type::kBF16, &Atomic<uint16_t, AddHalf<Format::kBF16>>},
    {"add", Type::kF16x2, &Atomic<uint32_t, AddPair<Format::kF16>>},
    {"add", Type::kBF16x2, &Atomic<uint32_t, AddPair<Format::kBF16>>},
    {"and", Type::kB32, &Atomic<uint32_t, And>},
    {"and", Type::kB64, &Atomic<uint64_t, And>},
    {"or", Type::kB32, &Atomic<uint32_t, Or>},
    {"or", Type::kB64, &Atomic<uint64_t, Or>},
    {"xor", Type::kB32, &Atomic<uint32_t, Xor>},
    {"xor", Type::kB64, &Atomic<uint64_t, Xor>},
    {"exch", Type::kB32, &Atomic<uint32_t, Exch>},
    {"exch", Type::kB64, &Atomic<uint64_t, Exch>},
    {"cas", Type::kB16, &Atomic<uint16_t, Cas>},
    {"cas", Type::kB32, &Atomic<uint32_t, Cas>},
    {"cas", Type::kB64, &Atomic<uint64_t, Cas>},
    {"min", Type::kU32, &Atomic<uint32_t, Min>},
    {"min", Type::kS32, &Atomic<int32_t, Min>},
    {"min", Type::kU64, &Atomic<uint64_t, Min>},
    {"min", Type::kS64, &Atomic<int64_t, Min>},
    {"max", Type::kU32, &Atomic<uint32_t, Max>},
    {"max", Type::kS32, &Atomic<int32_t, Max>},
    {"max", Type::kU64, &Atomic<uint64_t, Max>},
    {"max", Type::kS64, &Atomic<int64_t, Max>},
    {"inc", Type::kU32, &Atomic<uint32_t, Inc>},
    {"dec", Type::kU32, &Atomic<uint32_t, Dec>},
};

// atom.add.f32 d, [a], b; atom.cas.b32 d, [a], b, c; red.add.f32 [a], b; red.add.v2.f32 [a], {b, c}; atom.add.v2.f32 {d, e}, [a], {b, c}
absl::Status DecodeAtomic(Form& f, Instr* i) {
  const bool is_red = f.words()[0] == "red";
  f.Ignore({"relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys", "noftz"});
  f.IgnorePrefixed("L2::");
  i->imm = static_cast<int64_t>(TakeSpace(f));
  const uint32_t n = f.TakeOf<uint32_t>({{"v2", 2}, {"v4", 4}, {"v8", 8}}, 1);
  const Type type = f.TakeType();
  for (const AtomicOp& op : kOps) {
    if (op.type == type && f.Take(op.name)) i->run = op.run;
  }
  if (i->run == nullptr) f.Fail("this operation on this type");
  const bool is_cas = !is_red && f.words().end() != std::find(f.words().begin(), f.words().end(), "cas");
  const size_t first = is_red ? 0 : 1;
  uint32_t results = n;
  const uint32_t* old = is_red ? nullptr : f.Destinations(0, &results);
  i->at = f.Address(first);
  const uint32_t* operands = f.Sources(first + 1, &i->count);
  if (i->count != n || results != n) {
    f.Fail("as many operands as it updates");
    return f.Finish();
  }
  std::vector<uint32_t> all(operands, operands + n);
  for (uint32_t k = 0; k < n; ++k) all.push_back(is_red ? f.Sink() : old[k]);
  i->list = f.Slots(std::move(all));
  i->c = is_cas ? f.Source(first + 2) : f.Sink();
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> AtomicOps() {
  static constexpr OpRow kRows[] = {{"atom", DecodeAtomic}, {"red", DecodeAtomic}};
  return kRows;
}

}  // namespace tile::gpu_sim
