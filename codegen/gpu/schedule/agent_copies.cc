// What an agent does with copies by threads: codegen/gpu/ops.def says what each operation means. Each worker copies a part of a tile.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/gpu/op_views.h"
#include "codegen/gpu/schedule/agent.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen::schedule {
namespace {

// Parts of a tile differ by their first element from its name, so that in order they are that tile.
constexpr uint64_t kOfElement = 0x9E3779B97F4A7C15u;

bool Converts(const ir::Op& copy) {
  bool converts = false;
  for (const ir::Op* op : *copy.region(0)) converts = converts || ir::FToFOp::Is(op);
  const ir::Op& yield = *copy.region(0)->back();
  return converts && yield.operand(0)->type().elem() == yield.operand(1)->type().elem();
}

}  // namespace

// The yield of its region begins the copy.
Step Agent::CopyAsync(const ir::Op& op) { return Of(op.operand(0)).bits != 0 ? Region(op) : Nothing(op); }

Step Agent::BeginOwnCopy(const ir::Op& copy, const Known& loaded, const Known& place) {
  const auto offsets = DecisionOf<Decision::kOffsets>(copy);
  const uint64_t first = static_cast<uint64_t>(offsets ? (*offsets)[0] : 0);
  if (!gpu::StagesOp::Is(machine_.AllocationOf(place.tile)))
    return {
        false,
        Fault{FaultKind::kBounds, absl::StrCat("writes ", place.tile.bytes, " bytes outside of all stages")}.At(copy)};
  Task task;
  task.op = &copy;
  task.block = place_.block;
  task.agent = task.part = place_.warp;
  task.parts = machine_.shape().workers;
  task.spans = {place.tile};
  task.converts = Converts(copy);
  task.group = copies_.Open();
  Fault fault = machine_.BeginCopy(std::move(task), loaded.bits + first * kOfElement);
  if (fault.found()) return {false, std::move(fault).At(copy)};
  frames_.pop_back();
  Advance();
  return {};
}

Step Agent::CommitCopies(const ir::Op& op) {
  copies_.Commit();
  return Nothing(op);
}

Step Agent::WaitCopies(const ir::Op& op) {
  return copies_.Passed(gpu::WaitCopiesOp(op).pending()) ? Nothing(op) : Wait();
}

Step Agent::ConvertCopied(const ir::Op& op) {
  const Span span = Of(op.operand(1)).tile;
  if (Of(op.operand(0)).tile.begin != span.begin)
    return {false, {FaultKind::kOperand, "converts a tile at another address than that to which it stores"}};
  Fault fault = block().memory.Convert(span, place_.warp);
  converted_.emplace_back(span, place_.warp);
  return fault.found() ? Step{false, fault} : Nothing(op);
}

// A tile in shared memory is read there, before and after copies were expanded. Others change registers.
Step Agent::ConvertLayout(const ir::Op& op) {
  if (Of(op.operand(0)).tile.begin >= 0) return FragmentWords(op);
  return IsFetch(op.operand(0)->def()) ? Move(op) : Compute(op);
}

// The product that takes it has read it before the next piece comes.
Fault Agent::ReadPiece(const ir::Op& piece, Known* tile) {
  const Reader reader = {&piece, place_.warp};
  uint64_t name = 0;
  Fault fault = block().memory.BeginRead(tile->tile, reader, &name);
  block().memory.EndRead(tile->tile, reader);
  if (fault.found()) return std::move(fault).At(piece);
  const ir::Op& stage_tile = *piece.region(0)->back()->operand(0)->def();
  const int64_t elements =
      stage_tile.result(0)->type().shape()[static_cast<size_t>(gpu::StageTileOp(stage_tile).dim())];
  uint64_t before = 0;
  for (const ir::Op* op = piece.prev(); gpu::PieceOp::Is(op); op = op->prev())
    before += static_cast<uint64_t>(elements);
  name -= before * kOfElement;
  if (before > 0 && Of(piece.prev()->result(0)).bits != name) name = Mix(name, before);
  *tile = {.bits = name};
  return {};
}

}  // namespace tile::codegen::schedule
