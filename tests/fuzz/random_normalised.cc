// Products of large tiles that are divided by their largest elements, by rows or columns, as a quantisation is: the tiles live across several
// exchanges between threads, and what is computed of the same tiles later may be computed earlier (codegen/passes/slicing/compute_early.h).
#include <limits>

#include "ir/float.h"
#include "tests/fuzz/generator.h"

namespace tile::fuzz {

using op::Values;

// Each element divided by the largest absolute value of its row or column, or by one.
Val Generator::Normalised(const Val& x, int64_t dim) {
  Value* size = op::Absf(b_, x.v);
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<ir::Scalar> identity = {{x.elem(), ir::FromDouble(x.elem(), -inf)}};
  const auto larger = [&](const Values& el, const Values& acc) -> Values {
    return {op::Maxf(b_, acc[0], el[0], true)};
  };
  const Values most = op::Reduce(b_, {size}, dim, identity, larger);
  Value* scale = op::Maxf(b_, most[0], op::Splat(b_, most[0]->type(), 1.0), true);
  Shape kept = x.shape();
  kept[static_cast<size_t>(dim)] = 1;
  scale = op::Broadcast(b_, x.v->type(), op::Reshape(b_, Tile(x.elem(), kept), scale));
  return {op::Divf(b_, x.v, scale), -1, true, false};
}

void Generator::StepNormalised() {
  const Shape shape = {int64_t{1} << r_.In(4, 6), int64_t{1} << r_.In(4, 6)};
  std::vector<Val> tiles;
  for (int64_t n = r_.In(2, 3); n > 0; --n) {
    Value* done = nullptr;
    tiles.push_back(Converted(Load(InputRegion(), shape, nullptr, &done), Elem::kF32));
  }
  for (int64_t n = r_.In(2, 4); n > 0; --n) {
    const Val& x = tiles[static_cast<size_t>(r_.Below(static_cast<int64_t>(tiles.size())))];
    const Val& y = tiles[static_cast<size_t>(r_.Below(static_cast<int64_t>(tiles.size())))];
    Value* product = r_.Percent(70) ? op::Mulf(b_, x.v, y.v) : op::Addf(b_, op::Negf(b_, x.v), y.v);
    tiles.push_back({product, -1, true, false});
    for (int64_t dim = 0; dim < 2; ++dim) {
      if (r_.Percent(60)) Store(Converted(Normalised(tiles.back(), dim), FloatElement()));
    }
  }
  Add(tiles.back());
}

}  // namespace tile::fuzz
