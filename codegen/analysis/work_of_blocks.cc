#include "codegen/analysis/work_of_blocks.h"

#include <optional>

#include "codegen/analysis/product_chain.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kDepth = 24;  // operations looked back
constexpr int kDims = 3;

// How a number changes with a block's place: 1 rises, -1 falls, 0 is the same for all.
using Direction = std::optional<int>;

Direction Reversed(Direction d) { return d ? Direction(-*d) : d; }
Direction OfBoth(Direction a, Direction b) {
  if (!a || !b || *a * *b < 0) return std::nullopt;
  return *a != 0 ? a : b;
}

class Along {
 public:
  explicit Along(int dim) : dim_(dim) {}

  Direction Of(const Value* v, int depth = 0) const {
    const Op* op = v->def();
    if (op == nullptr) return v->block()->parent() == nullptr ? Direction(0) : std::nullopt;
    if (depth > kDepth) return std::nullopt;
    if (ir::GetTileBlockIdOp::Is(op)) return v->index() == dim_ ? 1 : 0;
    const auto of = [&](int i) { return Of(op->operand(i), depth + 1); };
    if (ir::AddiOp::Is(op) || ir::MiniOp::Is(op) || ir::MaxiOp::Is(op)) return OfBoth(of(0), of(1));
    if (ir::SubiOp::Is(op)) return OfBoth(of(0), Reversed(of(1)));
    if (ir::MuliOp::Is(op)) {
      const Direction scaled = Scaled(of(0), *op->operand(1));
      return scaled ? scaled : Scaled(of(1), *op->operand(0));
    }
    if (ir::DiviOp::Is(op) || ir::ShriOp::Is(op) || ir::ShliOp::Is(op)) return Scaled(of(0), *op->operand(1));
    if (ir::SelectOp::Is(op)) return OfBoth(of(1), of(2));  // as far as either goes
    if (ir::ExtiOp::Is(op) || ir::TrunciOp::Is(op) || ir::AssumeOp::Is(op)) return of(0);
    for (int i = 0; i < op->num_operands(); ++i) {
      if (of(i) != 0) return std::nullopt;
    }
    return op->num_regions() == 0 ? Direction(0) : std::nullopt;
  }

 private:
  // Multiplied, or divided, by a positive constant; numbers that are the same for all stay so by any.
  Direction Scaled(Direction d, const Value& by) const {
    if (d == 0 && Of(&by) == 0) return d;
    const std::optional<uint64_t> bits = ir::SplatOf(&by);
    return bits && ir::AsSigned(*bits, ir::WidthOf(&by)) > 0 ? d : std::nullopt;
  }

  const int dim_;
};

// Of its iterations. Where both ends rise, as those of the masked part of an attention do, there are as many everywhere.
Direction OfLoop(const ir::ForOp& loop, const Along& along) {
  const Direction from = along.Of(loop.lower_bound()), to = along.Of(loop.upper_bound());
  return from && to ? Direction((*to > *from) - (*to < *from)) : std::nullopt;
}

}  // namespace

int RisesAlong(const ir::Function& function) {
  for (int dim = 0; dim < kDims; ++dim) {
    const Along along(dim);
    Direction all = 0;
    ir::Walk(function.body(), [&](const Op* op) {
      if (ir::ForOp::Is(op) && Multiplies(*op)) all = OfBoth(all, OfLoop(ir::ForOp(op), along));
    });
    if (all == 1) return dim;
  }
  return -1;
}

}  // namespace tile::codegen
