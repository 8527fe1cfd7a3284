// Matrix instructions: mma.sync, ldmatrix and wgmma. What they compute is in tests/gpu_sim/tensor; here registers go there and
// back, and products of wgmma come when the program waits for them.
#include <memory>

#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/deferred.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/together.h"
#include "tests/gpu_sim/tensor/ldmatrix.h"
#include "tests/gpu_sim/tensor/mma.h"
#include "tests/gpu_sim/tensor/wgmma.h"

namespace tile::gpu_sim {
namespace {

// Registers of an operand.
struct Words {
  const uint32_t* slots = nullptr;
  uint32_t count = 0;
};

struct MmaExtra : Extra {
  MmaKind kind;
  Words d, a, b, c;
  Words scale_a, scale_b;  // the register; byte and thread that have it are numbers
  uint32_t byte_a = 0, thread_a = 0, byte_b = 0, thread_b = 0;
};

// The same memory is used again: an allocation for each lane would cost more than the product.
void Read(const Warp& w, const Words& from, WarpWords* to) {
  for (uint32_t l = 0; l < 32; ++l) {
    (*to)[l].resize(from.count);
    for (uint32_t k = 0; k < from.count; ++k) (*to)[l][k] = Get<uint32_t>(w.threads[l], from.slots[k]);
  }
}
void Write(const WarpWords& from, const Words& to, Warp& w) {
  for (uint32_t l = 0; l < 32; ++l) {
    for (uint32_t k = 0; k < to.count; ++k) Put<uint32_t>(w.threads[l], to.slots[k], from[l][k]);
  }
}

absl::Status Mma(Warp& w, const Instr& i, uint32_t lanes) {
  if (lanes != ~0u) return absl::InvalidArgumentError("not all lanes of the warp execute it");
  const auto& x = static_cast<const MmaExtra&>(*i.extra);
  static thread_local WarpWords a, b, c, d;
  Read(w, x.a, &a);
  Read(w, x.b, &b);
  Read(w, x.c, &c);
  Read(w, x.c, &d);
  MmaScales scales;
  if (x.kind.scales != 0) {
    static thread_local WarpWords scale_a, scale_b;
    Read(w, x.scale_a, &scale_a);
    Read(w, x.scale_b, &scale_b);
    scales = {&scale_a, &scale_b, x.byte_a, x.thread_a, x.byte_b, x.thread_b};
  }
  RunMma(x.kind, a, b, c, &d, scales);
  Write(d, x.d, w);
  return absl::OkStatus();
}

// Behind C: the scales of A, {byte, thread}, those of B, {byte, thread}.
void TakeScales(Form& f, MmaExtra* x) {
  const auto number = [&](size_t operand, size_t part) {
    const ptx::Operand& o = f.Raw(operand);
    const bool has = o.kind == ptx::Operand::Kind::kList && o.parts.size() == 2 &&
                     o.parts[part].kind == ptx::Operand::Kind::kInteger;
    if (!has) f.Fail("{byte, thread} as numbers is expected");
    return has ? static_cast<uint32_t>(o.parts[part].number) : 0;
  };
  x->scale_a.slots = f.Sources(4, &x->scale_a.count);
  x->byte_a = number(5, 0), x->thread_a = number(5, 1);
  x->scale_b.slots = f.Sources(6, &x->scale_b.count);
  x->byte_b = number(7, 0), x->thread_b = number(7, 1);
  const auto scales = static_cast<uint32_t>(x->kind.scales);
  if (x->byte_a % scales != 0 || x->byte_b % scales != 0 || x->byte_a + scales > 4 || x->byte_b + scales > 4 ||
      x->thread_a > 1 || x->thread_b > 3)
    f.Fail("this byte or thread");
}

absl::Status DecodeMma(Form& f, Instr* i) {
  absl::StatusOr<MmaKind> kind = ParseMma(f.words());
  if (!kind.ok()) return f.Unknown(kind.status().message());
  f.TakeAll();
  auto* x = f.NewExtra<MmaExtra>(i);
  x->kind = *kind;
  x->d.slots = f.Destinations(0, &x->d.count);
  x->a.slots = f.Sources(1, &x->a.count);
  x->b.slots = f.Sources(2, &x->b.count);
  x->c.slots = f.Sources(3, &x->c.count);
  if (kind->scales != 0) TakeScales(f, x);
  const auto n = [](int words) { return static_cast<uint32_t>(words); };
  if (x->a.count != n(kind->words_a) || x->b.count != n(kind->words_b) || x->c.count != n(kind->words_c) ||
      x->d.count != x->c.count) {
    f.Fail("this number of registers");
  }
  i->run = &AwaitWarp;
  i->together = &Mma;
  return f.Finish();
}

struct LdMatrixExtra : Extra {
  LdMatrixKind kind;
  Words d;
};

absl::Status LdMatrix(Warp& w, const Instr& i, uint32_t lanes) {
  if (lanes != ~0u) return absl::InvalidArgumentError("not all lanes of the warp execute it");
  const auto& x = static_cast<const LdMatrixExtra&>(*i.extra);
  std::array<uint32_t, 32> addresses;
  for (uint32_t l = 0; l < 32; ++l) {
    const uint64_t at = AddressOf(w.threads[l], i.at);
    const bool used = l < 8 * x.d.count;
    if (used && (BlockOf(w.threads[l], at) != w.block || (at & kOffsetMask) < kSharedBase)) {
      return absl::OutOfRangeError("an address outside of the block's shared memory");
    }
    addresses[l] = static_cast<uint32_t>(at & kOffsetMask);
  }
  static thread_local WarpWords d;
  for (auto& words : d) words.resize(x.d.count);
  if (absl::Status s = RunLdMatrix(x.kind, w.block->shared, addresses, &d); !s.ok()) return s;
  Write(d, x.d, w);
  return absl::OkStatus();
}

absl::Status DecodeLdMatrix(Form& f, Instr* i) {
  absl::StatusOr<LdMatrixKind> kind = ParseLdMatrix(f.words());
  if (!kind.ok()) return f.Unknown(kind.status().message());
  f.TakeAll();
  auto* x = f.NewExtra<LdMatrixExtra>(i);
  x->kind = *kind;
  x->d.slots = f.Destinations(0, &x->d.count);
  i->at = f.Address(1);
  if (x->d.count != static_cast<uint32_t>(kind->matrices)) f.Fail("this number of registers");
  i->run = &AwaitWarp;
  i->together = &LdMatrix;
  return f.Finish();
}

absl::Status StMatrix(Warp& w, const Instr& i, uint32_t lanes) {
  if (lanes != ~0u) return absl::InvalidArgumentError("not all lanes of the warp execute it");
  const auto& x = static_cast<const LdMatrixExtra&>(*i.extra);
  static thread_local WarpWords words;
  Read(w, x.d, &words);
  for (uint32_t l = 0; l < 8 * x.d.count; ++l) {
    Thread& t = w.threads[l];
    uint8_t* row = WriteAccess(t, i, AddressSpace::kShared, AddressOf(t, i.at), 16, 16);
    if (row == nullptr) return w.block->launch->fault;
    StMatrixRow(x.kind, words, l / 8, l % 8, row);
  }
  return absl::OkStatus();
}

absl::Status DecodeStMatrix(Form& f, Instr* i) {
  absl::StatusOr<LdMatrixKind> kind = ParseStMatrix(f.words());
  if (!kind.ok()) return f.Unknown(kind.status().message());
  f.TakeAll();
  auto* x = f.NewExtra<LdMatrixExtra>(i);
  x->kind = *kind;
  i->at = f.Address(0);
  x->d.slots = f.Sources(1, &x->d.count);
  if (x->d.count != static_cast<uint32_t>(kind->matrices)) f.Fail("this number of registers");
  i->run = &AwaitWarp;
  i->together = &StMatrix;
  return f.Finish();
}

struct WgmmaExtra : Extra {
  WgmmaKind kind;
  Words d, a;                       // a: registers; none if it is in shared memory
  uint32_t a_slot = 0, b_slot = 0;  // descriptors
  uint32_t scale_d = 0;
  bool scale_d_negated = false;
  int scale_a = 1, scale_b = 1, trans_a = 0, trans_b = 0;
};

// The product as it is now: `first` is the first of the four warps.
absl::Status Multiply(Warp* first, const WgmmaExtra& x, WgmmaInput in) {
  static thread_local GroupWords a, d;
  const auto read = [&](const Words& from, GroupWords* to) {
    for (uint32_t t = 0; t < 128; ++t) {
      (*to)[t].resize(from.count);
      for (uint32_t k = 0; k < from.count; ++k) (*to)[t][k] = Get<uint32_t>(first->threads[t], from.slots[k]);
    }
  };
  read(x.d, &d);
  if (x.a.count != 0) {
    read(x.a, &a);
    in.a = &a;
  }
  in.shared = first->block->shared;
  if (absl::Status s = RunWgmma(x.kind, in, &d); !s.ok()) return s;
  for (uint32_t t = 0; t < 128; ++t) {
    for (uint32_t k = 0; k < x.d.count; ++k) Put<uint32_t>(first->threads[t], x.d.slots[k], d[t][k]);
  }
  return absl::OkStatus();
}

absl::Status Wgmma(Warp& w, const Instr& i, uint32_t lanes) {
  if (lanes != ~0u) return absl::InvalidArgumentError("not all lanes of the warp execute it");
  const auto& x = static_cast<const WgmmaExtra&>(*i.extra);
  const Thread& t = w.threads[0];
  WgmmaInput in;
  in.a_descriptor = x.a.count == 0 ? t.r[x.a_slot] : 0;
  in.b_descriptor = t.r[x.b_slot];
  in.scale_d = Get<bool>(t, x.scale_d) != x.scale_d_negated;
  in.scale_a = x.scale_a, in.scale_b = x.scale_b, in.trans_a = x.trans_a, in.trans_b = x.trans_b;
  Warp* first = &w;
  return Defer(w.products, *w.block->launch, [first, &x, in] { return Multiply(first, x, in); });
}

absl::Status DecodeWgmmaProduct(Form& f, Instr* i) {
  absl::StatusOr<WgmmaKind> kind = ParseWgmma(f.words());
  if (!kind.ok()) return f.Unknown(kind.status().message());
  f.TakeAll();
  auto* x = f.NewExtra<WgmmaExtra>(i);
  x->kind = *kind;
  x->d.slots = f.Destinations(0, &x->d.count);
  const bool held = f.IsList(1);
  if (held) {
    x->a.slots = f.Sources(1, &x->a.count);
  } else {
    x->a_slot = f.Source(1);
  }
  x->b_slot = f.Source(2);
  x->scale_d = f.SourceOrNot(3, &x->scale_d_negated);
  size_t next = 4;
  if (kind->has_scales) {
    x->scale_a = static_cast<int>(f.Number(next++));
    x->scale_b = static_cast<int>(f.Number(next++));
  }
  if (kind->has_transposes && !held) x->trans_a = static_cast<int>(f.Number(next++));
  if (kind->has_transposes) x->trans_b = static_cast<int>(f.Number(next++));
  if (x->d.count != static_cast<uint32_t>(kind->words_d()) || (held && x->a.count != WgmmaKind::kWordsA)) {
    f.Fail("this number of registers");
  }
  i->run = &AwaitWarp;
  i->together = &Wgmma;
  i->of_group = true;
  return f.Finish();
}

absl::Status Fence(Warp&, const Instr&, uint32_t) { return absl::OkStatus(); }
absl::Status Commit(Warp& w, const Instr&, uint32_t) {
  Commit(w.products);
  return absl::OkStatus();
}
absl::Status Wait(Warp& w, const Instr& i, uint32_t) { return Finish(w.products, static_cast<size_t>(i.imm)); }

absl::Status DecodeWgmma(Form& f, Instr* i) {
  if (f.words().size() > 1 && f.words()[1] == "mma_async") return DecodeWgmmaProduct(f, i);
  f.Ignore({"sync", "aligned"});
  i->run = &AwaitWarp;
  i->of_group = true;
  if (f.Take("fence")) {
    i->together = &Fence;
  } else if (f.Take("commit_group")) {
    i->together = &Commit;
  } else if (f.Take("wait_group")) {
    i->together = &Wait;
    i->imm = f.Number(0);
  } else {
    return f.Unknown("what it does");
  }
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> MatrixOps() {
  static constexpr OpRow kRows[] = {
      {"mma", DecodeMma}, {"ldmatrix", DecodeLdMatrix}, {"stmatrix", DecodeStMatrix}, {"wgmma", DecodeWgmma}};
  return kRows;
}

}  // namespace tile::gpu_sim
