// Loads and stores. The threads of the simulator run one after the other: what orders memory needs nothing.
#include <cstring>

#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/ops.h"

namespace tile::gpu_sim {
namespace {

// imm: the address space
template <class T>
Step Load(Thread& t, const Instr& i) {
  const uint64_t bytes = sizeof(T) * i.count;
  const uint8_t* p = Access(t, i, static_cast<AddressSpace>(i.imm), AddressOf(t, i.at), bytes, bytes);
  if (p == nullptr) return Step::kFault;
  for (uint32_t k = 0; k < i.count; ++k) {
    T v;
    std::memcpy(&v, p + k * sizeof(T), sizeof v);
    Put<T>(t, i.list[k], v);
  }
  return Step::kNext;
}
template <class T>
Step Store(Thread& t, const Instr& i) {
  const uint64_t bytes = sizeof(T) * i.count;
  uint8_t* p = WriteAccess(t, i, static_cast<AddressSpace>(i.imm), AddressOf(t, i.at), bytes, bytes);
  if (p == nullptr) return Step::kFault;
  for (uint32_t k = 0; k < i.count; ++k) std::memcpy(p + k * sizeof(T), &t.r[i.list[k]], sizeof(T));
  return Step::kNext;
}

// b128: both halves of a register.
Step LoadWide(Thread& t, const Instr& i) {
  const uint8_t* p = Access(t, i, static_cast<AddressSpace>(i.imm), AddressOf(t, i.at), 16, 16);
  if (p == nullptr) return Step::kFault;
  std::memcpy(&t.r[i.list[0]], p, 16);
  return Step::kNext;
}
Step StoreWide(Thread& t, const Instr& i) {
  uint8_t* p = WriteAccess(t, i, static_cast<AddressSpace>(i.imm), AddressOf(t, i.at), 16, 16);
  if (p == nullptr) return Step::kFault;
  std::memcpy(p, &t.r[i.list[0]], 16);
  return Step::kNext;
}

Instr::Run LoadOf(Type type) {
  switch (type) {
    case Type::kB8:
    case Type::kU8: return &Load<uint8_t>;
    case Type::kS8: return &Load<int8_t>;
    case Type::kB16:
    case Type::kF16:
    case Type::kBF16:
    case Type::kU16: return &Load<uint16_t>;
    case Type::kS16: return &Load<int16_t>;
    case Type::kS32: return &Load<int32_t>;
    case Type::kB64:
    case Type::kU64:
    case Type::kF64:
    case Type::kS64: return &Load<uint64_t>;
    case Type::kPred: return nullptr;
    default: return &Load<uint32_t>;
  }
}
Instr::Run StoreOf(Type type) {
  switch (type) {
    case Type::kB8:
    case Type::kU8:
    case Type::kS8: return &Store<uint8_t>;
    case Type::kB16:
    case Type::kF16:
    case Type::kBF16:
    case Type::kU16:
    case Type::kS16: return &Store<uint16_t>;
    case Type::kB64:
    case Type::kU64:
    case Type::kF64:
    case Type::kS64: return &Store<uint64_t>;
    case Type::kPred: return nullptr;
    default: return &Store<uint32_t>;
  }
}

// Suffixes that say how strong the access is and what caches should do; the list's length.
uint32_t TakeAccess(Form& f, Instr* i) {
  f.Ignore({"relaxed", "acquire", "release", "weak", "volatile", "cta", "cluster", "gpu", "sys", "nc", "ca", "cg", "cs",
            "lu", "cv", "wb", "wt"});
  f.IgnorePrefixed("L1::");
  f.IgnorePrefixed("L2::");
  i->imm = static_cast<int64_t>(TakeSpace(f));
  return f.TakeOf<uint32_t>({{"v2", 2}, {"v4", 4}, {"v8", 8}}, 1);
}

absl::Status DecodeLoad(Form& f, Instr* i) {
  const uint32_t n = TakeAccess(f, i);
  const bool wide = f.Take("b128");
  if (wide && f.Bits(0, 0) != 128) f.Fail("a register of 128 bits");
  i->run = wide ? &LoadWide : LoadOf(f.TakeType());
  if (i->run == nullptr) f.Fail("this type");
  i->list = f.Destinations(0, &i->count);
  i->at = f.Address(1);
  if (f.num_operands() == 3) f.Source(2);  // a cache policy
  if (i->count != n) f.Fail("as many registers as it loads");
  return f.Finish();
}

absl::Status DecodeStore(Form& f, Instr* i) {
  const uint32_t n = TakeAccess(f, i);
  const bool wide = f.Take("b128");
  if (wide && f.Bits(1, 0) != 128) f.Fail("a register of 128 bits");
  i->run = wide ? &StoreWide : StoreOf(f.TakeType());
  if (i->run == nullptr) f.Fail("this type");
  i->at = f.Address(0);
  i->list = f.Sources(1, &i->count);
  if (f.num_operands() == 3) f.Source(2);
  if (i->count != n) f.Fail("as many registers as it stores");
  return f.Finish();
}

Step Nothing(Thread&, const Instr&) { return Step::kNext; }

// Barriers of memory, and hints for caches.
absl::Status DecodeNothing(Form& f, Instr* i) {
  i->run = &Nothing;
  f.TakeAll();
  for (size_t k = 0; k < f.num_operands(); ++k) f.Raw(k);
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> MemoryOps() {
  static constexpr OpRow kRows[] = {
      {"ld", DecodeLoad},
      {"ldu", DecodeLoad},
      {"st", DecodeStore},
      {"membar", DecodeNothing},
      {"prefetch", DecodeNothing},
      {"prefetchu", DecodeNothing},
      {"applypriority", DecodeNothing},
      {"createpolicy", DecodeNothing},
  };
  return kRows;
}

}  // namespace tile::gpu_sim
