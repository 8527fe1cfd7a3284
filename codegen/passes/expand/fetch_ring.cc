#include "codegen/passes/expand/fetch_ring.h"

#include "codegen/gpu/ops.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/tma/device_tensor_map.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {
namespace {

using ir::Attr;
using ir::AttrKind;
using ir::Builder;
using ir::Op;
using ir::Value;
namespace op = ir::ops;

Attr Int(int64_t number) { return Attr::Int(AttrKind::kInt, number); }

}  // namespace

Value* AllocateBarriers(Builder& b, int stages, int arrivals, bool of_cluster) {
  return b
      .Create(GetGpuOp(GpuOpcode::kAllocBarriers), {}, {I32(b)},
              {{"count", Int(stages)}, {"arrivals", Int(arrivals)}, {"of_cluster", Attr::Flag(of_cluster)}})
      ->result(0);
}

namespace {

FetchRing::TensorMap AllocateTensorMap(Builder& b, const StagedTile& tile, int warp) {
  const DeviceTensorMap map = DeviceTensorMapOf(*tile.load, tile);
  const std::vector<int64_t> box(map.box.begin(), map.box.end());
  const Op* alloc =
      b.Create(GetGpuOp(GpuOpcode::kAllocTensorMap), {}, {I32(b), b.types().Scalar(ir::Elem::kI64)},
               {{"box", Attr::Ints(b.module()->arena().Copy(absl::MakeConstSpan(box)))},
                {"element", Attr::String(AttrKind::kString, b.module()->Copy(ir::ElemInfoOf(map.element).spelling))},
                {"swizzle", Int(map.swizzle)},
                {"warp", Int(warp)}});
  return {tile.load, alloc->result(0), alloc->result(1)};
}

// Constants that both roles use.
void MakeNumbers(Builder& b, int64_t bytes, const std::vector<int64_t>& offsets, FetchRing* ring) {
  ring->zero = I32(b, 0);
  ring->one = I32(b, 1);
  ring->last = I32(b, ring->in_bytes ? bytes * ring->stages : ring->stages);
  ring->bytes = I32(b, bytes);
  for (const int64_t offset : offsets) {
    ring->slots.push_back(offset <= 0 ? ring->memory : Named("slot", op::Addi(b, ring->memory, I32(b, offset))));
  }
}

}  // namespace

FetchRing AllocateRing(Builder& b, const Schedule& schedule, const Op& fetch) {
  FetchRing ring;
  ring.fetch = &fetch;
  ring.stage = StageOf(fetch);
  ring.stages = schedule.stages;
  const bool copies = IsGpuOp(&fetch, GpuOpcode::kCopyAhead);
  ring.memory = b.Create(GetGpuOp(copies ? GpuOpcode::kOverlayStages : GpuOpcode::kAllocStages), {}, {I32(b)},
                         {{"bytes", Int(ring.stage.unit_bytes())}, {"stages", Int(schedule.stages)}})
                    ->result(0);
  ring.full = AllocateBarriers(b, schedule.stages, 1, false);
  // One commit releases the operands of products whose sums are in tensor memory.
  const int readers = SumsInColumns(fetch) ? 1 : schedule.num_warps;
  ring.free = AllocateBarriers(b, schedule.stages, readers, schedule.cluster);
  for (const StagedTile& tile : DeviceTensorMapsOf(fetch)) {
    const int warp = static_cast<int>(ring.maps.size()) % schedule.num_warps;
    ring.maps.push_back(AllocateTensorMap(b, tile, warp));
  }
  Named("memory", ring.memory);
  Named("full", ring.full);
  Named("free", ring.free);
  // A piece begins at its place in the ring.
  const bool pieces = ring.stage.piece_bytes > 0;
  MakeNumbers(b, ring.stage.unit_bytes(), pieces ? std::vector<int64_t>(ring.stage.offsets.size()) : ring.stage.offsets,
              &ring);
  return ring;
}

const FetchRing::TensorMap* FetchRing::MapOf(const Op* load) const {
  for (const TensorMap& map : maps) {
    if (map.load == load) return &map;
  }
  return nullptr;
}

FetchRing AllocateCopied(Builder& b, const Schedule& schedule, const Op& copy) {
  FetchRing ring;
  ring.fetch = &copy;
  ring.stage = StageOf(copy);
  ring.stages = schedule.stages;
  ring.in_bytes = true;
  const int64_t bytes = ring.stage.unit_bytes();
  ring.memory = Named("memory", b.Create(GetGpuOp(GpuOpcode::kOverlayStages), {}, {I32(b)},
                                         {{"bytes", Int(bytes)}, {"stages", Int(schedule.stages)}})
                                    ->result(0));
  const bool pieces = ring.stage.piece_bytes > 0;
  MakeNumbers(b, bytes, pieces ? std::vector<int64_t>(ring.stage.offsets.size()) : ring.stage.offsets, &ring);
  return ring;
}

FetchRing AllocateWidened(Builder& b, const Schedule& schedule, const FetchRing& from) {
  FetchRing ring;
  ring.fetch = from.fetch;
  ring.stage = from.stage;
  ring.stages = from.stage.conversion_buffers;
  Op* memory = b.Create(GetGpuOp(GpuOpcode::kOverlayStages), {}, {I32(b)},
                        {{"bytes", Int(from.stage.wide_bytes)}, {"stages", Int(ring.stages)}});
  Decide<Decision::kOffsets>(b.module(), memory, {from.stage.unit_bytes() * from.stages});
  ring.memory = Named("wide", memory->result(0));
  ring.full = Named("wide_full", AllocateBarriers(b, ring.stages, schedule.num_warps, false));
  ring.free = Named("wide_free", AllocateBarriers(b, ring.stages, schedule.num_warps, false));
  MakeNumbers(b, from.stage.wide_bytes, from.stage.wide_offsets, &ring);
  return ring;
}

ir::Type I32(Builder& b) { return b.types().Scalar(ir::Elem::kI32); }
Value* I32(Builder& b, int64_t number) { return op::Integer(b, I32(b), number); }
ir::Type I1(Builder& b) { return b.types().Scalar(ir::Elem::kI1); }
Value* I1(Builder& b, bool value) { return op::Integer(b, I1(b), value ? 1 : 0); }

Value* Named(absl::string_view name, Value* v) {
  v->name = name;
  return v;
}

RingPosition Next(Builder& b, const FetchRing& ring, const RingPosition& at) {
  const auto equal = [&](Value* x, Value* y) {
    return op::CmpI(b, ir::ComparisonPredicate::kEqual, x, y, ir::Signedness::kSigned);
  };
  Value* after = op::Addi(b, at.stage, ring.one);
  Value* stage = Named("next", op::Select(b, equal(after, ring.last), ring.zero, after));
  Value* turns = op::Exti(b, I32(b), equal(stage, ring.zero), ir::Signedness::kUnsigned);
  return {stage, Named("next_phase", op::Xori(b, at.phase, turns))};
}

Value* AddressOf(Builder& b, const FetchRing& ring, Value* stage, size_t i) {
  return Named("at", op::Addi(b, ring.slots[i], ring.in_bytes ? stage : op::Muli(b, stage, ring.bytes)));
}

void Await(Builder& b, Value* barriers, Value* stage, Value* phase) {
  b.Create(GetGpuOp(GpuOpcode::kBarrierWait), {{barriers}, {stage}, {phase}}, {});
}

}  // namespace tile::codegen
