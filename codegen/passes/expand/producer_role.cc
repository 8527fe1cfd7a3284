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

// The copy carries none of the loop's values: its loads depend on the induction variable and on values from before.
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
  CopyLoads(b, fetch, Of(fetch.operand(0)), [&](const Op& load) {
    for (size_t i = 0; i < ring(r).stage.tiles.size(); ++i) {
      if (ring(r).stage.tiles[i].load == &load) LoadTile(b, r, i, at.stage, ring(r).full);
    }
  });
  b.Create(ir::Opcode::kYield, {{}}, {});
}

Values ProducerRole::EndIteration(Builder& b, const Op&, size_t r) {
  const RingPosition next = Next(b, ring(r), positions()[r]);
  return {next.stage, next.phase};
}

// The last copies of a stage that was filled in this turn of the ring have this phase. Those of the other stages have
// the phase before.
void ProducerRole::AwaitLoads(Builder& b, size_t r) {
  const RingPosition& at = positions()[r];
  for (int s = 0; s < ring(r).stages; ++s) {
    Value* filled = op::CmpI(b, ir::ComparisonPredicate::kLessThan, I32(b, s), at.stage, ir::Signedness::kUnsigned);
    Value* phase = op::Xori(b, at.phase, op::Exti(b, I32(b), filled, ir::Signedness::kUnsigned));
    Await(b, ring(r).full, I32(b, s), phase);
  }
}

}  // namespace tile::codegen
