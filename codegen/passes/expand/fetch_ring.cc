#include "codegen/passes/expand/fetch_ring.h"

#include "codegen/gpu/ops.h"
#include "codegen/plan/tma/device_tensor_map.h"
#include "codegen/plan/tma/tensor_maps.h"

namespace tile::codegen {
namespace {

using ir::Attr;
using ir::AttrKind;
using ir::Builder;
using ir::Op;
using ir::Value;
namespace op = ir::ops;

Attr Int(int64_t number) { return Attr::Int(AttrKind::kInt, number); }

Value* AllocateBarriers(Builder& b, int stages, int arrivals, bool of_cluster) {
  return b
      .Create(GetGpuOp(GpuOpcode::kAllocBarriers), {}, {I32(b)},
              {{"count", Int(stages)}, {"arrivals", Int(arrivals)}, {"of_cluster", Attr::Flag(of_cluster)}})
      ->result(0);
}

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

// Numbers that both roles take.
void MakeNumbers(Builder& b, FetchRing* ring) {
  ring->zero = I32(b, 0);
  ring->one = I32(b, 1);
  ring->last = I32(b, ring->stages);
  ring->bytes = I32(b, ring->stage.bytes);
  for (const int64_t offset : ring->stage.offsets) {
    ring->slots.push_back(offset == 0 ? ring->memory : Named("slot", op::Addi(b, ring->memory, I32(b, offset))));
  }
}

FetchRing AllocateRing(Builder& b, const Schedule& schedule, const Op& fetch) {
  FetchRing ring;
  ring.fetch = &fetch;
  ring.stage = StageOf(fetch);
  ring.stages = schedule.stages;
  ring.memory = b.Create(GetGpuOp(GpuOpcode::kAllocStages), {}, {I32(b)},
                         {{"bytes", Int(ring.stage.bytes)}, {"stages", Int(schedule.stages)}})
                    ->result(0);
  ring.full = AllocateBarriers(b, schedule.stages, 1, false);
  ring.free = AllocateBarriers(b, schedule.stages, schedule.num_warps, schedule.cluster);
  for (const StagedTile& tile : DeviceTensorMapsOf(fetch)) {
    const int warp = static_cast<int>(ring.maps.size()) % schedule.num_warps;
    ring.maps.push_back(AllocateTensorMap(b, tile, warp));
  }
  Named("memory", ring.memory);
  Named("full", ring.full);
  Named("free", ring.free);
  MakeNumbers(b, &ring);
  return ring;
}

}  // namespace

const FetchRing::TensorMap* FetchRing::MapOf(const Op* load) const {
  for (const TensorMap& map : maps) {
    if (map.load == load) return &map;
  }
  return nullptr;
}

std::vector<FetchRing> AllocateRings(Builder& b, const Schedule& schedule, const ir::Function& function) {
  std::vector<FetchRing> rings;
  ir::Walk(function.body(), [&](const Op* op) {
    if (IsGpuOp(op, GpuOpcode::kFetchAhead)) rings.push_back(AllocateRing(b, schedule, *op));
  });
  return rings;
}

ir::Type I32(Builder& b) { return b.types().Scalar(ir::Elem::kI32); }
Value* I32(Builder& b, int64_t number) { return op::Integer(b, I32(b), number); }
Value* I1(Builder& b, bool value) { return op::Integer(b, b.types().Scalar(ir::Elem::kI1), value ? 1 : 0); }

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
  return Named("at", op::Addi(b, ring.slots[i], op::Muli(b, stage, ring.bytes)));
}

void Await(Builder& b, Value* barriers, Value* stage, Value* phase) {
  b.Create(GetGpuOp(GpuOpcode::kBarrierWait), {{barriers}, {stage}, {phase}}, {});
}

}  // namespace tile::codegen
