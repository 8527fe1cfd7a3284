// What an agent does with barriers, copies and asynchronous products: codegen/gpu/ops.def says what each operation means.
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/gpu/op_views.h"
#include "codegen/gpu/schedule/agent.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen::schedule {

// --- allocations and the entry ---------------------------------------------------------------------------------------

Step Agent::AllocStages(const ir::Op& op) {
  Of(op.result(0)).bits = static_cast<uint64_t>(machine_.AddressOf(op));
  return Nothing(op);
}

// Nobody used the memory before the first loop.
Step Agent::ClaimStages(const ir::Op& op) {
  if (claimed_) return Meet(&block().workers);
  claimed_ = true;
  return Nothing(op);
}

// Others see it behind the warp's fence.
Fault Agent::StorePart(const ir::Op& op, Span span, uint64_t name) {
  Fault fault = block().memory.BeginWrite(span, {&op, name, place_.warp, machine_.shape().workers});
  if (!fault.found()) stored_.emplace_back(span, place_.warp);
  return fault;
}

Step Agent::StoreOperand(const ir::Op& op) {
  if (Fault fault = ReadsSums(op); fault.found()) return {false, fault};
  const Span span = {machine_.AddressOf(op), BytesOf(op.operand(0)->type())};
  if (Fault fault = StorePart(op, span, Of(op.operand(0)).bits); fault.found()) return {false, fault};
  Of(op.result(0)).bits = static_cast<uint64_t>(span.begin);
  return Nothing(op);
}

Step Agent::FenceProxyAsync(const ir::Op& op) {
  for (const auto& [span, part] : stored_) block().memory.Land(span, part);
  for (const auto& [span, part] : converted_) block().memory.FenceConverted(span, part);
  stored_.clear();
  converted_.clear();
  return Nothing(op);
}

Step Agent::AllocBarriers(const ir::Op& op) {
  const gpu::AllocBarriersOp alloc(op);
  const int64_t first = machine_.AddressOf(op);
  const int64_t arrivals = alloc.arrivals() * (alloc.of_cluster() ? machine_.shape().blocks : 1);
  for (int64_t i = 0; place_.warp == 0 && i < alloc.count(); ++i) {
    block().barriers.emplace(first + i * kBarrierBytes, Placed{Barrier(static_cast<int>(arrivals))});
  }
  Of(op.result(0)).bits = static_cast<uint64_t>(first);
  return Nothing(op);
}

Step Agent::AllocTensorMap(const ir::Op& op) {
  for (int i = 0; i < op.num_results(); ++i) Of(op.result(i)).bits = static_cast<uint64_t>(machine_.AddressOf(op));
  return Nothing(op);
}

Step Agent::FenceBarriers(const ir::Op& op) {
  for (auto& [address, placed] : block().barriers) placed.fenced = placed.fenced || place_.warp == 0;
  return Nothing(op);
}

// --- barriers of threads ---------------------------------------------------------------------------------------------

Step Agent::Meet(Meeting* meeting) {
  if (met_ < 0) {
    if (Fault fault = TellsOfColumns(&meeting->orders_columns); fault.found()) return {false, fault};
    met_ = meeting->held;
    meeting->Come();
  }
  if (meeting->held == met_) return Wait();
  met_ = -1;
  behind_others_ = behind_others_ || meeting->orders_columns;
  Advance();
  return {};
}

Step Agent::BlockBarrier(const ir::Op&) { return Meet(&block().all); }

Step Agent::WorkerBarrier(const ir::Op&) { return Meet(&block().workers); }

Step Agent::ClusterArrive(const ir::Op& op) {
  met_cluster_ = machine_.cluster().held;
  machine_.cluster().Come();
  return Nothing(op);
}

Step Agent::ClusterWait(const ir::Op& op) { return machine_.cluster().held == met_cluster_ ? Wait() : Nothing(op); }

// --- roles and turns of workers --------------------------------------------------------------------------------------

Step Agent::WarpNumber(const ir::Op& op) {
  Of(op.result(0)).bits = static_cast<uint64_t>(place_.warp);
  return Nothing(op);
}

bool Agent::IsOfGroup(const ir::Op& turn) { return Number(turn.operand(0)) == group(); }

// Those who wait and those who pass come to the same meeting.
Step Agent::TurnWait(const ir::Op& op) { return IsOfGroup(op) ? Meet(&block().turns[group()]) : Nothing(op); }

Step Agent::TurnPass(const ir::Op& op) {
  if (IsOfGroup(op)) block().turns[1 - group()].Come();
  return Nothing(op);
}

// --- mbarriers -------------------------------------------------------------------------------------------------------

Fault Agent::FindBarrier(const ir::Value* barriers, const ir::Value* number, int block, Barrier** found) {
  const int64_t address = AddressOf(barriers, number);
  const ir::Op* alloc = machine_.AllocationOf({address, kBarrierBytes});
  if (!gpu::AllocBarriersOp::Is(alloc) || machine_.AddressOf(*alloc) != Number(barriers)) {
    return {FaultKind::kBounds, absl::StrCat("takes barrier ", Number(number), " of a group that has no such number")};
  }
  auto& placed = machine_.block(block).barriers;
  const auto it = placed.find(address);
  const bool mine = block == place_.block && place_.warp == 0;
  if (it == placed.end() || (!it->second.fenced && !mine)) {
    return {FaultKind::kNotInitialised, absl::StrCat("uses a barrier that may not be initialised yet for ", Name())};
  }
  *found = &it->second.barrier;
  return {};
}

Step Agent::BarrierWait(const ir::Op& op) {
  const gpu::BarrierWaitOp wait(op);
  Barrier* barrier = nullptr;
  if (Fault fault = FindBarrier(wait.barriers(), wait.number(), place_.block, &barrier); fault.found())
    return {false, fault};
  if (!barrier->Passed(Number(wait.phase()))) return Wait();
  behind_others_ = behind_others_ || barrier->orders_columns();
  return Nothing(op);
}

Step Agent::BarrierArrive(const ir::Op& op) {
  const gpu::BarrierArriveOp arrive(op);
  if (Of(arrive.condition()).bits == 0) return Nothing(op);
  for (int i = 0; i < machine_.shape().blocks; ++i) {
    if (i != place_.block && !arrive.of_cluster()) continue;
    if (machine_.block(i).running == 0)
      return {false, {FaultKind::kLeaves, absl::StrCat("arrives at block ", i, ", which has ended")}};
    Barrier* barrier = nullptr;
    Fault fault = FindBarrier(arrive.barriers(), arrive.number(), i, &barrier);
    bool of_columns = false;
    if (!fault.found()) fault = TellsOfColumns(&of_columns);
    if (of_columns) barrier->OrderColumns();
    if (!fault.found()) fault = barrier->Arrive();
    if (fault.found()) return {false, fault};
  }
  return Nothing(op);
}

Step Agent::BarrierExpect(const ir::Op& op) {
  const gpu::BarrierExpectOp expect(op);
  Barrier* barrier = nullptr;
  Fault fault = FindBarrier(expect.barriers(), expect.number(), place_.block, &barrier);
  if (!fault.found()) fault = barrier->Expect(expect.bytes());
  return fault.found() ? Step{false, fault} : Nothing(op);
}

// --- TMA ---------------------------------------------------------------------------------------------------------------

Step Agent::TmaLoad(const ir::Op& op) {
  const gpu::TmaLoadOp load(op);
  const int64_t bytes = BytesOf(load.view()->type());
  const Span span = {Number(load.address()), bytes};
  if (!gpu::StagesOp::Is(machine_.AllocationOf(span)))
    return {false, {FaultKind::kBounds, absl::StrCat("writes ", bytes, " bytes outside of all stages")}};
  std::vector<uint64_t> index;
  for (const ir::Value* i : load.index()) index.push_back(Of(i).bits);
  const uint64_t view = Of(load.view()).bits;
  Task task;
  task.op = &op;
  task.agent = place_.warp;
  task.spans = {span};
  if (load.place() != nullptr) {
    task.descriptor = Of(load.place()).bits;
    const auto it = block().descriptors.find(task.descriptor);
    if (it == block().descriptors.end() || it->second != view)
      return {false, {FaultKind::kDescriptor, "takes a descriptor that is not of its tensor"}};
  }
  // Of a tile that blocks of a cluster share each brings a part, to all of them.
  const bool shares = DecisionOf<Decision::kMulticast>(op).value_or(1) > 1;
  task.parts = shares ? machine_.shape().blocks : 1;
  task.part = shares ? place_.block : 0;
  task.bytes = bytes / task.parts;
  task.barrier = AddressOf(load.barriers(), load.number());
  for (int i = 0; i < machine_.shape().blocks; ++i) {
    if (i != place_.block && !shares) continue;
    task.block = i;
    Barrier* barrier = nullptr;
    Fault fault = FindBarrier(load.barriers(), load.number(), i, &barrier);
    if (!fault.found()) fault = machine_.BeginCopy(task, terms_.OfTile(view, index));
    if (fault.found()) return {false, fault};
  }
  return Nothing(op);
}

Step Agent::TensorMapHolds(const ir::Op& op) {
  const gpu::TensorMapHoldsOp holds(op);
  const auto it = block().descriptors.find(Of(holds.map()).bits);
  Of(op.result(0)).bits = it != block().descriptors.end() && it->second == Of(holds.view()).bits ? 1 : 0;
  return Nothing(op);
}

Step Agent::WriteTensorMaps(const ir::Op& op) {
  const gpu::WriteTensorMapsOp write(op);
  for (size_t i = 0; i < write.places().size(); ++i) {
    const uint64_t place = Of(write.places()[i]).bits;
    if (const ir::Op* reader = machine_.ReaderOf(place, place_.block); reader != nullptr)
      return {false,
              {FaultKind::kDescriptor, absl::StrCat("changes a descriptor that ", NameOf(*reader), " may still read")}};
    block().descriptors[place] = Of(write.views()[i]).bits;
  }
  return Nothing(op);
}

// --- asynchronous products -------------------------------------------------------------------------------------------

Step Agent::StageTile(const ir::Op& op) {
  const gpu::StageTileOp stage(op);
  Of(op.result(0)) = {.tile = {Number(stage.address()), BytesOf(op.result(0)->type())}};
  return Nothing(op);
}

Step Agent::Product(const ir::Op& op) {
  if (waits_for_product_ != 0) {
    if (machine_.Runs(waits_for_product_)) return Wait();
    waits_for_product_ = 0;
    return Nothing(op);
  }
  const bool by_warpgroup = DecisionOf<Decision::kWarpgroups>(op).has_value();
  const bool runs_on = DecisionOf<Decision::kAsync>(op) && !place_.before;
  Task task;
  task.op = &op;
  task.block = place_.block;
  task.agent = place_.warp;
  std::vector<uint64_t> bits = BitsOf(op), names;
  // Its sums may be those of a product that runs: the tensor core does both in order.
  if (Fault fault = ReadsSums(op, by_warpgroup ? ir::MmaOp(op).acc_at() : -1); fault.found()) return {false, fault};
  std::vector<size_t> staged;
  for (int i = 0; i < op.num_operands(); ++i) {
    if (Of(op.operand(i)).tile.begin < 0) continue;
    task.spans.push_back(Of(op.operand(i)).tile);
    staged.push_back(static_cast<size_t>(i));
  }
  const uint64_t serial = task.product = machine_.NewProduct();
  task.group = products_.Open();
  if (Fault fault = machine_.BeginRead(std::move(task), &names); fault.found()) return {false, fault};
  products_.Commit();
  for (size_t i = 0; i < staged.size(); ++i) bits[staged[i]] = names[i];
  const int acc_at = ir::MmaOp(op).acc_at();
  const Known acc = Of(ir::MmaOp(op).acc());
  bits.erase(bits.begin() + acc_at);
  // What it multiplies, and that added to its sums. Threads may add instead (load_columns).
  const uint64_t factors = terms_.Of(op, 0, bits, tile_block_);
  const bool in_columns = acc.columns.begin >= 0;
  const auto sums = ir::DefAs<gpu::ColumnSumsOp>(ir::MmaOp(op).acc());
  const bool adds = !sums || ir::SplatOf(sums->cond()) != uint64_t{0};
  const uint64_t name = adds ? Mix(factors, acc.bits) : factors;
  if (place_.before) {
    block().products.insert({name, factors});
  } else if (block().effects_known && !block().products.contains(name)) {
    return {false,
            {FaultKind::kOtherTile,
             absl::StrCat("has operands in ", Name(), " that no product of the program before has")}};
  }
  if (in_columns) return ColumnProduct(op, name, serial, adds);
  Of(op.result(0)) = {.bits = name, .product = runs_on ? serial : 0};
  if (runs_on) return Nothing(op);
  waits_for_product_ = serial;
  return {};
}

// Of a tile in a stage, which is read at once, or of one in registers.
Step Agent::FragmentWords(const ir::Op& op) {
  const Known& source = Of(op.operand(0));
  if (source.tile.begin < 0) return Move(op);
  const Reader reader = {&op, place_.warp};
  uint64_t name = 0;
  Fault fault = block().memory.BeginRead(source.tile, reader, &name);
  block().memory.EndRead(source.tile, reader);
  if (fault.found()) return {false, fault};
  Of(op.result(0)).bits = name;
  return Nothing(op);
}

Step Agent::WidenStore(const ir::Op& op) {
  const Span from = Of(op.operand(1)).tile, to = Of(op.operand(2)).tile;
  const Reader reader = {&op, place_.warp};
  uint64_t name = 0;
  Fault fault = block().memory.BeginRead(from, reader, &name);
  block().memory.EndRead(from, reader);
  if (!fault.found() && name != Of(op.operand(0)).bits)
    fault = {FaultKind::kOtherTile, "stores another tile than that of its words"};
  if (!fault.found()) fault = StorePart(op, to, name);
  return fault.found() ? Step{false, fault} : Nothing(op);
}

Step Agent::MmaWait(const ir::Op& op) {
  if (!products_.Passed(gpu::MmaWaitOp(op).pending())) return Wait();
  SetResults(op, OperandsOf(op));
  return Nothing(op);
}

// --- what it waits for -----------------------------------------------------------------------------------------------

std::string Agent::WaitsFor() {
  const ir::Op& op = next();
  if (!gpu::BarrierWaitOp::Is(&op)) return absl::StrCat("at ", NameOf(op));
  const gpu::BarrierWaitOp wait(op);
  Barrier* barrier = nullptr;
  const Fault fault = FindBarrier(wait.barriers(), wait.number(), place_.block, &barrier);
  return absl::StrCat("at ", NameOf(op), " for phase ", Number(wait.phase()), " of %", wait.barriers()->name, "[",
                      Number(wait.number()), "], where ", fault.found() ? fault.what : barrier->ToString());
}

}  // namespace tile::codegen::schedule
