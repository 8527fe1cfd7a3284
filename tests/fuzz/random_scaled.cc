// Loops of products with block scales: matrices and scales lie in memory, scales as kernels of cuTile load them, or in another order. Numbers are so
// small that every order of adding up gives the same.
#include <algorithm>

#include "tests/fuzz/generator.h"

namespace tile::fuzz {
namespace {

constexpr double kFactor = 2, kScale = 4;  // the greatest

}  // namespace

ScaledForm RandomScaledForm(Random& r) {
  return r.Of<ScaledForm>({
      {Elem::kF8E4M3FN, Elem::kF8E8M0FNU, 32},
      {Elem::kF8E5M2, Elem::kF8E8M0FNU, 32},
      {Elem::kF4E2M1FN, Elem::kF8E8M0FNU, 16},
      {Elem::kF4E2M1FN, Elem::kF8E8M0FNU, 32},
      {Elem::kF4E2M1FN, Elem::kF8E4M3FN, 16},
  });
}

void Generator::ChooseElementsOfScaled() {
  scaled_ = RandomScaledForm(r_);
  elems_ = {Elem::kI8, Elem::kI32, Elem::kBF16, Elem::kF32};
  matrix_elems_ = {scaled_.data};
}

// One matrix of a loop, its blocks by a partition view; `depth`: the dimension that the loop goes along.
struct Generator::ScaledMatrix {
  Value* view = nullptr;
  Shape permutation;  // of the loaded tile; empty: it is as the product takes it
  size_t depth = 0;
};

// `ragged`: the tensor may end within a tile, whose rest is zero.
Generator::ScaledMatrix Generator::PlaceScaled(Elem e, Fill fill, const Shape& tile, size_t depth, int64_t rounds,
                                               bool ragged) {
  ScaledMatrix m;
  m.depth = depth;
  const bool permuted = r_.Percent(40), turned = r_.Percent(15);
  Cut cut;
  cut.tile = permuted ? Shape{tile[1], tile[0]} : tile;
  if (permuted) m.permutation = {1, 0};
  cut.dim_map = turned ? Shape{1, 0} : Shape{0, 1};
  cut.sizes.assign(2, 1);
  const size_t along = permuted ? 1 - depth : depth;
  const int64_t step = ir::IsSubByte(e) ? 2 : 1;
  for (size_t d = 0; d < 2; ++d) {
    int64_t size = (d == along ? std::max<int64_t>(1, rounds) : 1) * cut.tile[d];
    if (ragged && r_.Percent(30)) size = std::max<int64_t>(step, size - r_.Below(cut.tile[d]) / step * step);
    cut.sizes[static_cast<size_t>(cut.dim_map[d])] = size;
  }
  // Two of 4 bits share a byte, along the dimension of stride 1.
  size_t inner = r_.Percent(70) ? 1 : 0;
  if (cut.sizes[inner] % step != 0) inner = 1 - inner;
  if (cut.sizes[inner] % step != 0) return m;
  const int64_t pitch =
      r_.Percent(30) ? (cut.sizes[inner] + step - 1) / step * step : (cut.sizes[inner] + 31) / 32 * 32;
  cut.strides.assign(2, 1);
  cut.strides[1 - inner] = pitch;
  cut.span = (cut.sizes[1 - inner] - 1) * pitch + cut.sizes[inner];
  for (size_t i = 0; i < roles_.size(); ++i) {
    const RandomArray& a = out_.arrays[i];
    if (roles_[i] != Role::kInput || a.elem != e || a.fill != fill || cut.span > a.count) continue;
    const Region region = Part(static_cast<int>(i), nullptr, a.count, true);
    std::optional<ir::Padding> padding;
    if (ragged) padding = ir::Padding::kZero;
    const ir::Type t = b_.types().TensorView(ir::Element::Number(e), cut.sizes, cut.strides);
    Value* tensor =
        r_.Percent(60) ? op::MakeTensorView(b_, t, region.pointer, {}, {}) : Tensor(region, cut.sizes, cut.strides);
    const ir::Type view = b_.types().PartitionView(cut.tile, tensor->type(), turned ? cut.dim_map : Shape(), padding);
    m.view = op::MakePartitionView(b_, view, tensor);
    return m;
  }
  return m;
}

Value* Generator::LoadScaled(const ScaledMatrix& m, Value* round) {
  Value* zero = Constant(Elem::kI32, 0);
  const bool along = m.permutation.empty() ? m.depth == 1 : m.depth == 0;  // the second dimension
  Value* tile = op::LoadView(b_, m.view, along ? op::Values{zero, round} : op::Values{round, zero}).value;
  return m.permutation.empty() ? tile : op::Permute(b_, tile, m.permutation);
}

void Generator::StepScaledLoop() {
  const bool tall = options_.seed >= kTallScaledSeeds;
  const int64_t m = std::max<int64_t>(tall ? 128 : 1, int64_t{1} << (r_.Percent(70) ? r_.In(4, 7) : r_.In(0, 8))),
                n = int64_t{tall ? 2 : 1} << (r_.Percent(70) ? r_.In(3, 7) : r_.In(0, 7)),
                blocks = int64_t{1} << r_.In(0, 3), k = blocks * scaled_.block, rounds = r_.In(0, 3);
  const ScaledMatrix a = PlaceScaled(scaled_.data, Fill::kTiny, {m, k}, 1, rounds, true),
                     b = PlaceScaled(scaled_.data, Fill::kTiny, {k, n}, 0, rounds, true);
  const ScaledMatrix of_a = PlaceScaled(scaled_.scale, Fill::kScale, {m, blocks}, 1, rounds, false),
                     of_b = PlaceScaled(scaled_.scale, Fill::kScale, {blocks, n}, 0, rounds, false);
  if (a.view == nullptr || b.view == nullptr || of_a.view == nullptr || of_b.view == nullptr) return;
  const bool invariant = r_.Percent(15);  // scales of A that are the same in all rounds
  Value* zero = Constant(Elem::kI32, 0);
  Value* kept = invariant ? LoadScaled(of_a, zero) : nullptr;
  const Val start = r_.Percent(70) ? Val{op::Splat(b_, Tile(Elem::kF32, {m, n}), 0), 0} : Small(Elem::kF32, {m, n}, 4);
  const auto body = [&](Value* i, const op::Values& now) -> op::Values {
    Value* scales = kept != nullptr ? kept : LoadScaled(of_a, i);
    Value *x = LoadScaled(a, i), *y = LoadScaled(b, i), *others = LoadScaled(of_b, i);
    return {op::MmaScaled(b_, x, y, now[0], scales, others)};
  };
  Value* end = r_.Percent(60) ? Constant(Elem::kI32, rounds) : Number(Elem::kI32, rounds);
  const op::Values sums = op::For(b_, zero, end, Constant(Elem::kI32, 1), {start.v}, body);
  const double products = kFactor * kFactor * kScale * kScale * static_cast<double>(k * std::max<int64_t>(1, rounds));
  const Val result{sums[0], start.bound + products};
  if (!in_loop_ && depth_ == 0 && r_.Percent(30)) StoreProduct(result);
  Add(result);
}

}  // namespace tile::fuzz
