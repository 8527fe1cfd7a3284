#include "codegen/analysis/work_of_blocks.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "codegen/analysis/product_chain.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kDepth = 24;  // operations looked back
constexpr int kDims = 3;

// A number of each block: what one has on top of the one before, and what the first one has, if that is known.
struct Line {
  double slope = 0;
  std::optional<double> first;
};
using MaybeLine = std::optional<Line>;  // nullopt: nobody knows

MaybeLine Sum(const MaybeLine& a, const MaybeLine& b, int sign) {
  if (!a || !b) return std::nullopt;
  Line sum{a->slope + sign * b->slope, std::nullopt};
  if (a->first && b->first) sum.first = *a->first + sign * *b->first;
  return sum;
}

// One or the other: as far as either goes.
MaybeLine Either(const MaybeLine& a, const MaybeLine& b) {
  if (!a || !b || a->slope * b->slope < 0) return std::nullopt;
  return Line{std::abs(a->slope) > std::abs(b->slope) ? a->slope : b->slope, std::nullopt};
}

// The lesser one (`sign` 1) or the greater one (-1): that of the first block, if it stays so.
MaybeLine Least(const MaybeLine& a, const MaybeLine& b, int sign) {
  const auto is_least = [&](const Line& of, const Line& than) {
    return of.first && than.first && sign * *of.first <= sign * *than.first && sign * of.slope <= sign * than.slope;
  };
  if (a && b && is_least(*a, *b)) return a;
  return a && b && is_least(*b, *a) ? b : Either(a, b);
}

class Along {
 public:
  explicit Along(int dim) : dim_(dim) {}

  // Each value is looked at once, however many ways lead to it.
  MaybeLine Of(const Value* v, int depth = 0) {
    if (const auto known = lines_.find(v); known != lines_.end()) return known->second;
    const MaybeLine line = Follow(v, depth);
    lines_.emplace(v, line);
    return line;
  }

  // Above zero: on top of the iterations of the block before. Where both ends rise, as those of the masked part of an attention do, there are as
  // many everywhere.
  std::optional<double> Iterations(const ir::ForOp& loop) {
    const MaybeLine more = Sum(Of(loop.upper_bound()), Of(loop.lower_bound()), -1);
    return more ? std::optional<double>(more->slope) : std::nullopt;
  }

 private:
  MaybeLine Follow(const Value* v, int depth) {
    const Op* op = v->def();
    if (op == nullptr) return v->block()->parent() == nullptr ? MaybeLine(Line()) : std::nullopt;
    if (depth > kDepth) return std::nullopt;
    if (ir::GetTileBlockIdOp::Is(op)) return v->index() == dim_ ? Line{1, 0} : Line();
    if (const std::optional<double> n = Constant(v)) return Line{0, *n};
    const auto of = [&](int i) { return Of(op->operand(i), depth + 1); };
    if (ir::AddiOp::Is(op)) return Sum(of(0), of(1), 1);
    if (ir::SubiOp::Is(op)) return Sum(of(0), of(1), -1);
    if (ir::MiniOp::Is(op)) return Least(of(0), of(1), 1);
    if (ir::MaxiOp::Is(op)) return Least(of(0), of(1), -1);
    if (ir::SelectOp::Is(op)) return Either(of(1), of(2));
    if (ir::ExtiOp::Is(op) || ir::TrunciOp::Is(op) || ir::AssumeOp::Is(op)) return of(0);
    if (const std::optional<double> factor = Factor(*op)) {
      MaybeLine line = of(Constant(op->operand(1)) ? 0 : 1);
      if (line) line->slope *= *factor;
      if (line && line->first) *line->first *= *factor;
      return line;
    }
    for (int i = 0; i < op->num_operands(); ++i) {
      const MaybeLine line = of(i);
      if (!line || line->slope != 0) return std::nullopt;
    }
    return op->num_regions() == 0 ? MaybeLine(Line()) : std::nullopt;
  }

  static std::optional<double> Constant(const Value* v) {
    const std::optional<uint64_t> bits = ir::SplatOf(v);
    return bits ? std::optional<double>(static_cast<double>(ir::AsSigned(*bits, ir::WidthOf(v)))) : std::nullopt;
  }

  // By which the operation multiplies its operand that is no constant, if that is positive.
  static std::optional<double> Factor(const Op& op) {
    const bool shifts = ir::ShliOp::Is(&op) || ir::ShriOp::Is(&op), divides = ir::DiviOp::Is(&op);
    if (!shifts && !divides && !ir::MuliOp::Is(&op)) return std::nullopt;
    std::optional<double> by = Constant(op.operand(1));
    if (!by && ir::MuliOp::Is(&op)) by = Constant(op.operand(0));
    if (by && shifts) by = std::exp2(*by);
    if (!by || *by <= 0) return std::nullopt;
    return divides || ir::ShriOp::Is(&op) ? 1 / *by : *by;
  }

  const int dim_;
  absl::flat_hash_map<const Value*, MaybeLine> lines_;
};

}  // namespace

WorkOfBlocks WorkAlong(const ir::Function& function) {
  for (int dim = 0; dim < kDims; ++dim) {
    Along along(dim);
    bool known = true;
    double most = 0, least = 0;
    ir::Walk(function.body(), [&](const Op* op) {
      if (!ir::ForOp::Is(op) || !Multiplies(*op)) return;
      const std::optional<double> iterations = along.Iterations(ir::ForOp(op));
      known = known && iterations;
      if (!known) return;
      most = std::max(most, *iterations);
      least = std::min(least, *iterations);
    });
    if (known && (most > 0) != (least < 0)) return {dim, most > 0};
  }
  return {};
}

}  // namespace tile::codegen
