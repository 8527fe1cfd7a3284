#include "codegen/plan/loop_invariant_rows.h"

#include <algorithm>

#include "codegen/analysis/product_chain.h"
#include "codegen/target/target.h"
#include "codegen/target/tuning.h"
#include "ir/loops.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kLanes = 32;

// The row of which the value has copies, one below the other; null: none.
const Value* RowOf(const Value* v) {
  const auto spread = ir::DefAs<ir::BroadcastOp>(v);
  if (!spread) return nullptr;
  const Value* row = spread->source();
  const ir::Type type = row->type();
  const bool once = type.rank() == 2 && type.shape()[0] == 1 && type.shape()[1] == v->type().shape()[1];
  const bool made_again = row->def() != nullptr && row->def()->opcode() == ir::Opcode::kConstant;
  return once && !made_again ? row : nullptr;
}

}  // namespace

void LoopInvariantRows::Note(ir::Block* body) {
  ir::Walk(body, [&](const Op* op) {
    if (op->info()->has(ir::kLoop) && !HoldsProducts(*op)) NoteLoop(op);
  });
}

void LoopInvariantRows::NoteLoop(const Op* loop) {
  ir::Walk(loop->region(0), [&](const Op* op) {
    for (int i = 0; i < op->num_operands(); ++i) {
      const Value* v = op->operand(i);
      const Value* row = RowOf(v);
      if (row == nullptr || ir::IsInside(row, loop)) continue;
      const auto shape = v->type().shape();
      rows_[Shape(shape.begin(), shape.end())].insert(row);
    }
  });
}

std::optional<Layout> LoopInvariantRows::LayoutFor(absl::Span<const int64_t> shape, int num_warps, int vector) const {
  const auto met = rows_.find(Shape(shape.begin(), shape.end()));
  if (met == rows_.end() || shape.size() != 2 || shape[1] < int64_t{kLanes} * vector) return std::nullopt;
  const int64_t rows = static_cast<int64_t>(met->second.size());
  const int64_t most = std::min(int64_t{Target::kThreadRegisters}, Target::kRegisters / (int64_t{kLanes} * num_warps)) -
                       tuning::kBesideKept;
  const int64_t most_along = shape[1] / (int64_t{kLanes} * vector);  // warps
  const int64_t default_down = std::min(shape[0], int64_t{num_warps});
  for (int64_t down = default_down; down > 0; down /= 2) {
    const int64_t along = std::min(num_warps / down, most_along);
    const int64_t of_row = shape[1] / (kLanes * along), of_tile = of_row * (shape[0] / down);
    const bool last = down == 1 || num_warps / (down / 2) > most_along;
    if (of_tile + rows * of_row > most && !last) continue;
    if (down == default_down) return std::nullopt;
    return Layout::Blocked(shape, {1, vector}, {1, kLanes}, {down, along}, {1, 0});
  }
  return std::nullopt;
}

int64_t LoopInvariantRows::RegistersBeside(absl::Span<const int64_t> shape, const Layout& layout) const {
  const auto met = rows_.find(Shape(shape.begin(), shape.end()));
  if (met == rows_.end()) return 0;
  return static_cast<int64_t>(met->second.size()) * layout.Collapse(0).RemoveZeroRegisters().registers();
}

}  // namespace tile::codegen
