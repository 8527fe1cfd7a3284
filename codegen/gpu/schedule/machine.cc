#include "codegen/gpu/schedule/machine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/gpu/op_views.h"
#include "codegen/target/decisions.h"

namespace tile::codegen::schedule {

Groups::Count Groups::Open() {
  if (open_ == nullptr) open_ = std::make_shared<int>(0);
  return open_;
}

void Groups::Commit() {
  committed_.push_back(open_ == nullptr ? std::make_shared<int>(0) : open_);
  open_ = nullptr;
  while (!committed_.empty() && *committed_.front() == 0) committed_.pop_front();
}

bool Groups::Passed(int64_t pending) const {
  const auto last = static_cast<int64_t>(committed_.size()) - pending;
  for (int64_t i = 0; i < last; ++i) {
    if (*committed_[static_cast<size_t>(i)] > 0) return false;
  }
  return true;
}

void Meeting::Come() {
  if (++present < needed) return;
  present = 0;
  ++held;
}

Machine::Machine(const ir::Function& function, const Shape& shape) : shape_(shape) {
  constexpr int64_t kAlignment = 1024;
  int64_t free = kAlignment;
  const auto place = [&](const ir::Op* op, int64_t bytes) {
    addresses_[op] = free;
    allocations_.emplace_back(Span{free, bytes}, op);
    free += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  };
  // All stages that are laid over others are in one place.
  int64_t overlaid = 0;
  const auto overlay = [&](const gpu::OverlayStagesOp& stages) {
    const auto offsets = DecisionOf<Decision::kOffsets>(stages.op());
    return Span{offsets ? (*offsets)[0] : 0, stages.bytes() * stages.stages()};
  };
  ir::Walk(function.body(), [&](const ir::Op* op) {
    if (gpu::OverlayStagesOp::Is(op)) overlaid = std::max(overlaid, overlay(gpu::OverlayStagesOp(op)).end());
  });
  const int64_t first = std::exchange(free, free + (overlaid + kAlignment - 1) / kAlignment * kAlignment);
  // So are operands that are stored for one product.
  const auto operand = [](const ir::Op& op) -> std::optional<Span> {
    const auto offsets = gpu::StageOperandOp::Is(&op) ? DecisionOf<Decision::kOffsets>(op) : std::nullopt;
    if (!offsets) return std::nullopt;
    return Span{(*offsets)[0], BytesOf(op.operand(0)->type())};
  };
  int64_t operands = 0;
  ir::Walk(function.body(), [&](const ir::Op* op) {
    if (const auto span = operand(*op)) operands = std::max(operands, span->end());
  });
  const int64_t first_operand = std::exchange(free, free + (operands + kAlignment - 1) / kAlignment * kAlignment);
  ir::Walk(function.body(), [&](const ir::Op* op) {
    if (gpu::AllocStagesOp::Is(op)) place(op, gpu::AllocStagesOp(op).bytes() * gpu::AllocStagesOp(op).stages());
    if (const auto stages = ir::As<gpu::OverlayStagesOp>(op)) {
      const Span span = overlay(*stages);
      addresses_[op] = first + span.begin;
      allocations_.emplace_back(Span{first + span.begin, span.bytes}, op);
    }
    if (const auto span = operand(*op)) {
      addresses_[op] = first_operand + span->begin;
      allocations_.emplace_back(Span{first_operand + span->begin, span->bytes}, op);
    } else if (gpu::StageOperandOp::Is(op)) {
      place(op, BytesOf(op->operand(0)->type()));
    }
    if (gpu::AllocBarriersOp::Is(op)) place(op, kBarrierBytes * gpu::AllocBarriersOp(op).count());
    if (gpu::AllocTensorMapOp::Is(op)) place(op, kAlignment);
    if (gpu::AllocColumnsOp::Is(op)) place(op, kAlignment);
  });
  for (int i = 0; i < shape.blocks; ++i) {
    Block& block = blocks_.emplace_back();
    block.running = block.all.needed = shape.warps();
    block.workers.needed = shape.workers;
    for (Meeting& turn : block.turns) turn.needed = kGroups * kWarpsOfGroup;
  }
  cluster_.needed = shape.warps() * shape.blocks;
}

const ir::Op* Machine::AllocationOf(Span span) const {
  for (const auto& [place, op] : allocations_) {
    if (span.begin >= place.begin && span.end() <= place.end()) return op;
  }
  return nullptr;
}

std::string Machine::Place(Span span) const {
  const ir::Op* op = AllocationOf(span);
  const auto stages = ir::As<gpu::StagesOp>(op);
  return stages ? absl::StrCat("stage ", (span.begin - AddressOf(*op)) / stages->bytes())
                : absl::StrCat("address ", span.begin);
}

const ir::Op* Machine::ReaderOf(uint64_t descriptor, int block) const {
  for (const Task& task : tasks_) {
    if (task.block == block && task.descriptor == descriptor) return task.op;
  }
  return nullptr;
}

Fault Machine::BeginCopy(Task task, uint64_t name) {
  Block& to = block(task.block);
  if (to.running == 0)
    return {FaultKind::kLeaves, absl::StrCat("brings a tile to block ", task.block, ", which has ended")};
  const Write write = {task.op,    name,          task.part,
                       task.parts, task.converts, DecisionOf<Decision::kProxyFence>(*task.op)};
  for (const Span& span : task.spans) {
    if (Fault fault = to.memory.BeginWrite(span, write); fault.found()) {
      absl::StrAppend(&fault.what, " (", Place(span), ")");
      return fault;
    }
  }
  if (task.barrier >= 0) to.barriers.at(task.barrier).barrier.CopyBegins();
  if (task.group != nullptr) ++*task.group;
  task.copies = true;
  tasks_.push_back(std::move(task));
  return {};
}

Fault Machine::BeginRead(Task task, std::vector<uint64_t>* names) {
  const Reader reader = {task.op, task.agent};
  for (const Span& span : task.spans) {
    uint64_t name = 0;
    if (Fault fault = block(task.block).memory.BeginRead(span, reader, &name); fault.found()) {
      absl::StrAppend(&fault.what, " (", Place(span), ")");
      return fault;
    }
    names->push_back(name);
  }
  if (task.product != 0) running_products_.insert(task.product);
  if (task.group != nullptr) ++*task.group;
  tasks_.push_back(std::move(task));
  return {};
}

void Machine::BeginCommit(Task task) {
  task.commits = true;
  tasks_.push_back(std::move(task));
}

Fault Machine::FinishTask(size_t i) {
  // The first product of its warp in front of it; a commit may come later than another one behind it.
  if (tasks_[i].product != 0 || tasks_[i].commits) {
    const auto of_warp = [&](const Task& t) {
      return t.product != 0 && t.agent == tasks_[i].agent && t.block == tasks_[i].block;
    };
    const auto end = tasks_.begin() + static_cast<std::ptrdiff_t>(i);
    i = static_cast<size_t>(std::find_if(tasks_.begin(), end, of_warp) - tasks_.begin());
  }
  const Task task = std::move(tasks_[i]);
  tasks_.erase(tasks_.begin() + static_cast<std::ptrdiff_t>(i));
  Block& in = block(task.block);
  if (task.group != nullptr) --*task.group;
  running_products_.erase(task.product);
  for (const Span& span : task.spans) {
    task.copies ? in.memory.Land(span, task.part) : in.memory.EndRead(span, {task.op, task.agent});
  }
  if (in.running == 0) return Fault{FaultKind::kNeverWaited, "may still run when its block has ended"}.At(*task.op);
  if (task.barrier < 0) return {};
  if (task.commits) return in.barriers.at(task.barrier).barrier.Arrive().At(*task.op);
  return in.barriers.at(task.barrier).barrier.CopyLands(task.bytes).At(*task.op);
}

}  // namespace tile::codegen::schedule
