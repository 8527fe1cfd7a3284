// Tensor maps that a kernel makes itself: tensormap.replace of a field, tensormap.cp_fenceproxy to global memory, and the fence behind
// which TMA sees what was put there. Until then TMA may have another map of that address, so a copy that uses it is an error.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/proxy_shadow.h"
#include "tests/gpu_sim/machine/together.h"
#include "tests/gpu_sim/tensor/tensor_map.h"

namespace tile::gpu_sim {
namespace {

constexpr uint64_t kReplaced = 128;  // alignment of maps that are changed

struct ReplaceExtra : Extra {
  std::string field;
  AddressSpace space = AddressSpace::kGeneric;
};

Step Replace(Thread& t, const Instr& i) {
  const auto& x = static_cast<const ReplaceExtra&>(*i.extra);
  uint8_t* map = Access(t, i, x.space, AddressOf(t, i.at), kTensorMapBytes, kReplaced);
  if (map == nullptr) return Step::kFault;
  const uint64_t value = i.count == 64 ? t.r[i.a] : Get<uint32_t>(t, i.a);
  const absl::Status s = ReplaceInTensorMap(x.field, static_cast<size_t>(i.imm), value, map);
  return s.ok() ? Step::kNext : Fault(t, i, s.message());
}

// tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], dimension, value
absl::Status DecodeReplace(Form& f, Instr* i) {
  auto* x = f.NewExtra<ReplaceExtra>(i);
  i->run = &Replace;
  f.Ignore({"tile", "b1024"});
  x->space = TakeSpace(f);
  for (const char* field : {"global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride",
                            "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"}) {
    if (f.Take(field)) x->field = field;
  }
  if (x->field.empty()) return f.Unknown("which field it replaces");
  i->count = f.Take("b64") ? 64 : 32;
  if (i->count == 32) f.Ignore({"b32"});
  i->at = f.Address(0);
  const bool one_of_several = f.num_operands() == 3;
  if (one_of_several) i->imm = f.Number(1);
  i->a = f.Source(one_of_several ? 2 : 1);
  return f.Finish();
}

struct CopyMapExtra : Extra {
  Place from;
};

absl::Status CopyMap(Warp& w, const Instr& i, uint32_t lanes) {
  Thread& t = w.threads[__builtin_ctz(lanes)];
  const auto& x = static_cast<const CopyMapExtra&>(*i.extra);
  const uint64_t to = AddressOf(t, i.at);
  const uint8_t* from = Access(t, i, AddressSpace::kShared, AddressOf(t, x.from), kTensorMapBytes, kReplaced);
  uint8_t* map = from == nullptr ? nullptr : Access(t, i, AddressSpace::kGlobal, to, kTensorMapBytes, kReplaced);
  if (map == nullptr) return w.block->launch->fault;
  std::memcpy(map, from, kTensorMapBytes);
  w.block->launch->unfenced_maps.insert(to);
  return absl::OkStatus();
}

// tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [to], [from], 128
absl::Status DecodeTensormap(Form& f, Instr* i) {
  if (f.Take("replace")) return DecodeReplace(f, i);
  if (!f.Take("cp_fenceproxy")) return f.Unknown("what it does");
  f.Ignore({"global", "shared::cta", "tensormap::generic", "release", "gpu", "sync", "aligned"});
  auto* x = f.NewExtra<CopyMapExtra>(i);
  i->run = &AwaitWarp;
  i->together = &CopyMap;
  i->at = f.Address(0);
  x->from = f.Address(1);
  if (f.Number(2) != kTensorMapBytes) f.Fail("this size");
  return f.Finish();
}

Step Nothing(Thread&, const Instr&) { return Step::kNext; }
Step FenceMap(Thread& t, const Instr& i) {
  t.block->launch->unfenced_maps.erase(AddressOf(t, i.at));
  return Step::kNext;
}

Step FenceProxy(Thread& t, const Instr&) { return NoteFence(t), Step::kNext; }

// fence.proxy.tensormap::generic.acquire.gpu [map], 128, and fence.proxy.async of shared memory. Others do nothing here.
absl::Status DecodeFence(Form& f, Instr* i) {
  const bool of_map = f.Take("tensormap::generic") && f.Take("acquire");
  const bool of_proxy = f.Take("proxy") && f.Take("async") && !f.Take("global");
  f.TakeAll();
  i->run = of_map ? &FenceMap : of_proxy ? &FenceProxy : &Nothing;
  if (of_map) {
    i->at = f.Address(0);
    if (f.Number(1) != kTensorMapBytes) f.Fail("this size");
  }
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> TensormapOps() {
  static constexpr OpRow kRows[] = {{"tensormap", DecodeTensormap}, {"fence", DecodeFence}};
  return kRows;
}

}  // namespace tile::gpu_sim
