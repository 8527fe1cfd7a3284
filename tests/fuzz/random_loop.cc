// Which products a loop has, and the loops around them.
#include "tests/fuzz/random_loop.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "ir/float.h"

namespace tile::fuzz {
namespace {

constexpr int64_t kMostWork = int64_t{8} << 20;  // multiplications of a loop
constexpr int64_t kMostOfHalf = 64;              // along K, of sums in f16, which are exact up to 2048 only

}  // namespace

void Generator::ChooseElementsOfLoops() {
  elems_ = {Elem::kI8, Elem::kI32, Elem::kF16, Elem::kBF16, Elem::kF32};
  const auto factor = [&] {
    return r_.Of({Elem::kF16, Elem::kF16, Elem::kF16, Elem::kF16, Elem::kF16, Elem::kF16, Elem::kBF16, Elem::kBF16,
                  Elem::kBF16, Elem::kBF16, Elem::kI8, Elem::kI8, Elem::kTF32, Elem::kTF32, Elem::kF8E4M3FN,
                  Elem::kF8E4M3FN, Elem::kF8E5M2, Elem::kF32, Elem::kF64});
  };
  factor_elems_ = {factor(), factor()};
  if (WidensFactors()) factor_elems_[0] = r_.Of({Elem::kF16, Elem::kBF16, Elem::kTF32});
  for (const Elem e : factor_elems_) {
    matrix_elems_.push_back(e == Elem::kTF32 ? Elem::kF32 : e);
    if (e == Elem::kF64) elems_.push_back(e);
  }
  // What is widened on its way.
  matrix_elems_.push_back(r_.Of({Elem::kI8, Elem::kF8E4M3FN, Elem::kF32}));
  if (WidensFactors()) {
    matrix_elems_.push_back(Elem::kI8);
    matrix_elems_.push_back(r_.Of({Elem::kF16, Elem::kBF16}));
  }
  for (std::vector<Elem>* all : {&elems_, &matrix_elems_}) {
    std::sort(all->begin(), all->end());
    all->erase(std::unique(all->begin(), all->end()), all->end());
  }
}

Elem ProductLoop::FactorElem() { return g_.factor_elems_[r_.Percent(88) ? 0 : 1]; }

Elem ProductLoop::SumOf(Elem factor) {
  if (factor == Elem::kI8) return Elem::kI32;
  if (factor == Elem::kF64) return Elem::kF64;
  // Sums in f16 are exact up to 2048 only.
  const bool small = rounds_ <= 2;
  return factor == Elem::kF16 && small && r_.Percent(15) ? Elem::kF16 : Elem::kF32;
}

int ProductLoop::AddFactor(const Factor& f) {
  factors_.push_back(f);
  return static_cast<int>(factors_.size()) - 1;
}

int ProductLoop::Turned(int factor) {
  const Factor& f = factors_[static_cast<size_t>(factor)];
  if (f.from == Factor::From::kTurned) return f.of;
  return AddFactor({Factor::From::kTurned, factor, f.elem, f.columns, f.rows});
}

// Now and then one that is computed from it.
int ProductLoop::Computed(int factor, int percent) {
  if (g_.options_.seed < kComputedSeeds || !r_.Percent(percent)) return factor;
  const Factor& f = factors_[static_cast<size_t>(factor)];
  return AddFactor({Factor::From::kComputed, factor, f.elem, f.rows, f.columns});
}

int ProductLoop::NewMatrix(Elem elem, int64_t rows, int64_t columns, bool invariant, bool lhs) {
  Matrix m;
  m.elem = m.memory = elem;
  // Elements that are widened or rounded on their way.
  if (elem == Elem::kTF32) m.memory = Elem::kF32;
  if (elem == Elem::kTF32 && g_.WidensFactors() && r_.Percent(80)) {
    const Elem from = r_.Of(g_.matrix_elems_);
    if (from == Elem::kF16 || from == Elem::kBF16) m.memory = from;
  }
  if ((elem == Elem::kF16 || elem == Elem::kBF16) && r_.Percent(g_.Casts() || g_.WidensFactors() ? 60 : 15)) {
    const Elem from = r_.Of(g_.matrix_elems_);
    if (from == Elem::kI8 || from == Elem::kF8E4M3FN || from == Elem::kF32) m.memory = from;
  }
  m.casts = g_.Casts() && !ir::IsInt(m.memory) && ir::MemoryBits(m.memory) <= 16 && r_.Percent(50);
  m.rows = rows;
  m.columns = columns;
  m.depth = static_cast<size_t>(r_.Below(2));
  m.invariant = invariant;
  const int64_t way = r_.Below(20);
  m.way = tidy_ || way < 12       ? Way::kView
          : way < 15              ? Way::kBlock
          : way < 18 || invariant ? Way::kPointers
                                  : Way::kCarriedPointers;
  m.turned = r_.Percent(15);
  m.paged = g_.Casts() && !invariant && m.way != Way::kCarriedPointers && r_.Percent(30);
  if (tidy_ && !invariant && r_.Percent(80)) m.depth = lhs ? 1 : 0;
  matrices_.push_back(m);
  return AddFactor({Factor::From::kMatrix, static_cast<int>(matrices_.size()) - 1, elem, rows, columns});
}

int ProductLoop::PlanLhs(Elem elem) {
  std::vector<int> there;
  for (size_t i = 0; i < factors_.size(); ++i) {
    if (factors_[i].elem == elem) there.push_back(static_cast<int>(i));
  }
  if (!there.empty() && r_.Percent(60)) {
    const int f = r_.Of(there);
    return r_.Percent(25) ? Turned(f) : f;
  }
  return NewMatrix(elem, Edge(), Edge(), r_.Percent(20), true);
}

int ProductLoop::PlanRhs(Factor lhs) {
  std::vector<int> fits, fits_turned;
  for (size_t i = 0; i < factors_.size(); ++i) {
    if (factors_[i].elem != lhs.elem) continue;
    if (factors_[i].rows == lhs.columns) fits.push_back(static_cast<int>(i));
    if (factors_[i].columns == lhs.columns) fits_turned.push_back(static_cast<int>(i));
  }
  if (!fits.empty() && r_.Percent(40)) return r_.Of(fits);
  if (!fits_turned.empty() && r_.Percent(25)) return Turned(r_.Of(fits_turned));
  const int64_t n = Edge();
  if (r_.Percent(20)) return Turned(NewMatrix(lhs.elem, n, lhs.columns, r_.Percent(10), true));
  return NewMatrix(lhs.elem, lhs.columns, n, r_.Percent(10), false);
}

int ProductLoop::NewSlot(Val init, double bound) {
  slots_.push_back({init, {}, bound});
  return static_cast<int>(slots_.size()) - 1;
}

// Zeros mostly, and mostly the same value for all sums of a shape.
Val ProductLoop::StartOf(Elem e, const Shape& shape) {
  for (const Slot& s : slots_) {
    if (s.init.elem() == e && s.init.shape() == shape && r_.Percent(50)) return s.init;
  }
  if (r_.Percent(75)) return {op::Splat(b_, g_.Tile(e, shape), 0), 0};
  return ir::IsInt(e) ? g_.Operand(e, shape) : g_.Small(e, shape, 4);
}

void ProductLoop::PlanProduct() {
  const std::vector<Matrix> matrices = matrices_;
  const std::vector<Factor> factors = factors_;
  Product p;
  const Elem elem = FactorElem();
  p.lhs = Computed(PlanLhs(elem), 40);
  p.rhs = Computed(PlanRhs(factors_[static_cast<size_t>(p.lhs)]), 15);
  const Factor &x = factors_[static_cast<size_t>(p.lhs)], &y = factors_[static_cast<size_t>(p.rhs)];
  p.m = x.rows, p.k = x.columns, p.n = y.columns;
  p.elem = SumOf(elem);
  const int64_t work = p.m * p.n * p.k * std::max<int64_t>(1, rounds_) * tiles_;
  const bool too_much = work_ + work > kMostWork || (p.elem == Elem::kF16 && p.k > kMostOfHalf);
  if (too_much) {
    matrices_ = matrices;
    factors_ = factors;
    return;
  }
  work_ += work;
  const Shape shape = {p.m, p.n};
  std::vector<int> before, carried;
  for (size_t i = 0; i < products_.size(); ++i) {
    const Product& other = products_[i];
    if (other.m != p.m || other.n != p.n || other.elem != p.elem || p.elem == Elem::kF16) continue;
    before.push_back(static_cast<int>(i));
    if (other.sum == Sum::kCarried) carried.push_back(other.of);
  }
  if (!before.empty() && r_.Percent(30)) {
    p.sum = Sum::kAfter;
    p.of = r_.Of(before);
  } else if (!carried.empty() && r_.Percent(20)) {
    p.of = r_.Of(carried);  // two products in a row add to it
  } else if (r_.Percent(25)) {
    p.sum = Sum::kZero;
  } else {
    p.of = NewSlot(StartOf(p.elem, shape), BoundOf(p.elem));
  }
  p.guarded = !tidy_ && r_.Percent(10);
  const auto loaded = [&](int f) { return factors_[static_cast<size_t>(f)].from == Factor::From::kMatrix; };
  p.inner = !tidy_ && !p.guarded && loaded(p.lhs) && loaded(p.rhs) && r_.Percent(8);
  products_.push_back(p);
  // What comes of it may be an operand of the next ones.
  if (r_.Percent(50) && p.m <= 128 && p.n <= 128)
    AddFactor({Factor::From::kResult, static_cast<int>(products_.size()) - 1, main_, p.m, p.n});
}

// Online softmax: scores, their greatest so far, weights, and sums that are scaled whenever the greatest changes.
void ProductLoop::PlanAttention() {
  const int64_t m = r_.Of({16, 64, 64, 128}), n = r_.Of({16, 32, 64}), d = r_.Of({16, 32, 64}),
                e = r_.Of({d, d, int64_t{64}});
  const int q = NewMatrix(main_, m, d, true, true), key = Turned(NewMatrix(main_, n, d, false, false)),
            value = NewMatrix(main_, n, e, false, false);
  products_.push_back({q, key, Sum::kZero, 0, Elem::kF32, m, n, d});
  const int weights = AddFactor({Factor::From::kResult, 0, main_, m, n});
  const int sums = NewSlot({op::Splat(b_, g_.Tile(Elem::kF32, {m, e}), 0), 0}, -1);
  products_.push_back({weights, value, Sum::kCarried, sums, Elem::kF32, m, e, n});
  NewSlot({op::Splat(b_, g_.Tile(Elem::kF32, {m}), -4.0), 4}, -1);  // greatest
  NewSlot({op::Splat(b_, g_.Tile(Elem::kF32, {m}), 0), 0}, -1);     // sum of weights
}

// Scores of what comes and what stays, and sums over what comes of their turned weights; mostly also sums of the weights times what stays.
void ProductLoop::PlanGradients() {
  const int64_t m = r_.Of({16, 64, 64, 128}), n = r_.Of({64, 64, 128}), d = r_.Of({16, 32, 64});
  const int query = NewMatrix(main_, m, d, false, true), stays = NewMatrix(main_, n, d, true, false);
  products_.push_back({query, Turned(stays), Sum::kZero, 0, Elem::kF32, m, n, d});
  const int weights = AddFactor({Factor::From::kResult, 0, main_, m, n});
  const auto zeros = [&](int64_t rows) {
    return NewSlot({op::Splat(b_, g_.Tile(Elem::kF32, {rows, d}), 0), 0}, BoundOf(Elem::kF32));
  };
  products_.push_back({Turned(weights), query, Sum::kCarried, zeros(n), Elem::kF32, n, d, m});
  if (r_.Percent(70)) products_.push_back({weights, stays, Sum::kCarried, zeros(m), Elem::kF32, m, d, n});
}

// The other way around: scores of what stays and what comes, and sums over what stays of their turned weights. They are of what comes, as
// updates of memory are; mostly there are also sums over what comes.
void ProductLoop::PlanGradientsOfComing() {
  const int64_t m = r_.Of({32, 64, 64, 128}), n = r_.Of({32, 64, 64, 128}), d = r_.Of({16, 32, 64, 64});
  const int query = NewMatrix(main_, m, d, true, true), key = NewMatrix(main_, n, d, false, false);
  products_.push_back({query, Turned(key), Sum::kZero, 0, Elem::kF32, m, n, d});
  const int weights = AddFactor({Factor::From::kResult, 0, main_, m, n}), turned = Turned(weights);
  const auto zeros = [&](int64_t rows) {
    return NewSlot({op::Splat(b_, g_.Tile(Elem::kF32, {rows, d}), 0), 0}, BoundOf(Elem::kF32));
  };
  const int other = r_.Percent(60) ? NewMatrix(main_, m, d, true, false) : query;
  products_.push_back({turned, other, Sum::kCarried, zeros(n), Elem::kF32, n, d, m});
  if (other != query && r_.Percent(50))
    products_.push_back({turned, query, Sum::kCarried, zeros(n), Elem::kF32, n, d, m});
  if (r_.Percent(70)) products_.push_back({weights, key, Sum::kCarried, zeros(m), Elem::kF32, m, d, n});
}

// A state that each iteration multiplies by weights, which mostly stay; mostly a loaded product is added to it.
void ProductLoop::PlanRecurrence() {
  const int64_t m = r_.Of({16, 64, 64, 128}), n = r_.Of({16, 64, 64, 128}), k = r_.Of({16, 32, 64});
  const int weights = NewMatrix(main_, n, n, r_.Percent(75), false);
  state_ = NewSlot(StartOf(main_, {m, n}), kTiny);
  const int state = AddFactor({Factor::From::kCarried, state_, main_, m, n});
  const bool turned = m == n && r_.Percent(25);
  products_.push_back({turned ? weights : state, turned ? state : weights, Sum::kZero, 0, Elem::kF32, m, n, n});
  if (!r_.Percent(60)) return;
  const int left = NewMatrix(main_, m, k, false, true), right = NewMatrix(main_, k, n, false, false);
  products_.push_back({left, right, Sum::kAfter, 0, Elem::kF32, m, n, k});
}

void ProductLoop::Plan() {
  rounds_ = r_.Percent(5) ? 0 : r_.In(1, 5);
  tidy_ = r_.Percent(50);
  step_ = r_.Percent(20) ? r_.Of({2, 16, 64}) : 1;
  main_ = g_.factor_elems_[0];
  attends_ = (ir::MemoryBits(main_) == 16 || main_ == Elem::kF8E4M3FN || main_ == Elem::kF8E5M2) && r_.Percent(25);
  if (attends_) return PlanAttention();
  if (g_.Stays() && ir::MemoryBits(main_) == 16) return PlanGradientsOfComing();
  if (g_.Recurs() && ir::MemoryBits(main_) == 16) return PlanRecurrence();
  if (g_.options_.seed >= kKeptSeeds && ir::MemoryBits(main_) == 16) return PlanGradients();
  const int64_t wanted = r_.Of({1, 2, 2, 2, 3, 3, 4});
  for (int i = 0; i < 12 && static_cast<int64_t>(products_.size()) < wanted; ++i) PlanProduct();
}

// The loop over tiles, if there is one: as persistent kernels walk, by a for or by a loop that ends itself.
void ProductLoop::Around(const std::function<void(Value* tile)>& body) {
  if (tiles_ == 1) return body(g_.block_);
  const auto number = [&](int64_t n) { return g_.Constant(Elem::kI32, n); };
  Value* end = g_.Number(Elem::kI32, tiles_ * g_.blocks_);
  const bool was_in_loop = g_.in_loop_;
  const int64_t rounds = g_.rounds_;
  g_.in_loop_ = true;
  g_.rounds_ *= tiles_;
  const auto once = [&](Value* tile, Value* token) -> Value* {
    Value* after = nullptr;
    g_.Inside([&]() -> op::Values {
      g_.token_ = token;
      body(tile);
      after = g_.token_;
      return {};
    });
    return after;
  };
  if (r_.Percent(70)) {
    const op::Values out = op::For(b_, g_.block_, end, number(g_.blocks_), {g_.token_},
                                   [&](Value* i, const op::Values& now) -> op::Values { return {once(i, now[0])}; });
    g_.token_ = out[0];
  } else {
    const ir::Type token = b_.types().Token();
    const op::Values out = op::Loop(b_, {g_.block_, g_.token_}, {token}, [&](const op::Values& now) -> op::Values {
      Value* stays = op::CmpI(b_, ir::ComparisonPredicate::kLessThan, now[0], end, ir::Signedness::kSigned);
      op::If(
          b_, stays, [] { return op::Values(); },
          [&]() -> op::Values {
            op::Break(b_, {now[1]});
            return {};
          });
      Value* after = once(now[0], now[1]);
      return {op::Addi(b_, now[0], number(g_.blocks_)), after};
    });
    g_.token_ = out[0];
  }
  g_.in_loop_ = was_in_loop;
  g_.rounds_ = rounds;
}

// By a for, or by a loop that counts itself; in steps of one, or of the width of a tile. `body` gets the iteration's number.
op::Values ProductLoop::Loop(const std::function<op::Values(Value*, const op::Values&)>& body) {
  const auto number = [&](int64_t n) { return g_.Constant(Elem::kI32, n); };
  op::Values init;
  for (const Slot& s : slots_) init.push_back(s.init.v);
  init.push_back(g_.token_);
  const int64_t last = rounds_ * step_ - (step_ > 1 && rounds_ > 0 ? r_.Below(step_) : 0);
  Value* end = r_.Percent(50) ? number(last) : g_.Number(Elem::kI32, last);
  const auto round = [&](Value* i) {
    return step_ == 1 ? i : op::Divi(b_, i, number(step_), ir::Signedness::kSigned, ir::Rounding::kZero);
  };
  counts_ = r_.Percent(85);
  if (counts_) {
    return op::For(b_, number(0), end, number(step_), init,
                   [&](Value* i, const op::Values& now) { return body(round(i), now); });
  }
  std::vector<ir::Type> types;
  for (const Value* v : init) types.push_back(v->type());
  op::Values all = {number(0)};
  all.insert(all.end(), init.begin(), init.end());
  return op::Loop(b_, all, types, [&](const op::Values& now) -> op::Values {
    const op::Values carried(now.begin() + 1, now.end());
    Value* stays = op::CmpI(b_, ir::ComparisonPredicate::kLessThan, now[0], end, ir::Signedness::kSigned);
    op::If(
        b_, stays, [] { return op::Values(); },
        [&]() -> op::Values {
          op::Break(b_, carried);
          return {};
        });
    op::Values next = body(round(now[0]), carried);
    next.insert(next.begin(), op::Addi(b_, now[0], number(step_)));
    return next;
  });
}

void ProductLoop::EmitLoop(Value* tile) {
  tile_ = tile;
  invariants_.assign(matrices_.size(), {});
  for (size_t i = 0; i < matrices_.size(); ++i) {
    Matrix& m = matrices_[i];
    if (m.way != Way::kView) PreparePointers(&m);
    if (m.invariant) invariants_[i] = Load(&m, g_.Constant(Elem::kI32, 0), tile);
    if (m.way == Way::kCarriedPointers) m.slot = NewSlot({m.offsets}, -1);
  }
  const bool was_in_loop = g_.in_loop_;
  const int64_t rounds = g_.rounds_;
  g_.in_loop_ = true;
  g_.rounds_ *= std::max<int64_t>(1, rounds_);
  // Now and then another loop goes on with what the first one gives.
  for (int64_t loops = r_.Percent(10) ? 2 : 1; loops > 0; --loops) {
    EmitRounds();
    for (Slot& s : slots_) {
      if (!s.now.v->type().element().is_pointer()) s.init = s.now;
    }
  }
  g_.in_loop_ = was_in_loop;
  g_.rounds_ = rounds;
  StoreAll(tile);
}

void ProductLoop::EmitRounds() {
  const op::Values out = Loop([&](Value* round, const op::Values& now) -> op::Values {
    return g_.Inside([&]() -> op::Values {
      round_ = round;
      for (size_t i = 0; i < slots_.size(); ++i) slots_[i].now = {now[i], slots_[i].bound};
      g_.token_ = now.back();
      factor_now_.assign(factors_.size(), std::nullopt);
      result_now_.assign(products_.size(), std::nullopt);
      attends_ ? EmitAttention() : EmitBody();
      op::Values next;
      for (const Slot& s : slots_) next.push_back(s.now.v);
      next.push_back(g_.token_);
      return next;
    });
  });
  g_.token_ = out.back();
  for (size_t i = 0; i < slots_.size(); ++i) slots_[i].now = {out[i], slots_[i].bound};
}

// Its product with itself, turned, and that of the turned one with it.
void ProductLoop::MultiplyBehind(const Val& x, Value* tile) {
  constexpr int64_t kMostElements = 128 * 128;
  constexpr std::array<int64_t, 2> kTurned = {1, 0};
  const Shape shape = x.shape();
  if (shape.size() != 2 || ir::IsInt(x.elem()) || x.elem() == Elem::kF64) return;
  if (std::max(shape[0], shape[1]) * std::max(shape[0], shape[1]) > kMostElements) return;
  const Val factor = Shrunk(x, r_.Of({Elem::kF16, Elem::kBF16}));
  Value* turned = op::Permute(b_, factor.v, kTurned);
  const auto multiply = [&](Value* lhs, Value* rhs, int64_t size) {
    Value* zero = op::Splat(b_, g_.Tile(Elem::kF32, {size, size}), 0);
    StoreTile({op::MmaF(b_, lhs, rhs, zero)}, tile, false);
  };
  multiply(factor.v, turned, shape[0]);
  if (r_.Percent(60)) multiply(turned, factor.v, shape[1]);
}

// What the loop gives, and products of two of its results, as a gated layer has them.
void ProductLoop::StoreAll(Value* tile) {
  const Val* before = nullptr;
  for (const Slot& s : slots_) {
    if (s.now.v->type().element().is_pointer()) continue;
    Val x = s.now;
    StoreTile(x, tile, false);
    if (g_.MultipliesBehind()) MultiplyBehind(x, tile);
    if (before != nullptr && before->v->type() == x.v->type() && !ir::IsInt(x.elem()) && r_.Percent(60))
      StoreTile({op::Mulf(b_, before->v, x.v)}, tile, false);
    before = &s.now;
  }
}

void ProductLoop::Emit() {
  tiles_ = r_.Percent(30) ? r_.In(2, 3) : 1;
  Plan();
  if (IsFlat()) PlanFlat();
  for (Matrix& m : matrices_) {
    if (!Place(&m)) return;
  }
  if (IsFlat()) return EmitFlat();
  Around([&](Value* tile) { EmitLoop(tile); });
}

}  // namespace tile::fuzz
