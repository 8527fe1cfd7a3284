// What an agent does with tensor memory: codegen/gpu/ops.def says what each operation means.
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/origin.h"
#include "codegen/gpu/op_views.h"
#include "codegen/gpu/schedule/agent.h"
#include "codegen/plan/tensor_memory.h"
#include "ir/op_views.h"

namespace tile::codegen::schedule {

Fault Agent::UsesColumns() {
  used_columns_ = true;
  if (!behind_others_) return {};
  return {FaultKind::kColumnFence, absl::StrCat("uses tensor memory in ", Name(),
                                                ", which has waited for others that used it, without a fence")};
}

Fault Agent::TellsOfColumns(bool* tells) const {
  *tells = *tells || used_columns_;
  if (!unfenced_loads_) return {};
  return {FaultKind::kColumnFence,
          absl::StrCat("tells others of loads from tensor memory in ", Name(), " that are not fenced")};
}

// A warp writes where they are.
Step Agent::AllocColumns(const ir::Op& op) {
  Of(op.result(0)).bits = static_cast<uint64_t>(machine_.AddressOf(op));
  if (place_.warp != 0) return Nothing(op);
  Fault fault = block().columns.Allocate(Number(op.operand(0)));
  return fault.found() ? Step{false, fault} : Nothing(op);
}

Step Agent::ColumnsAt(const ir::Op& op) {
  if (!block().columns.known()) {
    return {false,
            {FaultKind::kNotInitialised, absl::StrCat("asks for columns that may not be there yet for ", Name())}};
  }
  Of(op.result(0)).bits = static_cast<uint64_t>(TensorColumns::first());
  return Nothing(op);
}

Step Agent::FreeColumns(const ir::Op& op) {
  const Span span = {Number(op.operand(0)), Number(op.operand(1))};
  Fault fault = UsesColumns();
  if (!fault.found() && machine_.Runs(block().columns.WriterOf(span)))
    fault = {FaultKind::kColumns, "frees columns to which a product may still add"};
  if (!fault.found()) fault = block().columns.Free(span);
  return fault.found() ? Step{false, fault} : Nothing(op);
}

// They may be those of a product that runs: the next one of the same thread comes behind it.
Step Agent::ColumnSums(const ir::Op& op) {
  const Span span = {Number(op.operand(1)), ColumnsOf(op.result(0)->type())};
  Sums sums = {Of(op.operand(2)).bits, 0};
  Fault fault;
  if (Of(op.operand(0)).bits != 0) fault = block().columns.Read(span, &sums);
  Of(op.result(0)) = {.bits = sums.name, .product = sums.product, .columns = span};
  return fault.found() ? Step{false, fault} : Nothing(op);
}

// Nobody waits for it here: a commit tells others of its end.
Step Agent::ColumnProduct(const ir::Op& op, uint64_t name, uint64_t serial, bool has_all) {
  const Span span = Of(ir::MmaOp(op).acc()).columns;
  Fault fault = UsesColumns();
  if (!fault.found() && IsScaledInColumns(op)) {
    const ScaleColumns scales = ScaleColumnsOf(op);
    fault = block().columns.Write({span.begin + scales.lhs, scales.end - scales.lhs}, {name, serial, false});
  }
  if (!fault.found()) fault = block().columns.Write(span, {name, serial, has_all});
  Of(op.result(0)) = {.bits = name, .product = serial, .columns = span};
  return fault.found() ? Step{false, fault} : Nothing(op);
}

Step Agent::LoadColumns(const ir::Op& op) {
  const Span span = {Number(op.operand(0)), ColumnsOf(op.result(0)->type())};
  Sums sums;
  Fault fault = ReadsSums(op);
  if (!fault.found()) fault = UsesColumns();
  if (!fault.found()) fault = block().columns.Read(span, &sums);
  if (!fault.found() && machine_.Runs(sums.product)) {
    fault = {FaultKind::kSums, absl::StrCat("loads the sums of a product that may still run to registers of ", Name())};
  }
  unfenced_loads_ = true;
  const bool has_all = sums.has_all && IsZero(op.operand(1));
  Of(op.result(0)) = {.bits = has_all ? sums.name : Mix(sums.name, Of(op.operand(1)).bits)};
  return fault.found() ? Step{false, fault} : Nothing(op);
}

Step Agent::MmaCommit(const ir::Op& op) {
  const gpu::MmaCommitOp commit(op);
  if (Of(commit.condition()).bits == 0) return Nothing(op);
  Barrier* barrier = nullptr;
  if (Fault fault = FindBarrier(commit.barriers(), commit.number(), place_.block, &barrier); fault.found())
    return {false, fault};
  barrier->OrderColumns();
  Task task;
  task.op = &op;
  task.block = place_.block;
  task.agent = place_.warp;
  task.barrier = AddressOf(commit.barriers(), commit.number());
  machine_.BeginCommit(std::move(task));
  return Nothing(op);
}

Step Agent::FenceColumnsBefore(const ir::Op& op) {
  unfenced_loads_ = false;
  return Nothing(op);
}

Step Agent::FenceColumnsAfter(const ir::Op& op) {
  behind_others_ = false;
  return Nothing(op);
}

}  // namespace tile::codegen::schedule
