// Steps with regions. The token that orders the block's own memory goes through all of them.
#include <algorithm>

#include "tests/fuzz/generator.h"

namespace tile::fuzz {

using op::Values;

// Values to carry: exact, not too many elements.
std::vector<Val> Generator::Carried(int most) {
  std::vector<Val> carried;
  for (int64_t i = r_.Below(most + 1); i > 0; --i) {
    const Val v = Pick([](const Val& x) { return x.exact && x.count() <= 2048; });
    if (v.exact && v.count() <= 2048) carried.push_back(v);
  }
  return carried;
}

// Runs `body` with what is known outside; the pool and the state are afterwards as before.
Values Generator::Inside(const std::function<Values()>& body) {
  const std::vector<Val> saved = pool_;
  Value* token = token_;
  ++depth_;
  Values values = body();
  --depth_;
  token_ = token;
  pool_ = saved;
  return values;
}

void Generator::StepIf() {
  const Val condition = Operand(Elem::kI1, {});
  const std::vector<Val> alike = Carried(3);
  // Both regions give values of these types.
  const auto branch = [&] {
    return Inside([&] {
      if (r_.Percent(85)) Steps(static_cast<int>(r_.In(1, 4)));
      Values values;
      for (const Val& v : alike) values.push_back(Operand(v.elem(), v.shape()).v);
      values.push_back(token_);
      return values;
    });
  };
  if (!in_loop_ && r_.Percent(20)) {  // no results, no else; writes what nothing else touches
    op::If(b_, condition.v, [&]() -> Values {
      Inside([&] {
        for (int64_t i = r_.In(0, 2); i > 0; --i) r_.Percent(50) ? StepInteger() : StepShape();
        Store(pool_.back().exact ? pool_.back() : Exact());
        return Values();
      });
      return {};
    });
    return;
  }
  const Values results = op::If(b_, condition.v, branch, branch);
  token_ = results.back();
  for (size_t i = 0; i < alike.size(); ++i) Add({results[i], -1, true, !ir::IsFloat(results[i]->type().elem())});
}

void Generator::StepFor() {
  const std::vector<Val> carried = Carried(3);
  Values init;
  for (const Val& v : carried) init.push_back(v.v);
  init.push_back(token_);
  // As persistent kernels walk over tiles: from the number of the block, in steps of all blocks.
  const bool walks = depth_ == 0 && r_.Percent(40);
  const Elem e = walks ? Elem::kI32 : r_.Of({Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI32, Elem::kI64});
  const int64_t step = walks ? blocks_ : r_.In(1, 3), lower = r_.In(-3, 10), most = r_.In(0, 3);
  Value* first = walks ? op::Addi(b_, block_, Constant(e, lower)) : Number(e, lower);
  Value* end = walks || r_.Percent(50) ? Number(e, lower + step * most - (most > 0 ? r_.Below(step) : 0))
                                       : op::Addi(b_, first, op::Muli(b_, Index(most + 1, e), Constant(e, step)));
  const bool was_in_loop = in_loop_;
  const int64_t rounds = rounds_;
  in_loop_ = true;
  rounds_ *= std::max<int64_t>(1, most);
  const Values results = op::For(
      b_, first, end, Number(e, step), init,
      [&](Value* i, const Values& now) -> Values {
        return Inside([&]() -> Values {
          Add({i});
          for (size_t k = 0; k < carried.size(); ++k) Add({now[k], -1, true, !ir::IsFloat(now[k]->type().elem())});
          token_ = now.back();
          for (int64_t loads = walks ? r_.In(1, 2) : 0; loads > 0; --loads) StepLoad();
          if (!walks && r_.Percent(30)) {  // some rounds end here
            const Val early = Operand(Elem::kI1, {});
            op::If(b_, early.v, [&]() -> Values {
              Values next;
              for (const Val& v : carried) next.push_back(Operand(v.elem(), v.shape()).v);
              next.push_back(token_);
              op::Continue(b_, next);
              return {};
            });
          }
          Steps(static_cast<int>(r_.In(1, 4)));
          Values next;
          for (const Val& v : carried) next.push_back(Operand(v.elem(), v.shape()).v);
          next.push_back(token_);
          return next;
        });
      },
      lower >= 0 && r_.Percent(50));
  in_loop_ = was_in_loop;
  rounds_ = rounds;
  token_ = results.back();
  for (size_t i = 0; i < carried.size(); ++i) Add({results[i], -1, true, !ir::IsFloat(results[i]->type().elem())});
}

// How a loop counts: what frontends write, for passes to recognise.
enum class LoopForm : uint8_t {
  kTestsLate,      // somewhere in the body
  kStaysBelow,     // at its head: `if i < n {} else { break }`
  kLeavesAt,       // `if i >= n { break }`, in steps of 2
  kFalls,          // `if i > 0 {} else { break }`, down by 1
  kInclusive,      // `if i <= n - 1 {} else { break }`, and i + 1 promises not to wrap
  kAdvancesFirst,  // i advances at the head, but for the first iteration
};

// Ends after some rounds, by break in one way or another; the results may have other types than what is carried.
void Generator::StepLoop() {
  const std::vector<Val> carried = Carried(2), results = Carried(2);
  const auto form = static_cast<LoopForm>(r_.In(0, 5));
  const int64_t most = r_.In(1, 3);
  const auto number = [&](int64_t n) { return Constant(Elem::kI32, n); };
  Value* rounds = r_.Percent(50) ? number(most) : op::Addi(b_, Index(most, Elem::kI32), number(1));
  const int64_t step = form == LoopForm::kLeavesAt ? 2 : 1;
  Value* end = op::Muli(b_, rounds, number(step));
  Values init = {form == LoopForm::kFalls ? end : number(0), number(1)};
  for (const Val& v : carried) init.push_back(v.v);
  init.push_back(token_);
  std::vector<ir::Type> types;
  for (const Val& v : results) types.push_back(v.v->type());
  types.push_back(b_.types().Token());
  const bool was_in_loop = in_loop_, middle = r_.Percent(40);
  const int64_t outer = rounds_;
  in_loop_ = true;
  rounds_ *= most;
  const auto leave = [&]() -> Values {
    Values values;
    for (const Val& v : results) values.push_back(Operand(v.elem(), v.shape()).v);
    values.push_back(token_);
    op::Break(b_, values);
    return {};
  };
  const auto compare = [&](ir::ComparisonPredicate p, Value* a, Value* b) {
    return op::CmpI(b_, p, a, b, ir::Signedness::kSigned);
  };
  const auto stay_if = [&](Value* condition) {
    op::If(
        b_, condition, [] { return Values(); }, leave);
  };
  const Values out = op::Loop(b_, init, types, [&](const Values& now) -> Values {
    return Inside([&]() -> Values {
      for (size_t k = 0; k < carried.size(); ++k) Add({now[k + 2], -1, true, !ir::IsFloat(now[k + 2]->type().elem())});
      token_ = now.back();
      Value *i = now[0], *next = nullptr;
      switch (form) {
        case LoopForm::kTestsLate: break;
        case LoopForm::kStaysBelow: stay_if(compare(ir::ComparisonPredicate::kLessThan, i, end)); break;
        case LoopForm::kLeavesAt: op::If(b_, compare(ir::ComparisonPredicate::kLessThanOrEqual, end, i), leave); break;
        case LoopForm::kFalls:
          stay_if(compare(ir::ComparisonPredicate::kGreaterThan, i, number(0)));
          next = op::Subi(b_, i, number(1));
          break;
        case LoopForm::kInclusive:
          stay_if(compare(ir::ComparisonPredicate::kLessThanOrEqual, i, op::Subi(b_, end, number(1))));
          next = op::Addi(b_, i, number(1), ir::Overflow::kNoSignedWrap);
          break;
        case LoopForm::kAdvancesFirst:
          next = op::If(
              b_, compare(ir::ComparisonPredicate::kNotEqual, now[1], number(0)), [&] { return Values{i}; },
              [&] { return Values{op::Addi(b_, i, number(1))}; })[0];
          stay_if(compare(ir::ComparisonPredicate::kLessThan, next, end));
          break;
      }
      if (next == nullptr) next = op::Addi(b_, i, number(step));
      Steps(static_cast<int>(r_.In(1, 3)));
      if (form == LoopForm::kTestsLate) {
        op::If(b_, compare(ir::ComparisonPredicate::kGreaterThanOrEqual, next, end), leave);
        if (middle) Steps(static_cast<int>(r_.In(1, 2)));
      }
      Values again = {next, number(0)};
      for (const Val& v : carried) again.push_back(Operand(v.elem(), v.shape()).v);
      again.push_back(token_);
      return again;
    });
  });
  in_loop_ = was_in_loop;
  rounds_ = outer;
  token_ = out.back();
  for (size_t i = 0; i < results.size(); ++i) Add({out[i], -1, true, !ir::IsFloat(out[i]->type().elem())});
}

// Some blocks end here.
void Generator::StepReturn() {
  if (depth_ > 0) return;
  const Val condition = Operand(Elem::kI1, {});
  op::If(b_, condition.v, [&]() -> Values {
    Inside([&] {
      Store(Exact());
      return Values();
    });
    op::Return(b_);
    return {};
  });
}

}  // namespace tile::fuzz
