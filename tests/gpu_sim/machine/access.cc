#include "tests/gpu_sim/machine/access.h"

#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/proxy_shadow.h"

namespace tile::gpu_sim {

AddressSpace TakeSpace(Form& f) {
  return f.TakeOf<AddressSpace>({{"global", AddressSpace::kGlobal},
                                 {"const", AddressSpace::kGlobal},
                                 {"shared", AddressSpace::kShared},
                                 {"shared::cta", AddressSpace::kShared},
                                 {"shared::cluster", AddressSpace::kSharedCluster},
                                 {"local", AddressSpace::kLocal},
                                 {"param", AddressSpace::kParam},
                                 {"param::func", AddressSpace::kParam},
                                 {"param::entry", AddressSpace::kParam}},
                                AddressSpace::kGeneric);
}

Block* BlockOf(const Thread& t, uint64_t shared_address) {
  const uint64_t rank = shared_address >> kRankShift;
  const auto& blocks = t.block->cluster->blocks;
  return rank < blocks.size() ? blocks[rank].get() : nullptr;
}

uint8_t* Access(Thread& t, const Instr& i, AddressSpace space, uint64_t address, uint64_t bytes, uint64_t alignment) {
  const auto fail = [&](absl::string_view what) -> uint8_t* {
    Fault(t, i, what, absl::StatusCode::kOutOfRange);
    return nullptr;
  };
  if (address % alignment != 0) {
    return fail(absl::StrCat("address ", absl::Hex(address), " is misaligned: ", alignment, " bytes are needed"));
  }
  if (space == AddressSpace::kGeneric && (address & kWindowMask) == kSharedWindow) {
    space = AddressSpace::kSharedCluster;
    address &= ~kWindowMask;
  } else if ((space == AddressSpace::kGeneric || space == AddressSpace::kParam) &&
             (address & kWindowMask) == kLocalWindow) {
    space = AddressSpace::kLocal;
    address &= ~kWindowMask;
  }
  switch (space) {
    case AddressSpace::kShared:
    case AddressSpace::kSharedCluster: {
      Block* block = BlockOf(t, address);
      const uint64_t offset = address & kOffsetMask;
      if (block == nullptr || (space == AddressSpace::kShared && block != t.block)) {
        return fail(absl::StrCat("shared address ", absl::Hex(address),
                                 " belongs to no block of the cluster that it may reach"));
      }
      if (HasEnded(*block)) return fail("shared memory of a block of the cluster that has ended");
      if (offset < kSharedBase || offset + bytes > block->shared.size()) {
        return fail(absl::StrCat(bytes, " bytes at ", static_cast<int64_t>(offset) - kSharedBase,
                                 " in shared memory, which has ", block->shared.size() - kSharedBase, " bytes"));
      }
      return block->shared.data() + offset;
    }
    case AddressSpace::kLocal: {
      const uint64_t size = t.block->launch->program->local_bytes;
      if (address > size || bytes > size - address) {
        return fail(absl::StrCat(bytes, " bytes at ", address, " in local memory, which has ", size, " bytes"));
      }
      return t.block->local.data() + t.index * size + address;
    }
    default: break;
  }
  if (uint8_t* p = t.block->launch->memory->Find(address, bytes); p != nullptr) return p;
  const std::vector<uint8_t>& params = t.block->launch->params;
  const uint64_t begin = reinterpret_cast<uint64_t>(params.data());
  if (address >= begin && address + bytes <= begin + params.size()) return reinterpret_cast<uint8_t*>(address);
  return fail(absl::StrCat("outside of every allocation: ", t.block->launch->memory->Describe(address, bytes)));
}

uint8_t* WriteAccess(Thread& t, const Instr& i, AddressSpace space, uint64_t address, uint64_t bytes,
                     uint64_t alignment) {
  uint8_t* p = Access(t, i, space, address, bytes, alignment);
  const bool shared = space == AddressSpace::kShared || space == AddressSpace::kSharedCluster ||
                      (space == AddressSpace::kGeneric && (address & kWindowMask) == kSharedWindow);
  if (p == nullptr || !shared || t.block->proxies == nullptr) return p;
  Block& block = *BlockOf(t, address & ~kWindowMask);
  NoteWrite(t, i, block, static_cast<uint64_t>(p - block.shared.data()), bytes);
  return p;
}

}  // namespace tile::gpu_sim
