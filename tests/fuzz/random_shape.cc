// Steps that move elements.
#include <algorithm>

#include "tests/fuzz/generator.h"

namespace tile::fuzz {

// To another shape: fewer elements are cut out, more are repeated.
Val Generator::Shaped(Val x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const Elem e = x.elem();
  const int64_t n = x.count(), m = Count(shape);
  Value* v = x.v;
  if (n > m) {
    const int64_t parts = n / m;
    if (r_.Percent(50)) {
      v = op::Reshape(b_, Tile(e, {parts, m}), v);
      Value* which = Index(parts, Elem::kI32);
      v = op::Extract(b_, Tile(e, {1, m}), v, {which, Constant(Elem::kI32, 0)});
    } else {
      v = op::Reshape(b_, Tile(e, {m, parts}), v);
      Value* which = Index(parts, Elem::kI32);
      v = op::Extract(b_, Tile(e, {m, 1}), v, {Constant(Elem::kI32, 0), which});
    }
  } else if (n < m) {
    const int64_t times = m / n;
    if (times == 2 && n > 1 && r_.Percent(30)) {
      v = op::Reshape(b_, Tile(e, {n}), v);
      v = op::Cat(b_, v, v, 0);
    } else if (r_.Percent(50)) {
      v = op::Reshape(b_, Tile(e, {1, n}), v);
      v = op::Broadcast(b_, Tile(e, {times, n}), v);
    } else {
      v = op::Reshape(b_, Tile(e, {n, 1}), v);
      v = op::Broadcast(b_, Tile(e, {n, times}), v);
    }
  }
  return Made(op::Reshape(b_, Tile(e, shape), v), x);
}

void Generator::StepShape() {
  const Val x = Pick([](const Val&) { return true; });
  const Elem e = x.elem();
  const Shape s = x.shape();
  const int rank = x.rank();
  Value* v = nullptr;
  switch (r_.Below(9)) {
    case 0: v = op::Reshape(b_, Tile(e, RandomShape(x.count(), 5)), x.v); break;
    case 1:
    case 2: {
      if (rank < 2) {
        const Shape to = RandomShape(x.count(), 4);
        if (to.size() < 2) return;
        v = op::Permute(b_, op::Reshape(b_, Tile(e, to), x.v), Permutation(static_cast<int>(to.size())));
      } else {
        v = op::Permute(b_, x.v, Permutation(rank));
      }
      break;
    }
    case 3: {  // a new dimension, repeated
      const int64_t times = int64_t{1} << r_.In(1, 3);
      if (x.count() * times > kMaxElements) return;
      Shape one = s;
      const auto at = one.begin() + r_.Below(rank + 1);
      const auto where = at - one.begin();
      one.insert(at, 1);
      Shape many = one;
      many[static_cast<size_t>(where)] = times;
      v = op::Broadcast(b_, Tile(e, many), op::Reshape(b_, Tile(e, one), x.v));
      break;
    }
    case 4: {
      if (rank == 0 || x.count() * 2 > kMaxElements || !x.exact) return;
      const int64_t dim = r_.Below(rank);
      const Val y = Operand(e, s);
      const bool swap = r_.Percent(50);
      v = swap ? op::Cat(b_, y.v, x.v, dim) : op::Cat(b_, x.v, y.v, dim);
      return Add({v, x.bound >= 0 && y.bound >= 0 ? std::max(x.bound, y.bound) : -1, true, x.plain && y.plain});
    }
    case 5:
    case 6: {
      if (rank == 0) return;
      Shape part = s;
      op::Values indices;
      for (int64_t& n : part) {
        int64_t parts = 1;
        while (parts < n && r_.Percent(50)) parts *= 2;
        n /= parts;
        indices.push_back(Index(parts, Elem::kI32));
      }
      if (!Legal(e, part)) return;
      if (r_.Percent(50) || !x.exact) {
        v = op::Extract(b_, Tile(e, part), x.v, indices);
        break;
      }
      const Val y = Operand(e, part);
      v = op::Insert(b_, y.v, x.v, indices);
      return Add({v, x.bound >= 0 && y.bound >= 0 ? std::max(x.bound, y.bound) : -1, true, x.plain && y.plain});
    }
    default: {
      if (!x.exact) return;
      if (ir::ElemInfoOf(e).bits == 8) {
        const Val y = Converted(Bits(x), Elem::kI8);
        const Elem to = r_.Of({Elem::kI4, Elem::kI16, Elem::kI32, Elem::kI64, Elem::kF16, Elem::kBF16, Elem::kF32,
                               Elem::kF64, Elem::kF4E2M1FN});
        const int64_t bits = to == Elem::kI4 || to == Elem::kF4E2M1FN ? 4 : ir::ElemInfoOf(to).bits;
        const int64_t n = y.count() * 8 / bits;
        if (n == 0 || n > kMaxElements || n * bits != y.count() * 8 || e == Elem::kF8E8M0FNU) return;
        const Value* flat = nullptr;
        flat = op::Reshape(b_, Tile(Elem::kI8, {y.count()}), y.v);
        return Add({op::Unpack(b_, Tile(to, {n}), const_cast<Value*>(flat))});
      }
      if (e == Elem::kTF32) return;
      Val y = Bits(x);
      const Elem from = y.elem();
      const int64_t bits = from == Elem::kI1                              ? 1
                           : from == Elem::kI4 || from == Elem::kF4E2M1FN ? 4
                                                                          : ir::ElemInfoOf(from).bits;
      const int64_t n = y.count() * bits / 8;
      if (n == 0 || n > kMaxElements) return;
      Value* flat = op::Reshape(b_, Tile(from, {y.count()}), y.v);
      return Add({op::Pack(b_, Tile(Elem::kI8, {n}), flat)});
    }
  }
  Add(Made(v, x));
}

}  // namespace tile::fuzz
