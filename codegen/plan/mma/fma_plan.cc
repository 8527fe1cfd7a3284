// Products that are multiplied out, for types that no matrix instruction takes: each thread multiplies with fma what it reads from shared memory.
#include <algorithm>
#include <utility>

#include "codegen/plan/mma/mma_kind.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

// Every other lane has another row: lanes that are next to each other read the same of the right operand, lanes behind those the same of the
// left one. 16 bytes for each lane come from shared memory in two cycles then, not in four.
Layout WithRowsInPairs(const Layout& layout) {
  const auto masks = [&](In in) { return Masks(layout.bases(in).begin(), layout.bases(in).end()); };
  Masks lanes = masks(In::kLane);
  const Mask rows = layout.DimMask(layout.rank() - 2);
  const auto row = std::find_if(lanes.begin(), lanes.end(), [&](Mask m) { return (m & rows) != 0; });
  if (row != lanes.end()) std::rotate(lanes.begin(), row, row + 1);
  return Layout::FromBases(Shape(layout.shape().begin(), layout.shape().end()), masks(In::kRegister), std::move(lanes),
                           masks(In::kWarp));
}

class Fma : public MmaKind {
 public:
  Fma() : MmaKind({"fma", OperandsBy::kElements}) {}

  uint32_t features() const override { return 0; }
  bool Takes(const Target&, const ir::Op&) const override { return true; }
  bool Choose(const Target&, int, ir::Module* module, ir::Op* mma) const override {
    Decide<Decision::kInstruction>(module, mma, name());
    return true;
  }

  Layout ResultLayout(int num_warps, const ir::Op& mma) const override;
  std::optional<Layout> FragmentLayout(const ir::Op&, int) const override { return std::nullopt; }
  int64_t StepsAlongK(const ir::Op& mma) const override { return ShapeOfMma(mma).k; }
  std::string Fault(const ir::Op&, int) const override { return ""; }

  double WarpInstructions(double macs, int) const override { return macs / 32 * 1.1; }
  double MacsPerCycle(const Machine& machine, int) const override { return machine.fma_macs; }
};

Layout Fma::ResultLayout(int num_warps, const ir::Op& op) const {
  // A square of results in each thread, so that what it reads serves several.
  const auto shape = op.result(0)->type().shape();
  const int rank = static_cast<int>(shape.size());
  const int64_t each = std::max<int64_t>(1, op.result(0)->type().num_elements() / (32 * num_warps));
  const int64_t columns = std::min<int64_t>({shape[rank - 1], each, 4});
  const int64_t rows = std::min<int64_t>({shape[rank - 2], each / columns, 4});
  absl::InlinedVector<int64_t, 4> elements(rank, 1), lanes(rank, 1), warps(rank, 1);
  absl::InlinedVector<int, 4> order;
  for (int d = rank - 1; d >= 0; --d) order.push_back(d);
  elements[rank - 1] = columns;
  elements[rank - 2] = rows;
  int64_t left = 32;
  for (int d = rank - 1; d >= 0; --d) {
    lanes[d] = d == 0 ? left
                      : std::min<int64_t>(
                            left, std::max<int64_t>(1, d == rank - 1 ? std::min<int64_t>(8, shape[d] / elements[d])
                                                                     : shape[d] / elements[d]));
    left /= lanes[d];
  }
  // Warps such that what a thread reads of one k, rows and columns, is least.
  auto each_thread = [&](int d, int64_t w) { return std::max<int64_t>(elements[d], shape[d] / (lanes[d] * w)); };
  int64_t best = 0;
  for (int64_t w = 1; w <= num_warps; w *= 2) {
    const int64_t m = each_thread(rank - 2, w), n = each_thread(rank - 1, num_warps / w);
    const int64_t cost = m * n * 1024 + m + n;  // results held twice are work done twice
    if (best != 0 && cost >= best) continue;
    best = cost;
    warps[rank - 2] = w;
    warps[rank - 1] = num_warps / w;
  }
  if (rank == 3) {
    // What is left over goes along the batch.
    for (int d = rank - 1; d > 0; --d) {
      while (warps[d] > 1 && shape[d] / (elements[d] * lanes[d]) < warps[d]) warps[d] /= 2, warps[0] *= 2;
    }
  }
  return WithRowsInPairs(Layout::Blocked(shape, elements, lanes, warps, order));
}

}  // namespace

const MmaKind& FmaKind() {
  static const Fma kind;
  return kind;
}

}  // namespace tile::codegen
