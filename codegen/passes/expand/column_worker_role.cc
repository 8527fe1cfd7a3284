#include "codegen/passes/expand/column_worker_role.h"

#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"
#include "ir/loops.h"

namespace tile::codegen {

using ir::Builder;
using ir::Op;
using ir::Value;
using ir::ops::Values;
namespace op = ir::ops;

std::vector<FetchRing> AllocateSums(Builder& b, const Schedule& schedule, const std::vector<FetchRing>& rings) {
  std::vector<FetchRing> all;
  for (const FetchRing& ring : rings) {
    FetchRing sums;
    sums.fetch = ring.fetch;
    sums.stages = 1;
    sums.full = Named("ended", AllocateBarriers(b, 1, 1, false));
    sums.free = Named("loaded", AllocateBarriers(b, 1, schedule.num_warps, false));
    sums.zero = I32(b, 0);
    sums.one = sums.last = I32(b, 1);
    all.push_back(sums);
  }
  return all;
}

int64_t ColumnsOfSums(const std::vector<FetchRing>& rings) {
  int64_t columns = 0;
  for (const FetchRing& ring : rings) {
    for (const Op* mma : ProductsOf(*ring.fetch)) columns += ColumnsOf(mma->result(0)->type());
  }
  return columns;
}

SumColumns PlaceSums(Builder& b, const std::vector<FetchRing>& rings, const ColumnMemory& memory) {
  SumColumns first;
  int64_t columns = 0;
  for (const FetchRing& ring : rings) {
    for (const Op* mma : ProductsOf(*ring.fetch)) {
      first[mma] = columns == 0 ? memory.first : Named("columns", op::Addi(b, memory.first, I32(b, columns)));
      columns += ColumnsOf(mma->result(0)->type());
    }
  }
  return first;
}

ColumnWorkerRole::ColumnWorkerRole(const std::vector<FetchRing>& rings, const SumColumns& columns,
                                   const ir::Function& function)
    : RoleCopy(rings, function), fetches_(rings.size() / 2), columns_(columns) {
  for (size_t r = 0; r < fetches_; ++r) {
    for (const Op* mma : ProductsOf(*rings[r].fetch)) in_columns_[ir::ProductOp(*mma).acc()] = mma;
  }
}

bool ColumnWorkerRole::Runs(const Op& op) const {
  return !IsGpuOp(&op, GpuOpcode::kKernel) && !(IsProduct(op) && FetchOf(op) != nullptr);
}

Values ColumnWorkerRole::LoopAndSums(Builder& b, const ir::ForOp& loop, size_t r) {
  const RingPosition at = positions()[r];
  Op* copy = nullptr;
  const Values args = BeginFor(b, loop, {at.stage, at.phase, I1(b, false)}, &copy);
  constexpr const char* kNames[] = {"stage", "phase", "any"};
  for (size_t i = 0; i < args.size(); ++i) Named(kNames[i], args[i]);
  {
    Builder::Scope body(b, copy->region(0));
    positions()[r] = {args[0], args[1]};
    any_ = args[2];
    CopyBlock(b, *loop.op().region(0));
  }
  const ir::CarryingLoop carrying(loop.op());
  Values results;
  int next = 0;
  for (int i = 0; i < carrying.num_carried(); ++i)
    results.push_back(Has(carrying.arg(i)) ? copy->result(next++) : nullptr);
  results.insert(results.end(), {copy->result(next), copy->result(next + 1)});
  return results;
}

void ColumnWorkerRole::LoadSums(Builder& b, const ir::ForOp& loop, size_t r, Values* results) {
  const FetchRing& sums = ring(fetches_ + r);
  const RingPosition& at = positions()[fetches_ + r];
  InRegion(b, GpuOpcode::kWarp,
           [&] { InRegion(b, GpuOpcode::kElect, [&] { Tell(b, GpuOpcode::kMmaCommit, sums.full, at.stage); }); });
  Await(b, sums.full, at.stage, at.phase);
  Plain(b, GpuOpcode::kFenceColumnsAfter);
  const ir::CarryingLoop carrying(loop.op());
  for (int i = 0; i < carrying.num_carried(); ++i) {
    if (Has(carrying.arg(i))) continue;
    const Op& mma = *in_columns_.at(carrying.arg(i));
    Op* load = b.Create(GetGpuOp(GpuOpcode::kLoadColumns), {{columns_.at(&mma)}, {Of(carrying.init(i))}},
                        {loop.op().result(i)->type()});
    DecideFragments(b.module(), load, mma);
    (*results)[static_cast<size_t>(i)] = load->result(0);
  }
  Plain(b, GpuOpcode::kFenceColumnsBefore);
  Tell(b, GpuOpcode::kBarrierArrive, sums.free, at.stage);
}

void ColumnWorkerRole::CopyFetchLoop(Builder& b, const ir::ForOp& loop, size_t r) {
  const Op& old = loop.op();
  const size_t of_sums = fetches_ + r;
  const Values inits = Of(loop.init_values().list());
  const RingPosition at = positions()[r], sums_at = positions()[of_sums];
  std::vector<ir::Type> types = ir::ResultTypesOf(old);
  types.insert(types.end(), 4, I32(b));
  Value* runs = op::CmpI(b, ir::ComparisonPredicate::kLessThan, Of(loop.lower_bound()), Of(loop.upper_bound()),
                         loop.unsigned_cmp() ? ir::Signedness::kUnsigned : ir::Signedness::kSigned);
  Op* guard = b.Create(ir::Opcode::kIf, {{runs}}, types);
  {
    Builder::Scope scope(b, b.AddRegion(guard, 0, {}));
    InRegion(b, GpuOpcode::kWarp, [&] {
      Await(b, ring(of_sums).free, sums_at.stage, op::Xori(b, sums_at.phase, ring(of_sums).one));
      Plain(b, GpuOpcode::kFenceColumnsAfter);
    });
    Values results = LoopAndSums(b, loop, r);
    LoadSums(b, loop, r, &results);
    const RingPosition next = Next(b, ring(of_sums), sums_at);
    results.insert(results.end(), {next.stage, next.phase});
    b.Create(ir::Opcode::kYield, {results}, {});
  }
  {
    Builder::Scope scope(b, b.AddRegion(guard, 1, {}));
    Values yielded = inits;
    yielded.insert(yielded.end(), {at.stage, at.phase, sums_at.stage, sums_at.phase});
    b.Create(ir::Opcode::kYield, {yielded}, {});
  }
  const int n = old.num_results();
  for (int i = 0; i < n; ++i) Set(old.result(i), guard->result(i));
  positions()[r] = {guard->result(n), guard->result(n + 1)};
  positions()[of_sums] = {guard->result(n + 2), guard->result(n + 3)};
}

// Its sums begin with the loop's initial values, which are zeros.
void ColumnWorkerRole::Product(Builder& b, const Op& mma) {
  const Value* acc = ir::ProductOp(mma).acc();
  const ir::CarryingLoop carrying(*mma.parent());
  Value* zero = Of(carrying.init(carrying.carried_by(acc)));
  Set(acc, b.Create(GetGpuOp(GpuOpcode::kColumnSums), {{any_}, {columns_.at(&mma)}, {zero}}, {acc->type()})->result(0));
  b.module()->Append(b.block(), ir::CopyOp(b.module(), mma, &values()));
}

// All products of the iteration: no operation waits for one of them alone.
void ColumnWorkerRole::CopyFetch(Builder& b, const Op& fetch, size_t r) {
  const RingPosition& at = positions()[r];
  InRegion(b, GpuOpcode::kWarp, [&] {
    Await(b, ring(r).full, at.stage, at.phase);
    InRegion(b, GpuOpcode::kElect, [&] {
      for (int i = 0; i < fetch.num_results(); ++i) StageTile(b, fetch, r, i);
      for (const Op* mma : ProductsOf(fetch)) Product(b, *mma);
      Tell(b, GpuOpcode::kMmaCommit, ring(r).free, at.stage);
    });
  });
}

Values ColumnWorkerRole::EndIteration(Builder& b, const Op&, size_t r) {
  const RingPosition next = Next(b, ring(r), positions()[r]);
  return {next.stage, next.phase, I1(b, true)};
}

}  // namespace tile::codegen
