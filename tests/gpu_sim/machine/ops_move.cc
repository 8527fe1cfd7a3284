// Moves: mov with packing and unpacking, conversions, addresses of other spaces.
#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/tensor/convert.h"

namespace tile::gpu_sim {
namespace {

Step Mov(Thread& t, const Instr& i) { return t.r[i.d] = t.r[i.a], Step::kNext; }

// imm: bits of a part
Step Pack(Thread& t, const Instr& i) {
  uint64_t d = 0;
  const uint64_t mask = (uint64_t{1} << i.imm) - 1;
  for (uint32_t k = 0; k < i.count; ++k) d |= (t.r[i.list[k]] & mask) << (static_cast<uint64_t>(i.imm) * k);
  t.r[i.d] = d;
  return Step::kNext;
}
Step Unpack(Thread& t, const Instr& i) {
  const uint64_t a = t.r[i.a], mask = (uint64_t{1} << i.imm) - 1;
  for (uint32_t k = 0; k < i.count; ++k) t.r[i.list[k]] = a >> (static_cast<uint64_t>(i.imm) * k) & mask;
  return Step::kNext;
}

// mov.b128 d, {a, b} and mov.b128 {d, e}, a: halves of 64 bits. count: 0 between registers, 1 into one, 2 out of it.
Step MovWide(Thread& t, const Instr& i) {
  const uint64_t low = t.r[i.count == 1 ? i.list[0] : i.a], high = t.r[i.count == 1 ? i.list[1] : i.a + 1];
  t.r[i.count == 2 ? i.list[0] : i.d] = low;
  t.r[i.count == 2 ? i.list[1] : i.d + 1] = high;
  return Step::kNext;
}
absl::Status DecodeMovWide(Form& f, Instr* i) {
  i->run = &MovWide;
  const bool in = f.IsList(1), out = f.IsList(0);
  uint32_t parts = 2;
  if (in) i->list = f.Sources(1, &parts);
  if (out) i->list = f.Destinations(0, &parts);
  i->count = in ? 1 : out ? 2 : 0;
  if (parts != 2 || (in && out)) f.Fail("parts of 64 bits only");
  if (!in) i->a = f.Source(1);
  if (!out) i->d = f.Destination(0);
  if ((!in && f.Bits(1, 0) != 128) || (!out && f.Bits(0, 0) != 128)) f.Fail("registers of 128 bits");
  return f.Finish();
}

absl::Status DecodeMov(Form& f, Instr* i) {
  if (f.Take("b128")) return DecodeMovWide(f, i);
  const Type type = f.TakeType();
  const int bits = type == Type::kB16 ? 16 : type == Type::kB32 ? 32 : type == Type::kB64 ? 64 : 0;
  if (!f.IsList(0) && !f.IsList(1)) {
    i->run = &Mov;
    i->d = f.Destination(0), i->a = f.Source(1);
    return f.Finish();
  }
  if (f.IsList(1)) {
    i->run = &Pack;
    i->d = f.Destination(0);
    i->list = f.Sources(1, &i->count);
  } else {
    i->run = &Unpack;
    i->a = f.Source(1);
    i->list = f.Destinations(0, &i->count);
  }
  if (bits == 0 || i->count == 0 || bits % static_cast<int>(i->count) != 0) return f.Unknown("parts of this type");
  i->imm = bits / static_cast<int>(i->count);
  return f.Finish();
}

// Between integers of different widths, which is most of it.
template <class To, class From>
Step CvtInteger(Thread& t, const Instr& i) {
  Put<To>(t, i.d, static_cast<To>(Get<From>(t, i.a)));
  return Step::kNext;
}
template <class From>
Instr::Run CvtIntegerTo(Type to) {
  switch (to) {
    case Type::kU8: return &CvtInteger<uint8_t, From>;
    case Type::kU16: return &CvtInteger<uint16_t, From>;
    case Type::kU32: return &CvtInteger<uint32_t, From>;
    case Type::kU64: return &CvtInteger<uint64_t, From>;
    case Type::kS8: return &CvtInteger<int8_t, From>;
    case Type::kS16: return &CvtInteger<int16_t, From>;
    case Type::kS32: return &CvtInteger<int32_t, From>;
    case Type::kS64: return &CvtInteger<int64_t, From>;
    default: return nullptr;
  }
}
Instr::Run CvtIntegers(Type to, Type from) {
  switch (from) {
    case Type::kU8: return CvtIntegerTo<uint8_t>(to);
    case Type::kU16: return CvtIntegerTo<uint16_t>(to);
    case Type::kU32: return CvtIntegerTo<uint32_t>(to);
    case Type::kU64: return CvtIntegerTo<uint64_t>(to);
    case Type::kS8: return CvtIntegerTo<int8_t>(to);
    case Type::kS16: return CvtIntegerTo<int16_t>(to);
    case Type::kS32: return CvtIntegerTo<int32_t>(to);
    case Type::kS64: return CvtIntegerTo<int64_t>(to);
    default: return nullptr;
  }
}

struct CvtExtra : Extra {
  CvtKind kind;
};
Step Cvt(Thread& t, const Instr& i) {
  t.r[i.d] = RunCvt(static_cast<const CvtExtra&>(*i.extra).kind, t.r[i.a], t.r[i.b]);
  return Step::kNext;
}

absl::Status DecodeCvt(Form& f, Instr* i) {
  const auto& words = f.words();
  i->d = f.Destination(0), i->a = f.Source(1), i->b = i->a;
  if (words.size() == 3) {
    const std::optional<Type> to = TypeOf(words[1]), from = TypeOf(words[2]);
    if (to.has_value() && from.has_value()) i->run = CvtIntegers(*to, *from);
  }
  if (i->run == nullptr) {
    absl::StatusOr<CvtKind> kind = ParseCvt(words);
    if (!kind.ok()) return f.Unknown(kind.status().message());
    f.NewExtra<CvtExtra>(i)->kind = *kind;
    i->run = &Cvt;
    if (kind->sources == 2) i->b = f.Source(2);
  }
  f.TakeAll();
  return f.Finish();
}

// Generic addresses have their space in the upper bits; those of global memory and parameters are the same everywhere.
Step ToGeneric(Thread& t, const Instr& i) { return t.r[i.d] = t.r[i.a] | static_cast<uint64_t>(i.imm), Step::kNext; }
Step FromGeneric(Thread& t, const Instr& i) {
  const uint64_t a = t.r[i.a];
  if ((a & kWindowMask) != static_cast<uint64_t>(i.imm)) return Fault(t, i, "the address is of another space");
  t.r[i.d] = a & ~kWindowMask;
  return Step::kNext;
}

absl::Status DecodeCvta(Form& f, Instr* i) {
  const bool to = f.Take("to");
  const AddressSpace space = TakeSpace(f);
  const uint64_t window = space == AddressSpace::kShared || space == AddressSpace::kSharedCluster ? kSharedWindow
                          : space == AddressSpace::kLocal                                         ? kLocalWindow
                                                                                                  : 0;
  f.TakeType();
  i->run = window == 0 ? &Mov : to ? &FromGeneric : &ToGeneric;
  i->imm = static_cast<int64_t>(window);
  i->d = f.Destination(0), i->a = f.Source(1);
  return f.Finish();
}

// The same place in the memory of another block of the cluster.
Step Mapa(Thread& t, const Instr& i) {
  const auto rank = Get<uint32_t>(t, i.b);
  if (rank >= t.block->cluster->blocks.size()) return Fault(t, i, "the cluster has no such block");
  t.r[i.d] = (t.r[i.a] & (kWindowMask | kOffsetMask)) | uint64_t{rank} << kRankShift;
  return Step::kNext;
}

absl::Status DecodeMapa(Form& f, Instr* i) {
  f.Ignore({"shared::cluster"});
  f.TakeType();
  i->run = &Mapa;
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2);
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> MoveOps() {
  static constexpr OpRow kRows[] = {{"mov", DecodeMov}, {"cvt", DecodeCvt}, {"cvta", DecodeCvta}, {"mapa", DecodeMapa}};
  return kRows;
}

}  // namespace tile::gpu_sim
