#include "codegen/passes/expand/producer_role.h"

#include "codegen/gpu/ops.h"
#include "codegen/plan/staging/producer_slice.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"

namespace tile::codegen {

using ir::Attr;
using ir::AttrKind;
using ir::Builder;
using ir::Op;
using ir::Value;
using ir::ops::Values;
namespace op = ir::ops;

ProducerRole::ProducerRole(const std::vector<FetchRing>& rings, const ir::Function& function)
    : RoleCopy(rings, function), ops_(ProducerOps(function)) {}

bool ProducerRole::Has(const Value* v) const { return v->type().is_tile() && IsSliceable(v); }

void ProducerRole::AwaitReleases(Builder& b) {
  for (size_t r = 0; r < positions().size(); ++r) {
    RingPosition& at = positions()[r];
    for (int i = 0; i < ring(r).stages; ++i) {
      Await(b, ring(r).free, at.stage, at.phase);
      at = Next(b, ring(r), at);
    }
  }
}

// Nothing that the loop carries: where its loads begin follows from the induction variable and from values of before.
void ProducerRole::CopyFetchLoop(Builder& b, const ir::ForOp& loop, size_t r) {
  MakeTensorMaps(b, r);
  const RingPosition at = positions()[r];
  Op* copy = b.Create(ir::Opcode::kFor,
                      {{Of(loop.lower_bound())}, {Of(loop.upper_bound())}, {Of(loop.step())}, {at.stage, at.phase}},
                      {I32(b), I32(b)}, {{"unsigned_cmp", Attr::Flag(loop.unsigned_cmp())}});
  const Value* index = ir::CarryingLoop(loop.op()).index();
  const ir::Block* body = b.AddRegion(copy, 0, {index->type(), I32(b), I32(b)});
  Set(index, body->arg(0));
  positions()[r] = {Named("stage", body->arg(1)), Named("phase", body->arg(2))};
  {
    Builder::Scope scope(b, copy->region(0));
    CopyFetch(b, *ring(r).fetch, r);
    const Values next = EndIteration(b, loop.op(), r);
    b.Create(ir::Opcode::kContinue, {next}, {});
  }
  positions()[r] = {copy->result(0), copy->result(1)};
}

void ProducerRole::CopyFetch(Builder& b, const Op& fetch, size_t r) {
  const RingPosition& at = positions()[r];
  Await(b, ring(r).free, at.stage, at.phase);
  Op* elect = b.Create(GetGpuOp(GpuOpcode::kElect), {}, {});
  Builder::Scope scope(b, b.AddRegion(elect, 0, {}));
  b.Create(GetGpuOp(GpuOpcode::kBarrierExpect), {{ring(r).full}, {at.stage}}, {},
           {{"bytes", Attr::Int(AttrKind::kInt, ring(r).stage.bytes)}});
  const ir::Block& region = *fetch.region(0);
  values()[region.arg(0)] = Of(fetch.operand(0));
  for (const Op* inside : region) {
    if (ir::LoadViewOp::Is(inside)) {
      Load(b, *inside, r);
    } else if (inside->num_results() > 0 &&
               (!inside->result(0)->type().is_tile() || inside->result(0)->type().is_scalar())) {
      // Permutations and reshapes of what is loaded are in how the products read it.
      b.module()->Append(b.block(), ir::CopyOp(b.module(), *inside, &values()));
    }
  }
  b.Create(ir::Opcode::kYield, {{}}, {});
}

void ProducerRole::Load(Builder& b, const Op& load, size_t r) {
  const FetchRing& of = ring(r);
  const ir::LoadViewOp view(load);
  for (size_t i = 0; i < of.stage.tiles.size(); ++i) {
    const StagedTile& tile = of.stage.tiles[i];
    if (tile.load != &load) continue;
    const int64_t dims[] = {tile.contiguous, tile.other};
    const FetchRing::TensorMap* map = of.MapOf(&load);
    Value* address = AddressOf(b, of, positions()[r].stage, i);
    Op* copy = b.Create(GetGpuOp(GpuOpcode::kTmaLoad),
                        {{Of(view.view())},
                         Of(view.index().list()),
                         {address},
                         {of.full},
                         {positions()[r].stage},
                         {map == nullptr ? nullptr : map->place}},
                        {},
                        {{"swizzle", Attr::Int(AttrKind::kInt, tile.swizzle)},
                         {"dims", Attr::Ints(b.module()->arena().Copy(absl::MakeConstSpan(dims)))},
                         {"rounds", Attr::Flag(tile.rounded != nullptr)}});
    for (const ir::Annotation* a = load.annotations(); a != nullptr; a = a->next)
      b.module()->Annotate(copy, *a->info, a->value);
  }
}

Values ProducerRole::EndIteration(Builder& b, const Op&, size_t r) {
  const RingPosition next = Next(b, ring(r), positions()[r]);
  return {next.stage, next.phase};
}

// Of a stage that was filled in this turn of the ring the last copies are of this phase, of the others of the one before.
void ProducerRole::AwaitFull(Builder& b, size_t r) {
  const RingPosition& at = positions()[r];
  for (int s = 0; s < ring(r).stages; ++s) {
    Value* filled = op::CmpI(b, ir::ComparisonPredicate::kLessThan, I32(b, s), at.stage, ir::Signedness::kUnsigned);
    Value* phase = op::Xori(b, at.phase, op::Exti(b, I32(b), filled, ir::Signedness::kUnsigned));
    Await(b, ring(r).full, I32(b, s), phase);
  }
}

// The view of a load, also if its fetch_ahead makes it. Its tensor stays the same in the loop (plan/tma/device_tensor_map.h).
Value* ProducerRole::ViewBefore(Builder& b, const Op& load) {
  Value* view = ir::LoadViewOp(load).view();
  if (view->def() != nullptr && view->def()->block() == load.block())
    b.module()->Append(b.block(), ir::CopyOp(b.module(), *view->def(), &values()));
  return Of(view);
}

void ProducerRole::MakeTensorMaps(Builder& b, size_t r) {
  const FetchRing& of = ring(r);
  if (of.maps.empty()) return;
  Values maps, places, views;
  Value* made = I1(b, true);
  for (const FetchRing::TensorMap& map : of.maps) {
    maps.push_back(map.map);
    places.push_back(map.place);
    views.push_back(ViewBefore(b, *map.load));
    Value* holds =
        b.Create(GetGpuOp(GpuOpcode::kTensorMapHolds), {{map.map}, {views.back()}}, {b.types().Scalar(ir::Elem::kI1)})
            ->result(0);
    made = op::Andi(b, made, holds);
  }
  Op* unless = b.Create(ir::Opcode::kIf, {{made}}, {});
  {
    Builder::Scope scope(b, b.AddRegion(unless, 0, {}));
    b.Create(ir::Opcode::kYield, {{}}, {});
  }
  Builder::Scope scope(b, b.AddRegion(unless, 1, {}));
  AwaitFull(b, r);
  b.Create(GetGpuOp(GpuOpcode::kWriteTensorMaps), {maps, places, views}, {});
  b.Create(ir::Opcode::kYield, {{}}, {});
}

}  // namespace tile::codegen
