#include "codegen/passes/expand/worker_role.h"

#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/op_views.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"

namespace tile::codegen {

using ir::Attr;
using ir::AttrKind;
using ir::Builder;
using ir::Op;
using ir::Value;
using ir::ops::Values;

std::vector<int> WorkerRole::AsyncSums(const Op& loop, size_t r) const {
  std::vector<int> sums;
  for (const Op* op : *loop.region(0)) {
    if (IsProduct(*op) && FetchOf(*op) == ring(r).fetch && DecisionOf<Decision::kAsync>(*op))
      sums.push_back(ir::CarryingLoop(loop).carried_by(ir::ProductOp(op).acc()));
  }
  return sums;
}

void WorkerRole::Release(Builder& b, size_t r, Value* stage, Value* if_true) {
  const Op& alloc = *ring(r).free->def();
  b.Create(GetGpuOp(GpuOpcode::kBarrierArrive), {{ring(r).free}, {stage}, {if_true}}, {},
           {{"of_cluster", Attr::Flag(gpu::AllocBarriersOp(alloc).of_cluster())}});
}

void WorkerRole::CopyFetchLoop(Builder& b, const ir::ForOp& loop, size_t r) {
  const Op& old = loop.op();
  const Values inits = Of(loop.init_values().list());
  const RingPosition at = positions()[r];
  std::vector<ir::Type> types = ir::ResultTypesOf(old);
  types.insert(types.end(), {I32(b), I32(b)});
  Value* runs = ir::ops::CmpI(b, ir::ComparisonPredicate::kLessThan, Of(loop.lower_bound()), Of(loop.upper_bound()),
                              loop.unsigned_cmp() ? ir::Signedness::kUnsigned : ir::Signedness::kSigned);
  Op* guard = b.Create(ir::Opcode::kIf, {{runs}}, types);
  {
    Builder::Scope scope(b, b.AddRegion(guard, 0, {}));
    Op* copy = nullptr;
    const Values more = {at.stage, at.phase, ring(r).zero, I1(b, false)};
    const Values args = BeginFor(b, loop, more, &copy);
    for (size_t i = 0; i < args.size(); ++i) {
      constexpr const char* kNames[] = {"stage", "phase", "before", "any"};
      Named(kNames[i], args[i]);
    }
    {
      Builder::Scope body(b, copy->region(0));
      positions()[r] = {args[0], args[1]};
      before_ = args[2];
      any_ = args[3];
      CopyBlock(b, *old.region(0));
    }
    Values results;
    for (int i = 0; i < copy->num_results(); ++i) results.push_back(copy->result(i));
    const auto carried = static_cast<size_t>(old.num_results());
    Values sums;
    std::vector<ir::Type> sum_types;
    const std::vector<int> async = AsyncSums(old, r);
    for (const int i : async) {
      sums.push_back(results[static_cast<size_t>(i)]);
      sum_types.push_back(sums.back()->type());
    }
    if (!async.empty()) {
      const Op* wait =
          b.Create(GetGpuOp(GpuOpcode::kMmaWait), {sums}, sum_types, {{"pending", Attr::Int(AttrKind::kInt, 0)}});
      for (size_t i = 0; i < async.size(); ++i)
        results[static_cast<size_t>(async[i])] = wait->result(static_cast<int>(i));
    }
    Release(b, r, results[carried + 2], I1(b, true));
    results.resize(carried + 2);
    b.Create(ir::Opcode::kYield, {results}, {});
  }
  {
    Builder::Scope scope(b, b.AddRegion(guard, 1, {}));
    Values yielded = inits;
    yielded.insert(yielded.end(), {at.stage, at.phase});
    b.Create(ir::Opcode::kYield, {yielded}, {});
  }
  for (int i = 0; i < old.num_results(); ++i) Set(old.result(i), guard->result(i));
  positions()[r] = {guard->result(old.num_results()), guard->result(old.num_results() + 1)};
}

void WorkerRole::CopyFetch(Builder& b, const Op& fetch, size_t r) {
  const RingPosition& at = positions()[r];
  Await(b, ring(r).full, at.stage, at.phase);
  for (int i = 0; i < fetch.num_results(); ++i) StageTile(b, fetch, r, i);
}

Values WorkerRole::EndIteration(Builder& b, const Op& loop, size_t r) {
  if (const auto pending = static_cast<int64_t>(AsyncSums(loop, r).size()); pending > 0)
    b.Create(GetGpuOp(GpuOpcode::kMmaWait), {{}}, {}, {{"pending", Attr::Int(AttrKind::kInt, pending)}});
  Release(b, r, before_, any_);
  const RingPosition at = positions()[r], next = Next(b, ring(r), at);
  return {next.stage, next.phase, at.stage, I1(b, true)};
}

}  // namespace tile::codegen
