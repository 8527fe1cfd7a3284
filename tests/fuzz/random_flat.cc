// The parts of all tiles in one loop, which counts parts at its head or at its end, and does something in the first and last part of a tile: as
// kernels are written for compilers that overlap the loads and products of one loop only.
#include <algorithm>

#include "tests/fuzz/random_loop.h"

namespace tile::fuzz {

void ProductLoop::PlanFlat() {
  counts_ = false;  // no iteration ends early
  rounds_ = std::max<int64_t>(1, rounds_);
  for (Matrix& m : matrices_) {
    m.way = Way::kView;
    m.invariant = false;
  }
}

Value* ProductLoop::IsEqual(Value* x, Value* y) {
  return op::CmpI(b_, ir::ComparisonPredicate::kEqual, x, y, ir::Signedness::kSigned);
}

// What the loop carries goes on with in the next tile: what it began with, or what there is.
op::Values ProductLoop::EndPart(Value* is_last) {
  op::Values now, next;
  for (const Slot& s : slots_) now.push_back(s.now.v);
  const auto begun = [&](size_t i) { return r_.Percent(75) ? slots_[i].init.v : now[i]; };
  const bool by_branch = r_.Percent(50);
  const op::Values given = op::If(
      b_, is_last,
      [&]() -> op::Values {
        return g_.Inside([&]() -> op::Values {
          StoreAll(tile_);
          op::Values values;
          for (size_t i = 0; by_branch && i < now.size(); ++i) values.push_back(begun(i));
          return values;
        });
      },
      [&]() -> op::Values { return by_branch ? now : op::Values(); });
  if (by_branch) return given;
  for (size_t i = 0; i < now.size(); ++i) {
    Value* all = g_.Spread({is_last}, slots_[i].now.shape()).v;
    next.push_back(r_.Percent(75) ? op::Select(b_, all, slots_[i].init.v, now[i]) : now[i]);
  }
  return next;
}

void ProductLoop::EmitFlat() {
  const auto number = [&](int64_t n) { return g_.Constant(Elem::kI32, n); };
  const bool at_head = r_.Percent(50);
  const int64_t all = tiles_ * rounds_ - (r_.Percent(25) ? r_.Below(rounds_) : 0);
  Value* parts = r_.Percent(50) ? number(rounds_) : g_.Number(Elem::kI32, rounds_);
  op::Values init = {number(at_head ? -1 : 0), at_head ? op::Subi(b_, g_.block_, number(g_.blocks_)) : g_.block_};
  for (const Slot& s : slots_) init.push_back(s.init.v);
  init.push_back(g_.token_);
  const bool was_in_loop = g_.in_loop_;
  const int64_t rounds = g_.rounds_;
  g_.in_loop_ = true;
  g_.rounds_ *= tiles_ * rounds_;
  invariants_.assign(matrices_.size(), {});
  const auto body = [&](const op::Values& now) -> op::Values {
    Value* end = op::Subi(b_, parts, number(1));
    round_ = now[0], tile_ = now[1];
    if (at_head) {
      round_ = op::Select(b_, IsEqual(now[0], end), number(0), op::Addi(b_, now[0], number(1)));
      tile_ = op::If(
          b_, IsEqual(round_, number(0)), [&]() -> op::Values { return {op::Addi(b_, now[1], number(g_.blocks_))}; },
          [&]() -> op::Values { return {now[1]}; })[0];
    }
    for (size_t i = 0; i < slots_.size(); ++i) slots_[i].now = {now[i + 2], slots_[i].bound};
    g_.token_ = now.back();
    factor_now_.assign(factors_.size(), std::nullopt);
    result_now_.assign(products_.size(), std::nullopt);
    EmitBody();
    Value* is_last = IsEqual(round_, end);
    op::Values next = EndPart(is_last);
    Value* part = at_head ? round_ : op::Select(b_, is_last, number(0), op::Addi(b_, round_, number(1)));
    Value* tile = at_head ? tile_ : op::Select(b_, is_last, op::Addi(b_, tile_, number(g_.blocks_)), tile_);
    next.insert(next.begin(), {part, tile});
    next.push_back(g_.token_);
    return next;
  };
  const op::Values out = op::For(b_, number(0), number(all), number(1), init,
                                 [&](Value*, const op::Values& now) { return g_.Inside([&] { return body(now); }); });
  g_.in_loop_ = was_in_loop;
  g_.rounds_ = rounds;
  g_.token_ = out.back();
  for (size_t i = 0; i < slots_.size(); ++i) slots_[i].now = {out[i + 2], slots_[i].bound};
  if (r_.Percent(30)) StoreAll(g_.block_);
}

}  // namespace tile::fuzz
