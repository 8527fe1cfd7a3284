// Loops that carry large tiles, as sums over the rows of a matrix, running maxima and windows of convolutions do: each iteration loads and combines,
// and afterwards the tiles are reduced or stored. They are what is done once for each slice (codegen/passes/slicing/slice_nest.h).
#include <algorithm>

#include "tests/fuzz/generator.h"

namespace tile::fuzz {

using op::Values;

// One or two operations on what is carried and a tile of this iteration. Floats are added element by element, always in the same order.
Val Generator::Joined(const Val& carried, const Val& x) {
  const bool is_float = ir::IsFloat(carried.elem());
  Value* v = nullptr;
  switch (r_.Below(4)) {
    case 0: v = is_float ? op::Maxf(b_, carried.v, x.v, true) : op::Maxi(b_, carried.v, x.v, Sign()); break;
    case 1: v = is_float ? op::Minf(b_, x.v, carried.v, true) : op::Xori(b_, carried.v, x.v); break;
    default: v = is_float ? op::Addf(b_, carried.v, x.v) : op::Addi(b_, carried.v, x.v);
  }
  return {v, -1, true, !is_float};
}

void Generator::StepCarried() {
  std::vector<Elem> elems;
  for (const Elem e : elems_) {
    if (e != Elem::kI1 && !ir::IsSubByte(e) && (ir::IsInt(e) || ir::IsFp(e))) elems.push_back(e);
  }
  if (elems.empty()) return;
  Shape shape = {int64_t{1} << r_.In(0, 5), int64_t{1} << r_.In(3, 7)};
  if (r_.Percent(20)) std::swap(shape[0], shape[1]);
  if (r_.Percent(15)) shape.insert(shape.begin() + r_.Below(3), r_.Of({1, 2}));
  Values init;
  std::vector<Val> carried;
  for (int64_t n = r_.In(1, 3); n > 0; --n) carried.push_back(Operand(r_.Of(elems), shape));
  for (const Val& v : carried) init.push_back(v.v);
  const bool counts = r_.Percent(30);  // a scalar besides
  if (counts) init.push_back(Constant(Elem::kI32, r_.Below(10)));
  const bool waits = r_.Percent(60);
  if (waits) init.push_back(token_);
  const int64_t rounds = r_.In(0, 4), outer = rounds_;
  const bool was_in_loop = in_loop_;
  in_loop_ = true;
  rounds_ *= std::max<int64_t>(1, rounds);
  const auto body = [&](Value* i, const Values& now) -> Values {
    return Inside([&]() -> Values {
      Add({i});
      Value* count = counts ? now[carried.size()] : i;
      if (counts) Add({count});
      Values next, tokens;
      for (size_t k = 0; k < carried.size(); ++k) {
        const Elem e = carried[k].elem();
        Val x = Val{now[k], -1, true, !ir::IsFloat(e)};
        for (int64_t more = r_.In(1, 2); more > 0; --more) {
          // Of the tile's shape, or a row or column of it.
          Shape part = shape;
          if (r_.Percent(25)) part[static_cast<size_t>(r_.Below(static_cast<int64_t>(part.size())))] = 1;
          Value* done = nullptr;
          Val loaded = r_.Percent(80) ? Load(InputRegion(), part, waits && r_.Percent(50) ? now.back() : nullptr, &done)
                                      : Spread(Converted({count}, e), part);
          if (done != nullptr) tokens.push_back(done);
          loaded = Converted(loaded, e);
          if (part != shape) loaded = Made(op::Broadcast(b_, Tile(e, shape), loaded.v), loaded);
          x = Joined(x, loaded);
        }
        next.push_back(x.v);
      }
      if (counts) next.push_back(op::Addi(b_, count, Constant(Elem::kI32, 3)));
      tokens.push_back(token_);
      if (waits) tokens[tokens.size() - 1] = now.back();
      if (waits) next.push_back(tokens.size() == 1 ? tokens[0] : op::JoinTokens(b_, tokens));
      return next;
    });
  };
  const Values out =
      op::For(b_, Constant(Elem::kI32, 0), Number(Elem::kI32, rounds), Constant(Elem::kI32, 1), init, body);
  in_loop_ = was_in_loop;
  rounds_ = outer;
  if (waits) token_ = out.back();
  for (size_t k = 0; k < carried.size(); ++k) {
    const Val x = {out[k], -1, true, !ir::IsFloat(carried[k].elem())};
    Add(x);
    if (r_.Percent(60)) StepReduce(x);
    if (r_.Percent(40)) Store(x);
  }
}

}  // namespace tile::fuzz
