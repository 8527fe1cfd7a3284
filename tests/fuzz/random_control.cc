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
  const Elem e = r_.Of({Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI32, Elem::kI64});
  const int64_t step = r_.In(1, 3), lower = r_.In(-3, 10), most = r_.In(0, 3);
  Value* first = Number(e, lower);
  Value* end = r_.Percent(50) ? Number(e, lower + step * most - (most > 0 ? r_.Below(step) : 0))
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
          if (r_.Percent(30)) {  // some rounds end here
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

// Ends after some rounds, by break in one way or another; the results may have other types than what is carried.
void Generator::StepLoop() {
  const std::vector<Val> carried = Carried(2), results = Carried(2);
  Values init = {Constant(Elem::kI32, 0)};
  for (const Val& v : carried) init.push_back(v.v);
  init.push_back(token_);
  std::vector<ir::Type> types;
  for (const Val& v : results) types.push_back(v.v->type());
  types.push_back(b_.types().Token());
  const int64_t most = r_.In(1, 3);
  Value* rounds =
      r_.Percent(50) ? Constant(Elem::kI32, most) : op::Addi(b_, Index(most, Elem::kI32), Constant(Elem::kI32, 1));
  const bool was_in_loop = in_loop_, middle = r_.Percent(40);
  const int64_t outer = rounds_;
  in_loop_ = true;
  rounds_ *= most;
  const Values out = op::Loop(b_, init, types, [&](const Values& now) -> Values {
    return Inside([&]() -> Values {
      for (size_t k = 0; k < carried.size(); ++k) Add({now[k + 1], -1, true, !ir::IsFloat(now[k + 1]->type().elem())});
      token_ = now.back();
      Value* next = op::Addi(b_, now[0], Constant(Elem::kI32, 1));
      const auto leave = [&] {
        Value* last = op::CmpI(b_, ir::ComparisonPredicate::kGreaterThanOrEqual, next, rounds, ir::Signedness::kSigned);
        op::If(b_, last, [&]() -> Values {
          Values values;
          for (const Val& v : results) values.push_back(Operand(v.elem(), v.shape()).v);
          values.push_back(token_);
          op::Break(b_, values);
          return {};
        });
      };
      Steps(static_cast<int>(r_.In(1, 3)));
      leave();
      if (middle) Steps(static_cast<int>(r_.In(1, 2)));
      Values again = {next};
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
