#include "codegen/plan/fold_layout.h"

#include <algorithm>

#include "codegen/analysis/reduce_body.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

// The dimension in order, with at least 16 elements of it in a thread; threads that this leaves go along the others.
Layout OrderedLayout(absl::Span<const int64_t> shape, int dim, int num_warps) {
  const Layout any = Layout::Replicated(shape, num_warps);
  const int bits = any.dim_bits(dim), warp_bits = __builtin_ctz(static_cast<unsigned>(num_warps)),
            threads = 5 + warp_bits;
  const int in_thread = std::min(bits, std::max(4, bits - threads));
  const int in_lanes = std::min(bits - in_thread, 5);
  Masks other;  // bits of the other dimensions, last first
  for (int d = any.rank() - 1; d >= 0; --d) {
    for (int i = 0; d != dim && i < any.dim_bits(d); ++i) other.push_back(Mask{1} << (any.dim_shift(d) + i));
  }
  Masks reg, lane, warp;
  int next = 0;
  size_t used = 0;
  auto along = [&] { return Mask{1} << (any.dim_shift(dim) + next++); };
  auto across = [&] { return used < other.size() ? other[used++] : Mask{0}; };
  for (int i = 0; i < in_thread; ++i) reg.push_back(along());
  for (int i = 0; i < 5; ++i) lane.push_back(i < in_lanes ? along() : across());
  for (int i = 0; i < warp_bits; ++i) warp.push_back(next < bits ? along() : across());
  while (used < other.size()) reg.push_back(other[used++]);
  return Layout::FromBases(Shape(shape.begin(), shape.end()), reg, lane, warp);
}

}  // namespace

AlongDim BitsAlong(const Layout& l, int dim) {
  AlongDim a;
  const Mask mask = l.DimMask(dim);
  int highest = -1;
  for (In in : kIns) {
    auto& bits = a.in[static_cast<int>(in)];
    for (int i = 0; i < l.bits(in); ++i) {
      const Mask base = l.bases(in)[i], inside = base & mask;
      if (inside == 0) continue;
      if (base != inside || (inside & (inside - 1)) != 0) a.simple = false;
      bits.push_back({i, __builtin_ctzll(inside) - l.dim_shift(dim)});
    }
    std::sort(bits.begin(), bits.end(), [](BitAlong x, BitAlong y) { return x.coordinate < y.coordinate; });
    for (const BitAlong& b : bits) {
      if (b.coordinate < highest) a.ordered = false;
      highest = std::max(highest, b.coordinate);
    }
    // Lanes in order are neighbours, so that one shuffle reaches the lane so far away.
    for (size_t i = 1; in == In::kLane && i < bits.size(); ++i)
      a.ordered = a.ordered && bits[i].at == bits[i - 1].at + 1;
  }
  return a;
}

Layout FoldLayout(const ir::Op& fold, const Layout& operand, int num_warps) {
  const int dim = static_cast<int>(ir::FoldOp(fold).dim());
  const bool needs_order = ir::ScanOp::Is(&fold) || !IsCommutative(*fold.region(0));
  const AlongDim along = BitsAlong(operand, dim);
  if (along.simple && (along.ordered || !needs_order)) return operand;
  return OrderedLayout(operand.shape(), dim, num_warps);
}

int WarpsOfResult(const ir::Op& fold, const Layout& operand, int num_warps) {
  const AlongDim along = BitsAlong(FoldLayout(fold, operand, num_warps), static_cast<int>(ir::FoldOp(fold).dim()));
  return 1 << along.in[static_cast<int>(In::kWarp)].size();
}

std::vector<const ir::Op*> ReducesTogether(const ir::Op& first) {
  std::vector<const ir::Op*> together = {&first};
  for (const ir::Op* op = first.next(); op != nullptr && DecisionOf<Decision::kBatched>(*op); op = op->next()) {
    together.push_back(op);
  }
  return together;
}

bool FoldTakesWords(const Layout& result) {
  const Masks& lanes = result.bases(In::kLane);
  return std::all_of(lanes.begin(), lanes.end(), [](Mask m) { return m == 0; });
}

uint64_t FoldPartsBytes(int64_t parts, const Layout& result, int bytes) {
  const int each = FoldTakesWords(result) ? std::max(4, bytes) : bytes;
  return (static_cast<uint64_t>(parts * result.elements()) * static_cast<uint64_t>(each) + 15) / 16 * 16;
}

}  // namespace tile::codegen
