// The ring of a loop whose operands TMA copies ahead, as operations of the GPU level. These are its memory, and the
// operations that fill and read a stage.
//
//   FetchRing ring = AllocateRing(b, schedule, *fetch);
//   b.Create(GetGpuOp(GpuOpcode::kBarrierWait), {{ring.full}, {at.stage}, {at.phase}}, {});
//   at = Next(b, ring, at);
//
// A stage has two mbarriers. "full" counts the bytes of its copies. "free" counts the warps that are done with it, in a
// cluster those of all its blocks. The position in a ring is the number of a stage and a phase. Readers of a ring begin
// with stage 0 and phase 0. Those who fill it begin with stage 0 and phase 1, so their wait for an unused stage ends at
// once. The phase changes after each turn around the ring.
#ifndef TILE_CODEGEN_PASSES_EXPAND_FETCH_RING_H_
#define TILE_CODEGEN_PASSES_EXPAND_FETCH_RING_H_

#include <vector>

#include "codegen/plan/schedule.h"
#include "codegen/plan/staging/staging.h"
#include "ir/ops.h"

namespace tile::codegen {

struct FetchRing {
  const ir::Op* fetch = nullptr;  // in the program that is expanded
  StageLayout stage;
  int stages = 0;
  bool of_product = false;  // `fetch` is a product whose end a barrier signals: it has no loop of its own
  bool in_bytes =
      false;  // threads copy: stages are named by where they begin, positions have no phase, and there are no barriers
  ir::Value *memory = nullptr, *full = nullptr, *free = nullptr;  // addresses of all stages and their barriers
  ir::Value *zero = nullptr, *one = nullptr, *last = nullptr,
            *bytes = nullptr;     // 0, 1, where the last stage ends as positions say it, the bytes of one
  std::vector<ir::Value*> slots;  // the addresses of results in the first stage
  // Descriptors that the kernel makes itself, by the load that uses them: where it writes and TMA reads.
  struct TensorMap {
    const ir::Op* load;
    ir::Value *map, *place;
  };
  std::vector<TensorMap> maps;

  // Null: the host makes the descriptor of this load.
  const TensorMap* MapOf(const ir::Op* load) const;
};

struct RingPosition {
  ir::Value *stage = nullptr, *phase = nullptr;
};

// The ring of a fetch_ahead, or of a copy_ahead by TMA.
FetchRing AllocateRing(ir::Builder& b, const Schedule& schedule, const ir::Op& fetch);
// The ring of a copy_ahead whose threads copy.
FetchRing AllocateCopied(ir::Builder& b, const Schedule& schedule, const ir::Op& copy);
// The ring of the places to which threads widen the tiles of this ring (plan/staging/conversion_buffers.h). Threads
// fill them.
FetchRing AllocateWidened(ir::Builder& b, const Schedule& schedule, const FetchRing& from);
// Allocates a barrier for each stage.
ir::Value* AllocateBarriers(ir::Builder& b, int stages, int arrivals, bool of_cluster);

ir::Type I32(ir::Builder& b);
ir::Value* I32(ir::Builder& b, int64_t number);
ir::Type I1(ir::Builder& b);
ir::Value* I1(ir::Builder& b, bool value);
// Gives the value its name in texts.
ir::Value* Named(absl::string_view name, ir::Value* v);

RingPosition Next(ir::Builder& b, const FetchRing& ring, const RingPosition& at);
// The address of result i of the fetch in this stage.
ir::Value* AddressOf(ir::Builder& b, const FetchRing& ring, ir::Value* stage, size_t i);

void Await(ir::Builder& b, ir::Value* barriers, ir::Value* stage, ir::Value* phase);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_FETCH_RING_H_
