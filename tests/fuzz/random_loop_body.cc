// What stands in a loop of products (random_loop.h): loads, products, and the work between them.
#include <algorithm>

#include "ir/float.h"
#include "tests/fuzz/random_loop.h"

namespace tile::fuzz {
namespace {

using ir::Signedness;

}  // namespace

// --- memory ---------------------------------------------------------------------------------------------------------

// Where the matrix lies in its array, and how large it is; false if there is no room for it.
bool ProductLoop::Place(Matrix* m) {
  int array = -1;
  for (size_t i = 0; i < g_.roles_.size(); ++i) {
    const RandomArray& a = g_.out_.arrays[i];
    if (g_.roles_[i] == Role::kInput && a.elem == m->memory && a.fill == Fill::kTiny) array = static_cast<int>(i);
  }
  if (array < 0) return false;
  const RandomArray& a = g_.out_.arrays[static_cast<size_t>(array)];
  const bool pointers = m->way == Way::kPointers || m->way == Way::kCarriedPointers;
  m->turned = m->turned && m->way == Way::kView;
  const auto build = [&](int64_t beside) {
    Cut cut;
    cut.tile = m->tile();
    cut.dim_map = m->turned ? Shape{1, 0} : Shape{0, 1};
    cut.sizes.assign(2, 1);
    for (size_t d = 0; d < 2; ++d) {
      const int64_t tiles = d != m->depth ? beside : m->invariant ? 1 : 2 * std::max<int64_t>(1, rounds_);
      int64_t size = tiles * cut.tile[d];
      if (!pointers && r_.Percent(tidy_ ? 5 : 20)) size -= r_.Below(cut.tile[d]);
      cut.sizes[static_cast<size_t>(cut.dim_map[d])] = size;
    }
    const size_t inner = r_.Percent(65) ? 1 : 0;
    const int64_t pitch = (cut.sizes[inner] + 15) / 16 * 16 + (r_.Percent(tidy_ ? 2 : 10) ? r_.In(1, 3)
                                                               : r_.Percent(20)           ? 16
                                                                                          : 0);
    cut.strides.assign(2, 1);
    cut.strides[1 - inner] = pitch;
    cut.span = (cut.sizes[1 - inner] - 1) * pitch + cut.sizes[inner];
    g_.Settle(&cut);
    return cut;
  };
  m->cut = build(r_.In(1, 2));
  for (int attempt = 0; m->cut.span > a.count && attempt < 4; ++attempt) m->cut = build(1);
  const int64_t room = a.count - m->cut.span;
  if (room < 0) return false;
  const int64_t first = r_.Percent(tidy_ ? 80 : 50) || room < 64 ? 0 : r_.Below(room / 64) * 64;
  m->region = g_.Part(array, first == 0 ? nullptr : g_.Number(Elem::kI32, first), m->cut.span, true);
  if (m->paged) {
    const int table = g_.FindArray(Role::kInput, Elem::kI32);
    m->paged = table >= 0 && g_.out_.arrays[static_cast<size_t>(table)].count >= std::max<int64_t>(1, rounds_);
    if (m->paged) m->table = g_.Part(table, nullptr, std::max<int64_t>(1, rounds_), true);
  }
  if (m->casts) {
    m->region.elem = ir::MemoryBits(m->memory) == 8 ? Elem::kI8 : Elem::kI16;
    const ir::Type pointer = b_.types().Tile(ir::Element::Pointer(m->region.elem), {});
    m->region.pointer = op::PtrToPtr(b_, pointer, m->region.pointer);
  }
  if (m->way != Way::kView) return true;
  Value* tensor = nullptr;
  if (r_.Percent(60)) {
    const ir::Type t = b_.types().TensorView(ir::Element::Number(m->region.elem), m->cut.sizes, m->cut.strides);
    tensor = op::MakeTensorView(b_, t, m->region.pointer, {}, {});
  } else {
    tensor = g_.Tensor(m->region, m->cut.sizes, m->cut.strides);
  }
  std::optional<ir::Padding> padding;
  if (!m->cut.inside || r_.Percent(50)) padding = ir::Padding::kZero;
  const ir::Type view =
      b_.types().PartitionView(m->cut.tile, tensor->type(), m->turned ? m->cut.dim_map : Shape(), padding);
  m->cut.view = op::MakePartitionView(b_, view, tensor);
  return true;
}

// The tile of pointers of the first iteration, as kernels compute them before the loop.
void ProductLoop::PreparePointers(Matrix* m) {
  if (m->way == Way::kBlock) return;
  const size_t other = 1 - m->depth;
  const int64_t tiles = m->cut.sizes[other] / m->cut.tile[other];
  Value* which = op::Remi(b_, tile_, g_.Constant(Elem::kI32, tiles), Signedness::kUnsigned);
  Value* start = op::Muli(b_, which, g_.Constant(Elem::kI32, m->cut.tile[other] * m->cut.strides[other]));
  const Shape tile = m->tile();
  Value* offsets = g_.Spread({start}, tile).v;
  for (size_t d = 0; d < 2; ++d) {
    Shape line(2, 1);
    line[d] = tile[d];
    Value* numbers = op::Reshape(b_, g_.Tile(Elem::kI32, line), op::Iota(b_, g_.Tile(Elem::kI32, {tile[d]})));
    numbers = op::Muli(b_, numbers, g_.Splat(Elem::kI32, line, m->cut.strides[d]));
    offsets = op::Addi(b_, offsets, op::Broadcast(b_, g_.Tile(Elem::kI32, tile), numbers));
  }
  m->offsets = g_.Pointers(m->region, offsets);
  m->limit = -1;
  if (r_.Percent(40)) m->limit = m->cut.sizes[m->depth] - r_.Below(m->cut.tile[m->depth]);
}

// A scalar, or a tile with one dimension of size 1, all over the shape.
Val Generator::Spread(const Val& x, const Shape& shape) {
  Value* v = x.v;
  if (x.rank() != static_cast<int>(shape.size())) v = op::Reshape(b_, Tile(x.elem(), Shape(shape.size(), 1)), v);
  return Made(op::Broadcast(b_, Tile(x.elem(), shape), v), x);
}

// The tile that the table names, any of those that the matrix has along its depth.
Value* ProductLoop::Page(const Matrix& m, Value* round) {
  const auto d = static_cast<size_t>(m.cut.dim_map[m.depth]);
  const int64_t tiles = std::max<int64_t>(1, m.cut.sizes[d] / m.cut.tile[m.depth]);
  Value* at = op::Remi(b_, round, g_.Constant(Elem::kI32, m.table.size), Signedness::kUnsigned);
  Value* page = op::LoadPtr(b_, op::Offset(b_, m.table.pointer, at), {}).value;
  return op::Remi(b_, page, g_.Constant(Elem::kI32, tiles), Signedness::kUnsigned);
}

Val ProductLoop::Load(Matrix* m, Value* round, Value* tile) {
  if (m->paged) round = Page(*m, round);
  const size_t other = 1 - m->depth;
  const auto tiles = [&](size_t d) {
    return (m->cut.sizes[static_cast<size_t>(m->cut.dim_map[d])] + m->cut.tile[d] - 1) / m->cut.tile[d];
  };
  op::Values at(2, round);
  at[other] = op::Remi(b_, tile, g_.Constant(Elem::kI32, tiles(other)), Signedness::kUnsigned);
  const Shape shape = m->tile();
  Value* v = nullptr;
  if (m->way == Way::kView) {
    op::Access how;
    if (m->cut.inside && r_.Percent(30)) how.inbounds.assign(2, 1);
    v = op::LoadView(b_, m->cut.view, at, how).value;
  } else if (m->way == Way::kBlock) {
    op::Values offsets;
    for (size_t d = 0; d < 2; ++d) offsets.push_back(op::Muli(b_, at[d], g_.Constant(Elem::kI32, m->cut.tile[d])));
    v = g_.LoadBlock(m->region, {m->cut.tile, m->cut.sizes, m->cut.strides, m->cut.span}, offsets, {}, nullptr).v;
  } else {
    const int64_t step = m->cut.tile[m->depth];
    op::Access how;
    if (m->limit >= 0) {
      Shape line(2, 1);
      line[m->depth] = step;
      Value* numbers = op::Reshape(b_, g_.Tile(Elem::kI32, line), op::Iota(b_, g_.Tile(Elem::kI32, {step})));
      Value* left = op::Subi(b_, g_.Constant(Elem::kI32, m->limit), op::Muli(b_, round, g_.Constant(Elem::kI32, step)));
      Value* inside =
          op::CmpI(b_, ir::ComparisonPredicate::kLessThan, numbers, g_.Spread({left}, line).v, Signedness::kSigned);
      how.mask = op::Broadcast(b_, g_.Tile(Elem::kI1, shape), inside);
      how.padding = op::Splat(b_, g_.Tile(m->region.elem, shape), 0);
    }
    const int64_t stride = m->cut.strides[m->depth];
    Value* pointers = m->offsets;
    if (m->slot >= 0) {
      Slot& s = slots_[static_cast<size_t>(m->slot)];
      pointers = s.now.v;
      s.now = {op::Offset(b_, pointers, g_.Splat(Elem::kI32, shape, step * stride))};
    } else if (!m->invariant) {
      Value* moved = op::Muli(b_, round, g_.Constant(Elem::kI32, step * stride));
      pointers = op::Offset(b_, pointers, g_.Spread({moved}, shape).v);
    }
    v = op::LoadPtr(b_, pointers, how).value;
  }
  if (m->casts) v = op::Bitcast(b_, g_.Tile(m->memory, shape), v);
  Val x{v, ir::IsInt(m->memory) ? -1 : kTiny};
  if (m->elem == m->memory) return x;
  if (m->elem == Elem::kTF32 && m->memory != Elem::kF32) v = op::FToF(b_, g_.Tile(Elem::kF32, shape), v);
  const ir::Type type = g_.Tile(m->elem, shape);
  return {ir::IsInt(m->memory) ? op::IToF(b_, type, v, Signedness::kSigned) : op::FToF(b_, type, v), kTiny};
}

Val ProductLoop::LoadMatrix(int matrix) {
  Matrix& m = matrices_[static_cast<size_t>(matrix)];
  return m.invariant ? invariants_[static_cast<size_t>(matrix)] : Load(&m, round_, tile_);
}

void ProductLoop::StoreTile(Val x, Value* tile, bool in_loop) {
  if (ir::IsFp(x.elem()) && x.elem() != Elem::kF64 && r_.Percent(50)) {
    const Elem to = r_.Of({Elem::kF16, Elem::kBF16, Elem::kF32});
    if (to != x.elem()) x = {op::FToF(b_, g_.Tile(to, x.shape()), x.v), -1};
  }
  if (g_.FindArray(Role::kOutput, x.elem()) < 0) return;
  const Shape shape = x.shape();
  const int64_t most = tiles_ * g_.blocks_ * (in_loop ? std::max<int64_t>(1, rounds_) : 1);
  Shape sizes = shape, strides(shape.size(), 1);
  sizes[0] *= most;
  if (shape.size() == 2) strides[0] = shape[1] + (r_.Percent(20) ? 8 : 0);
  const int64_t span = sizes[0] * strides[0];
  const Region region = g_.OutputRegion(x.elem(), span, false);
  Value* row = tile;
  if (in_loop) row = op::Addi(b_, op::Muli(b_, tile, g_.Constant(Elem::kI32, std::max<int64_t>(1, rounds_))), round_);
  op::Values at = {row};
  if (shape.size() == 2) at.push_back(g_.Constant(Elem::kI32, 0));
  Value* tensor = g_.Tensor(region, sizes, strides);
  Value* view = op::MakePartitionView(b_, b_.types().PartitionView(shape, tensor->type(), {}, std::nullopt), tensor);
  op::StoreView(b_, x.v, view, at, {});
}

// --- values ---------------------------------------------------------------------------------------------------------

Val ProductLoop::Clamped(Val x, double low, double high) {
  const ir::Type t = x.v->type();
  Value* v = op::Minf(b_, op::Maxf(b_, x.v, op::Splat(b_, t, low)), op::Splat(b_, t, high));
  return {v, x.bound < 0 ? -1 : std::max(-low, high)};
}

// Sums as a factor of the next product: few whole numbers.
Val ProductLoop::Shrunk(Val x, Elem to) {
  const Shape shape = x.shape();
  const ir::Type type = g_.Tile(to, shape);
  if (ir::IsInt(x.elem())) {
    if (to == Elem::kI8) return {op::Trunci(b_, type, x.v)};
    Value* few = op::Subi(b_, op::Andi(b_, x.v, g_.Splat(x.elem(), shape, 3)), g_.Splat(x.elem(), shape, 2));
    return {op::IToF(b_, type, few, Signedness::kSigned), kTiny};
  }
  if (to == Elem::kI8) return {op::FToI(b_, type, Clamped(x, -100, 100).v, Signedness::kSigned), -1};
  if (r_.Percent(25)) {  // those above 0
    Value* above = op::CmpF(b_, ir::ComparisonPredicate::kGreaterThan, x.v, op::Splat(b_, x.v->type(), 0));
    x = {op::Select(b_, above, op::Splat(b_, x.v->type(), 1), op::Splat(b_, x.v->type(), 0)), kTiny};
  } else {
    x = Clamped(x, -kTiny, kTiny);
  }
  return {x.elem() == to ? x.v : op::FToF(b_, type, x.v), kTiny};
}

// Of each row the sum, or the greatest.
Val ProductLoop::ReducedRows(const Val& x, bool sum) {
  const Elem e = x.elem();
  const double identity = sum ? 0 : -1e4;
  const op::Values out = op::Reduce(
      b_, {x.v}, 1, {op::Identity(e, identity)}, [&](const op::Values& el, const op::Values& acc) -> op::Values {
        if (ir::IsInt(e)) {
          return {sum ? op::Addi(b_, el[0], acc[0]) : op::Maxi(b_, el[0], acc[0], Signedness::kSigned)};
        }
        return {sum ? op::Addf(b_, el[0], acc[0]) : op::Maxf(b_, el[0], acc[0])};
      });
  return {out[0], x.bound < 0 ? -1 : sum ? x.bound * static_cast<double>(x.shape()[1]) : x.bound};
}

// A number of each row, all along it.
Val ProductLoop::Spread(const Val& rows, const Shape& shape) {
  Value* column = op::Reshape(b_, g_.Tile(rows.elem(), {shape[0], 1}), rows.v);
  return {op::Broadcast(b_, g_.Tile(rows.elem(), shape), column), rows.bound};
}

Value* ProductLoop::Condition() {
  Value* i = r_.Percent(60) ? round_ : tile_;
  if (r_.Percent(50)) {
    Value* odd = op::Andi(b_, i, g_.Constant(Elem::kI32, 1));
    return op::CmpI(b_, ir::ComparisonPredicate::kEqual, odd, g_.Constant(Elem::kI32, 0), Signedness::kSigned);
  }
  return op::CmpI(b_, ir::ComparisonPredicate::kLessThan, i, g_.Number(Elem::kI32, r_.In(0, 3)), Signedness::kSigned);
}

// Of the same bound: what is left of it where a row or a column says so, what is above 0, or its opposite.
Val ProductLoop::ComputedOf(const Val& x) {
  const Shape shape = x.shape();
  const ir::Type type = x.v->type();
  if (ir::IsFp(x.elem()) && r_.Percent(50)) {
    Value* zero = op::Splat(b_, type, 0);
    return {r_.Percent(50) ? op::Maxf(b_, x.v, zero) : op::Subf(b_, zero, x.v), x.bound};
  }
  Shape line(2, 1);
  const auto d = static_cast<size_t>(r_.Below(2));
  line[d] = shape[d];
  Value* numbers = op::Reshape(b_, g_.Tile(Elem::kI32, line), op::Iota(b_, g_.Tile(Elem::kI32, {shape[d]})));
  Value* left = op::CmpI(b_, ir::ComparisonPredicate::kNotEqual, op::Andi(b_, numbers, g_.Splat(Elem::kI32, line, 7)),
                         g_.Spread({op::Andi(b_, round_, g_.Constant(Elem::kI32, 7))}, line).v, Signedness::kSigned);
  left = op::Broadcast(b_, g_.Tile(Elem::kI1, shape), left);
  Value* none = ir::IsInt(x.elem()) ? op::Integer(b_, type, 0) : op::Splat(b_, type, 0);
  return {op::Select(b_, left, x.v, none), x.bound};
}

Val ProductLoop::FactorNow(int factor) {
  std::optional<Val>& now = factor_now_[static_cast<size_t>(factor)];
  if (now) return *now;
  const Factor f = factors_[static_cast<size_t>(factor)];
  Val x;
  switch (f.from) {
    case Factor::From::kMatrix: x = LoadMatrix(f.of); break;
    case Factor::From::kTurned: {
      const Val of = FactorNow(f.of);
      x = {op::Permute(b_, of.v, {1, 0}), of.bound};
      break;
    }
    case Factor::From::kComputed: x = ComputedOf(FactorNow(f.of)); break;
    case Factor::From::kCarried: x = slots_[static_cast<size_t>(f.of)].now; break;
    case Factor::From::kResult: x = Shrunk(*result_now_[static_cast<size_t>(f.of)], f.elem); break;
  }
  factor_now_[static_cast<size_t>(factor)] = x;
  return x;
}

// --- the body -------------------------------------------------------------------------------------------------------

Value* ProductLoop::Multiply(const Product& p, Value* x, Value* y, Value* acc) {
  if (p.elem == Elem::kI32)
    return op::MmaI(b_, x, y, acc, Signedness::kSigned, r_.Percent(80) ? Signedness::kSigned : Signedness::kUnsigned);
  return op::MmaF(b_, x, y, acc);
}

void ProductLoop::EmitProduct(size_t number) {
  const Product& p = products_[number];
  const Shape shape = {p.m, p.n};
  Value* acc = p.sum == Sum::kZero      ? op::Splat(b_, g_.Tile(p.elem, shape), 0)
               : p.sum == Sum::kCarried ? slots_[static_cast<size_t>(p.of)].now.v
                                        : result_now_[static_cast<size_t>(p.of)]->v;
  Value* sum = nullptr;
  if (p.inner) {
    const auto matrix = [&](int f) { return &matrices_[static_cast<size_t>(factors_[static_cast<size_t>(f)].of)]; };
    Matrix *left = matrix(p.lhs), *right = matrix(p.rhs);
    const auto load = [&](Matrix* m, Value* at) {
      return m->invariant || m->slot >= 0 ? FactorNow(m == left ? p.lhs : p.rhs).v : Load(m, at, tile_).v;
    };
    // What is not loaded inside is there before.
    for (int f : {p.lhs, p.rhs}) {
      if (matrix(f)->invariant || matrix(f)->slot >= 0) FactorNow(f);
    }
    Value* first = op::Muli(b_, round_, g_.Constant(Elem::kI32, 2));
    sum = op::For(b_, g_.Constant(Elem::kI32, 0), g_.Constant(Elem::kI32, 2), g_.Constant(Elem::kI32, 1), {acc},
                  [&](Value* j, const op::Values& now) -> op::Values {
                    Value* at = op::Addi(b_, first, j);
                    Value* x = load(left, at);
                    return {Multiply(p, x, load(right, at), now[0])};
                  })[0];
  } else if (p.guarded) {
    Value *x = FactorNow(p.lhs).v, *y = FactorNow(p.rhs).v;
    sum = op::If(
        b_, Condition(), [&] { return op::Values{Multiply(p, x, y, acc)}; }, [&] { return op::Values{acc}; })[0];
  } else {
    Value* x = FactorNow(p.lhs).v;
    sum = Multiply(p, x, FactorNow(p.rhs).v, acc);
  }
  const Val result = Between(p, {sum, BoundOf(p.elem)});
  result_now_[number] = result;
  if (p.sum == Sum::kCarried) slots_[static_cast<size_t>(p.of)].now = result;
  // The sums that it goes on with are those of a carried one: it ends with both.
  if (p.sum != Sum::kAfter) return;
  size_t first = number;
  while (products_[first].sum == Sum::kAfter) first = static_cast<size_t>(products_[first].of);
  if (products_[first].sum == Sum::kCarried && r_.Percent(70))
    slots_[static_cast<size_t>(products_[first].of)].now = result;
}

// What a loop does with sums where they are made; they go on as they are, or changed.
Val ProductLoop::Between(const Product& p, Val result) {
  const Shape shape = {p.m, p.n};
  const bool is_int = ir::IsInt(p.elem);
  if (r_.Percent(tidy_ ? 75 : 40)) return result;
  switch (r_.Below(9)) {
    case 0:  // scaled by a row's sign, or left as they are where a row says so
    case 1: {
      Value* rows = op::Reshape(b_, g_.Tile(Elem::kI32, {p.m, 1}), op::Iota(b_, g_.Tile(Elem::kI32, {p.m})));
      Value* bound = op::Muli(b_, round_, g_.Constant(Elem::kI32, 16));
      Value* below = op::CmpI(b_, ir::ComparisonPredicate::kGreaterThanOrEqual, rows, g_.Spread({bound}, {p.m, 1}).v,
                              Signedness::kSigned);
      below = op::Broadcast(b_, g_.Tile(Elem::kI1, shape), below);
      return {op::Select(b_, below, result.v, op::Splat(b_, g_.Tile(p.elem, shape), 0)), result.bound};
    }
    case 2:  // kept in each iteration
      StoreTile(result, tile_, true);
      return result;
    case 3:  // the greatest of each row, or its sum, is added to it
      if (is_int) return result;
      return {op::Addf(b_, Clamped(result, -500, 500).v,
                       Spread(ReducedRows(Clamped(result, -2, 2), p.elem != Elem::kF16 && r_.Percent(50)), shape).v),
              result.bound};
    case 4: {  // running sums
      if (is_int || p.elem == Elem::kF16) return result;
      const Val few = Clamped(result, -2, 2);
      const op::Values out = op::Scan(
          b_, {few.v}, r_.Below(2), {op::Identity(p.elem, 0)},
          [&](const op::Values& el, const op::Values& acc) -> op::Values { return {op::Addf(b_, el[0], acc[0])}; },
          r_.Percent(30));
      return {out[0], result.bound};
    }
    case 5:  // no more than that
      return is_int ? result : Clamped(result, -static_cast<double>(r_.In(4, 400)), static_cast<double>(r_.In(4, 400)));
    case 6: {  // where a condition holds
      const op::Values out = op::If(
          b_, Condition(),
          [&] {
            return op::Values{
                is_int ? op::Addi(b_, result.v, op::Splat(b_, g_.Tile(p.elem, shape), 1))
                       : Clamped(result, -static_cast<double>(r_.In(2, 100)), static_cast<double>(r_.In(2, 100))).v};
          },
          [&] { return op::Values{result.v}; });
      return {out[0], result.bound};
    }
    case 7: {  // with a tile that is loaded beside
      if (is_int || p.elem == Elem::kF16) return result;
      const Region region = g_.InputRegion();
      Value* done = nullptr;
      const Val loaded = g_.Load(region, shape, nullptr, &done);
      Value* odd = g_.Converted(g_.Bits(loaded), Elem::kI1).v;
      return {op::Select(b_, odd, result.v, op::Splat(b_, g_.Tile(p.elem, shape), 1)), result.bound};
    }
    default:
      if (r_.Percent(50)) g_.Step();
      return result;
  }
}

// Some iterations end here.
void ProductLoop::EarlyContinue() {
  op::If(b_, Condition(), [&]() -> op::Values {
    op::Values next;
    for (const Slot& s : slots_) {
      const bool again = s.now.v->type().element().is_pointer() || r_.Percent(70);
      next.push_back(again ? s.now.v : s.init.v);
    }
    next.push_back(g_.token_);
    op::Continue(b_, next);
    return {};
  });
}

void ProductLoop::EmitBody() {
  if (counts_ && r_.Percent(tidy_ ? 3 : 8)) EarlyContinue();
  if (r_.Percent(50)) {
    for (size_t i = 0; i < factors_.size(); ++i) {
      const Factor& f = factors_[i];
      if (f.from == Factor::From::kMatrix) FactorNow(static_cast<int>(i));
    }
  }
  for (size_t i = 0; i < products_.size(); ++i) EmitProduct(i);
  if (state_ >= 0) slots_[static_cast<size_t>(state_)].now = Shrunk(*result_now_.back(), main_);
  // Sums that change places.
  for (size_t i = 0; i + 1 < slots_.size() && r_.Percent(10); ++i) {
    if (slots_[i].now.v->type() == slots_[i + 1].now.v->type() && !slots_[i].now.v->type().element().is_pointer())
      std::swap(slots_[i].now, slots_[i + 1].now);
  }
}

void ProductLoop::EmitAttention() {
  const Product &first = products_[0], &second = products_[1];
  const Elem e = Elem::kF32;
  const Shape shape = {first.m, first.n};
  Slot &sums = slots_[0], &greatest = slots_[1], &weights = slots_[2];
  Value* x = FactorNow(first.lhs).v;
  Val scores{Multiply(first, x, FactorNow(first.rhs).v, op::Splat(b_, g_.Tile(e, shape), 0)), BoundOf(e)};
  scores = Clamped(scores, -3, 3);
  if (r_.Percent(40)) {
    Value* columns = op::Reshape(b_, g_.Tile(Elem::kI32, {1, first.n}), op::Iota(b_, g_.Tile(Elem::kI32, {first.n})));
    Value* bound = op::Addi(b_, op::Muli(b_, round_, g_.Constant(Elem::kI32, -8)), g_.Constant(Elem::kI32, first.n));
    Value* inside = op::CmpI(b_, ir::ComparisonPredicate::kLessThan, columns, g_.Spread({bound}, {1, first.n}).v,
                             Signedness::kSigned);
    inside = op::Broadcast(b_, g_.Tile(Elem::kI1, shape), inside);
    scores = {op::Select(b_, inside, scores.v, op::Splat(b_, g_.Tile(e, shape), -1e30)), -1};
  }
  Val most{op::Maxf(b_, greatest.now.v, ReducedRows(scores, false).v), -1};
  Value* scale = op::Exp2(b_, op::Subf(b_, greatest.now.v, most.v));
  Value* weight = op::Exp2(b_, op::Subf(b_, scores.v, Spread(most, shape).v));
  weights.now = {op::Addf(b_, op::Mulf(b_, weights.now.v, scale), ReducedRows({weight, -1}, true).v)};
  Value* less = op::Mulf(b_, sums.now.v, Spread({scale}, {second.m, second.n}).v);
  if (r_.Percent(15)) g_.Step();
  Value* factor = op::FToF(b_, g_.Tile(main_, shape), weight);
  sums.now = {Multiply(second, factor, FactorNow(second.rhs).v, less)};
  greatest.now = most;
}

}  // namespace tile::fuzz
